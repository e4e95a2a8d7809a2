package programtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nightporter/nightporter/internal/regexp"
)

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
	ts.Check(sceneOf(ts).Repo(ts.MkAbs(args[0])))
}

func cmdNightporter(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "np CODE ARG…")
	runNightporter(ts, args, func(*exec.Cmd) {})
}

// cmdOther runs nightporter as a second user, with the folder other as home. Both
// users are in the group 4243, which is the second one's own.
func cmdOther(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "other CODE ARG…")
	const uid, gid = 4242, 4243
	home := sceneOf(ts).Path("other")
	ts.Check(os.MkdirAll(home, 0o755))
	ts.Check(os.Chown(home, uid, gid))
	runNightporter(ts, args, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "HOME="+home)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	})
}

// runNightporter runs it with args after the first, which is the exit code that it
// has to end with.
func runNightporter(ts *testscript.TestScript, args []string, prepare func(*exec.Cmd)) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := sceneOf(ts).Command(ctx, "nightporter", args[1:]...)
	prepare(cmd)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	_, werr := ts.Stdout().Write(out.Bytes())
	ts.Check(werr)
	_, werr = ts.Stderr().Write(errs.Bytes())
	ts.Check(werr)
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		ts.Fatalf("it has not ended after %s", Patience)
	case err != nil && !errors.As(err, &exit):
		ts.Fatalf("%v", err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "start NAME ARG…")
	s := sceneOf(ts)
	if s.running[args[0]] != nil {
		ts.Fatalf("%s runs already", args[0])
	}
	p, err := s.Start(nil, args[1:]...)
	ts.Check(err)
	s.running[args[0]] = p
}

func cmdType(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "type NAME WORD…")
	ts.Check(sceneOf(ts).process(ts, args[0]).Type(strings.Join(args[1:], " ")))
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "signal NAME SIGNAL")
	sig, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP}[args[1]]
	if !ok {
		ts.Fatalf("no signal %s", args[1])
	}
	ts.Check(sceneOf(ts).process(ts, args[0]).Cmd.Process.Signal(sig))
}

func cmdFinish(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "finish NAME CODE")
	s := sceneOf(ts)
	p := s.process(ts, args[0])
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	got, err := p.Wait()
	ts.Check(err)
	delete(s.running, args[0])
	_, err = ts.Stdout().Write([]byte(p.Out.String()))
	ts.Check(err)
	if got != want {
		ts.Fatalf("%s ended with exit code %d, want %d", args[0], got, want)
	}
}

func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "waitfor output|file|text|status|shown …")
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
		err = WaitFor(what, func() (bool, error) {
			last = p.Out.String()
			if re.MatchString(last) {
				return true, nil
			}
			select {
			case <-p.Done:
				if last = p.Out.String(); re.MatchString(last) {
					return true, nil
				}
				return false, fmt.Errorf("%s has ended, and %s did not come", args[1], args[2])
			default:
				return false, nil
			}
		})
	case "file":
		err = WaitFor(what, func() (bool, error) {
			_, err := os.Stat(ts.MkAbs(args[1]))
			return err == nil, nil
		})
	case "text":
		re := matches(2)
		err = WaitFor(what, func() (bool, error) {
			data, err := os.ReadFile(ts.MkAbs(args[1]))
			last = string(data)
			return err == nil && re.Match(data), nil
		})
	case "status", "shown": // as JSON, as a person sees it
		re, args := matches(1), map[string][]string{"status": {"status", "--json"}, "shown": {"status"}}[args[0]]
		err = WaitFor(what, func() (bool, error) {
			out, code, err := s.Output("nightporter", args...)
			last = out
			return err == nil && code == 0 && re.MatchString(out), err
		})
	default:
		ts.Fatalf("waitfor %s?", args[0])
	}
	if err != nil {
		for name, p := range s.running {
			ts.Logf("output of %s:\n%s", name, p.Out)
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
	log, err := os.ReadFile(sceneOf(ts).Path("notes", "log"))
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

// cmdGone waits until no process has an argument that begins with the text. A text
// within an argument is not looked for: the script of another program may have it.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "gone TEXT")
	last := ""
	err := WaitFor("processes to be gone", func() (bool, error) {
		last = ""
		files, err := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			if line, err := os.ReadFile(file); err == nil && bytes.Contains(append([]byte{0}, line...), []byte("\x00"+args[0])) {
				last += file + ": " + string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})) + "\n"
			}
		}
		return last == "", err
	})
	if err != nil {
		ts.Fatalf("%v\n%s", err, last)
	}
}

// cmdDisk mounts an empty file system, or changes the size of one: without a size
// it is full. It is unmounted when the script ends.
func cmdDisk(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "disk DIR [MB]")
	s, dir := sceneOf(ts), ts.MkAbs(args[0])
	megabytes := -1
	if len(args) > 1 {
		var err error
		megabytes, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	ts.Check(os.MkdirAll(dir, 0o755))
	mounted := slices.Contains(s.disks, dir)
	ts.Check(mountDisk(dir, megabytes, mounted))
	if !mounted {
		s.disks = append(s.disks, dir)
	}
}
