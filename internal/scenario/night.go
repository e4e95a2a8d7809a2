package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
	"github.com/nightporter/nightporter/loop/testreport"
)

// Act is the scripted behaviour of one agent session.
type Act struct {
	Type  string // type of its event; "" = it ends without one
	Data  string // payload of its event
	Took  time.Duration
	Cost  float64 // in dollars; negative = unknown
	Files []ledger.FileChange
	Out   []string     // paths out of scope
	Red   string       // output of the verification after it; "" = it passes
	Exit  *ledger.Exit // its exit; nil = it ends normally
	Typed []string     // lines that a person types while it runs
}

// Night is one project with its state and its ledger entries. Create it with
// New. It is not safe for concurrent use.
type Night struct {
	State loop.State
	Now   time.Time
	Acts  map[string][]Act // by task and hat ("Task 2 builder"), in order; a session without an Act succeeds
	Check time.Duration    // duration of a verification
	Cost  float64          // of sessions without an Act
	Tip   string           // output of the branch tip's verification; "" = it passes
	See   func(before, after loop.State, e ledger.Entry)
	Proof map[string]ledger.Proof // by task: its word, in place of the one that the core finds
	Type  func(line string)       // called with each line that a person types

	// Decided is called with each decision before its entries are folded. May be
	// nil.
	Decided func(before loop.State, d loop.Decision, in loop.Input)

	project string
	effects []ledger.Effect
	flights []flight       // sessions under way, in a run with several lanes
	last    map[string]Act // by task: the Act of its last session
	tree    int
	records []ledger.Record
	seq     map[string]int64
}

// New returns a Night at time at of a project with the plan-build-review
// pattern.
func New(project string, at time.Time) *Night {
	return &Night{Now: at, project: project, Acts: map[string][]Act{}, last: map[string]Act{}, seq: map[string]int64{}, Cost: -1, Check: 38 * time.Second}
}

// Settings returns the settings of a run with the shipped hats, as far as the
// core reads them.
func (n *Night) Settings() ledger.Settings {
	hat := func(name, emits string, writes bool) ledger.Hat {
		h := ledger.Hat{Name: name, Emits: []string{emits}, Expect: ledger.ExpectNone, Timeout: ledger.Duration(time.Hour), StallTimeout: ledger.Duration(15 * time.Minute), Shipped: true}
		if writes {
			h.WriteAllowed, h.Expect = []string{"**"}, ledger.ExpectPass
		}
		return h
	}
	return ledger.Settings{
		Project: n.project, Repo: "/srv/" + n.project, Source: ledger.SourceRef{Kind: "plan", Path: ".agents/plans/in-progress/checkout.md"},
		Profile: "overnight", OnBlocked: ledger.OnBlockedContinue, Agent: "claude", MaxIterations: 500, Push: "never",
		Pattern: ledger.Pattern{
			Name: "plan-build-review", Start: "planner", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, MinRounds: 1,
			Routes: []ledger.Route{
				{From: "planner", On: "plan.complete", To: "builder"},
				{From: "builder", On: "build.complete", To: "reviewer"},
				{From: "reviewer", On: "review.verdict", When: ledger.Above, To: "fixer"},
				{From: "reviewer", On: "review.verdict", When: ledger.Below, To: ledger.Converged},
				{From: "fixer", On: "fix.complete", To: "reviewer"},
			},
		},
		Hats: map[string]ledger.Hat{
			"planner": hat("planner", "plan.complete", false), "builder": hat("builder", "build.complete", true),
			"reviewer": hat("reviewer", "review.verdict", false), "fixer": hat("fixer", "fix.complete", true),
		},
		Verify:          []ledger.Command{{Run: "go test ./..."}},
		QuestionTimeout: ledger.DefaultQuestionTimeout, BaselineTimeout: ledger.DefaultBaselineTimeout, Grace: ledger.DefaultGrace,
	}
}

