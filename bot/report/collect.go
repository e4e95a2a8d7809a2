package report

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
)

// Collect turns records into the Facts of a span: after from, up to and
// including to. records are the entries of the project and of the shared stream,
// in order; those before from only provide context. s is the state at to. An
// error means that a record does not decode.
func Collect(records []ledger.Record, s loop.State, from, to time.Time) (Facts, error) {
	c := &collector{
		Facts:    Facts{Project: s.Project.Name, From: from, To: to},
		s:        s,
		zone:     to.Location(),
		flawed:   map[string]bool{},
		finished: map[string]bool{},
		given:    map[string]*Guided{},
		aside:    map[string]bool{},
		cause:    map[string]Cause{},
	}
	for _, h := range s.Project.HostsSeen {
		if c.inSpan(h.At) {
			c.NewHosts = append(c.NewHosts, h.Host)
		}
	}
	entries := make([]ledger.Entry, 0, len(records))
	for _, r := range records {
		if r.Time.After(to) {
			break
		}
		e, err := r.Entry()
		if err != nil {
			return Facts{}, fmt.Errorf("digest of %s: %w", s.Project.Name, err)
		}
		if entries = append(entries, e); r.Stream != ledger.SharedStream && r.Seq >= c.Seq {
			c.Seq, c.Head = r.Seq, hex.EncodeToString(r.Hash)
		}
	}
	c.left = newBurndown(s.Project.Tasks, entries)
	for _, e := range entries {
		if e.Stream == ledger.SharedStream {
			c.sharedEntry(e)
			continue
		}
		c.entry(e)
	}
	c.finish()
	return c.Facts, nil
}

// collector accumulates Facts entry by entry.
type collector struct {
	Facts
	s    loop.State
	zone *time.Location

	seen     Sessions // all sessions, also those that ended before From
	flawed   map[string]bool
	given    map[string]*Guided
	order    []string // ids of given, in order
	done     []string
	kinds    []failedKind
	aside    map[string]bool     // runs that are none of the source's: checks, ideas, upkeep
	cause    map[string]Cause    // why the last failed attempt of a task failed, by folded id
	finished map[string]bool     // ids of completed tasks, folded
	agent    string              // the agent parked last
	parked   ledger.FailureClass // why it was
	wait     *Span
	left     *burndown
	inLanes  laneTracker
}

// inSpan reports whether a time is in the span.
func (c *collector) inSpan(t time.Time) bool { return t.After(c.From) && !t.After(c.To) }

// sharedEntry applies an entry of the shared stream.
func (c *collector) sharedEntry(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.StrangerWrote:
		if c.inSpan(e.Time) {
			c.Strangers++
		}
	case ledger.AgentParked:
		c.agent, c.parked = b.Agent, b.Why
	case ledger.WasOff:
		if b.To.After(c.From) && !b.From.After(c.To) {
			c.Off = append(c.Off, Span{From: c.local(later(b.From, c.From)), To: c.local(earlier(b.To, c.To))})
		}
	}
}

func (c *collector) local(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(c.zone)
}

