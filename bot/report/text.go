package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// captionUnits is what a caption holds, in UTF-16 units: the platform's 1024
// less what it counts otherwise than we do, and a line that says that the
// message is sent again.
const captionUnits = 930

// Text is the digest within a picture's caption (PHONE 3.9). What does not fit
// is named, and stands in Whole.
func Text(f Facts) bot.Message {
	m := f.head()
	if f.Quiet() {
		m.Key = bot.KeyDigestIdle
		f.idle(&m)
		f.buttons(&m)
		return m
	}
	if f.Weekly && len(f.Needs) == 0 {
		m.Key = bot.KeyDigestWeek
	}
	// Every part gets its most important line before any gets its last one.
	parts := []*part{
		{head: "Needs you", lines: f.needLines(), weight: 9},
		{lines: f.doneLines(), weight: 9},
		{lines: f.failedLines(), weight: 4},
		{head: "Guidance", lines: f.guidanceLines(), weight: 3},
		{lines: f.workLines(), weight: 5},
		{lines: f.spanLines(), weight: 4},
		{lines: f.footLines(), weight: 5},
	}
	ledgerStore := f.ledger()
	room := captionUnits - units(m, f.next) - utf16Len(ledgerStore) - 1 - utf16Len("and 999 lines more: /digest all") - 1
	fill(parts, room)
	left := 0
	for _, p := range parts {
		p.write(&m)
		left += len(p.lines) - p.taken
	}
	if left > 0 {
		add(&m, fmt.Sprintf("and %s more: /digest all", plural(left, "line")))
	}
	add(&m, ledgerStore)
	add(&m, f.next)
	f.buttons(&m)
	return m
}

// FullText is the digest with all that a caption leaves out.
func FullText(f Facts) bot.Message {
	m := f.head()
	m.Key = bot.KeyDigestAll
	if f.Quiet() {
		f.idle(&m)
		return m
	}
	for _, p := range []*part{
		{head: "Needs you", lines: f.needLines()},
		{lines: f.doneLines()},
		{head: "Attempts that failed", lines: f.attemptLines()},
		{lines: f.failedLines()},
		{head: "Guidance", lines: f.guidanceLines()},
		{lines: f.workLines()},
		{lines: f.spanLines()},
		{lines: f.footLines()},
	} {
		p.taken = len(p.lines)
		p.write(&m)
	}
	add(&m, f.ledger())
	add(&m, f.next)
	f.buttons(&m)
	return m
}

// part is a few lines under one head.
type part struct {
	head   string
	lines  []string
	weight int // how many lines it gets before the others get more than theirs
	taken  int
}

func (p *part) write(m *bot.Message) {
	if p.taken == 0 {
		return
	}
	if p.head != "" {
		m.Lines = append(m.Lines, bot.Line{Kind: bot.Head, Text: p.head})
	}
	for _, l := range p.lines[:p.taken] {
		add(m, l)
	}
}

// fill takes lines of all parts in turn, as many as there is room for. The
// first line of each part comes before the second of any.
func fill(parts []*part, room int) {
	for round, more := 0, true; more; round++ {
		more = false
		for _, p := range parts {
			if round >= len(p.lines) || p.taken < round {
				continue
			}
			if p.weight <= round && room < captionUnits/4 {
				continue // the rest is for those that matter more
			}
			cost := utf16Len(p.lines[round]) + 1
			if p.taken == 0 && p.head != "" {
				cost += utf16Len(p.head) + 1
			}
			if cost > room {
				continue
			}
			room -= cost
			p.taken++
			more = true
		}
	}
}

// head is the first line and the second.
func (f Facts) head() bot.Message {
	sign, rest := f.first()
	first := fit(sign, f.Project, rest)
	m := bot.Message{Key: bot.KeyDigest, Project: f.Project, Lines: []bot.Line{{Text: first}}}
	second := ""
	if !f.Due.IsZero() {
		second = "meant for " + bot.Clock(f.Due, f.To) + " · "
	}
	if f.Weekly {
		second += "week to " + f.To.Format("Mon 2 Jan") + " · "
	}
	if !f.Began.IsZero() {
		to := f.clock(f.Ended)
		if f.Live {
			to = "now"
		}
		second += f.clock(f.Began) + " → " + to + " · " + plural(len(f.Sessions), "session") + " · " + f.Cost.String()
	}
	add(&m, strings.TrimSuffix(second, " · "))
	return m
}

