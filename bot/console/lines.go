package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
)

// entry prints one entry. What only the ledger needs has no case.
func (c *Console) entry(v view) {
	switch b := v.e.Body.(type) {
	// Sessions: their lines are put together from several entries.
	case loop.SessionPlanned:
		c.planned(v, b)
	case loop.EventAccepted:
		c.of(v).event = b
	case loop.SessionEnded:
		if b.Kind == loop.KindAgent {
			c.agentEnded(v, b)
		}
	case loop.TakenOver:
		if s := c.held[loop.FoldID(v.e.Task)]; s != nil {
			s.taken = &b.Taken
		}
	case loop.Verified:
		c.verified(v, b)
	case loop.Routed:
		c.routed(v, b)
	case loop.Redo:
		c.redo(v, b)
	case loop.GuidanceReported:
		s := c.of(v)
		s.reports = append(s.reports, b)
	case loop.GuidanceBound:
		c.bound(v, b)
	case loop.TaskCommitted:
		c.commits[loop.FoldID(v.e.Task)] = b.Commit
	case loop.AgentUsable:
		if c.unusable[b.Agent] {
			delete(c.unusable, b.Agent)
			c.say(v, bot.SignNow+" "+bot.Clean(b.Agent)+" is tried again")
		}
	default:
		c.news(v)
	}
}

// news prints entries that are a line of their own.
func (c *Console) news(v view) {
	switch b := v.e.Body.(type) {
	case loop.PreflightFailed:
		c.preflightFailed(v, b)
	case loop.PreflightDone:
		c.preflightDone(v, b)
	case loop.RunStarted:
		c.started(v, b)
	case loop.RunResumed:
		c.resumed(v)
	case loop.RunStateSet:
		c.stateSet(v, b)
	case loop.RunFinishing:
		c.settleAll(v)
		if !c.opt.Demo {
			c.say(v, bot.SignLater+" the branch tip is verified once more, in a clean folder")
		}
	case loop.RunEnded:
		c.settleAll(v)
		c.ended(v, b)
	case loop.AgentParked:
		c.parked(v, b)
	case loop.AgentUnusable:
		c.unusable[b.Agent] = true
		c.tell(v, bot.SignLook+" agent "+bot.Clean(b.Agent)+" cannot be used: "+bot.Clean(b.Text))
	case loop.SourceRead:
		c.sourceRead(v, b)
	case loop.SourceMarked:
		if b.Error != "" {
			c.tell(v, bot.SignLook+" "+c.id(v.e.Task)+" not marked in "+bot.Plan(&loop.Run{Settings: v.run().Settings})+": "+bot.Clean(b.Error))
		}
	case loop.Commitment:
		c.commitment(v, b)
	case loop.TaskSet:
		c.taskSet(v, b)
	case loop.AttemptEnded:
		c.attemptEnded(v, b)
	case loop.EventRefused:
		c.tell(v, bot.SignLook+" "+c.id(v.e.Task)+" "+bot.Clean(c.of(v).hat)+": "+bot.Clean(b.Type)+" refused: "+bot.Clean(b.Why)+owed(b))
	case loop.GuidanceQueued, loop.GuidanceChanged, loop.GuidanceDropped, loop.GuidanceExpired, loop.GuidanceKept:
		c.guidance(v)
	case loop.QuestionAsked:
		c.question(v, b.Question)
	case loop.QuestionAnswered:
		c.answered(v, b)
	case loop.QuestionExpired:
		c.expired(v, b)
	case loop.InputPoisoned:
		c.say(v, bot.SignLook+" a fault in nightporter, with "+bot.Clean(b.Kind)+"; all else goes on")
		c.wrapped(b.Error)
	case loop.EffectFailed:
		if !b.Disk { // told by what the run waits for
			c.tell(v, bot.SignLook+" "+bot.Clean(b.Kind)+" failed: "+bot.Clean(b.Text))
		}
	}
}

// say prints a line that an entry causes, and remembers its cause.
func (c *Console) say(v view, text string) {
	c.flush(v.at)
	c.told(v.e.Cause)
	c.line(v.at, text)
}

// maxLong is how many lines a reason may take: it was written by an agent, a
// program or a person, and has to leave room for what else happens.
const maxLong = 4

// tell is say for what has to be read to its end: it is broken into lines,
// not cut, up to maxLong of them.
func (c *Console) tell(v view, text string) {
	c.flush(v.at)
	c.told(v.e.Cause)
	parts := bot.Wrap(text, c.room())
	if len(parts) > maxLong {
		rest := strings.Join(parts[maxLong-1:], " ")
		parts = append(parts[:maxLong-1], bot.Cut(rest, c.room()))
	}
	for n, part := range parts {
		if n == 0 {
			c.whole(v.at, part)
			continue
		}
		c.more(part)
	}
}

