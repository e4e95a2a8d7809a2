package demo

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
)

// testRun executes a whole run without a daemon: the core decides and builds
// the prompts, each session is a process of the agent, and verification
// commands really run. The testRun itself carries out the effects.
type testRun struct {
	t       *testing.T
	dir     string // both checkout and work folder
	hats    string
	state   loop.State
	effects []ledger.Effect
	now     time.Time
	log     []string
	inputs  int
	before  func(n *testRun, hat, task string) // called before each agent session
	answer  *loop.AnswerQuestion               // the answer to the first question; nil = none
}

var runHats = map[string]ledger.Hat{
	"planner":  {Name: "planner", Prompt: "You plan.", Emits: []string{"plan.complete"}, Payload: []string{"summary"}, Expect: ledger.ExpectNone, MaxTokens: 40000, Shipped: true},
	"builder":  {Name: "builder", Prompt: "You build.", WriteAllowed: []string{"**"}, WriteDenied: []string{"docs/**"}, Emits: []string{"build.complete"}, Payload: []string{"summary", "files_modified"}, Expect: ledger.ExpectPass, MaxTokens: 40000, Shipped: true},
	"reviewer": {Name: "reviewer", Prompt: "You review.", Emits: []string{"review.verdict"}, Payload: []string{"summary", "issues"}, Expect: ledger.ExpectNone, MaxTokens: 40000, Shipped: true},
	"fixer":    {Name: "fixer", Prompt: "You fix.", WriteAllowed: []string{"**"}, WriteDenied: []string{"docs/**"}, Emits: []string{"fix.complete"}, Payload: []string{"summary", "files_modified"}, Expect: ledger.ExpectPass, MaxTokens: 40000, Shipped: true},
}

var runPattern = ledger.Pattern{
	Name: "plan-build-review", Start: "planner", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, MinRounds: 1,
	Routes: []ledger.Route{
		{From: "planner", On: "plan.complete", To: "builder"},
		{From: "builder", On: "build.complete", To: "reviewer"},
		{From: "reviewer", On: "review.verdict", When: ledger.Above, To: "fixer"},
		{From: "reviewer", On: "review.verdict", When: ledger.Below, To: ledger.Converged},
		{From: "fixer", On: "fix.complete", To: "reviewer"},
	},
}

// newTestRun prepares a run in dir. verify may be empty.
func newTestRun(t *testing.T, dir string, verify ...string) *testRun {
	n := &testRun{t: t, dir: dir, hats: hatFolder(t), now: time.Date(2026, 11, 19, 22, 0, 0, 0, time.UTC)}
	s := ledger.Settings{
		Project: Name, Repo: dir, Source: ledger.SourceRef{Kind: "plan", Path: Plan}, Profile: "overnight", Agent: Agent,
		Pattern: runPattern, Hats: runHats, OnBlocked: ledger.OnBlockedContinue, MaxIterations: 100, Push: "never",
		QuestionTimeout: ledger.Duration(5 * time.Second), BaselineTimeout: ledger.DefaultBaselineTimeout,
	}
	for _, v := range verify {
		s.Verify = append(s.Verify, ledger.Command{Run: v})
	}
	n.input(loop.StartRun{Settings: s})
	return n
}

// execute carries out effects until the run is over.
func (n *testRun) execute(tasks []ledger.Task) {
	n.t.Helper()
	for range 1000 {
		if len(n.effects) == 0 {
			if n.state.Project.Run.Over() {
				return
			}
			due := loop.Due(n.state)
			if due.IsZero() {
				n.t.Fatalf("the run stands still: %+v", n.state.Project.Run)
			}
			if n.answer != nil && len(n.state.Project.Questions) > 0 {
				if a := n.input(*n.answer); !a.OK {
					n.t.Fatal(a.Text)
				}
				n.answer = nil
				continue
			}
			n.now = due
			n.input(loop.Tick{})
			continue
		}
		e := n.effects[0]
		n.effects = n.effects[1:]
		switch b := e.Body.(type) {
		case ledger.EffectPreflight:
			n.input(loop.Preflighted{
				Base:     ledger.Base{Commit: n.git("rev-parse", "HEAD"), Tree: n.git("rev-parse", "HEAD^{tree}"), Branch: "nightporter/x/r1", Author: "A <a@b.example>"},
				Snapshot: ledger.Snapshot{Name: "first-week", Path: Plan, Tasks: tasks},
			})
		case ledger.EffectStart:
			if b.Restore || b.Clean != "" { // the work folder also serves as the clean one
				n.restore(b.Tree)
			}
			n.session(b.Session)
		case ledger.EffectCapture:
			n.takeover(b.Request)
		case ledger.EffectCommit:
			c := n.git("commit-tree", "-p", b.Commit.Parent, "-m", b.Commit.Subject, b.Commit.Tree)
			n.note("commit %s", b.Commit.Subject)
			n.input(loop.CommitMade{Task: b.Task, Committed: ledger.Committed{Commit: c}})
		case ledger.EffectMark:
			n.input(loop.MarkMade{Task: b.Task, Mark: b.Mark})
		case ledger.EffectProgress, ledger.EffectEnd, ledger.EffectKeepPlan:
		default:
			n.t.Fatalf("effect %T", b)
		}
	}
	n.t.Fatalf("the run does not end:\n%s", strings.Join(n.log, "\n"))
}

