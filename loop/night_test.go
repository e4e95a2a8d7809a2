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
	trusts   bool                         // another test plays the same inputs, and holds that decisions are pure and fold to their state
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
			"reproducer": repro,
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
	in := Input{Key: key, Time: n.now, Actor: "console", Name: "Mira", Project: n.settings.Project, Body: body, Result: n.result}
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

// decide makes a decision, and folds it unless another test does.
func (n *night) decide(in Input) Decision {
	n.t.Helper()
	if n.trusts {
		d := Decide(n.s, in)
		if n.decided != nil {
			n.decided(n.s, &d)
		}
		n.folded, n.folder, n.stands, n.gaveJSON = d.State, NewFolder(d.State), "", ""
		return d
	}
	if n.stands == "" {
		n.stands = mustJSON(n.t, n.s)
	}
	before, d := n.stands, Decide(n.s, in)
	n.stands = n.pure(in, d)
	switch {
	case len(d.Entries) > 0:
		n.fold(d, n.stands)
		n.indexed(d.State.Project.Tasks)
	case n.stands != before:
		n.t.Fatalf("%s: another state without an entry: %s", in.Body.InputKind(), differ(n.stands, before))
	}
	return d
}

// pure holds that d is what one input leads to and nothing else, and that no
// decision writes into a state. It returns the state after d as text.
func (n *night) pure(in Input, d Decision) string {
	n.t.Helper()
	first, again := mustJSON(n.t, d.State), Decide(n.s, in)
	if got := mustJSON(n.t, again.State); got != first {
		n.t.Fatalf("%s: two states after one input: %s", in.Body.InputKind(), differ(first, got))
	}
	// Another future of the same state must not write into this one.
	for _, probe := range []InputBody{Guide{Text: "probe"}, Now{Text: "probe"}, Stop{}} {
		Decide(n.s, Input{Time: n.now, Actor: "probe", Project: n.settings.Project, Body: probe})
	}
	if now := mustJSON(n.t, n.s); now != n.stands {
		n.t.Fatalf("%s: Decide changed the state that it was given: %s", in.Body.InputKind(), differ(n.stands, now))
	}
	if now := mustJSON(n.t, d.State); now != first {
		n.t.Fatalf("%s: a later decision changed the state of this one: %s", in.Body.InputKind(), differ(first, now))
	}
	d.State, again.State, d.After, again.After = State{}, State{}, nil, nil // fold looks at After
	if a, b := mustJSON(n.t, d), mustJSON(n.t, again); a != b {
		n.t.Fatalf("%s: two decisions of one input: %s", in.Body.InputKind(), differ(a, b))
	}
	return first
}

// fold folds the entries as they come back from the ledger, to the state that
// want is the text of.
func (n *night) fold(d Decision, want string) {
	n.t.Helper()
	if len(d.After) != len(d.Entries) {
		n.t.Fatalf("%d states after %d entries", len(d.After), len(d.Entries))
	}
	for at, e := range d.Entries {
		if e.Stream != ledger.SharedStream && e.Stream != ledger.ProjectStream("shop") {
			n.t.Fatalf("entry %s in stream %q", e.Body.EntryType(), e.Stream)
		}
		r, err := e.Record()
		if err != nil {
			n.t.Fatalf("%v", err)
		}
		back, err := r.Entry()
		if err != nil {
			n.t.Fatalf("%v", err)
		}
		n.folded = Apply(n.folded, back)
		n.folder.Add(back)
		if at != len(d.Entries)/2 {
			continue
		}
		if want, got := mustJSON(n.t, n.folded), mustJSON(n.t, d.After[at]); want != got {
			n.t.Fatalf("after %s stands another state than that of the fold: %s", e.Body.EntryType(), differ(got, want))
		}
	}
	if got := mustJSON(n.t, n.folded); got != want {
		n.t.Fatalf("%s: the fold of the ledger is another state: %s", n.last.Body.InputKind(), differ(got, want))
	}
	if got := mustJSON(n.t, n.gave); n.gaveJSON != "" && got != n.gaveJSON {
		n.t.Fatalf("%s: a Folder changed a state that it gave away: %s", n.last.Body.InputKind(), differ(got, n.gaveJSON))
	}
	n.gave, n.gaveJSON = n.folder.State(), want
	if got := mustJSON(n.t, n.gave); got != want {
		n.t.Fatalf("%s: a Folder folds another state: %s", n.last.Body.InputKind(), differ(got, want))
	}
	var back State
	if err := json.Unmarshal([]byte(want), &back); err != nil {
		n.t.Fatalf("state does not decode: %v", err)
	}
	if got := mustJSON(n.t, back); got != want {
		n.t.Fatalf("a snapshot is another state: %s", differ(got, want))
	}
}

