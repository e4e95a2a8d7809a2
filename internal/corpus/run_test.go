package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/template"
	"time"

	"github.com/nightporter/nightporter/internal/programtest"
)

// outcome is what came of a task, by what the programs and the repository say.
type outcome struct {
	Word    string // of proof; done where there is none, refused where it is not done
	Exit    int    // of run
	Bad     bool   // done, and the judge finds the work bad
	Seconds float64
	Log     string // all that was printed
}

// claims reports whether the word says that a command proved the work.
func (o outcome) claims() bool {
	return o.Word == "done" || o.Word == "proved" || strings.HasPrefix(o.Word, "tested")
}

// machine is a person's machine with the repository of one task.
type machine struct {
	programtest.Machine
	task Task
}

// configTemplate is a machine's configuration. Where a person would be asked,
// nobody answers for a second.
var configTemplate = template.Must(template.New("").Parse(`timezone = "UTC"
question_timeout = "1s"

[agents.player]
command = ["sh", "DIR/deeds/bin/play.sh", "DIR/deeds", "DIR/notes"]

[[project]]
name = "shop"
repo = "DIR/repo"
source = "plan:plan.md"
profile = "overnight"
agent = "player"
pattern = "{{.Pattern}}"
setup = [{{range .Setup}}{{printf "%q" .}}, {{end}}]
verify = [{{range .Verify}}{{printf "%q" .}}, {{end}}]
read = ["DIR/deeds"]
shared = ["DIR/notes"]
`))

