package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxCaption is the usable length of a caption in UTF-16 units. Telegram's limit
// is 1024; the difference covers escapes that it counts, and the line added to a
// message that is sent again.
const maxCaption = 930

// Text returns the digest as a message that fits into a picture's caption. If
// lines do not fit, its last line counts them and names the command for
// FullText.
func Text(f Facts) bot.Message {
	m := f.header()
	if f.Quiet() {
		m.Key = bot.KeyDigestIdle
		f.addIdle(&m)
		f.addButtons(&m)
		return m
	}
	if f.Weekly && len(f.Needs) == 0 {
		m.Key = bot.KeyDigestWeek
	}
	// What needs a person and what was done come first. Then each section gets its most
	// important line before any section gets its last one.
	parts := []*section{
		{head: "Needs you", lines: f.needLines(), first: 3, weight: 9},
		{lines: f.doneLines(), first: 1, cut: true, weight: 9},
		{head: "Waves", lines: f.waveLines(), weight: 5},
		{lines: f.outsideLines(fewCommits), first: 1, weight: 9},
		{lines: f.requestLines(), first: 1, weight: 3},
		{lines: f.endLines(), weight: 6},
		{lines: slices.Concat(f.failedLines(), f.openFailures()), weight: 4},
		{head: "Guidance", lines: f.guidanceLines(), weight: 3},
		{lines: f.workLines(), weight: 5},
		{lines: f.waitLines(), weight: 4},
		{lines: f.footLines(), weight: 5},
	}
	proof := f.proofLine()
	room := maxCaption - captionLen(m, f.next) - utf16Len(proof) - 1 - utf16Len("and 999 lines more: /digest all") - 1
	chooseLines(parts, room)
	left := 0
	for _, p := range parts {
		p.writeTo(&m)
		left += len(p.lines) - p.shown
	}
	if left > 0 {
		addLine(&m, fmt.Sprintf("and %s more: /digest all", plural(left, "line")))
	}
	addLine(&m, proof)
	addLine(&m, f.next)
	f.addButtons(&m)
	return m
}

// FullText returns the digest with every line. It may exceed a caption.
func FullText(f Facts) bot.Message {
	m := f.header()
	m.Key = bot.KeyDigestAll
	if f.Quiet() {
		f.addIdle(&m)
		return m
	}
	for _, p := range []*section{
		{head: "Needs you", lines: f.needLines()},
		{lines: f.doneLines()},
		{head: "Waves", lines: f.waveLines()},
		{lines: f.outsideLines(len(f.Outside))},
		{lines: f.requestLines()},
		{lines: f.endLines()},
		{head: "Attempts that failed", lines: f.attemptLines()},
		{lines: f.failedLines()},
		{head: "Guidance", lines: f.guidanceLines()},
		{lines: f.workLines()},
		{lines: f.waitLines()},
		{lines: f.footLines()},
	} {
		p.shown = len(p.lines)
		p.writeTo(&m)
	}
	addLine(&m, f.proofLine())
	addLine(&m, f.next)
	f.addButtons(&m)
	return m
}

// section is a group of lines below an optional heading.
type section struct {
	head   string
	lines  []string
	first  int  // number of lines that the section gets before the others get one
	cut    bool // the first line is cut where there is no room for all of it
	weight int  // number of lines that the section gets even when room is short
	shown  int
}

func (p *section) writeTo(m *bot.Message) {
	if p.shown == 0 {
		return
	}
	if p.head != "" {
		m.Lines = append(m.Lines, bot.Line{Kind: bot.Head, Text: p.head})
	}
	for _, l := range p.lines[:p.shown] {
		addLine(m, bot.Foreign(l)) // no section names a command
	}
}

// leastCut is the room, in UTF-16 units, in which a line that is cut still says
// something.
const leastCut = 48

// chooseLines sets how many lines of each section to show in room UTF-16 units.
// After the lines that come first the sections take turns, so each section gets
// its first line before any gets its second.
func chooseLines(parts []*section, room int) {
	take := func(p *section, line int) bool {
		if line >= len(p.lines) || p.shown < line {
			return false
		}
		cost := utf16Len(p.lines[line]) + 1
		if p.shown == 0 && p.head != "" {
			cost += utf16Len(p.head) + 1
		}
		if cost > room {
			return false
		}
		room -= cost
		p.shown++
		return true
	}
	for _, p := range parts {
		for line := range p.first {
			if !take(p, line) && p.cut && line == 0 && len(p.lines) > 0 && room >= leastCut {
				p.lines[0] = bot.Cut(p.lines[0], room/2) // a column has at most two units
				take(p, 0)
			}
		}
	}
	for round, more := 0, true; more; round++ {
		more = false
		for _, p := range parts {
			switch {
			case round < p.shown:
				more = true
			case p.weight <= round && room < maxCaption/4: // the rest is for sections with more weight
			case take(p, round):
				more = true
			}
		}
	}
}

