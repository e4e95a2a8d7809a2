package programtest

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts runs the scripts in dir: the real nightporter and hat, real git, and
// agents that are shell scripts. Commands besides those of testscript:
//
//	repo DIR                  make a repository of the files in DIR
//	np CODE ARG…              run nightporter; it has to end with the exit code
//	other CODE ARG…           the same as a second user; condition: twousers
//	start NAME ARG…           run nightporter and go on; its input stays open
//	type NAME WORD…           type a line into it
//	signal NAME SIGNAL        INT, TERM, KILL or HUP
//	finish NAME CODE          wait for its end; its output is then stdout
//	waitfor output NAME RE    wait until its output matches
//	waitfor file PATH         wait until there is a file
//	waitfor text PATH RE      wait until a file's text matches
//	waitfor status RE         wait until `nightporter status --json` matches
//	waitfor shown RE          wait until `nightporter status` matches
//	touch PATH                make an empty file, which an agent may wait for
//	remember NAME DIR         note a repository and its checkout, byte for byte
//	untouched NAME DIR FILE…  compare: all is the same but the files, and our branches
//	gone TEXT                 wait until no argument of a process begins with the text
//	disk DIR [MB]             mount a file system of that size there, or change its
//	                          size; without one it is full; condition: mount
//	forge DIR [AGE]           start a GitHub that has the branch main of DIR, is its
//	                          remote, and in the configuration; its clock is so late
//	issue DO …                what people do to issues (open, close, assign, label),
//	                          age DURATION, show N
//	sessions N                as many sessions had an agent started in them
//
// With ran, each machine has had a run before: it has the programs of one in its
// state folder, which other scripts install once more.
func Scripts(t *testing.T, dir string, ran bool) {
	t.Helper()
	DependOnSources(t)
	testscript.Run(t, testscript.Params{
		Dir:                dir,
		WorkdirRoot:        workDir,
		RequireUniqueNames: true,
		ContinueOnError:    testing.Verbose(), // all that is wrong at once, for who looks closely
		Setup: func(e *testscript.Env) error {
			m := Machine{Dir: e.WorkDir}
			e.Values[sceneKey{}] = &scene{Machine: m, running: map[string]*Process{}, notes: map[string]map[string]string{}}
			e.Defer(func() { e.Values[sceneKey{}].(*scene).end() })
			e.Vars = append(e.Vars, m.Env()...)
			e.Vars = append(e.Vars, "BIN="+binDir, "STATE="+m.State(), "NOTES="+m.Path("notes"), "GIT_EDITOR=true")
			if err := m.Furnish(); err != nil || !ran {
				return err
			}
			return m.takeInstalled()
		},
		Condition: func(cond string) (bool, error) {
			if cond == "boundary" { // sessions cannot write outside
				level, err := boundaryLevel()
				return level >= 2, err
			}
			if cond == "twousers" { // commands can be run as another user
				return os.Geteuid() == 0, nil
			}
			if cond == "mount" { // disks can be mounted
				return canMount(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": cmdRepo, "np": cmdNightporter, "start": cmdStart, "type": cmdType, "signal": cmdSignal, "finish": cmdFinish,
			"waitfor": cmdWaitFor, "touch": cmdTouch, "remember": cmdRemember, "untouched": cmdUntouched, "sessions": cmdSessions,
			"gone": cmdGone, "disk": cmdDisk, "other": cmdOther, "forge": cmdForge, "issue": cmdIssue,
		},
	})
}

type sceneKey struct{}

// scene is the machine of one script and what is going on in it.
type scene struct {
	Machine
	running map[string]*Process
	notes   map[string]map[string]string
	disks   []string // where disks are mounted
	forge   *Forge   // nil = none was started

	cleanups []func()
}

func sceneOf(ts *testscript.TestScript) *scene { return ts.Value(sceneKey{}).(*scene) }

func (s *scene) end() {
	for _, p := range s.running {
		p.Kill()
	}
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
	for _, dir := range s.disks {
		_ = unmountDisk(dir) // nothing is left to do about it
	}
	s.CleanUp()
}

func (s *scene) process(ts *testscript.TestScript, name string) *Process {
	p := s.running[name]
	if p == nil {
		ts.Fatalf("nothing was started as %s", name)
	}
	return p
}
