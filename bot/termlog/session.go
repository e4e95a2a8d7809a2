package termlog

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sessionOf returns the running session of an entry. It adds a session whose
// beginning this Console has not seen.
func (c *Console) sessionOf(v view) *session {
	s := c.running[v.e.Session]
	if s == nil {
		s = &session{id: v.e.Session, task: v.e.Task}
		if planned, ok := v.before.Project.Session(v.e.Session); ok {
			s.hat = planned.Planned.Hat
			if planned.Event != nil {
				s.event = *planned.Event
			}
		}
		c.running[v.e.Session] = s
	}
	return s
}

// agentEnded records the cost of a session. It holds the session's line if a
// verification or a route will follow.
func (c *Console) agentEnded(v view, b ledger.SessionEnded) {
	s := c.sessionOf(v)
	delete(c.running, s.id)
	s.ended = b
	if b.Exit.CostUSD > 0 {
		c.costsKnown = true
	}
	p := c.spent[ledger.FoldID(s.task)]
	if p == nil {
		p = &taskCost{unknown: true} // the task began before this Console
		c.spent[ledger.FoldID(s.task)] = p
	}
	if b.Exit.CostUSD < 0 {
		p.unknown = true
	} else {
		p.usd += b.Exit.CostUSD
		p.about = p.about || b.Exit.Estimated
	}
	if b.End == ledger.EndedEvent {
		c.held[ledger.FoldID(s.task)] = s
		return
	}
	text := bot.EndText(b)
	switch said := bot.Clean(b.Text); {
	case (b.End == ledger.EndedSilent || b.End == ledger.EndedEarly || b.End == ledger.EndedCircle) && said != "":
		text = said
	case b.End == ledger.EndedStall && s.stall > 0:
		text = "silent " + bot.Took(s.stall) + ", stopped"
	case b.End == ledger.EndedWall && s.wall > 0:
		text = "longer than " + bot.Took(s.wall) + ", stopped"
	case b.End == ledger.EndedLost && b.Counts == ledger.CountsAsNothing:
		text += ", not an attempt"
	}
	if b.Counts == ledger.CountsAsFailed {
		n := 0
		if t, ok := v.after.Project.Find(s.task); ok && t.Attempt != nil {
			n = t.Attempt.FailedRow
		}
		if n > 0 {
			text += fmt.Sprintf(", %d of %d", n, ledger.MaxFailed)
		}
	}
	c.flush(v.at)
	c.uncut(v.at, c.columns(s)+bot.SignFailed+" "+bot.Cut(text, 60))
	if last := lastWords(b.Exit); last != "" && b.Counts == ledger.CountsAsFailed {
		c.continuation("    ┃ " + bot.Cut(last, c.restWidth()-6))
	}
	c.reports(v, s)
}

// lastWords returns the last line of what an agent said, and of its output where nothing
// shows that: the output of most agents is events, which are not for people.
func lastWords(x ledger.Exit) string {
	lines := bot.CleanLines(cmp.Or(x.Said, x.Tail))
	for n := len(lines) - 1; n >= 0; n-- {
		if l := bot.Clean(lines[n]); l != "" && !strings.HasPrefix(l, `{"`) {
			return l
		}
	}
	return ""
}

// verified adds the daemon's own result to the line, and prints it.
func (c *Console) verified(v view, b ledger.Verified) {
	s := c.held[ledger.FoldID(v.e.Task)]
	if s != nil && b.Kind == ledger.KindRepro && b.OK { // routed or redo prints the line
		s.verify = "verify " + bot.VerifyText(b)
	}
	if b.Kind == ledger.KindBatch {
		c.batchVerified(v, b)
		return
	}
	if b.Kind != ledger.KindVerify && (b.Kind != ledger.KindGuard || b.OK) {
		return
	}
	text := bot.VerifyText(b)
	if c.opt.Demo { // the demo's tests take no time
		text = strings.TrimSuffix(text, " "+bot.Took(verifyTime(b)))
	}
	if s == nil { // the verification of a merge, which has no session
		c.line(v.at, "    "+c.lane(v.e.Task)+"verify "+text)
		return
	}
	s.verify, s.red = "verify "+text, !b.OK
	c.printSession(v, s)
}

func verifyTime(b ledger.Verified) time.Duration {
	var d time.Duration
	for _, r := range b.Results {
		d += time.Duration(r.Ms) * time.Millisecond
	}
	return d
}