func (c *collector) entry(e ledger.Entry) {
	c.left.apply(e)
	c.seen.Apply(e)
	c.inLanes.apply(e)
	if stats.Flawed(e) {
		c.flaw(e.Task)
	}
	switch b := e.Body.(type) {
	case ledger.RunPlanned:
		c.aside[e.Run] = b.Check || b.Upkeep != nil || b.Idea != ""
	case ledger.RunStarted:
		if c.inSpan(e.Time) {
			c.start(e.Time)
		}
		c.Endings = slices.DeleteFunc(c.Endings, func(x Ending) bool { return x.Why == ledger.ReasonPreflight })
	case ledger.RunEnded:
		if b.Reason != ledger.ReasonChecked {
			c.runEnded(b, e)
		}
		c.endWait(e.Time)
	case ledger.RunStateSet:
		c.state(b, e.Time)
	case ledger.SessionPlanned:
		c.Reach.Apply(e) // it may end in the span
	case ledger.SessionEnded:
		if c.inSpan(e.Time) {
			c.Reach.Apply(e)
		}
		if b.Kind == ledger.KindAgent {
			c.ended(b, e)
		}
	case ledger.Verified:
		if e.Task != "" && !b.OK && (b.Kind == ledger.KindVerify || b.Kind == ledger.KindBatch) {
			c.countFailure(bot.RedoText(ledger.RedoRed), e)
		}
	case ledger.Redo:
		if b.Why != ledger.RedoRed { // counted with its Verified entry
			c.countFailure(bot.RedoText(b.Why), e)
		}
	case ledger.Routed:
		if stats.SentBack(b) && c.inSpan(e.Time) {
			c.Fixes++
		}
	case ledger.AttemptEnded:
		if b.Failed {
			c.cause[ledger.FoldID(e.Task)] = causeOf(b.Outcome)
			if c.inSpan(e.Time) {
				c.Failures = append(c.Failures, Failure{Task: e.Task, Attempt: e.Attempt, Why: bot.OutcomeWhy(b.Outcome, b.Why)})
			}
		}
	case ledger.TaskCommitted:
		if b.Outside && c.inSpan(e.Time) {
			c.Outside = append(c.Outside, Commit{Task: e.Task, Hash: b.Commit})
		}
	case ledger.TaskSet:
		c.taskSet(b, e)
	case ledger.WaveEnded:
		if c.inSpan(e.Time) && (b.Cut == "" || b.Attempted() > 0) {
			c.Waves = append(c.Waves, waveRow(e.Run, b, c.local(e.Time)))
		}
	}
	c.guidanceUsed(e)
	if e.Run != "" && !c.aside[e.Run] && c.inSpan(e.Time) && !slices.Contains(c.Runs, e.Run) {
		c.Runs = append(c.Runs, e.Run)
	}
}

// start moves Began back to t if t is earlier.
func (c *collector) start(t time.Time) {
	if t = c.local(t); c.Began.IsZero() || t.Before(c.Began) {
		c.Began = t
	}
}

func counted(all []Count, name string) []Count {
	if n := slices.IndexFunc(all, func(c Count) bool { return c.Name == name }); n >= 0 {
		all[n].N++
		return all
	}
	return append(all, Count{Name: name, N: 1})
}

func (c *collector) taskSet(b ledger.TaskSet, e ledger.Entry) {
	if b.Again { // it repeats, and begins anew
		delete(c.flawed, ledger.FoldID(e.Task))
	}
	if b.To != ledger.Done || !c.inSpan(e.Time) || c.left.part[ledger.FoldID(e.Task)] { // a part counts with its task
		return
	}
	if id := ledger.FoldID(e.Task); !c.finished[id] {
		c.finished[id] = true
		c.done = append(c.done, e.Task)
	}
}

// failedBy names the session outcomes that count as failures.
var failedBy = map[ledger.SessionOutcome]string{
	ledger.EndedSilent: "without a report", ledger.EndedStall: "silent too long", ledger.EndedCircle: "in a circle", ledger.EndedWall: "over the time limit", ledger.EndedLost: "lost without trace",
}

func (c *collector) ended(b ledger.SessionEnded, e ledger.Entry) {
	if !c.inSpan(e.Time) {
		return
	}
	if what, ok := failedBy[b.End]; ok {
		if b.Exit.OverLimits() {
			what = "over memory or processes"
		}
		c.countFailure(what, e)
	}
	c.Cost.Sessions++
	if b.Exit.CostUSD < 0 {
		c.Cost.Unpriced++
	} else {
		c.Cost.USD += b.Exit.CostUSD
		if b.Exit.Estimated {
			c.Cost.About++
		}
	}
}

