package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// faults is the part of *testing.T and *rapid.T that the tests use.
type faults interface {
	Helper()
	Fatalf(format string, args ...any)
}

// night simulates the shell around the core, without I/O: it keeps the state,
// the entries, the inbox and the effects without a result. It checks every
// decision against the invariants of the package.
type night struct {
	who      string      // sender of commands; "" = the console
	role     ledger.Role // role that let the sender in; "" = not checked
	t        faults
	files    []ledger.Attachment // of the next input
	album    string
	load     float64  // of the machine
	accounts []string // agents whose login allows one session at a time
	s        State
	folded   State // fold of the entries as the ledger would return them
	folder   *Folder
	gave     State  // the state that folder returned after the last decision
	gaveJSON string // as it was then
	now      time.Time
	settings ledger.Settings
	plan     ledger.Snapshot
	todo     []ledger.Effect
	entries  []ledger.Entry
	inbox    map[string]ledger.Answer
	keys     map[string]bool        // of all effects ever
	planned  map[string]bool        // sessions ever
	outcome  map[string]ledger.Exit // of command sessions
	tip      string                 // commit at the branch's tip
	main     string                 // that the remote's main has; "" = c0
	made     map[string]string      // hash of the commit for each request
	parents  map[string]string      // of these commits
	trees    int
	queued   int
	last     Input
	decided  func(old State, d *Decision) // with trusts, may change a decision before it counts
	stands   string                       // s as text, "" for not known yet
	tipRed   bool                         // the last check of a branch tip was red, and no start commit was green since
	under    bool                         // a task of the run was committed while something exempt failed
	batches  bool                         // no task is committed but in a batch
	out      map[string]bool              // folded ids of reverted tasks that nobody has asked for again
	unsaid   string                       // tip of a branch that was made again, until its check has a result or is said to be missing
	lost     map[string]bool              // folded ids of open tasks that the last readings of the run lack
	absent   map[string]bool              // folded ids of tasks that no reading of the run has had
	trusts   bool                         // others play such inputs, and hold that decisions are pure and fold to their state
	asked    []ledger.ThresholdChange     // that people were asked about
	result   EffectName                   // the effect whose result the next input is
}

func newNight(t faults) *night {
	n := &night{
		t: t, now: time.Date(2026, 11, 19, 23, 10, 0, 0, time.FixedZone("CET", 3600)), settings: testSettings(),
		inbox: map[string]ledger.Answer{}, keys: map[string]bool{}, planned: map[string]bool{}, outcome: map[string]ledger.Exit{}, made: map[string]string{}, parents: map[string]string{}, out: map[string]bool{},
	}
	n.s.Project.Name = n.settings.Project
	n.folded = n.s
	n.folder = NewFolder(n.s)
	return n
}

// testSettings returns the settings of a run with pattern plan-build-review and
// profile overnight.
func testSettings() ledger.Settings {
	hat := func(name string, writes bool, emits ...string) ledger.Hat {
		h := ledger.Hat{
			Name: name, Role: "Role of the " + name, Prompt: "You are the " + name + ".", Emits: emits, Expect: ledger.ExpectNone, MaxTokens: 40000,
			Timeout: ledger.Duration(time.Hour), StallTimeout: ledger.Duration(15 * time.Minute), Shipped: true,
		}
		if writes {
			h.WriteAllowed, h.WriteDenied, h.Expect = []string{"**"}, []string{"docs/**"}, ledger.ExpectPass
		}
		return h
	}
	repro := hat("reproducer", true, ledger.EventRepro)
	repro.Expect, repro.OwnScope, repro.WriteAllowed = ledger.ExpectRepro, true, []string{"**/*_test.go"}
	return ledger.Settings{
		Project: "shop", Repo: "/srv/shop", Source: ledger.SourceRef{Kind: "plan", Path: "checkout.md"}, Profile: "overnight", Agent: "claude",
		OnBlocked: ledger.OnBlockedContinue, MaxIterations: 500, Push: "never", Verify: []ledger.Command{{Run: "go test"}},
		QuestionTimeout: ledger.DefaultQuestionTimeout, BaselineTimeout: ledger.DefaultBaselineTimeout, Grace: ledger.DefaultGrace,
		Hats: map[string]ledger.Hat{
			"planner": hat("planner", false, "plan.complete"), "builder": hat("builder", true, "build.complete"),
			"reviewer": hat("reviewer", false, "review.verdict"), "fixer": hat("fixer", true, "fix.complete"),
			"writer": hat("writer", true, "docs.complete"), // not in the pattern's routes, like the hats below
			"critic": hat("critic", false, ledger.EventCritique), "architect": hat("architect", false, ledger.EventAdvice),
			"verifier": hat("verifier", false, "verification.passed", ledger.EventFailed), "refactorer": hat("refactorer", true, "refactor.complete"),
			"reproducer": repro, "ideas": hat("ideas", false, ledger.EventIdeas), "drafter": hat("drafter", false, ledger.EventDraft), "evaluator": hat("evaluator", false, ledger.EventEvaluation),
			"triager": hat("triager", false, ledger.EventTriage), "arbiter": hat("arbiter", false, ledger.EventUpheld, ledger.EventDismissed),
		},
		Pattern: ledger.Pattern{
			Name: "plan-build-review", Start: "planner", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, MinRounds: 1,
			Routes: []ledger.Route{
				{From: "planner", On: "plan.complete", To: "builder"}, {From: "builder", On: "build.complete", To: "reviewer"},
				{From: "reviewer", On: "review.verdict", When: ledger.Above, To: "fixer"}, {From: "reviewer", On: "review.verdict", When: ledger.Below, To: ledger.Converged},
				{From: "fixer", On: "fix.complete", To: "reviewer"},
			},
		},
	}
}