func (n *testRun) note(format string, args ...any) {
	n.log = append(n.log, fmt.Sprintf(format, args...))
}

func (n *testRun) input(body loop.InputBody) ledger.Answer {
	n.t.Helper()
	n.inputs++
	d := loop.Decide(n.state, loop.Input{Key: strconv.Itoa(n.inputs), Time: n.now, Actor: "test", Project: Name, Body: body})
	for _, e := range d.Entries {
		switch b := e.Body.(type) {
		case ledger.GuidanceReported:
			n.note("%s %s: %s", b.ID, b.State, b.Note)
		case ledger.QuestionExpired:
			n.note("%s expired: %s", b.ID, b.Then)
		case ledger.AttemptEnded:
			if b.Failed {
				n.note("attempt failed: %s", b.Why)
			}
		}
	}
	n.state = d.State
	n.effects = append(n.effects, d.Effects...)
	return d.Answer
}

func (n *testRun) git(args ...string) string {
	n.t.Helper()
	return output(n.t, n.dir, "git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "user.name=A", "-c", "user.email=a@b.example"}, args...)...)
}

func (n *testRun) restore(rev string) {
	n.t.Helper()
	n.git("read-tree", "--reset", "-u", rev)
	n.git("clean", "-fdq")
}

// session runs a planned session to its end.
func (n *testRun) session(id string) {
	n.t.Helper()
	ses, ok := n.state.Project.Session(id)
	if !ok {
		n.t.Fatalf("session %s is not planned", id)
	}
	x := ledger.Exit{Session: id, Reason: ledger.ExitSelf, Started: n.now, Turns: -1, Tokens: -1, CostUSD: -1}
	n.now = n.now.Add(time.Second)
	x.Ended = n.now
	if ses.Planned.Kind != ledger.KindAgent {
		cmd := exec.Command("sh", "-c", ses.Planned.Command)
		cmd.Dir = n.dir
		out, _ := cmd.CombinedOutput() // the exit code holds the result
		x.Code, x.Tail = cmd.ProcessState.ExitCode(), strings.TrimSpace(string(out))
		if ses.Planned.Kind != ledger.KindVerify || !ses.Planned.Repeat {
			n.note("%s %d: %s", ses.Planned.Kind, x.Code, x.Tail)
		}
		n.input(loop.SessionExited{Exit: x})
		return
	}
	hat := ses.Planned.Hat
	if n.before != nil {
		n.before(n, hat, ses.Task)
	}
	var m prompt.Material
	if needs, ok := prompt.Needs(n.state, id); ok && needs.From != "" {
		m.Changes = []ledger.Change{{FileChange: ledger.FileChange{Path: "all of it"}, Patch: n.git("diff", needs.From, needs.To) + "\n"}}
	}
	p, err := prompt.Build(n.state, id, m)
	if err != nil {
		n.t.Fatal(err)
	}
	code, out := runAgent(n.t, n.dir, n.hats, p.Text, "HAT_NAME="+hat, "HAT_TASK="+ses.Task)
	c := takeCall(n.t, n.hats)
	if code != 0 || c.N != 1 {
		n.t.Fatalf("%s of %s: exit %d, %d calls of hat\n%s\nprompt:\n%s", hat, ses.Task, code, c.N, out, p.Text)
	}
	event := loop.Emit{Session: id}
	switch c.Args[0] {
	case "ask":
		event.Type, event.Data = ledger.EventQuestion, questionPayload(n.t, c.Args[1:])
	case "emit":
		event.Type, event.Data = c.Args[1], json.RawMessage(c.Data)
	}
	if a := n.input(event); !a.OK {
		n.t.Fatalf("%s of %s: %s refused: %s", hat, ses.Task, c.Data, a.Text)
	}
	var says struct {
		Summary, Text string
		Issues        []ledger.Issue
	}
	if err := json.Unmarshal(event.Data, &says); err != nil {
		n.t.Fatal(err)
	}
	n.note("%s %s %s: %s", ledger.ShortID(ses.Task), hat, event.Type, says.Summary+says.Text)
	for _, i := range says.Issues {
		n.note("  %s %s:%d %s", i.Severity, i.File, i.Line, i.Rule)
	}
	n.input(loop.SessionExited{Exit: x})
}

// questionPayload returns the payload that hat would make of its command line.
func questionPayload(t *testing.T, args []string) json.RawMessage {
	t.Helper()
	q := struct {
		Text    string   `json:"text"`
		Options []string `json:"options"`
		Choice  string   `json:"choice"`
	}{Text: args[0]}
	for i := 1; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--option":
			q.Options = append(q.Options, args[i+1])
		case "--choice":
			q.Choice = args[i+1]
		default:
			t.Fatalf("hat ask: %q", args)
		}
	}
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// takeover commits the work folder's tree and checks it against the task's
// scope.
func (n *testRun) takeover(b ledger.CaptureRequest) {
	n.t.Helper()
	n.git("add", "--all")
	taken := ledger.Capture{Tree: n.git("write-tree")}
	for _, line := range strings.Split(n.git("diff", "--numstat", b.Input, taken.Tree), "\n") {
		if f := strings.Fields(line); len(f) == 3 {
			added, _ := strconv.Atoi(f[0])
			removed, _ := strconv.Atoi(f[1])
			taken.Files = append(taken.Files, ledger.FileChange{Path: f[2], Added: added, Removed: removed})
		}
	}
	scope := ledger.ParseScope(b.Scope.Task)
	for _, f := range taken.Files {
		if len(scope) > 0 && !slices.ContainsFunc(scope, func(i ledger.ScopeItem) bool { return i.Text == f.Path }) {
			n.t.Errorf("session %s wrote %s, which is out of scope %s", b.Session, f.Path, b.Scope.Task)
		}
	}
	n.input(loop.TreeCaptured{Session: b.Session, Taken: taken, Ref: b.Ref})
}

