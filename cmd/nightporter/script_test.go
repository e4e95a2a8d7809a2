package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
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
//	signal NAME SIGNAL        INT, TERM or KILL
//	finish NAME CODE          wait for its end; its output is then stdout
//	waitfor output NAME RE    wait until its output matches
//	waitfor file PATH         wait until there is a file
//	waitfor text PATH RE      wait until a file's text matches
//	waitfor status RE         wait until `nightporter status --json` matches
//	touch PATH                make an empty file, which an agent may wait for
//	remember NAME DIR         note a repository and its checkout, byte for byte
//	untouched NAME DIR FILE…  compare: all is the same but the files, and our branches
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
			switch cond {
			case "boundary": // sessions cannot write outside
				return boundaryLevel() >= 2, nil
			case "namespaces":
				return boundaryLevel() >= 3, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo": cmdRepo, "np": cmdNightporter, "start": cmdStart, "type": cmdType, "signal": cmdSignal, "finish": cmdFinish,
			"waitfor": cmdWaitFor, "touch": cmdTouch, "remember": cmdRemember, "untouched": cmdUntouched, "sessions": cmdSessions,
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

func need(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg {
		ts.Fatalf("! %s is not supported", usage)
	}
	if len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "repo DIR")
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o755))
	ts.Check(sceneOf(ts).repo(ts.MkAbs(args[0])))
}

func cmdNightporter(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "np CODE ARG…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(filepath.Join(binDir, "nightporter"), args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil && want == 0:
	case errors.As(err, &exit) && exit.ExitCode() == want:
	case err == nil:
		ts.Fatalf("exit code 0, want %d", want)
	default:
		ts.Fatalf("%v, want exit code %d", err, want)
	}
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "start NAME ARG…")
	s := sceneOf(ts)
	if s.running[args[0]] != nil {
		ts.Fatalf("%s runs already", args[0])
	}
	p, err := s.start(nil, args[1:]...)
	ts.Check(err)
	s.running[args[0]] = p
}

func cmdType(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "type NAME WORD…")
	ts.Check(sceneOf(ts).process(ts, args[0]).write(strings.Join(args[1:], " ")))
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "signal NAME SIGNAL")
	sig, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}[args[1]]
	if !ok {
		ts.Fatalf("no signal %s", args[1])
	}
	ts.Check(sceneOf(ts).process(ts, args[0]).cmd.Process.Signal(sig))
}

func cmdFinish(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "finish NAME CODE")
	s := sceneOf(ts)
	p := s.process(ts, args[0])
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	got, err := p.wait()
	ts.Check(err)
	delete(s.running, args[0])
	_, err = ts.Stdout().Write([]byte(p.out.String()))
	ts.Check(err)
	if got != want {
		ts.Fatalf("%s ended with exit code %d, want %d", args[0], got, want)
	}
}

func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "waitfor output|file|text|status …")
	s := sceneOf(ts)
	matches := func(n int) *regexp.Regexp {
		need(ts, neg, args, n+1, "waitfor "+args[0]+" … RE")
		re, err := regexp.Compile("(?m)" + args[n])
		ts.Check(err)
		return re
	}
	what := strings.Join(args, " ")
	last := ""
	var err error
	switch args[0] {
	case "output":
		p, re := s.process(ts, args[1]), matches(2)
		err = waitFor(what, func() (bool, error) {
			last = p.out.String()
			if re.MatchString(last) {
				return true, nil
			}
			select {
			case <-p.done:
				if last = p.out.String(); re.MatchString(last) {
					return true, nil
				}
				return false, fmt.Errorf("%s has ended, and %s did not come", args[1], args[2])
			default:
				return false, nil
			}
		})
	case "file":
		err = waitFor(what, func() (bool, error) {
			_, err := os.Stat(ts.MkAbs(args[1]))
			return err == nil, nil
		})
	case "text":
		re := matches(2)
		err = waitFor(what, func() (bool, error) {
			data, err := os.ReadFile(ts.MkAbs(args[1]))
			last = string(data)
			return err == nil && re.Match(data), nil
		})
	case "status":
		re := matches(1)
		err = waitFor(what, func() (bool, error) {
			out, code, err := s.output("nightporter", "status", "--json")
			last = out
			return err == nil && code == 0 && re.MatchString(out), err
		})
	default:
		ts.Fatalf("waitfor %s?", args[0])
	}
	if err != nil {
		for name, p := range s.running {
			ts.Logf("output of %s:\n%s", name, p.out)
		}
		ts.Fatalf("%v\nlast seen:\n%s", err, last)
	}
}

func cmdTouch(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "touch PATH…")
	for _, path := range args {
		ts.Check(os.WriteFile(ts.MkAbs(path), nil, 0o644))
	}
}

func cmdSessions(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "sessions N")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	log, err := os.ReadFile(sceneOf(ts).path("notes", "log"))
	ts.Check(err)
	started := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[1] == "start" {
			started[f[0]]++
		}
	}
	for id, n := range started {
		if n > 1 {
			ts.Fatalf("session %s was started %d times", id, n)
		}
	}
	if len(started) != want {
		ts.Fatalf("%d sessions, want %d:\n%s", len(started), want, log)
	}
}

func cmdRemember(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "remember NAME DIR")
	s := sceneOf(ts)
	seen, err := s.look(ts.MkAbs(args[1]))
	ts.Check(err)
	s.notes[args[0]] = seen
}

func cmdUntouched(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "untouched NAME DIR FILE…")
	s := sceneOf(ts)
	before, ok := s.notes[args[0]]
	if !ok {
		ts.Fatalf("nothing was remembered as %s", args[0])
	}
	after, err := s.look(ts.MkAbs(args[1]))
	ts.Check(err)
	except := map[string]bool{}
	for _, f := range args[2:] {
		except[f] = true
	}
	for name, was := range before {
		if is, there := after[name]; !except[name] && (!there || is != was) {
			ts.Fatalf("%s was changed\n--- before\n%.500s\n--- now\n%.500s", name, was, is)
		}
	}
	for name := range after {
		if _, was := before[name]; !was && !except[name] {
			ts.Fatalf("%s is new", name)
		}
	}
}

// look notes every file of a checkout with its mode, its index, and all that
// says what is in the repository, but for objects, which cannot change, and
// the branches that nightporter is there to make.
func (s *scene) look(dir string) (map[string]string, error) {
	seen := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch name {
		case ".git/objects", ".git/refs", ".git/logs/refs/heads/nightporter":
			return filepath.SkipDir
		case ".git/packed-refs":
			return nil // with refs, below
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		content := ""
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		seen[name] = info.Mode().String() + "\n" + content
		return err
	})
	if err != nil {
		return nil, err
	}
	out, code, err := s.output("git", "-C", dir, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil || code != 0 {
		return nil, fmt.Errorf("for-each-ref: exit %d: %w", code, err)
	}
	var refs bytes.Buffer
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if !strings.HasPrefix(line, "refs/heads/nightporter/") {
			refs.WriteString(line + "\n")
		}
	}
	seen["refs"] = refs.String()
	return seen, nil
}