// scriptedNote is what text and picture say where the scripted agent worked.
const scriptedNote = "Scripted agent: nothing was really done"

// header returns a message with the digest's first lines.
func (f Facts) header() bot.Message {
	sign, rest := f.firstLine()
	first := fitFirstLine(sign, f.Project, rest)
	m := bot.Message{Key: bot.KeyDigest, Project: f.Project, Lines: []bot.Line{{Text: first}}}
	if !f.Quiet() {
		addLine(&m, bot.Foreign(strings.Join(f.sentences(), " ")))
	}
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
	addLine(&m, strings.TrimSuffix(second, " · "))
	for _, line := range f.Over {
		addLine(&m, line)
	}
	addLine(&m, f.Proofs.Text())
	for _, line := range f.Red {
		addLine(&m, bot.Foreign(bot.Cut(line, 120)))
	}
	return m
}

// firstLine returns the sign and the rest of the first line: the most important
// fact of the night.
func (f Facts) firstLine() (sign, rest string) {
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
	case f.Quiet() && f.canStart:
		return bot.SignLater, ": no run, $0.00"
	case f.Quiet():
		return bot.SignLater, ": nothing was ready, $0.00"
	case f.isFailure():
		return bot.SignFailed, tally + " done" + need
	case len(f.Off) > 0:
		o := f.Off[0]
		for _, x := range f.Off {
			if x.Duration() > o.Duration() {
				o = x
			}
		}
		if f.isLong() {
			return bot.SignLook, tally + ", off " + bot.Took(o.Duration())
		}
		return bot.SignLook, tally + ", off " + o.From.Format("15:04") + "–" + o.To.Format("15:04")
	case need != "":
		return bot.SignAsk, tally + " done" + need
	case f.limited != "":
		return bot.SignLook, tally + " done, waits " + f.limited
	case f.Live:
		return bot.SignNow, tally + " done, at work"
	case f.notStarted():
		return bot.SignLook, tally + " done, could not start"
	case len(f.Red) > 0 && f.Left == 0:
		return bot.SignLook, tally + " done, not all of it green"
	case len(f.unsure()) > 0:
		return bot.SignLook, tally + " done, look at " + bot.Cut(bot.Ranges(f.unsure()), 12)
	case f.Left == 0:
		return bot.SignDone, tally + " done"
	}
	return bot.SignLook, tally + " done, nothing runs"
}

// isFailure reports whether the night failed: the run cannot continue, the
// branch tip is red, or more attempts failed than tasks were completed.
func (f Facts) isFailure() bool {
	for _, n := range f.Needs {
		if n.BlocksRun && n.Sign == bot.SignLook {
			return true
		}
	}
	return f.TipRed || len(f.Failures) > len(f.Completed)
}

func (f Facts) addIdle(m *bot.Message) {
	text := "No agent ran."
	if f.Total > 0 {
		text += " " + f.doneOfAll()
		if !f.Since.IsZero() {
			text += " since " + f.Since.Format("Mon 2 Jan")
		}
		text += "."
	}
	addLine(m, text)
	for _, l := range slices.Concat(f.requestLines()[:min(len(f.Requests), maxRequests)], f.waitLines(), f.footLines()) {
		addLine(m, bot.Foreign(l)) // no section names a command
	}
	addLine(m, f.proofLine())
	addLine(m, f.next)
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
		where = append(where, bot.Cut(bot.BranchText(f.Branch, f.tip, f.remote), 70))
	}
	switch {
	case len(f.Completed) > 0:
		out = append(out, strings.Join(append([]string{"Done " + bot.Cut(f.completed(), 160)}, where...), " · "))
		for _, g := range f.Proof {
			if g.Note != "" && !f.inNeeds(g.Tasks[0]) { // a need says it already
				out = append(out, g.Sign+" "+g.Whole())
			}
		}
	case len(f.Sessions) > 0:
		out = append(out, strings.Join(append([]string{"Nothing was done"}, where...), " · "))
	}
	return out
}

