package termlog

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// session is an agent's session on its way to its one line. The line waits
// for the verification, so that it tells what was claimed and what is true.
type session struct {
	id, task, hat string
	event         ledger.EventAccepted
	stall, wall   time.Duration // its limits
	ended         ledger.SessionEnded
	taken         *ledger.Capture
	verify        string // "verify ✓ go test 38 s"
	red           bool
	then          string // what is said of the route: "→ fixer"
	reports       []ledger.GuidanceReported
	ready         bool // routed: only guidance of the next session may still be added
}

// of returns the session in flight that an entry is about.
func (c *Console) of(v view) *session {
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

// agentEnded notes the cost of a session, and holds its line where a
// verification or a route will follow.
func (c *Console) agentEnded(v view, b ledger.SessionEnded) {
	s := c.of(v)
	delete(c.running, s.id)
	s.ended = b
	if b.Exit.CostUSD > 0 {
		c.priced = true
	}
	p := c.spent[ledger.FoldID(s.task)]
	if p == nil {
		p = &purse{unknown: true} // its beginning was not seen here
		c.spent[ledger.FoldID(s.task)] = p
	}
	if b.Exit.CostUSD < 0 {
		p.unknown = true
	} else {
		p.usd += b.Exit.CostUSD
	}
	if b.End == ledger.EndedEvent {
		c.held[ledger.FoldID(s.task)] = s
		return
	}
	text := bot.EndText(b)
	switch said := bot.Clean(b.Text); {
	case b.End == ledger.EndedSilent && said != "":
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
	c.whole(v.at, c.columns(s)+bot.SignFailed+" "+bot.Cut(text, 60))
	if last := lastWords(b.Exit.Tail); last != "" && b.Counts == ledger.CountsAsFailed {
		c.more("    ┃ " + bot.Cut(last, c.room()-6))
	}
	c.reports(v, s)
}

func lastWords(tail string) string {
	lines := bot.CleanLines(tail)
	for n := len(lines) - 1; n >= 0; n-- {
		if l := bot.Clean(lines[n]); l != "" {
			return l
		}
	}
	return ""
}

// verified adds what the daemon found out itself, and prints the line.
func (c *Console) verified(v view, b ledger.Verified) {
	s := c.held[ledger.FoldID(v.e.Task)]
	if s != nil && b.Kind == ledger.KindRepro && b.OK { // the route, or "again", prints it
		s.verify = "verify " + bot.VerifyText(b)
	}
	if b.Kind != ledger.KindVerify {
		return
	}
	text := bot.VerifyText(b)
	if c.opt.Demo { // its tests take no time worth telling
		text = strings.TrimSuffix(text, " "+bot.Took(took(b)))
	}
	if s == nil { // after a merge onto a tip that moved
		c.line(v.at, "    verify "+text)
		return
	}
	s.verify, s.red = "verify "+text, !b.OK
	c.print(v, s)
}

func took(b ledger.Verified) time.Duration {
	var d time.Duration
	for _, r := range b.Results {
		d += time.Duration(r.Ms) * time.Millisecond
	}
	return d
}

// routed prints a line that no verification precedes. Where guidance waits,
// the next session may take it along in the same decision, which is told in
// the same line.
func (c *Console) routed(v view, b ledger.Routed) {
	s := c.held[ledger.FoldID(v.e.Task)]
	if s == nil {
		return
	}
	if _, judged := bot.Verdict(s.event); judged && b.To != ledger.Converged {
		s.then = " → " + bot.Clean(b.To)
	}
	if len(v.after.Project.Guidance.Waiting()) > 0 && b.To != ledger.Converged && b.On != ledger.EventQuestion {
		s.ready = true
		return
	}
	c.print(v, s)
}

// redo says why the same hat goes again, where the line does not say it yet.
func (c *Console) redo(v view, b ledger.Redo) {
	if s := c.held[ledger.FoldID(v.e.Task)]; s != nil {
		s.then = "   " + bot.SignFailed + " " + bot.Clean(b.Why) + ", again"
		c.print(v, s)
		return
	}
	if b.Failed {
		c.line(v.at, "    "+bot.SignFailed+" "+bot.Clean(b.Why)+", again")
	}
}

// settle prints the held line of a task: nothing can be added to it any more.
func (c *Console) settle(v view, task string) {
	if s := c.held[ledger.FoldID(task)]; s != nil {
		c.print(v, s)
	}
}

// flush prints lines that only wait for guidance, before anything else is printed.
func (c *Console) flush(at time.Time) {
	for _, s := range c.held {
		if s.ready {
			c.print(view{at: at}, s)
		}
	}
}

// leastSaid is what is shown of a verdict or a reason however narrow it gets.
const leastSaid = 28

// unchanged is put between an event and why nothing had to change.
const unchanged = ", no change: "

// print puts out a session's line, and what belongs to it.
func (c *Console) print(v view, s *session) {
	delete(c.held, ledger.FoldID(s.task))
	what, claimed := c.what(s)
	whole := func(what string) string {
		line := c.columns(s) + what
		switch {
		case s.event.Type == "review.verdict":
		case c.opt.Demo && s.taken != nil:
			line = c.columns(s) + bot.Pad(what, 18, 2) + bot.Pad(files(*s.taken, claimed), 19, 2) + s.verify
		case s.verify != "":
			line = c.columns(s) + bot.Pad(what, 14, 0) + "   " + s.verify
		}
		return strings.TrimRight(line, " ") + s.then
	}
	line := whole(what)
	why := bot.Clean(bot.Field(s.event.Data, "no_change"))
	if event, is := strings.CutSuffix(what, unchanged+bot.Cut(why, 40)); is && why != "" && bot.Width(line) > c.room() {
		line = whole(event + ", no change") // the reason gets a line of its own
	} else {
		why = ""
	}
	// What was said gives way; the event, what is true of it and what follows stay.
	if n := bot.Width(what) - (bot.Width(line) - c.room()); why == "" && n < bot.Width(what) {
		line = whole(bot.Cut(what, max(n, leastSaid)))
	}
	if c.opt.Demo && s.event.Type == ledger.EventQuestion {
		return // the question says it all
	}
	c.whole(v.at, line)
	if why != "" {
		c.more("    ┃ " + bot.Cut(why, c.room()-6))
	}
	if claimed && !c.taught {
		c.taught = true
		c.more("    A claim is not a result: nightporter ran the tests itself. Again.")
	}
	if s.taken != nil {
		c.strays(*s.taken)
	}
	c.reports(v, s)
}

// columns are hat, length and cost. Cost is left out as long as no agent of
// the run says any; then unknown is written unknown.
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
	// A longer name takes its room from what stands before the time.
	line := "    " + bot.Pad(hat, 9, 0) + fmt.Sprintf("%*s", max(6-max(bot.Width(hat)-9, 0), len(clock)+1), clock) + "  "
	if c.priced || s.ended.Exit.CostUSD > 0 {
		line += bot.Money(s.ended.Exit.CostUSD) + "  "
	}
	return line
}

// what is the event, or the verdict, or in the demo the claim that the
// verification did not bear out.
func (c *Console) what(s *session) (text string, claimed bool) {
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

// files counts what a session changed: "2 files +31 −4". Beside a claim it
// would only distract.
func files(t ledger.Capture, claimed bool) string {
	if claimed || len(t.Files) == 0 {
		return ""
	}
	added, removed := 0, 0
	for _, f := range t.Files {
		added, removed = added+max(f.Added, 0), removed+max(f.Removed, 0)
	}
	text := bot.Plural(len(t.Files), "file")
	if added > 0 || removed == 0 {
		text += fmt.Sprintf(" +%d", added)
	}
	if removed > 0 {
		text += fmt.Sprintf(" −%d", removed)
	}
	return text
}

// strays tells which files were out of scope.
func (c *Console) strays(t ledger.Capture) {
	if len(t.Outside) > 0 {
		c.more("    " + bot.Cut(bot.SignLook+" out of scope, undone: "+few(t.Outside), c.room()-4))
	}
	for n, f := range t.Refused {
		if n == 3 {
			c.more(fmt.Sprintf("    %s and %d more", bot.SignFailed, len(t.Refused)-n))
			return
		}
		c.more("    " + bot.Cut(bot.SignFailed+" not taken over: "+bot.Clean(f.File+" "+f.Text), c.room()-4))
	}
}

// few names some paths and counts the rest.
func few(paths []string) string {
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
