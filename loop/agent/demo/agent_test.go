package demo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ownRepository makes a repository that is not the sample.
func ownRepository(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(names, "README.md") {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("mine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	output(t, dir, "git", "init", "--quiet")
	output(t, dir, "git", "add", "--all")
	output(t, dir, "git", "-c", "user.name=A", "-c", "user.email=a@b.example", "commit", "--quiet", "-m", "first")
	return dir
}

// TestOtherRepository: in a person's own repository the agent claims no work,
// even for a task with a title of the sample.
func TestOtherRepository(t *testing.T) {
	n := newTestRun(t, ownRepository(t, "src/a.go"), "true")
	n.before = typesGuidance("planner", "T-1", "Wrap it")
	n.execute([]ledger.Task{
		{ID: "T-1", Title: titleTill, Mark: ledger.MarkOpen},
		{ID: "T-2", Title: "Parse dates", Mark: ledger.MarkOpen},
	})
	want := `baseline 0: 
> Wrap it: g1 queued → next session, T-1 builder as it looks
T-1 planner plan.complete: Scripted, no real plan
g1 set_aside: a scripted agent cannot follow words; they were in its prompt
T-1 builder build.complete: Scripted, the task itself was not done: a line in NIGHTPORTER-DEMO.md
verify 0: 
T-1 reviewer review.verdict: scripted, not looked at
commit feat: T-1 - Move the till to the new API
T-2 planner plan.complete: Scripted, no real plan
T-2 builder build.complete: Scripted, the task itself was not done: a line in NIGHTPORTER-DEMO.md
verify 0: 
T-2 reviewer review.verdict: scripted, not looked at
commit feat: T-2 - Parse dates
final 0: `
	if diff := cmp.Diff(strings.Split(want, "\n"), n.log); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := n.git("show", ":"+OwnFile), "\n\n- T-1: Move the till to the new API\n- T-2: Parse dates"; !strings.HasSuffix(got, want) {
		t.Errorf("%s: %q", OwnFile, got)
	}
	if got := n.git("diff", "--stat", "HEAD", "--", "README.md", "src"); got != "" {
		t.Errorf("their files: %s", got)
	}
}

// TestOwnFilePath: the agent writes its file into a folder that the scope
// permits.
func TestOwnFilePath(t *testing.T) {
	dir := ownRepository(t, "src/auth/login.go", "notes.md", "web/api/x.go")
	if err := os.Symlink("/", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	const top, noRoom = OwnFile, ""
	for scope, want := range map[string]string{
		"**":                             top,
		"":                               top,
		"`src/auth`":                     "src/auth/" + OwnFile,
		"src/auth/":                      "src/auth/" + OwnFile,
		"`src/auth/login.go`":            noRoom,
		"`src/auth/login.go`, `web`":     "web/" + OwnFile,
		"api":                            "web/api/" + OwnFile,
		"src/**":                         "src/" + OwnFile,
		"src/*.go":                       noRoom,
		"`src/new`":                      "src/new/" + OwnFile,
		"`src/new.go`":                   noRoom,
		"the login page, where it hangs": top,
		"`out/etc`":                      noRoom,
	} {
		t.Run(scope, func(t *testing.T) {
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = root.Close() }()
			s := &session{root: root, prompt: parsePrompt("## Scope\n\nYou may change: " + scope + "\nNot: docs/**\nWhat you change elsewhere is undone. The plan file is not yours to change.\n")}
			if scope == "" {
				s.prompt = parsePrompt("")
			}
			if got, err := s.ownFilePath(); err != nil || got != want {
				t.Errorf("%q %v, not %q", got, err, want)
			}
		})
	}
}

// TestCannotSucceed covers sessions that cannot succeed: no permitted folder, a
// failed verification, a link that leads out, and a hat without a script.
func TestCannotSucceed(t *testing.T) {
	task := "## Task\n\nT-3: Do it\n\n"
	end := func(event string) string { return "## How to end\n\n    hat emit " + event + " --data '{}'\n" }
	for _, tt := range []struct {
		name, prompt string
		code         int
		event        string
		field, says  string
	}{
		{"no room", task + "## Scope\n\nYou may change: `README.md`\n\n" + end("build.complete"), 0, "build.complete", "no_change", "the scope names only files, and a scripted agent leaves those alone"},
		{"undone before", task + "## What happened so far\n\nNote well: Files out of scope were undone\n\n" + end("build.complete"), 0, "build.complete", "no_change", "the scope has no room for NIGHTPORTER-DEMO.md"},
		{"red", task + "## Verification\n\n- `go test` FAILED (exit 1)\n\n" + end("build.complete"), 0, "task.blocked", "reason", "verification fails, and a scripted agent cannot repair code"},
		{"fixer", task + "## Issues\n\n1. [major] a.go:3 (x) wrong\n\n" + end("fix.complete"), 0, "fix.complete", "no_change", "a scripted agent cannot fix anything"},
		{"writer", task + end("docs.complete"), 0, "docs.complete", "no_change", "a scripted agent writes no documents"},
		{"refactorer", task + end("refactor.complete"), 0, "refactor.complete", "no_change", "a scripted agent leaves code alone"},
		{"verifier", task + "## Acceptance\n\n1. it is done\n2. 1. is kept\n\nOf the whole task, for orientation:\n- more\n\n" + end("verification.passed"), 0, "verification.passed", "checks", `[{"criterion":"it is done","how":"scripted, not tried","number":1,"ok":true},{"criterion":"1. is kept","how":"scripted, not tried","number":2,"ok":true}]`},
		{"verifier of a title", task + end("verification.passed"), 0, "verification.passed", "checks", `[{"criterion":"Do it","how":"scripted, not tried","ok":true}]`},
		{"critic", task + end("critique.verdict"), 0, "critique.verdict", "verdict", "OKAY"},
		{"architect", task + end("advice.complete"), 0, "advice.complete", "advice", "A scripted agent has none."},
		{"reproducer", task + end("repro.complete"), 0, "task.blocked", "reason", "the scripted agent can play the shipped hats but the reproducer; it cannot be a painter"},
		{"link that leads out", task + "## Scope\n\nYou may change: **\n\n" + end("build.complete"), 1, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, hats := ownRepository(t), hatFolder(t)
			outside := filepath.Join(t.TempDir(), "theirs")
			if tt.code != 0 {
				if err := os.Symlink(outside, filepath.Join(dir, OwnFile)); err != nil {
					t.Fatal(err)
				}
			}
			code, out := runAgent(t, dir, hats, tt.prompt, "HAT_NAME=painter", "HAT_TASK=T-3")
			c := takeCall(t, hats)
			if code != tt.code {
				t.Fatalf("exit %d\n%s", code, out)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("it wrote through a link that leads out of the repository")
			}
			if tt.event == "" {
				return
			}
			var data map[string]any
			if err := json.Unmarshal([]byte(c.Data), &data); err != nil {
				t.Fatal(err)
			}
			value := data[tt.field]
			if _, text := value.(string); !text {
				raw, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				value = string(raw)
			}
			if c.Args[1] != tt.event || value != tt.says {
				t.Errorf("%q %s", c.Args, c.Data)
			}
			if got := output(t, dir, "git", "status", "--porcelain"); got != "" {
				t.Errorf("changed: %s", got)
			}
		})
	}
}

// TestHatExit: the agent returns hat's exit code, and repeats an event that hat
// could not deliver.
func TestHatExit(t *testing.T) {
	for _, tt := range []struct {
		exit        string
		code, calls int
	}{
		{"0", 0, 1}, {"1", api.ExitRefused, 1}, {"2", api.ExitUsage, 1}, {"75", api.ExitLater, maxAttempts},
	} {
		dir, hats := ownRepository(t), hatFolder(t)
		if err := os.WriteFile(filepath.Join(hats, "exit"), []byte(tt.exit), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out := runAgent(t, dir, hats, "", "HAT_NAME=reviewer", "HAT_TASK=T-1")
		if c := takeCall(t, hats); code != tt.code || c.N != tt.calls {
			t.Errorf("hat ends with %s: exit %d after %d calls\n%s", tt.exit, code, c.N, out)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"--pace", "soon"}, {"--pace=-1s"}, {"--speed", "1s"}} {
		var out, errs strings.Builder
		code := Main(args, strings.NewReader(""), &out, &errs, func(string) string { return "" })
		if code != api.ExitUsage || errs.Len() == 0 {
			t.Errorf("%q: exit %d, %q", args, code, errs.String())
		}
	}
}

// TestPace checks the durations of the demo (docs/spec 24.2).
func TestPace(t *testing.T) {
	root, err := os.OpenRoot(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for _, tt := range []struct {
		title, hat string
		want       int
	}{
		{titleSum, "planner", 1}, {titleSum, "builder", 3}, {titleSum, "reviewer", 1}, {titleSum, "fixer", 2},
		{titleTill, "planner", TypedAfter + 2}, {titleTill, "builder", 3}, {"Of one's own", "builder", 3},
	} {
		s := &session{root: root, title: tt.title, hat: tt.hat}
		if got := s.chooseAct().pace; got != tt.want {
			t.Errorf("%s of %q: %d, not %d", tt.hat, tt.title, got, tt.want)
		}
	}
}
