package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/stats"
)

// StatsReader is a Service that can fold the ledger to figures. With any other Service
// the reply to /stats is NoStats.
type StatsReader interface {
	// Stats returns a project's figures, with a picture if there is something to draw.
	Stats(ctx context.Context, project string, q StatsQuery) (Message, error)
}

// StatsQuery says which figures a person asks for.
type StatsQuery struct {
	Since stats.Since
	By    stats.By // "" = the whole
	Now   time.Time
}

// UsualStats is the span of figures without a word for one.
var UsualStats = stats.Since{Days: 30}

// statsWord reports whether a word says which figures are asked for.
func statsWord(word string) bool {
	_, since := stats.ParseSince(word)
	_, by := stats.ParseBy(word)
	return since || by
}

// ParseStats reads the words behind /stats, each of which satisfies statsWord. A later
// one of a kind wins.
func ParseStats(words string, now time.Time) StatsQuery {
	q := StatsQuery{Since: UsualStats, Now: now}
	for _, w := range strings.Fields(words) {
		if since, ok := stats.ParseSince(w); ok {
			q.Since = since
		} else if by, ok := stats.ParseBy(w); ok {
			q.By = by
		}
	}
	return q
}

// showStats handles /stats.
func showStats(ctx context.Context, d dispatch) (Message, error) {
	service, ok := d.service.(StatsReader)
	if !ok {
		return NoStats(), nil
	}
	return service.Stats(ctx, d.project, ParseStats(d.c.Target, d.r.Time))
}

// NoStats is the reply to /stats where figures cannot be made. It names the command that
// makes them.
func NoStats() Message {
	m := newMessage("stats.elsewhere", SignLater+" No figures here")
	m.add("They are made where nightporter stays, or by: nightporter stats")
	return m
}

// StatsReading is the reply to /stats while the ledger was not read to its end in the time
// that a look has. What was read is kept.
func StatsReading(project string, q StatsQuery) Message {
	m := newMessage("stats.reading", firstLine(SignLater, project, "figures are being read", ""))
	m.Project = project
	m.add("The ledger is long. Ask again: what was read is kept.")
	m.button("Again", statsLine(q.Since, q.By))
	return m
}

// statsParts is the largest number of hats, agents, models or sizes in one message.
const statsParts = 6

// Stats tells people a project's figures, the whole or told apart by something.
func Stats(project string, r stats.Report, by stats.By) Message {
	if r.All.IsZero() {
		m := newMessage("stats.none", firstLine(SignLater, project, "has no figures", " "+sinceText(r)))
		m.Project = project
		m.add("No session of an agent has ended in that time.")
		if r.Since != (stats.Since{}) {
			m.button("All", statsLine(stats.Since{}, ""))
		}
		return m
	}
	if by == "" {
		return statsWhole(project, r)
	}
	m := newMessage("stats.by", firstLine("", project, "by "+string(by), " · "+sinceText(r)))
	m.Project = project
	parts := r.By[by]
	for _, p := range parts[:min(len(parts), statsParts)] {
		m.Lines = append(m.Lines, Line{Kind: Head, Text: Cut(CleanLine(PartName(by, p.Name)), FirstWidth)})
		m.part(by, p.Figures)
	}
	if more := len(parts) - statsParts; more > 0 {
		m.add(fmt.Sprintf("%d more: nightporter stats --by %s --json", more, by))
	}
	m.button("The whole", statsLine(r.Since, ""))
	m.otherStats(r, by)
	return m
}

func statsWhole(project string, r stats.Report) Message {
	f := r.All
	rest := Plural(f.Sessions, "session") + ", no task over"
	if f.Finished > 0 {
		rest = Rate(f.Done, f.Finished) + " done"
	}
	m := newMessage("stats", firstLine("", project, rest, " · "+sinceText(r)))
	m.Project = project
	if f.Done > 0 {
		m.add("First pass " + Rate(f.FirstPass, f.Done))
	}
	m.add(ReviewsText(f))
	m.add(ContradictionsText(f))
	m.add("A task " + TaskCost(f) + ", in all " + StatsCost(f))
	m.add(sessionsText(f))
	m.add(GivenText(f))
	for _, by := range stats.Kinds() {
		if len(r.By[by]) > 1 {
			m.button("By "+string(by), statsLine(r.Since, by))
		}
	}
	m.otherStats(r, "")
	return m
}

// part adds the figures of a hat, an agent, a model or a size.
func (m *Message) part(by stats.By, f stats.Figures) {
	if f.Finished > 0 {
		text := fmt.Sprintf("%d of %d done", f.Done, f.Finished)
		if f.Done > 0 {
			text += fmt.Sprintf(" · first pass %d", f.FirstPass)
		}
		m.add(text)
	}
	if by == stats.ByHat || f.Done == 0 {
		m.add(sessionsText(f) + " · " + StatsCost(f))
	} else {
		m.add("A task " + TaskCost(f) + " · " + Plural(f.Sessions, "session"))
	}
	if f.Unsplit < f.Sessions || f.Unsized < f.Sessions { // else the whole says it
		m.add(GivenText(f))
	}
	var parts []string
	if f.FixRounds > 0 {
		parts = append(parts, Plural(f.FixRounds, "fix round"))
	}
	if f.Contradicted > 0 {
		parts = append(parts, Plural(f.Contradicted, "contradiction"))
	}
	m.add(strings.Join(parts, " · "))
}