// Do decides an input, folds the resulting entries and returns the answer.
func (n *Night) Do(in loop.Input) ledger.Answer {
	in.Time = n.Now
	if _, in.Idle = in.Body.(people.Input); !in.Idle { // those have no project
		in.Project = n.project
	}
	if in.Actor == "" {
		in.Actor = "daemon"
	}
	d := loop.Decide(n.State, in)
	if n.Decided != nil {
		n.Decided(n.State, d, in)
	}
	var unallowed []ledger.Entry
	for _, e := range d.Entries {
		if _, is := e.Body.(ledger.TaskProved); is {
			if p, has := n.Proof[e.Task]; has {
				e.Body = ledger.TaskProved{Proof: p}
				if p.Word == ledger.ChangedChecks && p.Allowed == "" {
					unallowed = append(unallowed, e)
				}
			}
		}
		n.Entry(e)
	}
	for _, e := range unallowed {
		n.askChecks(e)
	}
	n.effects = append(n.effects, d.Effects...)
	return d.Answer
}

// askChecks asks about a task that was committed on changed checks, as the core
// does in profile overnight.
func (n *Night) askChecks(proved ledger.Entry) {
	p := proved.Body.(ledger.TaskProved).Proof
	t, _ := n.State.Project.Find(proved.Task)
	id := n.State.Shared.Issued["q"] + 1
	n.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: n.Now, Actor: "daemon", Body: ledger.IDIssued{Kind: "q", N: id}})
	proved.Body = ledger.QuestionAsked{Question: ledger.Question{
		ID: fmt.Sprintf("q%d", id), Kind: ledger.AskChecks, Run: proved.Run, Task: t.Task.ID, Session: proved.Session, Title: t.Task.Title, Hat: "reviewer",
		Proof: &p, Asked: n.Now, Text: bot.CheckChanges(p) + ". The old ones do not pass.",
	}}
	n.Entry(proved)
}

// Entry folds one entry and passes it to See.
func (n *Night) Entry(e ledger.Entry) {
	before := n.State
	n.State = loop.Apply(before, e)
	if r, err := e.Record(); err == nil {
		n.seq[r.Stream]++
		r.Seq = n.seq[r.Stream]
		n.records = append(n.records, r)
	}
	if n.See != nil {
		n.See(before, n.State, e)
	}
}

// Records returns the project's records of a task, or all records for "".
func (n *Night) Records(task string) []ledger.Record {
	var out []ledger.Record
	for _, r := range n.records {
		if r.Stream != ledger.SharedStream && (task == "" || ledger.SameID(r.Task, task)) {
			out = append(out, r)
		}
	}
	return out
}

// Runs returns the ids of the project's runs, oldest first.
func (n *Night) Runs() []string {
	var runs []string
	for _, r := range n.records {
		if r.Run != "" && !slices.Contains(runs, r.Run) {
			runs = append(runs, r.Run)
		}
	}
	return runs
}

// RunRecords returns the records of a run with one of the given types, or all of
// them without types.
func (n *Night) RunRecords(run string, types ...string) []ledger.Record {
	var out []ledger.Record
	for _, r := range n.records {
		if r.Run == run && (len(types) == 0 || slices.Contains(types, r.Type)) {
			out = append(out, r)
		}
	}
	return out
}

// All returns all records, without the fields that the store adds.
func (n *Night) All() []ledger.Record {
	out := slices.Clone(n.records)
	for i := range out {
		out[i].Seq = 0
	}
	return out
}

// Start starts a run over the given tasks.
func (n *Night) Start(set ledger.Settings, base ledger.Base, tasks ...ledger.Task) {
	n.Do(loop.Input{Key: "run", Actor: "console", Body: loop.StartRun{Settings: set, MaxSessions: max(set.Parallel, 1)}})
	n.effects = nil
	n.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Base: base, Snapshot: ledger.Snapshot{Name: "checkout", Path: set.Source.Path, Tasks: tasks}}})
}

// Base returns the start of a run, at boundary level 3.
func (n *Night) Base(run string) ledger.Base {
	return ledger.Base{Commit: "c0", Tree: "t0", Head: "c0", HeadName: "main", Branch: "nightporter/" + n.project + "/" + run, Boundary: 3}
}

