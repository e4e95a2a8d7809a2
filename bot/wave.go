package bot

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A run on bug reports works in waves (docs/spec 7.4): each is told once, when it is
// over.

// KeyWave is the key of the message that sums up a wave.
const KeyWave = "wave.ended"

const (
	// maxInWave limits the reports of one kind that a message about a wave names.
	maxInWave = 6
	// maxWaveUnits limits the length of a summary, in UTF-16 units: it stands below a
	// picture, as a caption of at most 1024 on Telegram, with one more line.
	maxWaveUnits = 900
	// waveTitle limits the title of a report in a summary, in columns.
	waveTitle = 32
)

// waveText is the summary of a wave in the making.
type waveText struct {
	Message
	tasks loop.TaskList // with the titles of the reports; empty = the titles are left out
	most  int           // reports of one kind that it names
}

// WaveOver is the summary of a wave. It leaves out titles, and then reports, until it
// fits below a picture.
func WaveOver(s loop.State, w ledger.WaveEnded, now time.Time) Message {
	m := waveOver(s, w, now, maxInWave)
	for most := maxInWave; most > 0 && captionUnits(m) > maxWaveUnits; most-- {
		s.Project.Tasks = loop.TaskList{}
		m = waveOver(s, w, now, most)
	}
	return m
}

// captionUnits returns the length of a message's lines in UTF-16 units, with a joiner in
// each place where an adapter may insert one.
func captionUnits(m Message) int {
	units := 0
	for _, l := range m.Lines {
		units += len(utf16.Encode([]rune(l.Text))) + strings.Count(l.Text, "/") + strings.Count(l.Text, ":") + strings.Count(l.Text, "@") + 1
	}
	return units
}

func waveOver(s loop.State, w ledger.WaveEnded, now time.Time, most int) Message {
	sign := SignDone
	if len(w.Passed) == 0 {
		sign = SignLook
	}
	rest := fmt.Sprintf("wave %d: %d of %d fixed", w.Wave, len(w.Passed), w.Attempted())
	if w.Attempted() == 0 {
		rest = fmt.Sprintf("wave %d: nothing tried", w.Wave)
	}
	m := waveText{newMessage(KeyWave, firstLine(sign, s.Project.Name, rest, "")), s.Project.Tasks, most}
	m.Project = s.Project.Name
	m.add(now.Format("15:04") + " · " + Took(time.Duration(w.DurationMs)*time.Millisecond) + WaveCost(w))
	m.reports(SignDone, w.Passed)
	m.reports(SignFailed, w.Failed)
	m.reports(SignAway, w.Skipped)
	for _, c := range w.Stale[:min(len(w.Stale), maxInWave)] {
		m.add(SignLook + " " + shortID(c.Task) + " " + Foreign(Cut(c.Text(now), claimWidth)) + ": not respected")
	}
	m.add(setAside(w.Aside))
	if w.Unclear > 0 {
		m.add(SignLook + " " + Plural(w.Unclear, "unclear report") + " kept, nobody sorted them: " + Foreign(Cut(w.NoJudge, quoteWidth)))
	}
	if w.Left > 0 {
		m.add(Plural(w.Left, "report") + " left")
	}
	return m.Message
}

// WaveTold is the summary of a wave for a chat. s is the state after the whole decision,
// in which the next wave has begun, or the run has ended.
func WaveTold(s loop.State, w ledger.WaveEnded, now time.Time) Message {
	m := WaveOver(s, w, now)
	m.button("Waves", "/waves")
	r := s.Project.Run
	if r != nil {
		m.Run = r.ID
	}
	if r != nil && r.Wave != nil {
		m.add("The next wave has begun.")
		m.button("Stop", "/stop")
	} else {
		m.add("It was the last one.")
	}
	return m
}

// WaveCost returns what a wave took: " · 9 sessions · 310 k tokens · $1.20", as far as
// agents said.
func WaveCost(w ledger.WaveEnded) string {
	text := " · " + Plural(w.Sessions, "session") + " · "
	switch {
	case w.Sessions == 0:
		return ""
	case w.Unpriced == w.Sessions && w.Tokens == 0:
		return text + "tokens and cost unknown"
	}
	text += WaveTokens(w) + " · "
	switch {
	case w.Unpriced == w.Sessions:
		return text + "cost unknown"
	case w.Unpriced > 0:
		return text + fmt.Sprintf("%s and %s of unknown cost", about(w.CostUSD, w.Estimated), Plural(w.Unpriced, "session"))
	}
	return text + about(w.CostUSD, w.Estimated)
}

// WaveTokens returns how many tokens a wave took, as far as agents said: "310 k tokens +
// unknown".
func WaveTokens(w ledger.WaveEnded) string {
	switch {
	case w.Tokens == 0: // summaries before there was Untold do not say how many sessions are silent
		return "tokens unknown"
	case w.Untold > 0:
		return Tokens(w.Tokens) + " tokens + unknown"
	}
	return Tokens(w.Tokens) + " tokens"
}