// statsLine is the command for figures.
func statsLine(since stats.Since, by stats.By) string {
	return strings.TrimSpace("/stats " + since.String() + " " + string(by))
}

// otherStats adds buttons for the same figures of other spans.
func (m *Message) otherStats(r stats.Report, by stats.By) {
	for _, other := range []struct {
		label string
		since stats.Since
	}{{"Last run", stats.Since{Run: true}}, {"7 days", stats.Since{Days: 7}}, {"30 days", UsualStats}, {"All", stats.Since{}}} {
		if other.since == r.Since || len(m.Buttons) >= 6 {
			continue
		}
		m.button(other.label, statsLine(other.since, by))
	}
}

// sinceText says which span figures are of: "r14", "30 days", "all".
func sinceText(r stats.Report) string {
	switch {
	case r.Since.Run && r.Run != "":
		return Clean(r.Run)
	case r.Since.Run:
		return "last run"
	case r.Since.Days > 0:
		return Plural(r.Since.Days, "day")
	}
	return "all"
}

// StatsSpan says which span figures are of, in words.
func StatsSpan(r stats.Report) string {
	switch text := sinceText(r); {
	case r.Since.Run && r.Run != "":
		return "run " + text
	case r.Since.Run || r.From.IsZero():
		return text
	case r.Since.Days > 0:
		return text + ", the first of them " + r.From.Format("Mon 2 Jan 2006")
	default:
		return "since " + r.From.Format("Mon 2 Jan 2006")
	}
}

// enoughForPercent is the least number of things of which a part is said in percent.
const enoughForPercent = 10

// Rate says how many of a number there are: "24 of 28 (86 %)", and of few only "2 of 3".
func Rate(n, of int) string {
	if of == 0 {
		return "unknown"
	}
	text := fmt.Sprintf("%d of %d", n, of)
	if of >= enoughForPercent {
		text += fmt.Sprintf(" (%d %%)", Percent(n, of))
	}
	return text
}

// Percent returns a part in percent. Nothing but all is 100, and nothing but none 0.
func Percent(n, of int) int {
	p := (100*n + of/2) / of
	switch {
	case p == 100 && n < of:
		return 99
	case p == 0 && n > 0:
		return 1
	}
	return p
}

// ReviewsText says how often reviews sent work back.
func ReviewsText(f stats.Figures) string {
	if f.Reviews == 0 {
		return "No review"
	}
	return Plural(f.FixRounds, "fix round") + " in " + Plural(f.Reviews, "review")
}

// ContradictionsText says how many reviews found that the work contradicts something.
func ContradictionsText(f stats.Figures) string {
	if f.Judged == 0 {
		return "Contradictions unknown"
	}
	text := fmt.Sprintf("Contradictions in %d of %s", f.Contradicted, Plural(f.Judged, "review"))
	if f.Judged < f.Reviews {
		text += fmt.Sprintf(", %d unknown", f.Reviews-f.Judged)
	}
	return text
}

// StatsCost says what sessions cost, as far as it is known.
func StatsCost(f stats.Figures) string {
	if f.Unpriced > 0 && f.Unpriced == f.Sessions {
		return "unknown"
	}
	sum := approx(f) + Money(f.USD)
	if f.Unpriced > 0 {
		sum += fmt.Sprintf(" + unknown (%s)", Plural(f.Unpriced, "session"))
	}
	return sum
}

// TaskCost says what a task that was done cost.
func TaskCost(f stats.Figures) string {
	usd, known := f.CostATask()
	if !known {
		return "unknown"
	}
	return approx(f) + Money(usd)
}

// approx is the sign of figures that hold estimates.
func approx(f stats.Figures) string {
	if f.Estimated > 0 {
		return "≈"
	}
	return ""
}

// sessionsText says how many sessions there were, and how many tokens one used: "71
// sessions of 39 k tokens".
func sessionsText(f stats.Figures) string {
	text := Plural(f.Sessions, "session")
	mean, of := f.TokensASession()
	switch {
	case of == 0:
		return text + ", tokens unknown"
	case of < f.Sessions:
		return text + fmt.Sprintf(", %d of them of %s tokens", of, Tokens(mean))
	}
	return text + " of " + Tokens(mean) + " tokens"
}

// GivenText says how long the prompts were that sessions were given, and how many tokens
// they read: "Given ≈4 k each, read 38 k".
func GivenText(f stats.Figures) string {
	prompt, sized := f.PromptASession()
	read, told := f.ReadASession()
	switch {
	case sized == 0 && told == 0:
		return "Given and read tokens unknown"
	case sized == f.Sessions && told == f.Sessions:
		return "Given ≈" + Tokens(prompt) + " each, read " + Tokens(read)
	}
	return "Given " + MeanText("≈", prompt, sized, f) + ", read " + MeanText("", read, told, f)
}

// MeanText writes a mean number of tokens of some sessions, with their number where it is not
// that of all: "≈4 k", "38 k (of 12)", "unknown".
func MeanText(sign string, mean int64, of int, f stats.Figures) string {
	switch {
	case of == 0:
		return "unknown"
	case of < f.Sessions:
		return fmt.Sprintf("%s%s (of %d)", sign, Tokens(mean), of)
	}
	return sign + Tokens(mean)
}

// PartName names a hat, an agent, a model or a size for people.
func PartName(by stats.By, name string) string {
	switch {
	case name != "":
		return name
	case by == stats.ByModel:
		return "agent's own choice"
	case by == stats.BySize:
		return "no task"
	}
	return "unknown"
}