var (
	planTask  = regexp.MustCompile(`(?m)^- \[ \] \*\*(Task \d+): (.+)\*\*$`)
	planField = regexp.MustCompile(`(?m)^  - (Scope|Depends on|Notes): (.+)$`)
	planItem  = regexp.MustCompile(`(?m)^    - (.+)$`)
)

// planTasks parses the sample's plan, with the part of the format that it uses.
func planTasks(t *testing.T) []ledger.Task {
	t.Helper()
	text := string(sampleFile(Plan))
	var tasks []ledger.Task
	heads := planTask.FindAllStringSubmatchIndex(text, -1)
	for n, h := range heads {
		end := len(text)
		if n+1 < len(heads) {
			end = heads[n+1][0]
		}
		body := strings.Trim(text[h[1]:end], "\n")
		task := ledger.Task{ID: text[h[2]:h[3]], Title: text[h[4]:h[5]], Body: body, Mark: ledger.MarkOpen, Line: n + 1}
		for _, f := range planField.FindAllStringSubmatch(body, -1) {
			switch {
			case f[1] == "Scope":
				task.Scope = f[2]
			case f[1] == "Notes":
				task.Notes = f[2]
			case f[2] != "none":
				task.DependsOn = strings.Split(f[2], ", ")
			}
		}
		for _, f := range planItem.FindAllStringSubmatch(body, -1) {
			task.Acceptance = append(task.Acceptance, f[1])
		}
		tasks = append(tasks, task)
	}
	if len(tasks) != Tasks {
		t.Fatalf("the plan has %d tasks, not %d", len(tasks), Tasks)
	}
	return tasks
}