// requestLines returns a line for each request, with its link.
func (f Facts) requestLines() []string {
	var out []string
	for _, r := range f.Requests {
		out = append(out, strings.TrimSpace(r.Sign+" "+r.Text+" "+r.URL))
	}
	return out
}

// unsure returns the completed tasks that a person has to look at before a merge.
func (f Facts) unsure() []string {
	var out []string
	for _, g := range f.Proof {
		if g.Sign == bot.SignLook {
			out = append(out, g.Tasks...)
		}
	}
	return out
}

// completed lists the completed tasks with their words: "#1–#3 proved, #4 tested".
func (f Facts) completed() string {
	if len(f.Proof) == 0 {
		return bot.Ranges(f.Completed)
	}
	var parts []string
	for _, g := range f.Proof {
		parts = append(parts, g.Text())
	}
	return strings.Join(parts, ", ")
}

func (f Facts) inNeeds(task string) bool {
	for _, n := range f.Needs {
		if n.Task != "" && ledger.SameID(n.Task, task) {
			return true
		}
	}
	return false
}

func (f Facts) guidanceLines() []string {
	var out []string
	for n := len(f.Guidance) - 1; n >= 0; n-- { // newest first
		out = append(out, f.Guidance[n].outcomeLine())
	}
	return out
}