// settleAll prints every held line: the run is over.
func (c *Console) settleAll(v view) {
	for _, key := range sortedKeys(c.held) {
		c.print(v, c.held[key])
	}
}

func sortedKeys(m map[string]*session) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (c *Console) id(task string) string { return bot.Cut(bot.Clean(loop.ShortID(task)), 20) }

func owed(b loop.EventRefused) string {
	if len(b.Owed) == 0 {
		return ""
	}
	return " (" + strings.Join(b.Owed, " ") + ")"
}

// planned notes a session that begins, and says once that preflight runs
// commands: they can take minutes.
func (c *Console) planned(v view, b loop.SessionPlanned) {
	if b.Kind == loop.KindAgent {
		c.running[v.e.Session] = &session{id: v.e.Session, task: v.e.Task, hat: b.Hat, stall: b.Stall.D(), wall: b.Wall.D()}
		return
	}
	if v.e.Task == "" && b.Kind != loop.KindFinal && v.run().Started.IsZero() && !c.pre && !c.opt.Demo {
		c.pre = true
		c.say(v, bot.SignLater+" "+v.run().ID+": looks whether "+bot.CommandName(b.Command)+" works on the start commit")
	}
}

// commitment begins a task's attempt.
func (c *Console) commitment(v view, b loop.Commitment) {
	key := loop.FoldID(v.e.Task)
	t, _ := v.after.Project.Find(v.e.Task)
	title := bot.Cut(bot.Clean(b.Title), 60)
	if b.Resume {
		if was, ok := v.before.Project.Find(v.e.Task); ok && was.Work != nil && was.Work.Run == v.e.Run {
			return // it waited for an answer only
		}
		c.say(v, bot.SignAgain+" "+c.id(v.e.Task)+" "+title+", goes on from its tree")
		return
	}
	delete(c.commits, key)
	if t.Attempts <= 1 {
		c.spent[key] = &purse{}
		c.say(v, bot.SignNow+" "+c.id(v.e.Task)+" "+title)
		return
	}
	c.say(v, fmt.Sprintf("%s %s %s, attempt %d", bot.SignAgain, c.id(v.e.Task), title, t.Attempts))
}

// taskSet tells a change of a task that is not told by something else.
func (c *Console) taskSet(v view, b loop.TaskSet) {
	if v.run().Started.IsZero() {
		return // the first reading of the source
	}
	if b.To != loop.Active {
		c.settle(v, v.e.Task)
	}
	id := c.id(v.e.Task)
	switch b.To {
	case loop.Done:
		c.done(v, b)
	case loop.Skipped:
		text := bot.SignAway + " " + id + " skipped"
		if rest := bot.Dependents(v.after, v.e.Task); rest != "" {
			text += "; " + rest
		}
		c.tell(v, text)
	case loop.Withdrawn:
		c.say(v, bot.SignAway+" "+id+" withdrawn: its line is gone")
	case loop.Blocked:
		if b.Question == "" {
			c.tell(v, bot.SignBlocked+" "+id+" blocked: "+bot.Clean(b.Why))
		}
	case loop.Ready:
		if b.Fresh || (b.From != loop.Pending && b.From != loop.Active && b.From != loop.Waiting) {
			c.say(v, bot.SignLater+" "+id+" ready again"+because(strings.TrimSuffix(b.Why, ", by console")))
		}
	}
}

func because(why string) string {
	if why = bot.Clean(why); why == "" {
		return ""
	}
	return ": " + why
}

// done is the line of a finished task.
func (c *Console) done(v view, b loop.TaskSet) {
	key := loop.FoldID(v.e.Task)
	gap := "   "
	if c.opt.Demo {
		gap = "  "
	}
	text := bot.SignDone + " " + c.id(v.e.Task) + " done" + gap + bot.Count(v.after).String()
	if p := c.spent[key]; p != nil && !p.unknown && c.priced && !c.opt.Demo {
		text += "  " + bot.Money(p.usd)
	}
	switch hash := c.commits[key]; {
	case hash != "":
		text += "  " + bot.Clean(hash)[:min(len(hash), 7)]
	case b.Why != "":
		text += "  " + bot.Clean(b.Why)
	case b.From == loop.Active:
		text += "  nothing to change"
	}
	c.say(v, text)
}

