package main_test

import (
	"fmt"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScript runs testdata/script: the real nightporter and hat, real git,
// and agents that are shell scripts. Commands besides those of testscript:
//
//	repo DIR                  make a repository of the files in DIR
//	np CODE ARG…              run nightporter; it has to end with the exit code
//	start NAME ARG…           run nightporter and go on; its input stays open
//	type NAME WORD…           type a line into it
//	signal NAME SIGNAL        INT, TERM, KILL or HUP
//	finish NAME CODE          wait for its end; its output is then stdout
//	waitfor output NAME RE    wait until its output matches
//	waitfor file PATH         wait until there is a file
//	waitfor text PATH RE      wait until a file's text matches
//	waitfor status RE         wait until `nightporter status --json` matches
//	touch PATH                make an empty file, which an agent may wait for
//	remember NAME DIR         note a repository and its checkout, byte for byte
//	untouched NAME DIR FILE…  compare: all is the same but the files, and our branches
//	gone TEXT                 wait until no process has the text in its arguments
//	sessions N                as many sessions had an agent started in them
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		WorkdirRoot:        root,
		RequireUniqueNames: true,
		ContinueOnError:    testing.Verbose(), // all that is wrong at once, for who looks closely
		Setup: func(e *testscript.Env) error {
			w := world{e.WorkDir}
			e.Values[worldKey{}] = &scene{world: w, running: map[string]*process{}, notes: map[string]map[string]string{}}
			e.Defer(func() { e.Values[worldKey{}].(*scene).end() })
			e.Vars = append(e.Vars, w.env()...)
			e.Vars = append(e.Vars, "BIN="+binDir, "STATE="+w.state(), "NOTES="+w.path("notes"), "GIT_EDITOR=true")
			return w.furnish()
		},
		Condition: func(cond string) (bool, error) {
			if cond == "boundary" { // sessions cannot write outside
				level, err := boundaryLevel()
				return level >= 2, err
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": cmdRepo, "np": cmdNightporter, "start": cmdStart, "type": cmdType, "signal": cmdSignal, "finish": cmdFinish,
			"waitfor": cmdWaitFor, "touch": cmdTouch, "remember": cmdRemember, "untouched": cmdUntouched, "sessions": cmdSessions,
			"gone": cmdGone,
		},
	})
}

type worldKey struct{}

// scene is the world of one script and what is going on in it.
type scene struct {
	world
	running map[string]*process
	notes   map[string]map[string]string
}

func sceneOf(ts *testscript.TestScript) *scene { return ts.Value(worldKey{}).(*scene) }

func (s *scene) end() {
	for _, p := range s.running {
		p.kill()
	}
	s.cleanUp()
}

func (s *scene) process(ts *testscript.TestScript, name string) *process {
	p := s.running[name]
	if p == nil {
		ts.Fatalf("nothing was started as %s", name)
	}
	return p
}