// first is the sign and the rest of the first line: the fact that counts most.
func (f Facts) first() (sign, rest string) {
	tally := fmt.Sprintf("%d/%d", f.Done, f.Total)
	need := ""
	if n := len(f.Needs); n == 1 {
		need = ", 1 needs you"
	} else if n > 1 {
		need = fmt.Sprintf(", %d need you", n)
	}
	switch {
	case f.Quiet() && len(f.Waits) > 0:
		var waited time.Duration
		for _, w := range f.Waits {
			waited += w.Duration()
		}
		return bot.SignLook, tally + ", waited " + bot.Took(waited)
	case f.Quiet() && f.Live:
		return bot.SignNow, tally + ", no session yet"
	case f.Quiet():
		return bot.SignLater, ": nothing was ready, $0.00"
	case f.bad():
		return bot.SignFailed, tally + " done" + need
	case len(f.Off) > 0:
		o := f.Off[0]
		for _, x := range f.Off {
			if x.Duration() > o.Duration() {
				o = x
			}
		}
		if f.days() {
			return bot.SignLook, tally + ", off " + bot.Took(o.Duration())
		}
		return bot.SignLook, tally + ", off " + o.From.Format("15:04") + "–" + o.To.Format("15:04")
	case need != "":
		return bot.SignAsk, tally + " done" + need
	case f.Live:
		return bot.SignNow, tally + " done, at work"
	case f.Left == 0:
		return bot.SignDone, tally + " done"
	}
	return bot.SignLook, tally + " done, nothing runs"
}

// bad reports whether the night went wrong: it stands still, or more came to
// nothing than was done.
func (f Facts) bad() bool {
	for _, n := range f.Needs {
		if n.BlocksRun && n.Sign == bot.SignLook {
			return true
		}
	}
	return f.TipRed || len(f.Failures) > len(f.Completed)
}

func (f Facts) idle(m *bot.Message) {
	text := "No agent ran."
	if f.Total > 0 {
		text += fmt.Sprintf(" %d/%d", f.Done, f.Total)
		if !f.Since.IsZero() {
			text += " since " + f.Since.Format("Mon 2 Jan")
		}
		text += "."
	}
	add(m, text)
	for _, l := range append(f.spanLines(), f.footLines()...) {
		add(m, l)
	}
	add(m, f.ledger())
	add(m, f.next)
}

func (f Facts) needLines() []string {
	var out []string
	for _, n := range f.Needs {
		out = append(out, n.Sign+" "+n.Text)
	}
	return out
}

func (f Facts) doneLines() []string {
	var out []string
	var where []string
	if f.Branch != "" {
		where = append(where, bot.Cut(bot.Clean(f.Branch), 60))
	}
	switch {
	case len(f.Completed) > 0:
		out = append(out, strings.Join(append([]string{"Done " + bot.Cut(bot.Ranges(f.Completed), 120)}, where...), " · "))
	case len(f.Sessions) > 0:
		out = append(out, strings.Join(append([]string{"Nothing was done"}, where...), " · "))
	}
	return out
}

// failedLines are what failed by kind, and the attempts that need nobody.
func (f Facts) failedLines() []string {
	var out []string
	var kinds []string
	for _, t := range f.FailureKinds {
		kinds = append(kinds, fmt.Sprintf("%d %s", t.N, t.Name))
	}
	if len(kinds) > 0 {
		out = append(out, "Failed: "+strings.Join(kinds, ", "))
	}
	for _, x := range f.Failures {
		if !f.needs(x.Task) {
			out = append(out, bot.SignFailed+" "+short(x.Task)+" an attempt failed"+why(x.Why))
		}
	}
	return out
}

// attemptLines are all attempts that came to nothing.
func (f Facts) attemptLines() []string {
	var out []string
	for _, x := range f.Failures {
		out = append(out, bot.SignFailed+" "+strings.TrimSpace(short(x.Task)+" "+bot.Clean(x.Attempt))+why(x.Why))
	}
	return out
}

func (f Facts) needs(task string) bool {
	for _, n := range f.Needs {
		if n.Task != "" && ledger.SameID(n.Task, task) {
			return true
		}
	}
	return false
}

func (f Facts) guidanceLines() []string {
	var out []string
	for n := len(f.Guidance) - 1; n >= 0; n-- { // what was said last is asked for first
		out = append(out, f.Guidance[n].line())
	}
	return out
}

// workLines are the sessions by hat, and how well they went.
func (f Facts) workLines() []string {
	var hats []string
	for _, h := range f.Hats {
		hats = append(hats, fmt.Sprintf("%s %d", h.Name, h.N))
	}
	var out []string
	if rate := f.rates(); len(rate) > 0 {
		out = append(out, strings.Join(rate, " · "))
	}
	if len(hats) > 0 {
		if len(hats) > 8 {
			hats = append(hats[:7], fmt.Sprintf("%d hats more", len(f.Hats)-7))
		}
		out = append(out, "Sessions "+strings.Join(hats, " · "))
	}
	if len(f.Burndown) > 0 {
		first, last := f.Burndown[0], f.Burndown[len(f.Burndown)-1]
		out = append(out, fmt.Sprintf("Tasks left %d → %d", first.Left, last.Left))
	}
	return out
}

// rates are first-pass rate, fix rounds, and cost per task.
func (f Facts) rates() []string {
	var out []string
	if n := len(f.Completed); n > 0 {
		out = append(out, fmt.Sprintf("First pass %d of %d", f.FirstPass, n))
	}
	if len(f.Sessions) > 0 {
		out = append(out, plural(f.Fixes, "fix round"))
	}
	if per := f.perTask(); per != "" {
		out = append(out, per)
	}
	return out
}