// indexed compares the indexes of a list with those of a new list of the same
// tasks.
func (n *night) indexed(l TaskList) {
	n.t.Helper()
	anew := NewTaskList(l.Slice()...)
	for s := range taskSets {
		if !slices.Equal(l.in[s], anew.in[s]) {
			n.t.Fatalf("%s: set %d of the tasks is %b, and should be %b", n.last.Body.InputKind(), s, l.in[s], anew.in[s])
		}
	}
	if l.Len() > 0 && !slices.EqualFunc(l.ids.neededBy, anew.ids.neededBy, func(has, should []int32) bool {
		return !slices.ContainsFunc(should, func(n int32) bool { return !slices.Contains(has, n) })
	}) {
		n.t.Fatalf("%s: tasks are needed by %v, and should be by %v", n.last.Body.InputKind(), l.ids.neededBy, anew.ids.neededBy)
	}
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

func (n *night) tree() string {
	n.trees++
	return fmt.Sprintf("t%d", n.trees)
}

// base returns the start point of a run.
func (n *night) base(run string) ledger.Base {
	if n.tip == "" {
		n.tip = "c0"
	}
	return ledger.Base{Commit: n.tip, Tree: "tree-" + n.tip, Head: "c0", HeadName: "main", Branch: "nightporter/shop/" + run, Author: "Mira <mira@example.org>"}
}

// commit makes a commit as git does: equal requests give the same hash.
func (n *night) commit(c ledger.CommitTask) ledger.Committed {
	n.t.Helper()
	key := mustJSON(n.t, c)
	if hash, ok := n.made[key]; ok {
		return ledger.Committed{Commit: hash}
	}
	if c.Parent != n.tip {
		n.t.Fatalf("commit on %s, and the branch is at %s", c.Parent, n.tip)
	}
	hash := fmt.Sprintf("c%d", len(n.made)+1)
	n.made[key], n.tip, n.parents[hash] = hash, hash, c.Parent
	return ledger.Committed{Commit: hash, Files: []ledger.FileChange{{Path: "a.go", Added: 1}}}
}

// remake makes a branch from commits as git does: those up to the first one that is
// left out stay. needs says which tasks do not apply without others.
func (n *night) remake(b ledger.RemakeBranch, needs func(task string) bool) RemakeFinished {
	f := RemakeFinished{Branch: b.Branch}
	top, left := b.Base, false
	for _, s := range b.Steps {
		c := ledger.RemadeCommit{Task: s.Task, Of: s.Commit, Commit: s.Commit}
		switch {
		case s.Drop:
			left = true
			continue
		case left && needs(s.Task):
			f.Made.Needs = append(f.Made.Needs, ledger.RemakeNeed{Task: s.Task, Files: []string{"a.go"}})
			continue
		case n.parents[s.Commit] != top:
			c.Commit = n.again(top, s.Commit)
		}
		f.Made.Commits = append(f.Made.Commits, c)
		top = c.Commit
	}
	if len(f.Made.Needs) == 0 {
		f.Made.Tip, f.Made.Tree, n.tip = top, "tree-"+top, top
	}
	return f
}

// again returns the commit that has the change of another one, on a parent.
func (n *night) again(parent, of string) string {
	key := "again " + parent + " " + of
	if n.made[key] == "" {
		n.made[key] = fmt.Sprintf("c%d", len(n.made)+1)
		n.parents[n.made[key]] = parent
	}
	return n.made[key]
}

// chain lays the changes of a batch one on top of the other, as the engine does.
// left says why one is left out, "" if it is not.
func (n *night) chain(b ledger.EffectChain, left func(ledger.ChainLink) string) ChainMade {
	made := ChainMade{Batch: b.Batch}
	for k, l := range b.Merges {
		link := ledger.BatchLink{Task: l.Task, Attempt: l.Attempt, Tree: l.Merge.Tree}
		if k > 0 {
			why := left(l)
			if l.Proof.Guards() {
				why = "changes checks"
			}
			if why != "" {
				made.Left = append(made.Left, ledger.BatchLeft{Task: l.Task, Why: why})
				continue
			}
			link.Tree, link.Proof = n.tree(), l.Proof
		}
		made.Links = append(made.Links, link)
	}
	return made
}

// batched checks what is committed in a batch: the trees of its chain, in order,
// as part of a prefix that passed as one.
func (n *night) batched(fail func(string, ...any), s State, e ledger.Entry, b ledger.TaskCommitted) {
	batch := s.Project.Run.Batch
	if t, ok := s.Project.Find(e.Task); batch == nil || !ok {
		if ok && n.batches && !t.Task.Own {
			fail("%s is committed out of a batch", e.Task)
		}
		return
	}
	if link := batch.Links[batch.Made]; link.Task != e.Task || link.Tree != b.Tree {
		fail("%s is committed with tree %s, and the batch has %v there", e.Task, b.Tree, link)
	}
	for _, link := range batch.Links[batch.Made:] {
		for _, v := range batch.Checked {
			if v.Tree == link.Tree && v.OK {
				return
			}
		}
	}
	fail("%s is committed with tree %s, and no prefix with it passed", e.Task, b.Tree)
}

// blamed checks that a task goes back only for a change that fails on top of what
// passed: the links before its own, or the tip.
func (n *night) blamed(fail func(string, ...any), batch *TaskBatch, e ledger.Entry) {
	if batch == nil {
		fail("%s goes back, and there is no batch", e.Task)
	}
	at := slices.IndexFunc(batch.Links, func(l ledger.BatchLink) bool { return l.Task == e.Task })
	switch {
	case at < 0:
		fail("%s goes back, and is in no batch", e.Task)
	case at == 0 && batch.AtTip == nil:
		fail("%s goes back, and the tip was not looked at", e.Task)
	case at > 0 && (batch.result(at) == nil || !batch.result(at).OK):
		fail("%s goes back, and what is before it did not pass", e.Task)
	}
}

// check checks the invariants of a decision and of the state after it.
func (n *night) check(old State, d Decision) {
	n.t.Helper()
	fail := func(format string, args ...any) {
		n.t.Helper()
		n.t.Fatalf("after %s: %s\n%s", n.last.Body.InputKind(), fmt.Sprintf(format, args...), n.dump())
	}
	p := n.s.Project
	agents := map[string]bool{}
	for _, s := range p.Sessions {
		if s.Planned.Kind == ledger.KindAgent {
			agents[s.ID] = true
		}
	}
	if len(agents) > 1 {
		fail("%d agents at once", len(agents))
	}
	for _, l := range n.s.Shared.Leases {
		if !agents[l.Session] {
			fail("a lease for %s, which is not in flight", l.Session)
		}
		delete(agents, l.Session)
	}
	if len(agents) > 0 {
		fail("no lease for %v", agents)
	}
	status := map[string]ledger.Status{}
	for _, t := range old.Project.Tasks.All() {
		status[ledger.FoldID(t.Task.ID)] = t.Status
	}
	s := old
	tip := ""
	if s.Project.Run != nil {
		tip = s.Project.Run.Tip
	}
	var batch *TaskBatch // the last one
	n.lacks(old)
	for _, e := range d.Entries {
		n.vanished(fail, s, e)
		if r := s.Project.Run; r != nil && r.Batch != nil {
			batch = r.Batch
		}
		work := func() *Attempt {
			if t, ok := s.Project.Find(e.Task); ok {
				return t.Attempt
			}
			return nil
		}()
		switch b := e.Body.(type) {
		case ledger.IDIssued:
			if b.N != s.Shared.Issued[b.Kind]+1 {
				fail("number %s%d after %d", b.Kind, b.N, s.Shared.Issued[b.Kind])
			}
		case ledger.GuidanceQueued:
			n.queued++
		case ledger.SessionPlanned:
			if n.planned[e.Session] {
				fail("session %s is planned twice", e.Session)
			}
			n.planned[e.Session] = true
			if len(s.Project.Sessions) > 0 {
				fail("session %s is planned while %s is in flight", e.Session, s.Project.Sessions[0].ID)
			}
			n.bound(fail, s, e, b)
		case ledger.Verified:
			for _, res := range b.Results {
				x, ok := n.outcome[res.Session]
				if !ok || res.OK != (x.Code == 0 && x.Reason == ledger.ExitSelf) {
					fail("%s is recorded as ok=%v, and it ended %+v", res.Session, res.OK, x)
				}
			}
			if b.Kind == ledger.KindBatch && e.Task != "" {
				n.blamed(fail, batch, e)
			}
		case ledger.PreflightDone:
			if tip = b.Base.Commit; b.Base.Upkeep != nil {
				n.tip = tip
			}
		case ledger.TipFound:
			tip, n.tip = b.Commit, b.Commit
			n.parents[b.Commit] = s.Project.Run.Tip
		case ledger.BranchRemade:
			tip = b.Tip
		case ledger.TaskCommitted:
			if b.Parent != tip {
				fail("commit %s on %s, and the tip is %s", b.Commit, b.Parent, tip)
			}
			if b.Tree == s.Project.Run.TipTree {
				fail("commit %s has the tree of its parent", b.Commit)
			}
			tip = b.Commit
			if len(n.settings.Verify) > 0 && (work == nil || work.Verified == nil || !work.Verified.OK || work.Verified.Tree != b.Tree) {
				fail("commit of tree %s, which no green verification is about", b.Tree)
			}
			n.batched(fail, s, e, b)
		case ledger.TaskSet:
			was, known := status[ledger.FoldID(e.Task)]
			if known && was != b.From {
				fail("%s goes from %s, and it was %s", e.Task, b.From, was)
			}
			status[ledger.FoldID(e.Task)] = b.To
			if b.From == ledger.Done && b.Why != whyScripted && !slices.Contains([]string{"retry", "redo", "answer", "branch_remade"}, n.last.Body.InputKind()) {
				fail("%s was done and is taken up again by %s", e.Task, n.last.Body.InputKind())
			}
			if b.To == ledger.Done && b.From == ledger.Active && b.Why == "" {
				t, _ := s.Project.Find(e.Task)
				if t.Attempt == nil || t.Attempt.Tree != t.Attempt.Start && (t.Commit != tip || tip == "") {
					fail("%s is done and not committed", e.Task)
				}
				if t.Attempt.Tree == t.Attempt.Start && !t.Attempt.judged(s.Project.Run.Settings) {
					fail("%s is done without a change, and nobody judged that", e.Task)
				}
			}
		}
		n.reverted(fail, e)
		n.red(fail, s, e, work)
		was, _ := s.Project.Find(e.Task)
		up := s.Project.Run
		s = Apply(s, e)
		if _, ended := e.Body.(ledger.RunEnded); ended && up != nil && up.Upkeep != nil { // the last run is back
			tip, n.tip = s.Project.Run.Tip, s.Project.Run.Tip
			_, n.tipRed = s.Project.RedTip()
		}
		if b, is := e.Body.(ledger.RunPlanned); is && b.Upkeep != nil {
			tip = ""
		}
		if is, _ := s.Project.Find(e.Task); was.Queued() && !is.Queued() {
			switch b := e.Body.(type) {
			case ledger.Commitment, ledger.AttemptEnded, ledger.StageSet, ledger.TreeMerged, ledger.Routed:
			case ledger.TaskSet:
				if b.To == ledger.Ready && !b.Fresh {
					fail("%s loses its place in the queue by %s", e.Task, e.Body.EntryType())
				}
			default:
				fail("%s loses its place in the queue by %s", e.Task, e.Body.EntryType())
			}
		}
	}
	if p.Run != nil && p.Run.Base.Commit != "" && p.Run.Tip != tip {
		fail("tip %s, want %s", p.Run.Tip, tip)
	}
	n.checkGuidance(fail)
	n.checkParts(fail, d)
	n.checkStuck(fail)
}

// reverted checks that a task which was taken out of the branch is not committed
// again by itself.
func (n *night) reverted(fail func(string, ...any), e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.BranchRemade:
		n.unsaid = b.Tip
		for _, id := range b.Wish.Drop {
			n.out[ledger.FoldID(id)] = true
		}
		for _, id := range b.Wish.Back {
			delete(n.out, ledger.FoldID(id))
		}
	case ledger.TaskSet:
		if b.Fresh && b.By != "" {
			delete(n.out, ledger.FoldID(e.Task))
		}
	case ledger.TaskCommitted:
		n.unsaid = ""
		if n.out[ledger.FoldID(e.Task)] {
			fail("%s was reverted and is committed again, and nobody asked for it", e.Task)
		}
	case ledger.Verified:
		if b.Tree == n.unsaid {
			n.unsaid = ""
		}
	case ledger.RemakeEnded:
		if b.Made {
			n.unsaid = ""
		}
	case ledger.RunPlanned:
		n.unsaid = ""
	}
}

// differ returns the place where two texts begin to differ.
func differ(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	cut := func(s string) string { return s[max(0, min(at, len(s))-150):min(len(s), at+150)] }
	return "\n… " + cut(a) + "\n… " + cut(b)
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