// routed prints the line of a session without verification. It holds the line
// while guidance waits, because the next session may get the guidance in the
// same decision.
func (c *Console) routed(v view, b ledger.Routed) {
	s := c.held[ledger.FoldID(v.e.Task)]
	if s == nil {
		return
	}
	if _, judged := bot.Verdict(s.event); judged && !ledger.EndsAttempt(b.To) {
		s.then = " → " + bot.Clean(b.To)
	}
	if len(v.after.Project.Guidance.Waiting()) > 0 && b.To != ledger.Converged && b.On != ledger.EventQuestion {
		s.ready = true
		return
	}
	c.printSession(v, s)
}

// searched prints what the search for secrets found in a capture, and what it
// left out.
func (c *Console) searched(v view, taken ledger.Capture) {
	for _, f := range taken.Secrets[:min(len(taken.Secrets), 5)] {
		place := bot.Clean(f.Path)
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		c.line(v.at, "    "+bot.SignLook+" "+c.id(v.e.Task)+" "+place+" looks like "+bot.Clean(f.Rule))
	}
	if more := len(taken.Secrets) - 5; more > 0 {
		c.line(v.at, fmt.Sprintf("    and %d more", more))
	}
	for _, d := range taken.Unscanned[:min(len(taken.Unscanned), 5)] {
		c.line(v.at, "    "+bot.SignLook+" "+c.id(v.e.Task)+" "+bot.Clean(d.File)+" "+bot.Clean(d.Text))
	}
	if more := len(taken.Unscanned) - 5; more > 0 {
		c.line(v.at, fmt.Sprintf("    and %d more that were not searched for secrets", more))
	}
}

// redo prints why the same hat runs again, unless the session's line says it.
func (c *Console) redo(v view, b ledger.Redo) {
	if s := c.held[ledger.FoldID(v.e.Task)]; s != nil {
		s.then = "   " + bot.SignFailed + " " + bot.Clean(string(b.Why)) + ", again"
		c.printSession(v, s)
		return
	}
	if b.Failed {
		c.line(v.at, "    "+bot.SignFailed+" "+bot.Clean(string(b.Why))+", again")
	}
}

// printHeld prints the held line of a task.
func (c *Console) printHeld(v view, task string) {
	if s := c.held[ledger.FoldID(task)]; s != nil {
		c.printSession(v, s)
	}
}

// flush prints the lines that only wait for guidance, before any other line.
func (c *Console) flush(at time.Time) {
	for _, s := range c.held {
		if s.ready {
			c.printSession(view{at: at}, s)
		}
	}
}

// minQuote is the minimum length of a quoted verdict or reason, in characters,
// in a narrow terminal.
const minQuote = 28

// unchanged separates an event from the reason why no change was needed.
const unchanged = ", no change: "

// printSession prints a session's line and the lines below it.
func (c *Console) printSession(v view, s *session) {
	delete(c.held, ledger.FoldID(s.task))
	what, claimed := c.eventText(s)
	whole := func(what string) string {
		line := c.columns(s) + what
		switch {
		case s.event.Type == "review.verdict":
		case c.opt.Demo && s.taken != nil:
			line = c.columns(s) + bot.Pad(what, 18, 2) + bot.Pad(fileStats(*s.taken, claimed), 19, 2) + s.verify
		case s.verify != "":
			line = c.columns(s) + bot.Pad(what, 14, 0) + "   " + s.verify
		}
		return strings.TrimRight(line, " ") + s.then
	}
	line := whole(what)
	why := bot.Clean(bot.Field(s.event.Data, "no_change"))
	if event, is := strings.CutSuffix(what, unchanged+bot.Cut(why, 40)); is && why != "" && bot.Width(line) > c.restWidth() {
		line = whole(event + ", no change") // the reason gets its own line
	} else {
		why = ""
	}
	// Shorten only the quotation, not event, verification or route.
	if n := bot.Width(what) - (bot.Width(line) - c.restWidth()); why == "" && n < bot.Width(what) {
		line = whole(bot.Cut(what, max(n, minQuote)))
	}
	if c.opt.Demo && s.event.Type == ledger.EventQuestion {
		return // the question has the same content
	}
	c.uncut(v.at, line)
	if why != "" {
		c.continuation("    ┃ " + bot.Cut(why, c.restWidth()-6))
	}
	if claimed && !c.claimsExplained {
		c.claimsExplained = true
		c.continuation("    A claim is not a result: nightporter ran the tests itself. Again.")
	}
	if s.taken != nil {
		c.printOutOfScope(*s.taken)
	}
	c.reports(v, s)
}