// state begins and ends waits as the run's state changes.
func (c *collector) state(b ledger.RunStateSet, at time.Time) {
	why := ""
	if b.State == ledger.RunWaiting || b.State == ledger.RunPaused {
		switch b.Wait {
		case ledger.WaitLimit:
			why = c.awaited()
		case ledger.WaitAgent:
			why = "an agent that needs you"
		case ledger.WaitQuestion:
			why = "an answer"
		case ledger.WaitDisk:
			why = "room on the disk"
		case ledger.WaitMachine:
			why = "the machine"
		case ledger.WaitReview:
			why = "your review"
		case ledger.WaitPerson:
			why = "you: paused"
		}
	}
	if c.wait != nil && c.wait.Why == why {
		return // the same wait, checked again
	}
	c.endWait(at)
	if why != "" {
		c.wait = &Span{From: c.local(at), Why: why}
	}
}

// awaited returns what a run waits for while its agent is parked.
func (c *collector) awaited() string {
	if c.parked == ledger.FailureNetwork {
		return "the network"
	}
	if c.agent == "" {
		return "the usage limit"
	}
	name := bot.Cut(bot.Clean(c.agent), 16)
	if c.parked == ledger.FailureEarly {
		return name + " to work"
	}
	return name + "'s limit"
}

func (c *collector) endWait(at time.Time) {
	if c.wait == nil {
		return
	}
	w := *c.wait
	c.wait = nil
	w.From, w.To = later(w.From, c.local(c.From)), c.local(at)
	if c.inSpan(at) && w.To.After(w.From) {
		c.Waits = append(c.Waits, w)
	}
}

// finish computes everything that needs all entries.
func (c *collector) finish() {
	if w := c.wait; w != nil {
		c.endWait(c.To)
		if n := len(c.Waits); n > 0 && c.Waits[n-1].Why == w.Why {
			c.Waits[n-1].Open = true
		}
	}
	c.Waits = slices.DeleteFunc(merged(c.Waits), func(w Span) bool { return !w.Open && w.Duration() < leastWait })
	for _, x := range c.seen.In(c.s) {
		if x.Live {
			x.End = c.To
			c.Cost.Running++
		}
		if x.End.After(c.From) {
			x.Start, x.End = later(c.local(x.Start), c.local(c.From)), c.local(x.End)
			c.Sessions = append(c.Sessions, x)
		}
	}
	slices.SortStableFunc(c.Sessions, func(a, b Session) int { return a.Start.Compare(b.Start) })
	for _, x := range c.Sessions {
		c.Hats = counted(c.Hats, x.Hat)
		c.Scripted = c.Scripted || x.Scripted
		c.start(x.Start)
	}
	c.lanes()
	c.unsettled()
	c.finalState()
	c.requests()
	c.addNeeds()
	c.guidanceOutcomes()
	if c.Began.IsZero() {
		return
	}
	if c.Live || c.Ended.Before(c.Began) {
		c.Ended = c.To
		if !c.Live && len(c.Sessions) > 0 {
			c.Ended = c.Began
			for _, x := range c.Sessions {
				c.Ended = later(c.Ended, x.End)
			}
		}
	}
	c.Burndown = c.left.between(c.Began, c.Ended)
}

// leastWait is the shortest finished wait that the digest mentions.
const leastWait = time.Minute

// overShown is the number of budgets that a digest says a run went over.
const overShown = 4

// merged joins waits for the same reason that follow each other within two
// minutes. A retry in the middle of a wait does not make it two.
func merged(all []Span) []Span {
	var out []Span
	for _, w := range all {
		if n := len(out) - 1; n >= 0 && out[n].Why == w.Why && w.From.Sub(out[n].To) < 2*time.Minute {
			out[n].To, out[n].Open = w.To, w.Open
			continue
		}
		out = append(out, w)
	}
	return out
}