// Until carries out effects until none is left or stop returns true.
func (n *Night) Until(stop func() bool) {
	for range 2000 {
		if stop != nil && stop() {
			return
		}
		if len(n.effects) == 0 {
			due := loop.Due(n.State)
			if n.landed(due) {
				continue
			}
			if due.IsZero() || n.State.Project.Run.Over() {
				return
			}
			if due.After(n.Now) {
				n.Now = due
			}
			n.Do(loop.Input{Body: loop.Tick{}})
			continue
		}
		e := n.effects[0]
		n.effects = n.effects[1:]
		n.carry(e)
	}
	panic("scenario: it does not end")
}

func (n *Night) carry(e ledger.Effect) {
	switch b := e.Body.(type) {
	case ledger.EffectStart:
		n.start(b.Session)
	case ledger.EffectCapture:
		t, _ := n.task(b.Request.Session)
		act := n.last[t]
		n.tree++
		tree := fmt.Sprintf("t%d", n.tree)
		if len(act.Files) == 0 {
			tree = b.Request.Input
		}
		n.Do(loop.Input{Body: loop.TreeCaptured{Session: b.Request.Session, Ref: b.Request.Ref, Taken: ledger.Capture{Tree: tree, Files: act.Files, Outside: act.Out}}})
	case ledger.EffectCommit:
		n.tree++
		n.Do(loop.Input{Body: loop.CommitMade{Task: b.Task, Committed: ledger.Committed{Commit: fmt.Sprintf("%07x5e", 0x3b1f0aa+n.tree*0x1111)}}})
	case ledger.EffectMerge:
		n.tree++
		n.Do(loop.Input{Body: loop.MergeFinished{Task: b.Task, Onto: b.Merge.Onto, OntoTree: b.Merge.OntoTree, Merged: ledger.Merged{Tree: fmt.Sprintf("t%d", n.tree)}}})
	case ledger.EffectChain:
		made := loop.ChainMade{Batch: b.Batch}
		for _, l := range b.Merges {
			n.tree++
			made.Links = append(made.Links, ledger.BatchLink{Task: l.Task, Attempt: l.Attempt, Tree: fmt.Sprintf("t%d", n.tree)})
		}
		made.Links[0].Tree = b.Merges[0].Merge.Tree
		n.Do(loop.Input{Body: made})
	case ledger.EffectMark:
		n.Do(loop.Input{Body: loop.MarkMade{Task: b.Task, Mark: b.Mark}})
	}
}

// task returns the task whose attempt a session belongs to.
func (n *Night) task(session string) (id, hat string) {
	for _, t := range n.State.Project.Tasks.All() {
		if t.Attempt != nil && t.Attempt.Session == session {
			return t.Task.ID, t.Attempt.Hat
		}
	}
	return "", ""
}

// flight is a session that is under way.
type flight struct {
	session     loop.Session
	act         Act
	began, ends time.Time
}

// start starts a session. In a run with one lane it ends at once, in one with
// several as soon as no other ends before it.
func (n *Night) start(id string) {
	s, ok := n.State.Project.Session(id)
	if !ok {
		return
	}
	f := flight{session: s, began: n.Now, ends: n.Now.Add(n.Check)}
	if s.Planned.Kind == ledger.KindAgent {
		f.act = n.act(s)
		f.ends = n.Now.Add(f.act.Took)
	}
	if n.State.Project.Run.Lanes() == 1 {
		n.land(f)
		return
	}
	n.flights = append(n.flights, f)
}

// landed ends the session whose end comes first, unless something is due before it.
func (n *Night) landed(due time.Time) bool {
	if len(n.flights) == 0 {
		return false
	}
	first := slices.MinFunc(n.flights, func(a, b flight) int { return a.ends.Compare(b.ends) })
	if due.After(n.Now) && due.Before(first.ends) {
		return false
	}
	n.flights = slices.DeleteFunc(n.flights, func(f flight) bool { return f.session.ID == first.session.ID })
	n.land(first)
	return true
}