// reports adds a line for each report, and how many more there are.
func (m *waveText) reports(sign string, list []ledger.WaveReport) {
	for n, r := range list {
		if n == m.most {
			m.add(fmt.Sprintf("%s and %d more", sign, len(list)-n))
			return
		}
		t, _ := loop.Project{Tasks: m.tasks}.Find(r.Task)
		line := sign + " " + Foreign(shortID(r.Task))
		title, result := Foreign(Cut(t.Task.Title, waveTitle)), WaveResult(r)
		switch {
		case title == "":
			line = strings.TrimSpace(line + " " + result)
		case result == "":
			line += " " + title
		default:
			line += " " + title + " · " + result
		}
		m.add(strings.TrimSpace(line + " " + Foreign(r.URL)))
	}
}

// WaveResult says what became of a report of a wave: its request, else its commit, else
// why there is none.
func WaveResult(r ledger.WaveReport) string {
	switch {
	case r.Why != "":
		return Foreign(Cut(r.Why, quoteWidth))
	case r.Number > 0:
		return requestName(r.Number)
	case r.Commit != "":
		return commitID(r.Commit)
	}
	return ""
}

// waveReport returns a report of a wave with what became of it.
func waveReport(r ledger.WaveReport) string {
	return strings.TrimSpace(Foreign(shortID(r.Task)) + " " + WaveResult(r))
}

// fixedInWave returns what a wave fixed, in one line.
func fixedInWave(w ledger.WaveEnded) string {
	if w.Attempted() == 0 {
		return SignLook + " nothing tried"
	}
	var passed []string
	for _, r := range w.Passed {
		passed = append(passed, waveReport(r))
	}
	if len(passed) == 0 {
		return fmt.Sprintf("%s 0 of %d fixed", SignLook, w.Attempted())
	}
	return fmt.Sprintf("%s %d of %d fixed: %s", SignDone, len(passed), w.Attempted(), strings.Join(passed, ", "))
}

// gateWords say in two words why reports were set aside.
var gateWords = map[ledger.Gate]string{
	ledger.GateCoherence:  "without a text",
	ledger.GateTestable:   "too vague",
	ledger.GateMatch:      "not about this",
	ledger.GateDuplicate:  "said before",
	ledger.GateActionable: "not fixable here",
}

// GateText says in two words why a report was set aside, "" where it was not.
func GateText(g ledger.Gate) string { return gateWords[g] }

// setAside counts the reports that triage set aside: "set aside 7: 4 said before, 3 too
// vague".
func setAside(by map[ledger.Gate]int) string {
	total := 0
	var parts []string
	for _, g := range ledger.Gates() {
		if n := by[g]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, gateWords[g]))
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("set aside %d: %s", total, strings.Join(parts, ", "))
}

// WaveSorted is a line for the terminal: how many reports a wave has, and what was set
// aside.
func WaveSorted(w ledger.WaveTriaged) string {
	others, stale := 0, []string(nil)
	for _, c := range w.Claimed {
		if c.Stale {
			stale = append(stale, c.Task)
		} else {
			others++
		}
	}
	text := fmt.Sprintf("wave %d: %s to fix", w.Wave, Plural(max(w.Kept-others, 0), "report"))
	switch {
	case len(w.Asked) > 0:
		text += ", the triager reads " + fmt.Sprint(len(w.Asked)) + " first"
	case len(w.Batch) > 0:
		text += ", now " + Ranges(w.Batch)
	}
	forgotten := ""
	if len(stale) > 0 {
		forgotten = "claims without progress on " + Ranges(stale) + " are not respected"
	}
	for _, part := range []string{claimedText(others), forgotten, setAside(w.Aside)} {
		if part != "" {
			text += "; " + part
		}
	}
	return text
}

// WaveJudged is a line for the terminal: what a triager's session did with the reports
// that were unclear.
func WaveJudged(w ledger.WaveJudged) string {
	if w.Failed != "" {
		return fmt.Sprintf("%s wave %d: unclear reports are kept, nobody sorted them: %s", SignLook, w.Wave, Clean(w.Failed))
	}
	aside := 0
	for _, v := range w.Verdicts {
		if v.Gate != "" {
			aside++
		}
	}
	text := fmt.Sprintf("%s wave %d: the triager keeps %d, sets %d aside", SignDone, w.Wave, len(w.Verdicts)-aside, aside)
	if n := len(w.LeftOut); n > 0 {
		text += fmt.Sprintf(", leaves %d unclear", n)
	}
	return text
}

func claimedText(n int) string {
	if n == 0 {
		return ""
	}
	return Plural(n, "report") + " taken by others"
}
