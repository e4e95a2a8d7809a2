package main

import (
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/socket"
)

// build compiles a package with the Makefile's flags and returns the binary.
func build(tb testing.TB, dir, name, pkg string) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// fakeServer is a session's server. It syncs each event to a file before it answers.
type fakeServer struct {
	file *os.File // nil: events are not kept
}

func (d fakeServer) Emit(_ context.Context, session string, e api.Emit) (api.Reply, error) {
	if !json.Valid(e.Data) || e.Type == "refused" {
		return api.Reply{Text: "files_modified is missing"}, nil
	}
	if d.file != nil {
		if _, err := d.file.Write(append(e.Data, '\n')); err != nil {
			return api.Reply{}, err
		}
		if err := d.file.Sync(); err != nil {
			return api.Reply{}, err
		}
	}
	return api.Reply{OK: true, Receipt: session + "/1"}, nil
}

func (fakeServer) Task(context.Context, string, api.TaskQuery) (api.Reply, error) {
	return api.Reply{OK: true}, nil
}

func (fakeServer) Guidance(context.Context, string) (api.Reply, error) {
	return api.Reply{OK: true}, nil
}

func (fakeServer) Note(context.Context, string, string, api.Note) (api.Reply, error) {
	return api.Reply{Text: "not built yet"}, nil
}

func (fakeServer) Throttled(context.Context, string, int) {}

func (fakeServer) Session(context.Context, string) (api.Reply, error) {
	return api.Reply{OK: true}, nil
}

func (fakeServer) Write(context.Context, string, api.Write) (api.Reply, error) {
	return api.Reply{OK: true}, nil
}

// serve opens a session's socket and returns the environment of that session.
func serve(tb testing.TB, d fakeServer) []string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s")
	l, err := socket.Listen(path, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s := socket.ServeSession(l, d, "4f1d", "r14-25", log)
	tb.Cleanup(func() { _ = s.Close(context.Background()) })
	return []string{api.EnvSocket + "=" + path, api.EnvToken + "=4f1d"}
}

// TestHat runs the real program against a real socket.
func TestHat(t *testing.T) {
	bin := build(t, ".", "hat", ".")
	env := serve(t, fakeServer{})
	tests := []struct {
		name        string
		args        []string
		stdin       string
		env         []string
		code        int
		out, errOut string // parts of the output
	}{
		{"emit", []string{"emit", "build.complete", "--data", "-"}, `{"summary":"x"}`, env, api.ExitAccepted, "Accepted build.complete: r14-25/1\n", ""},
		{"refused", []string{"emit", "refused"}, "", env, api.ExitRefused, "", "files_modified is missing"},
		{"not built", []string{"note", "x"}, "", env, api.ExitRefused, "", "not built yet"},
		{"wrong token", []string{"guidance"}, "", []string{env[0], api.EnvToken + "=other"}, api.ExitRefused, "", "this token is not this session's"},
		{"usage", []string{"emit"}, "", env, api.ExitUsage, "", "which event?"},
		{"no session", []string{"guidance"}, "", []string{}, api.ExitUsage, "", api.EnvSocket + " is not set"},
		{"version", []string{"version"}, "", []string{}, api.ExitAccepted, "api 1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(bin, tt.args...)
			cmd.Env = tt.env
			cmd.Stdin = strings.NewReader(tt.stdin)
			var out, errOut strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errOut
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(errOut.String(), tt.errOut) {
				t.Errorf("exit %d, stdout %q, stderr %q", got, out.String(), errOut.String())
			}
		})
	}
}

// wrap makes a folder with a wrapper of a program and returns the environment
// of a session that has it.
func wrap(tb testing.TB, bin, program, rules string) []string {
	tb.Helper()
	dir := tb.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, guard.RulesFile), []byte(rules), 0o600), os.Symlink(bin, filepath.Join(dir, program))); err != nil {
		tb.Fatal(err)
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
}

// TestWrapper starts hat under the name of a denied program.
func TestWrapper(t *testing.T) {
	env := wrap(t, build(t, ".", "hat", "."), "expr", `{"hat": "builder", "denied": ["expr 6"]}`)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		`expr 5 + 1`: {0, "6\n"},
		`expr 0 + 0`: {1, "0\n"},
		`expr 6 + 1`: {guard.ExitRefused, "nightporter: `expr 6 + 1` is denied to the builder"},
	} {
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Env = env
		out, _ := cmd.CombinedOutput() // the exit code is checked below
		if got := cmd.ProcessState.ExitCode(); got != want.code || !strings.HasPrefix(string(out), want.out) {
			t.Errorf("%s: exit %d, %q", line, got, out)
		}
	}
}

// TestStatic checks that hat needs no dynamic loader: a session's boundary may
// hide it.
func TestStatic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has static programs")
	}
	f, err := elf.Open(build(t, ".", "hat", "."))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("hat needs a dynamic loader")
		}
	}
}

// BenchmarkHat runs whole processes in turns, so that other load on the machine
// affects all alike, and reports medians: an empty Go program; hat emit with an
// immediate answer; hat emit with the event synced to disk before the answer; a
// program by itself and behind its wrapper. Compare the ratios; the times are
// those of this machine.
func BenchmarkHat(b *testing.B) {
	bin := build(b, ".", "hat", ".")
	dir := b.TempDir()
	for name, text := range map[string]string{"go.mod": "module empty\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	empty := build(b, dir, "empty", ".")
	file, err := os.Create(filepath.Join(b.TempDir(), "ledger"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	program := []string{"/bin/sh", "-c", "exec git version"}
	emit := []string{bin, "emit", "build.complete", "--data", `{"summary":"Totals round half up","files_modified":["cart.go"]}`}
	runs := []struct {
		name string
		args []string
		env  []string
		took []time.Duration
	}{
		{name: "empty", args: []string{empty}},
		{name: "answer", args: emit, env: serve(b, fakeServer{})},
		{name: "durable", args: emit, env: serve(b, fakeServer{file})},
		{name: "program", args: program, env: []string{"PATH=" + os.Getenv("PATH")}},
		{name: "wrapped", args: program, env: wrap(b, bin, "git", `{"denied": ["git push --force", "rm -rf", "DROP TABLE"], "protected": ["main"]}`)},
	}
	for b.Loop() {
		for i := range runs {
			cmd := exec.Command(runs[i].args[0], runs[i].args[1:]...)
			cmd.Env = append([]string{}, runs[i].env...)
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %v\n%s", runs[i].args, err, out)
			}
			runs[i].took = append(runs[i].took, time.Since(start))
		}
	}
	medians := make([]float64, len(runs))
	for i, r := range runs {
		slices.Sort(r.took)
		medians[i] = float64(r.took[len(r.took)/2].Microseconds())
		b.ReportMetric(medians[i], r.name+"-µs")
	}
	for i, r := range runs[1:] {
		b.ReportMetric(medians[i+1]/medians[0], r.name+"/empty")
	}
}