// perTask is the cost of a task that was done, "" where none was.
func (f Facts) perTask() string {
	switch n := len(f.Completed); {
	case n == 0, f.Cost.Sessions == 0: // what was done needed no session of this span
		return ""
	case f.Cost.Unpriced > 0:
		return "cost a task unknown"
	default:
		return bot.Money(f.Cost.USD/float64(n)) + " a task"
	}
}

func (f Facts) spanLines() []string {
	var out []string
	type total struct {
		why  string
		took time.Duration
		open bool
	}
	var all []total
	for _, w := range f.Waits {
		at := -1
		for n := range all {
			if all[n].why == w.Why {
				at = n
			}
		}
		if at < 0 {
			at, all = len(all), append(all, total{why: w.Why})
		}
		all[at].took += w.Duration()
		all[at].open = all[at].open || w.Open
	}
	for _, t := range all {
		line := "Waited " + bot.Took(t.took) + " for " + t.why
		if t.open {
			line += ", still does"
		}
		out = append(out, line)
	}
	if len(f.Off) > 0 {
		var times []string
		for _, o := range f.Off {
			times = append(times, f.clock(o.From)+"–"+f.clock(o.To))
		}
		if len(times) > 3 {
			times = append(times[:3], fmt.Sprintf("%d times more", len(f.Off)-3))
		}
		out = append(out, "nightporter was off "+strings.Join(times, ", ")+"; nothing is lost")
	}
	return out
}

// footLines are what stands below: what never may be missing, and what only
// some have.
func (f Facts) footLines() []string {
	var out []string
	if len(f.Advisory) > 0 {
		out = append(out, bot.SignLook+" Red before any work, and only shown: "+bot.Cut(bot.Clean(strings.Join(f.Advisory, ", ")), 60))
	}
	if f.Strangers > 0 {
		out = append(out, plural(f.Strangers, "stranger")+" wrote; not answered")
	}
	if n := len(f.Missed); n > 0 {
		out = append(out, "No digest on "+strings.Join(f.Missed, ", ")+"; this one looks back to then")
	}
	return out
}

// ledger is what shows that nothing was cut off or rewritten: never left out.
func (f Facts) ledger() string {
	if f.Head == "" {
		return ""
	}
	line := fmt.Sprintf("Ledger %d %s", f.Seq, f.Head[:min(len(f.Head), 12)])
	if f.Boundary > 0 && len(f.Sessions) > 0 {
		line = fmt.Sprintf("Boundary %d · ", f.Boundary) + line
	}
	return line
}

// String is what was spent; unknown is never nothing.
func (c Cost) String() string {
	switch {
	case c.open():
		return "cost not yet known"
	case c.Unpriced == 0:
		return bot.Money(c.USD)
	case c.USD == 0:
		return "cost unknown"
	}
	return fmt.Sprintf("%s + unknown (%s)", bot.Money(c.USD), plural(c.Unpriced, "session"))
}

// open reports whether nothing is known yet: all sessions are still at work.
func (c Cost) open() bool { return c.Sessions == 0 && c.Running > 0 }

// clock is a time of the span: with its zone in a night in which the clocks
// change, with its day in a longer span.
func (f Facts) clock(t time.Time) string {
	s := t.Format("15:04")
	if f.days() && t.Format(time.DateOnly) != f.To.Format(time.DateOnly) {
		s = t.Format("Mon 2 Jan 15:04")
	}
	_, a := f.from().Zone()
	if _, b := f.To.Zone(); a != b && !f.days() {
		s += t.Format(" MST")
	}
	return s
}

// days reports whether it looks at more than a night and a day.
func (f Facts) days() bool { return f.To.Sub(f.From) > 36*time.Hour }

func (f Facts) from() time.Time {
	if f.Began.IsZero() {
		return f.From.In(f.To.Location())
	}
	return f.Began
}

func plural(n int, word string) string { return bot.Plural(n, word) }

// fit is a first line: the project's name gives way.
func fit(sign, project, rest string) string {
	project = bot.Clean(project)
	if after, ok := strings.CutPrefix(rest, ": "); ok {
		project, rest = project+":", after
	}
	if over := bot.Width(sign+" "+project+" "+rest) - bot.FirstWidth; over > 0 {
		project = bot.Cut(project, max(bot.Width(project)-over, 4))
	}
	return bot.Cut(sign+" "+project+" "+rest, bot.FirstWidth)
}

func add(m *bot.Message, text string) {
	if text = bot.Clean(text); text != "" {
		m.Lines = append(m.Lines, bot.Line{Text: text})
	}
}

// units is what a message, and a line more, take of a caption.
func units(m bot.Message, line string) int {
	n := utf16Len(line) + 1
	for _, l := range m.Lines {
		n += utf16Len(l.Text) + 1
	}
	return n
}

// utf16Len counts a text as chats do. Joiners that keep what is foreign from
// being tapped come on top: one for each sign that would make it so.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r > 0xffff:
			n += 2
		case r == '/' || r == '@' || r == ':':
			n += 2
		default:
			n++
		}
	}
	return n
}