// attemptEnded tells a failed attempt; one that blocks its task is told there.
func (c *Console) attemptEnded(v view, b loop.AttemptEnded) {
	s := c.held[loop.FoldID(v.e.Task)]
	c.settle(v, v.e.Task)
	if s != nil && s.event.Type == loop.EventBlocked {
		return // the question that follows gives the same reason
	}
	id := c.id(v.e.Task)
	t, _ := v.after.Project.Find(v.e.Task)
	switch {
	case b.Failed && t.Failed < loop.MaxAttempts:
		c.tell(v, fmt.Sprintf("%s %s attempt %d failed: %s", bot.SignFailed, id, max(t.Attempts, 1), bot.Clean(b.Why)))
	case b.Replan:
		c.tell(v, bot.SignAgain+" "+id+" starts anew: "+bot.Clean(b.Why))
	case !b.Failed:
		c.say(v, bot.SignLater+" "+id+" is kept as it is and goes on from there next time")
	}
}

// sourceRead tells what people changed while the run was under way.
func (c *Console) sourceRead(v view, b loop.SourceRead) {
	if v.run().Started.IsZero() {
		return
	}
	name := bot.Clean(b.Name)
	if b.Trouble != "" {
		c.say(v, bot.SignLook+" "+name+" cannot be used as it is; the last good reading stands")
		c.wrapped(b.Trouble)
		return
	}
	for _, t := range slices.Concat(b.Own, b.Tasks) {
		if _, known := v.before.Project.Find(t.ID); known {
			if len(b.Tasks) <= 5 {
				c.say(v, bot.SignLater+" "+c.id(t.ID)+" changed in "+name)
			}
			continue
		}
		c.say(v, bot.SignDone+" "+c.id(t.ID)+" added: "+bot.Clean(t.Title))
	}
	if n := len(b.Tasks); n > 5 {
		c.say(v, fmt.Sprintf("%s %s: %s read again", bot.SignLater, name, bot.Plural(n, "task")))
	}
}

// bound tells which words a session was given for the first time, or again
// because the one before was cut off.
func (c *Console) bound(v view, b loop.GuidanceBound) {
	var fresh, again []string
	for _, id := range b.Binding.Bound {
		item, ok := v.before.Project.Guidance.Get(id)
		switch {
		case !ok, c.sticky[id]:
		case item.State == guidance.Queued:
			fresh = append(fresh, id)
			c.sticky[id] = item.Sticky
		case item.State == guidance.Injected && item.Session != v.e.Session:
			again = append(again, id)
		}
	}
	if len(fresh) > 0 {
		if s := c.held[loop.FoldID(v.e.Task)]; s != nil && s.ready {
			what, _ := c.what(s)
			gap := "   "
			if c.opt.Demo { // the column in which verifications stand
				gap = strings.Repeat(" ", max(37-bot.Width(what), 3))
			}
			s.then += gap + bot.Clean(b.Hat) + " " + bot.SignNow + " with " + strings.Join(fresh, " ")
			c.print(v, s)
		} else {
			c.say(v, bot.SignNow+" "+strings.Join(fresh, " ")+" with "+c.id(v.e.Task)+" "+bot.Clean(b.Hat))
		}
	}
	if len(again) > 0 {
		c.say(v, bot.SignAgain+" "+strings.Join(again, " ")+" handed on to "+c.id(v.e.Task)+" "+bot.Clean(b.Hat))
	}
}

// reports tells what a session did with the guidance it was given.
func (c *Console) reports(v view, s *session) {
	for _, r := range s.reports {
		switch r.State {
		case guidance.Addressed:
			c.line(v.at, bot.SignDone+" "+bot.Clean(r.ID)+" addressed"+because(r.Note))
		case guidance.SetAside:
			c.line(v.at, bot.SignAway+" "+bot.Clean(r.ID)+" set aside"+because(r.Note))
		case guidance.NotReported:
			c.line(v.at, bot.SignLook+" "+bot.Clean(r.ID)+" not reported by "+c.id(s.task)+" "+bot.Clean(s.hat))
		}
	}
	s.reports = nil
}

// guidance tells what becomes of words while they wait.
func (c *Console) guidance(v view) {
	switch b := v.e.Body.(type) {
	case loop.GuidanceQueued:
		c.say(v, bot.SignLater+" "+b.Item.ID+" queued → "+bot.Forecast(v.after, b.Item))
	case loop.GuidanceChanged:
		c.say(v, bot.SignLater+" "+bot.Clean(b.ID)+" changed: "+bot.Clean(b.Text))
	case loop.GuidanceDropped:
		c.say(v, bot.SignAway+" "+bot.Clean(b.ID)+" dropped")
	case loop.GuidanceExpired:
		c.tell(v, bot.SignAway+" "+bot.Clean(b.ID)+" expired"+because(b.Why)+"   "+bot.Clean(b.ID)+" keep")
	case loop.GuidanceKept:
		c.say(v, bot.SignLater+" "+bot.Clean(b.ID)+" queued again")
	}
}