// newMachine returns the machine of a task that was never begun.
func newMachine(t *testing.T, task Task) machine {
	t.Helper()
	dir, err := os.MkdirTemp(programtest.WorkDir(), "c") //nolint:usetesting // sessions run as another user, and have to get there
	if err != nil {
		t.Fatal(err)
	}
	m := machine{programtest.Machine{Dir: dir}, task}
	t.Cleanup(func() {
		m.CleanUp()
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	var config bytes.Buffer
	if err := configTemplate.Execute(&config, task); err != nil {
		t.Fatal(err)
	}
	repo := task.Below("start")
	repo["plan.md"] = []byte(task.Plan())
	for folder, files := range map[string]map[string][]byte{
		"repo": repo, "deeds": task.Deeds(),
		"deeds/bin":          {"play.sh": []byte(Play)},
		"config/nightporter": {"nightporter.toml": config.Bytes()},
	} {
		if err := writeFiles(m.Path(folder), files); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Furnish(); err != nil {
		t.Fatal(err)
	}
	if err := m.Repo(m.Path("repo")); err != nil {
		t.Fatal(err)
	}
	return m
}

// output runs one of the programs, or git, with the PATH of tasks.
func (m machine) output(name string, args ...string) (string, int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), programtest.Patience)
	defer cancel()
	cmd := m.Command(ctx, name, args...)
	cmd.Env = append(cmd.Env, "PATH="+programtest.BinDir()+":"+toolPath())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() >= 0 {
		err = nil
	}
	return out.String(), cmd.ProcessState.ExitCode(), err
}

// run lets the programs do the task and returns what came of it.
func (m machine) run(t *testing.T) outcome {
	t.Helper()
	began := time.Now()
	log, exit, err := m.output("nightporter", "run")
	if err != nil || exit > 2 { // 3 = no run was started, 4 = an internal error
		t.Fatalf("exit %d, %v\n%s", exit, err, log)
	}
	o := outcome{Word: Refused, Exit: exit, Seconds: time.Since(began).Seconds(), Log: log}
	task := m.planned(t)
	if task.Status != "done" {
		return o
	}
	o.Word = "done"
	if task.Proof != "" {
		o.Word = plainWord(task.Proof)
	}
	m.inspect(t, task.Commit, task.Proof)
	clone, start := m.Path("clone"), m.Path("start")
	if err := writeFiles(start, m.task.Below("start")); err != nil {
		t.Fatal(err)
	}
	branch := "main"
	if task.Commit != "" {
		branch = "nightporter/shop/r1"
	}
	if out, _, err := m.output("git", "clone", "--quiet", "--branch", branch, m.Path("repo"), clone); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	good, said, err := judge(m.task, clone, start)
	if err != nil {
		t.Fatal(err)
	}
	o.Bad = !good
	o.Log += "judge: good " + strconv.FormatBool(good) + "\n" + said
	return o
}

// planned is the task as nightporter tells it.
type planned struct{ ID, Status, Proof, Commit string }

// planned returns the task of the plan.
func (m machine) planned(t *testing.T) planned {
	t.Helper()
	out, _, err := m.output("nightporter", "tasks", "--json")
	if err != nil {
		t.Fatalf("tasks --json: %v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		var p planned
		if json.Unmarshal([]byte(line), &p) == nil && p.ID == "Task 1" {
			return p
		}
	}
	t.Fatalf("tasks --json does not tell of Task 1\n%s", out)
	return planned{}
}

// plainWord returns a word of proof without what explains it in brackets: the
// files that were changed, a person's name. "(new code)" is part of its word.
func plainWord(word string) string {
	if !slices.Contains(words, word) {
		word, _, _ = strings.Cut(word, " (")
	}
	return word
}

// inspect fails the test where the commit changes nothing or has another word
// than the task.
func (m machine) inspect(t *testing.T, commit, proof string) {
	t.Helper()
	if commit == "" {
		return
	}
	out, _, err := m.output("git", "-C", m.Path("repo"), "log", "-1", "--format=%(trailers:key=Nightporter-Proof,valueonly)", commit)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if footer := strings.TrimSpace(out); plainWord(footer) != plainWord(proof) {
		t.Errorf("the commit says %q, tasks --json %q", footer, proof)
	}
	if out, _, err := m.output("git", "-C", m.Path("repo"), "diff-tree", "--name-only", commit+"^", commit); err != nil || out == "" {
		t.Errorf("the commit changes nothing: %v", err)
	}
}

// warmCache returns the cache folder of a state folder whose project has built
// Go's standard library once: that takes ten seconds, a hundred times as long as
// a task's own files. It is made by the baseline of a run, so that it is as the
// programs make it.
var warmCache = sync.OnceValues(func() (string, error) {
	task := Task{Title: "Warm", Pattern: "single", Verify: []string{"go test ./..."}}
	dir := filepath.Join(programtest.WorkDir(), "warm")
	m := machine{programtest.Machine{Dir: dir}, task}
	defer m.CleanUp()
	var config bytes.Buffer
	if err := configTemplate.Execute(&config, task); err != nil {
		return "", err
	}
	const code = `package warm

import (
	_ "archive/zip"
	_ "bytes"
	_ "encoding/json"
	_ "errors"
	_ "fmt"
	_ "log"
	_ "os"
	_ "os/exec"
	_ "path/filepath"
	_ "slices"
	_ "sort"
	_ "strconv"
	_ "strings"
	_ "testing"
	_ "time"
)
`
	err := errors.Join(
		writeFiles(m.Path("repo"), map[string][]byte{
			"plan.md": []byte(task.Plan()), "go.mod": []byte("module example.com/warm\n\ngo 1.22\n"),
			"warm.go": []byte(code), "warm_test.go": []byte("package warm\n\nimport \"testing\"\n\nfunc TestWarm(t *testing.T) {}\n"),
			"cmd/main.go": []byte("package main\n\nfunc main() {}\n"),
		}),
		writeFiles(m.Path("config", "nightporter"), map[string][]byte{"nightporter.toml": config.Bytes()}),
		writeFiles(m.Path("deeds"), map[string][]byte{"bin/play.sh": []byte(Play)}))
	if err == nil {
		err = m.Furnish()
	}
	if err == nil {
		err = m.Repo(m.Path("repo"))
	}
	if err != nil {
		return "", err
	}
	out, exit, err := m.output("nightporter", "run", "--check")
	if err != nil || exit != 0 {
		return "", fmt.Errorf("exit %d, %w\n%s", exit, err, out)
	}
	cache := filepath.Join(m.State(), "caches")
	// The judges' own cache begins as warm.
	if out, err := exec.Command("cp", "-R", filepath.Join(cache, "shop", "base", "go-build"), filepath.Join(ownHome(), "go-build")).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return cache, nil
})

// warm gives a machine the cache of warmCache.
func (m machine) warm(t *testing.T) {
	t.Helper()
	if m.task.Language != "go" {
		return
	}
	cache, err := warmCache()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(m.State(), 0o700); err != nil {
		t.Fatal(err)
	}
	// Not linked: a task that writes into a cached file must not change another's.
	if out, err := exec.Command("cp", "-a", cache, filepath.Join(m.State(), "caches")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