// columns returns hat, duration and cost. While no agent of the run reports
// costs, the cost is left out; after that, an unknown cost is shown as unknown.
func (c *Console) columns(s *session) string {
	hat := bot.Cut(bot.Clean(s.hat), 14)
	if hat == "" {
		hat = "session"
	}
	if c.opt.Demo {
		return "    " + bot.Pad(hat, 9, 0) + "  "
	}
	d := int(s.ended.Exit.Took().Seconds())
	clock := fmt.Sprintf("%d:%02d", d/60, d%60)
	if d >= 3600 {
		clock = fmt.Sprintf("%d:%02d:%02d", d/3600, d/60%60, d%60)
	}
	// A longer name takes the space in front of the time.
	line := "    " + c.lane(s.task) + bot.Pad(hat, 9, 0) + fmt.Sprintf("%*s", max(6-max(bot.Width(hat)-9, 0), len(clock)+1), clock) + "  "
	if c.costsKnown || s.ended.Exit.CostUSD > 0 {
		line += bot.SessionCost(s.ended.Exit) + "  "
	}
	return line
}

// lane names a task in front of what is done for it, while the run works on several at
// a time.
func (c *Console) lane(task string) string {
	if c.lanes < 2 || task == "" {
		return ""
	}
	return bot.Pad(c.id(task), 5, 1)
}

// eventText returns the session's event or verdict or, in the demo, the claim
// that the verification contradicted.
func (c *Console) eventText(s *session) (text string, claimed bool) {
	if verdict, ok := bot.Verdict(s.event); ok {
		done, not := bot.Followed(s.event.Data)
		if len(done) > 0 {
			verdict += ", " + strings.Join(done, " ") + " followed"
		}
		if len(not) > 0 {
			verdict += ", " + strings.Join(not, " ") + " not followed"
		}
		return verdict, false
	}
	if claim := bot.Claim(bot.Field(s.event.Data, "summary")); c.opt.Demo && s.red && claim != "" {
		return `"` + bot.Cut(claim, 28) + `"`, true
	}
	text = bot.Clean(s.event.Type)
	if why := bot.Field(s.event.Data, "no_change"); why != "" {
		text += unchanged + bot.Cut(bot.Clean(why), 40)
	}
	return text, false
}

// fileStats summarizes the changes of a session: "2 files +31 −4". Beside a
// claim it returns "", because it would distract from the claim.
func fileStats(t ledger.Capture, claimed bool) string {
	if claimed || len(t.Files) == 0 {
		return ""
	}
	added, removed := 0, 0
	for _, f := range t.Files {
		added, removed = added+max(f.Added, 0), removed+max(f.Removed, 0)
	}
	text := bot.Plural(len(t.Files)+t.More, "file")
	if added > 0 || removed == 0 {
		text += fmt.Sprintf(" +%d", added)
	}
	if removed > 0 {
		text += fmt.Sprintf(" −%d", removed)
	}
	return text
}

// printOutOfScope prints the files that a session wrote outside of its scope.
func (c *Console) printOutOfScope(t ledger.Capture) {
	if len(t.Outside) > 0 {
		c.continuation("    " + bot.Cut(bot.SignLook+" out of scope, undone: "+firstPaths(t.Outside), c.restWidth()-4))
	}
	for n, f := range t.Refused {
		if n == 3 {
			c.continuation(fmt.Sprintf("    %s and %d more", bot.SignFailed, len(t.Refused)-n))
			return
		}
		c.continuation("    " + bot.Cut(bot.SignFailed+" not taken over: "+bot.Clean(f.Short()), c.restWidth()-4))
	}
}

// firstPaths lists some paths and counts the rest.
func firstPaths(paths []string) string {
	const most = 3
	var out []string
	for _, p := range paths[:min(len(paths), most)] {
		out = append(out, bot.Cut(bot.Clean(p), 40))
	}
	text := strings.Join(out, ", ")
	if len(paths) > most {
		text += fmt.Sprintf(", %d more", len(paths)-most)
	}
	return text
}

// printAllHeld prints every held line: the run is over.
func (c *Console) printAllHeld(v view) {
	for _, key := range sortedKeys(c.held) {
		c.printSession(v, c.held[key])
	}
}

// reports prints what a session did with its guidance.
func (c *Console) reports(v view, s *session) {
	for _, r := range s.reports {
		switch r.State {
		case guidance.Addressed:
			c.line(v.at, bot.SignDone+" "+bot.Clean(r.ID)+" addressed"+reasonSuffix(r.Note))
		case guidance.SetAside:
			c.line(v.at, bot.SignAway+" "+bot.Clean(r.ID)+" set aside"+reasonSuffix(r.Note))
		case guidance.NotReported:
			c.line(v.at, bot.SignLook+" "+bot.Clean(r.ID)+" not reported by "+c.id(s.task)+" "+bot.Clean(s.hat))
		}
	}
	s.reports = nil
}
