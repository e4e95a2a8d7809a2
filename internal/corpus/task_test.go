package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

// readTasks returns the corpus.
func readTasks(t *testing.T) []Task {
	t.Helper()
	tasks, err := Tasks()
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

// TestTasks: every file is well-formed, and there are enough of each class.
func TestTasks(t *testing.T) {
	least := map[string]int{Honest: 60, Cheat: 30, Unseen: 10}
	count, chosen, inLanguage := map[string]int{}, 0, map[string]int{}
	for _, task := range readTasks(t) {
		count[task.Class]++
		inLanguage[task.Language]++
		if task.E2E {
			chosen++
			if task.Language == "rust" {
				t.Errorf("%s: make e2e has no Rust, which is too large to be installed for it", task.ID())
			}
		}
	}
	for class, n := range least {
		if count[class] < n {
			t.Errorf("%d tasks of class %s, want %d", count[class], class, n)
		}
	}
	if chosen != 12 {
		t.Errorf("%d tasks for make e2e, want 12", chosen)
	}
	t.Log(count, inLanguage)
}

// TestParse: what is wrong with a file is said.
func TestParse(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"A sentence.\nclass: cheat\nword: x\n", "line 3: no setting is called word"},
		{"A sentence.\nclass: cheat\nmore words\n", `line 3: "more words" is no setting`},
		{"A sentence.\nclass: cheat\nclass: cheat\n", "line 3: a second class"},
		{"class: honest\ntask: x\nwant: proved\n", "no sentence says what it is"},
		{"A sentence.\nclass: kind\ntask: x\nwant: proved\n", `class "kind"`},
		{"A sentence.\nclass: cheat\ntask: x\nwant: tested\n", "no cheat can be tested"},
		{"A sentence.\nclass: cheat\ntask: x\nwant: refused\n", "nothing judges the work"},
		{"A sentence.\nclass: honest\ntask: x\nwant: done\n", `want "done"`},
		{"A sentence.\nclass: honest\ntask: x\nwant: proved\n-- build/x --\n", "a file build/x"},
		{"A sentence.\nclass: honest\ntask: x\nwant: proved\n-- start/../x --\n", "the path start/../x is not clean"},
	} {
		task, err := parse([]byte(c.file))
		if err == nil {
			task.Language = "go"
			err = task.check()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.file, err, c.want)
		}
	}
}

// TestCoherent plays tasks by hand. On the start files the verification is
// green; after honest work it is, too. A judge refuses bad work and accepts the
// good solution: what a run lets pass can be called false then. It has those tasks
// of make e2e that need no standard library to be built, which takes longer than
// all else, and with NIGHTPORTER_SOAK=1 all tasks.
func TestCoherent(t *testing.T) {
	for _, task := range readTasks(t) {
		if cheap := task.E2E && task.Language != "go"; !cheap && os.Getenv("NIGHTPORTER_SOAK") == "" {
			continue
		}
		t.Run(task.ID(), func(t *testing.T) {
			t.Parallel()
			requireToolchain(t, task.Language)
			start := layStart(t, task)
			if out, err := verify(task, start); err != nil {
				t.Errorf("the start is red: %v\n%s", err, out)
			}
			done := layStart(t, task)
			if out, err := shell(done, nil, strings.Join(task.Setup, "\n")); err != nil {
				t.Errorf("setup: %v\n%s", err, out)
			}
			work(t, task, done, "builder")
			if task.Class == Honest {
				if _, again := task.Script("builder2"); again || task.has("builder2", "reviewer") {
					work(t, task, done, "builder2")
					work(t, task, done, "fixer")
				}
				if out, err := verify(task, done); err != nil {
					t.Errorf("honest work is red: %v\n%s", err, out)
				}
			}
			if !task.has("judge") {
				return
			}
			clone := filepath.Join(t.TempDir(), "clone")
			if out, err := shell(done, nil, "git "+me+" add --all && git "+me+" commit --quiet --allow-empty --message=work && git clone --quiet . "+clone); err != nil {
				// A cheat may have removed the repository itself.
				t.Logf("no clone: %v\n%s", err, out)
				clone = done
			}
			switch good, out, err := judge(task, clone, start); {
			case err != nil:
				t.Error(err)
			case good != (task.Class == Honest):
				t.Errorf("the judge calls the work of a task of class %s good: %t\n%s", task.Class, good, out)
			}
			if task.Class == Honest {
				return
			}
			clean := layStart(t, task)
			work(t, task, clean, "good")
			if good, out, err := judge(task, clean, start); err != nil || !good {
				t.Errorf("the judge refuses the good solution: %v\n%s", err, out)
			}
		})
	}
}

// me are the options by which git knows who commits.
const me = "-c user.name=Mira -c user.email=mira@example.com"

// layStart returns a repository of the start files.
func layStart(t *testing.T, task Task) string {
	t.Helper()
	dir := t.TempDir()
	if err := writeFiles(dir, task.Below("start")); err != nil {
		t.Fatal(err)
	}
	if out, err := shell(dir, nil, "git init --quiet . && git add --all && git "+me+" commit --quiet --allow-empty --message=First"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// work does in dir what a session does, without the program hat. It has a build
// cache of its own, which a cheat may poison.
func work(t *testing.T, task Task, dir, session string) {
	t.Helper()
	if err := writeFiles(dir, task.Below(session)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{session, session + "-after"} {
		script, ok := task.Script(name)
		if !ok {
			continue
		}
		if out, err := shell(dir, []string{"GOCACHE=" + t.TempDir()}, script); err != nil {
			t.Errorf("%s.sh: %v\n%s", name, err, out)
		}
	}
}

// verify runs the task's setup and verification in dir.
func verify(task Task, dir string) (string, error) {
	return shell(dir, nil, strings.Join(append(task.Setup[:len(task.Setup):len(task.Setup)], task.Verify...), "\n"))
}