// land ends a session at its time.
func (n *Night) land(f flight) {
	id := f.session.ID
	n.Now = f.ends
	if f.session.Planned.Kind != ledger.KindAgent {
		x := ledger.Exit{Session: id, Reason: ledger.ExitSelf, Started: f.began, Ended: n.Now, CostUSD: -1, Tokens: -1, Turns: -1, Boundary: 3}
		red := n.last[f.session.Task].Red
		if f.session.Planned.Kind == ledger.KindFinal || f.session.Planned.Kind == ledger.KindRecheck {
			red = n.Tip
		}
		if red != "" {
			x.Code, x.Tail = 1, red
			failed := testreport.Parse(red, testreport.Ended{Exit: 1}).Summary(10)
			x.Failures = &failed
		}
		n.Do(loop.Input{Key: "exit:" + id, Body: loop.SessionExited{Exit: x}})
		return
	}
	act := f.act
	n.last[f.session.Task] = act
	for _, line := range act.Typed {
		n.Type(line)
	}
	if act.Type != "" {
		emit := loop.Input{Key: "emit:" + id, Actor: "agent", Body: loop.Emit{Session: id, Type: act.Type, Data: json.RawMessage(act.Data)}}
		if a := n.Do(emit); !a.OK { // a second attempt, as an agent would make
			n.Do(emit)
		}
	}
	x := ledger.Exit{Session: id, Reason: ledger.ExitSelf, CostUSD: act.Cost, Tokens: -1, Turns: -1, Boundary: 3}
	if act.Exit != nil {
		x = *act.Exit
	}
	x.Session, x.Started, x.Ended = id, f.began, n.Now
	n.Do(loop.Input{Key: "exit:" + id, Body: loop.SessionExited{Exit: x}})
}

// act returns the Act of a session: the scripted one, or the success that its
// hat is for.
func (n *Night) act(s loop.Session) Act {
	key := s.Task + " " + s.Planned.Hat
	if acts := n.Acts[key]; len(acts) > 0 {
		n.Acts[key] = acts[1:]
		return acts[0]
	}
	return Success(s.Planned.Hat, time.Minute, n.Cost)
}

// Success returns the Act of a hat that does what it is for.
func Success(hat string, took time.Duration, cost float64) Act {
	a := Act{Took: took, Cost: cost}
	switch hat {
	case "planner":
		a.Type, a.Data = "plan.complete", `{"summary":"planned","steps":["one"]}`
	case "reviewer":
		a.Type, a.Data = "review.verdict", `{"summary":"fine","issues":[]}`
	default:
		a.Type = map[string]string{"builder": "build.complete", "fixer": "fix.complete"}[hat]
		a.Data = `{"summary":"did it","files_modified":["a.go"]}`
		a.Files = []ledger.FileChange{{Path: "a.go", Added: 10, Removed: 2}}
	}
	return a
}

// AtWork plays a night until one task is done, one is blocked, one asks, one
// waits to be verified by hand, and a builder is at work on #4.
func (n *Night) AtWork(set ledger.Settings) {
	n.Cost = 0.25
	n.Acts["Task 2 planner"] = []Act{{Type: "task.blocked", Data: `{"reason":"the plan says two things","tried":"by line","needs":"which of them"}`, Took: time.Minute, Cost: 0.1}}
	n.Acts["Task 3 planner"] = []Act{{Type: "question.asked", Data: `{"text":"May an address be a PO box?","options":["Yes, letters only","No"],"choice":"No"}`, Took: time.Minute, Cost: 0.1}}
	manual := Task(5, "Pay page on a phone")
	manual.Mark, manual.Acceptance = ledger.MarkManualVerify, []string{"Open /pay", "Test card"}
	n.Start(set, n.Base("r1"), Task(1, "Extract price rules"), Task(2, "Refund flow"), Task(3, "Address form"),
		Task(4, "Move orders to the new API"), manual, Task(6, "Retry failed payments", "Task 2"))
	n.Until(func() bool { return bot.Doing(n.State) == "#4 builder" })
}

// Task returns a task without special fields, for a plan.
func Task(n int, title string, needs ...string) ledger.Task {
	return ledger.Task{ID: fmt.Sprintf("Task %d", n), Title: title, Body: title, DependsOn: needs, Mark: ledger.MarkOpen, Line: n}
}