func mustJSON(t faults, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(b)
}

// do decides on one input and checks the decision. An input whose key was used
// before gets the answer in the inbox, as from the store.
func (n *night) do(body InputBody, key string) Decision {
	n.t.Helper()
	if answer, ok := n.inbox[key]; ok && key != "" {
		return Decision{Answer: answer, State: n.s}
	}
	if key == "" {
		n.now = n.now.Add(time.Nanosecond) // inputs without a key are told apart by their times, so no two may be equal
	}
	in := Input{Key: key, Load: n.load, Time: n.now, Actor: "console", Name: "Mira", Project: n.settings.Project, Body: body, Result: n.result, Files: n.files, Album: n.album}
	n.files, n.album = nil, ""
	if n.who != "" {
		in.Actor, in.Name, in.Role = "telegram:"+n.who, n.who, n.role
	}
	n.last = in
	old := n.s
	d := n.decide(in)
	for _, e := range d.Effects {
		n.effect(e)
	}
	n.s = d.State
	n.inbox[key] = d.Answer
	n.entries = append(n.entries, d.Entries...)
	n.check(old, d)
	return d
}

func (n *night) effect(e ledger.Effect) {
	n.t.Helper()
	p, err := e.Pending()
	if err != nil {
		n.t.Fatalf("%v", err)
	}
	body, err := p.Effect()
	if err != nil {
		n.t.Fatalf("%v", err)
	}
	if a, b := mustJSON(n.t, e.Body), mustJSON(n.t, body); a != b {
		n.t.Fatalf("effect comes back as another one:\n%s\n%s", a, b)
	}
	key := p.Kind + "\x00" + p.Key
	if n.keys[key] {
		n.t.Fatalf("effect %s %q is there already", p.Kind, p.Key)
	}
	n.keys[key] = true
	n.todo = append(n.todo, e)
}

// take removes and returns the first effect without a result that has type E
// and that match accepts.
func take[E ledger.EffectBody](n *night, match func(E) bool) (E, bool) {
	for i, e := range n.todo {
		if b, ok := e.Body.(E); ok && (match == nil || match(b)) {
			n.todo = slices.Delete(slices.Clone(n.todo), i, i+1)
			return b, true
		}
	}
	var zero E
	return zero, false
}

// dump describes the state and how it came about, for a failure message.
func (n *night) dump() string {
	var b strings.Builder
	p := n.s.Project
	if r := p.Run; r != nil {
		fmt.Fprintf(&b, "%s %s wait=%q until=%s signal=%q now=%v finishing=%v checks=%v agents=%v due=%s at=%s\n",
			r.ID, r.State, r.Wait, r.Until.Format(time.TimeOnly), r.Signal, r.StopNow, r.Finishing != nil, r.Checks != nil, n.s.Shared.Agents, Due(n.s).Format(time.TimeOnly), n.now.Format(time.TimeOnly))
	}
	for _, t := range p.Tasks.All() {
		fmt.Fprintf(&b, "%s %s mark=%q lifted=%q why=%q", t.Task.ID, t.Status, t.Task.Mark, t.Lifted, t.Why)
		if w := t.Attempt; w != nil {
			fmt.Fprintf(&b, " a%d %s %s session=%s", w.N, w.Hat, w.Stage, w.Session)
		}
		b.WriteString("\n")
	}
	for _, s := range p.Sessions {
		fmt.Fprintf(&b, "in flight: %s %s cut=%v event=%v\n", s.ID, s.Planned.Kind, s.Cut, s.Event != nil)
	}
	for _, q := range p.Questions {
		fmt.Fprintf(&b, "open: %s %s %s\n", q.ID, q.Kind, q.Task)
	}
	for _, e := range n.todo {
		fmt.Fprintf(&b, "under way: %s %s\n", e.Body.EffectKind(), e.Key)
	}
	for k, e := range n.entries {
		if _, ok := e.Body.(ledger.TaskSet); !ok && k < len(n.entries)-25 {
			continue
		}
		body, _ := json.Marshal(e.Body)
		fmt.Fprintf(&b, "  %s %s %s %s %.160s\n", e.Time.Format(time.TimeOnly), e.Task, e.Session, e.Body.EntryType(), body)
	}
	return b.String()
}