// workLines returns the rates, the sessions by hat and the change of the tasks
// left.
func (f Facts) workLines() []string {
	var hats []string
	for _, h := range f.Hats {
		hats = append(hats, fmt.Sprintf("%s %d", h.Name, h.N))
	}
	var out []string
	if rate := f.rates(); len(rate) > 0 {
		out = append(out, strings.Join(rate, " · "))
	}
	if f.Foretold != "" {
		out = append(out, f.Foretold)
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

// rates returns first-pass rate, fix rounds and cost per task.
func (f Facts) rates() []string {
	var out []string
	if n := len(f.Completed); n > 0 {
		out = append(out, fmt.Sprintf("First pass %d of %d", f.FirstPass, n))
	}
	if len(f.Sessions) > 0 {
		out = append(out, plural(f.Fixes, "fix round"))
	}
	if per := f.costPerTask(); per != "" {
		out = append(out, per)
	}
	return out
}

// costPerTask returns the average cost of a completed task, or "" without one.
func (f Facts) costPerTask() string {
	switch n := len(f.Completed); {
	case n == 0, f.Cost.Sessions == 0: // tasks completed by a person, or by sessions of an earlier span
		return ""
	case f.Cost.Unpriced > 0:
		return "cost a task unknown"
	default:
		each := f.Cost
		each.USD /= float64(n)
		return each.sum() + " a task"
	}
}

func (f Facts) waitLines() []string {
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

// footLines returns the warnings below the results: messages of strangers, missed
// digests.
func (f Facts) footLines() []string {
	var out []string
	if f.Strangers > 0 {
		out = append(out, plural(f.Strangers, "stranger")+" wrote; not answered")
	}
	if line := f.hostLine(); line != "" {
		out = append(out, line)
	}
	if n := len(f.Missed); n > 0 {
		out = append(out, "No digest on "+strings.Join(f.Missed, ", ")+"; this one looks back to then")
	}
	return out
}

// fewCommits is how many commits after strangers' text a digest names on a phone.
const fewCommits = 3

// outsideLines names code that sessions changed which had read text by strangers, in one
// line at most: "Changed after reading strangers' text: #B37 (3b1f0aa) and 4 more".
func (f Facts) outsideLines(most int) []string {
	var shown []string
	for _, c := range f.Outside[:min(most, len(f.Outside))] {
		hash := bot.Clean(c.Hash)
		shown = append(shown, fmt.Sprintf("%s (%s)", shortID(c.Task), hash[:min(7, len(hash))]))
	}
	if len(shown) == 0 {
		return nil
	}
	line := "Changed after reading strangers' text: " + strings.Join(shown, ", ")
	if more := len(f.Outside) - len(shown); more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return []string{line}
}

// hostLine says which hosts sessions with a closed network reached: "4 hosts, 1 new:
// cdn.example.org; refused: evil.example". If other sessions had an open network, it
// says that theirs are unknown; without any that is known it says nothing.
func (f Facts) hostLine() string {
	reached, refused := bot.HostNames(f.Reach.Hosts)
	if len(reached)+len(refused) == 0 {
		return ""
	}
	line := plural(len(reached), "host")
	if n := len(f.NewHosts); n > 0 {
		line += fmt.Sprintf(", %d new: %s", n, bot.FewHosts(f.NewHosts))
	}
	unknown := f.Reach.UnknownText()
	if len(reached) == 0 && unknown != "" {
		line, unknown = "hosts "+unknown, ""
	}
	if len(refused) > 0 {
		line += "; refused: " + bot.FewHosts(refused)
	}
	if unknown != "" {
		line += "; " + unknown
	}
	return line
}

// proofLine names the boundary level and the ledger's head. A reader can compare
// the head with a later ledger, so this line is never left out.
func (f Facts) proofLine() string {
	if f.Head == "" {
		return ""
	}
	line := "Ledger " + f.ledgerHead()
	if f.Boundary > 0 && len(f.Sessions) > 0 {
		line = shutIn(f.Boundary) + " · " + line
	}
	return line
}

// shutIn says in a few words how far sessions were shut in, by the level of their
// boundary.
func shutIn(level int) string {
	switch level {
	case 1:
		return "Sessions not shut in"
	case 2:
		return "Sessions shut in, but for processes"
	}
	return "Sessions shut in"
}

// ledgerHead returns the ledger's head in the form that verify --head takes.
func (f Facts) ledgerHead() string {
	return fmt.Sprintf("%d:%s", f.Seq, f.Head[:min(len(f.Head), 12)])
}

// String returns the cost for people. An unknown part is named and never counts
// as zero.
func (c Cost) String() string {
	switch {
	case c.noneKnown():
		return "cost not yet known"
	case c.Unpriced == 0:
		return c.sum()
	case c.USD == 0:
		return "cost unknown"
	}
	return fmt.Sprintf("%s + unknown (%s)", c.sum(), plural(c.Unpriced, "session"))
}

// brief is String without the number of sessions of unknown cost: "$3.10 + unknown".
func (c Cost) brief() string {
	if c.Unpriced > 0 && c.USD > 0 {
		return c.sum() + " + unknown"
	}
	return c.String()
}

// sum is what is known of the cost.
func (c Cost) sum() string {
	return bot.SessionCost(ledger.Exit{CostUSD: c.USD, Estimated: c.About > 0})
}

func (c Cost) noneKnown() bool { return c.Sessions == 0 && c.Running > 0 }

// clock formats a time of the span: with the zone if the zone changes within the
// span, with the day if the span is long.
func (f Facts) clock(t time.Time) string {
	s := t.Format("15:04")
	if f.isLong() && t.Format(time.DateOnly) != f.To.Format(time.DateOnly) {
		s = t.Format("Mon 2 Jan 15:04")
	}
	_, a := f.start().Zone()
	if _, b := f.To.Zone(); a != b && !f.isLong() {
		s += t.Format(" MST")
	}
	return s
}

func (f Facts) isLong() bool { return f.To.Sub(f.From) > 36*time.Hour }

func (f Facts) start() time.Time {
	if f.Began.IsZero() {
		return f.From.In(f.To.Location())
	}
	return f.Began
}

func plural(n int, word string) string { return bot.Plural(n, word) }

func fitFirstLine(sign, project, rest string) string {
	project = bot.Clean(project)
	if after, ok := strings.CutPrefix(rest, ": "); ok {
		project, rest = project+":", after
	}
	if over := bot.Width(sign+" "+project+" "+rest) - bot.FirstWidth; over > 0 {
		project = bot.Cut(project, max(bot.Width(project)-over, 4))
	}
	return bot.Cut(sign+" "+project+" "+rest, bot.FirstWidth)
}

// addLine adds a line, unless it stands there already.
func addLine(m *bot.Message, text string) {
	said := func(l bot.Line) bool { return l.Kind == bot.Plain && l.Text == text }
	if text = bot.CleanLine(text); text != "" && !slices.ContainsFunc(m.Lines, said) {
		m.Lines = append(m.Lines, bot.Line{Text: text})
	}
}

func captionLen(m bot.Message, line string) int {
	n := utf16Len(line) + 1
	for _, l := range m.Lines {
		n += utf16Len(l.Text) + 1
	}
	return n
}

// utf16Len returns the length of a text in UTF-16 units, as chats count it. It
// counts "/", "@" and ":" twice, because an adapter may insert a joiner after
// them so that foreign text cannot be tapped.
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