// finalState records the tasks, questions and branch at the end of the span.
func (c *collector) finalState() {
	c.Done, c.Total = c.s.Project.Count()
	for _, t := range c.s.Project.Tasks.All() {
		if t.Task.Parent != "" {
			continue
		}
		switch t.Status {
		case ledger.Blocked:
			c.Blocked++
		case ledger.ManualVerify:
			c.Manual++
		case ledger.Skipped:
			c.Skipped++
		}
		if id := ledger.FoldID(t.Task.ID); c.finished[id] {
			delete(c.finished, id)
			c.Completed = append(c.Completed, t.Task.ID)
		}
	}
	for _, id := range c.done { // the remaining ids: these tasks are no longer in the source
		if c.finished[ledger.FoldID(id)] {
			c.Completed = append(c.Completed, id)
		}
	}
	for _, id := range c.Completed {
		if !c.flawed[ledger.FoldID(id)] {
			c.FirstPass++
		}
	}
	c.proofs()
	c.Left = c.Total - c.Done - c.Skipped
	r := c.s.Project.Run
	if r == nil {
		return
	}
	c.Live = !r.Over() && !r.Started.IsZero()
	c.Boundary, c.Red, c.commits = r.Base.Boundary, c.red(r), r.Commits
	if r.Over() {
		c.Since = c.local(r.EndedAt)
		if e := r.Ended; e != nil {
			c.TipRed = e.FinalOK != nil && !*e.FinalOK
			c.verified = bot.TipGreen(c.s, *e)
		}
		if slices.Contains(c.Runs, r.ID) {
			c.Over = bot.Overshoots(c.s, c.To)
			c.Over = c.Over[:min(len(c.Over), overShown)]
		}
	}
	if r.Commits > 0 && slices.Contains(c.Runs, r.ID) {
		c.Branch, c.tip, c.remote, c.kept = r.Base.Branch, r.Tip, c.s.Project.FirstBranch(), len(c.s.Project.Kept())
		c.merge, _ = bot.MergeButton(c.s)
	}
	c.doing = bot.Doing(c.s)
	if t := strings.Fields(c.doing); len(t) > 1 && t[1] == "unknown" {
		c.doing = t[0]
	}
}

// requests adds the requests of the project, whichever run they are of.
func (c *collector) requests() {
	for _, b := range slices.Backward(c.s.Project.Requests.Branches) {
		if b.Request == nil || !b.IsOpen() && (b.Seen == nil || !c.inSpan(b.Seen.At)) {
			continue
		}
		sign, text := bot.RequestResult(b)
		c.Requests = append(c.Requests, RequestResult{Sign: sign, Text: text, URL: bot.Clean(b.Request.URL)})
	}
}

// proofs reads the words of the completed tasks from the state: a person may have
// allowed or passed a task after it was done.
func (c *collector) proofs() {
	var tasks []loop.TaskState
	for _, id := range c.Completed {
		t, ok := c.s.Project.Find(id)
		if !ok {
			t = loop.TaskState{Task: ledger.Task{ID: id}}
		}
		tasks = append(tasks, t)
		if p := bot.ProofOf(c.s, t); p != nil {
			if c.Proofs == nil {
				c.Proofs = ledger.ProofCount{}
			}
			c.Proofs[p.Word]++
		}
	}
	if len(c.Proofs) > 0 {
		c.Proof = bot.ProofGroups(c.s, tasks)
		urgent := func(g bot.ProofGroup) int {
			if g.Sign == bot.SignLook {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(c.Proof, func(a, b bot.ProofGroup) int { return urgent(a) - urgent(b) })
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// red says what is not green: at the run's end, or so far.
func (c *collector) red(r *loop.Run) []string {
	if r.Ended != nil {
		return bot.RedEnd(*r.Ended)
	}
	sofar := ledger.RunEnded{Exempt: r.Exempt, Exempted: r.Exempted}
	if tip, red := c.s.Project.RedTip(); red {
		sofar.RedTip = &tip
	}
	return bot.RedEnd(sofar)
}
