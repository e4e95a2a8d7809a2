package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Wave is the content of the picture of a wave. All times are in the recipient's time
// zone.
type Wave struct {
	Project      string
	Max          int // waves at most; 0 = no limit
	Began, Ended time.Time
	Reports      []WaveReport // passed, failed, skipped
	Aside        []Count      // reports that triage set aside, by gate
	Unclear      int          // reports that were kept although nobody could decide about them
	Left         int
	Tokens       string
	Waves        []WaveRow // the last ones of the run, this one last
}

// WaveReport is one report of a wave.
type WaveReport struct {
	Sign   string
	ID     string
	Title  string        // "" = unknown
	Result string        // "PR 142", or why there is none
	Worked time.Duration // of all its sessions; 0 = unknown
}

// WaveRow is one wave in a line.
type WaveRow struct {
	Run                            string
	N                              int
	At                             time.Time // end
	Passed, Failed, Skipped, Aside int
	Took                           time.Duration
	Cost                           Cost
}

// WaveOf returns the content of a wave's picture. s is the state after its end.
func WaveOf(s loop.State, e ledger.WaveEnded, now time.Time) Wave {
	w := Wave{
		Project: s.Project.Name, Began: e.Began.In(now.Location()), Ended: now, Unclear: e.Unclear, Left: e.Left, Tokens: bot.WaveTokens(e),
	}
	for n, list := range [][]ledger.WaveReport{e.Passed, e.Failed, e.Skipped} {
		for _, r := range list {
			t, _ := s.Project.Find(r.Task)
			w.Reports = append(w.Reports, WaveReport{
				Sign: waveSigns[n], ID: r.Task, Title: t.Task.Title, Result: bot.WaveResult(r), Worked: time.Duration(t.WorkedMs) * time.Millisecond,
			})
		}
	}
	for _, g := range ledger.Gates() {
		if n := e.Aside[g]; n > 0 {
			w.Aside = append(w.Aside, Count{Name: bot.GateText(g), N: n})
		}
	}
	run := ""
	if r := s.Project.Run; r != nil {
		run, w.Max = r.ID, r.Settings.MaxWaves
		for _, o := range r.Waves {
			if o.Wave != e.Wave {
				w.Waves = append(w.Waves, waveRow(r.ID, o, o.Began.Add(time.Duration(o.DurationMs)*time.Millisecond).In(now.Location())))
			}
		}
	}
	w.Waves = append(w.Waves, waveRow(run, e, now))
	return w
}

// In returns w with its times in a zone: JSON keeps times without their zone's name.
func (w Wave) In(zone *time.Location) Wave {
	w.Began, w.Ended, w.Waves = w.Began.In(zone), w.Ended.In(zone), slices.Clone(w.Waves)
	for n := range w.Waves {
		w.Waves[n].At = w.Waves[n].At.In(zone)
	}
	return w
}

// waveSigns are the signs of reports that passed, failed and were skipped.
var waveSigns = [3]string{bot.SignDone, bot.SignFailed, bot.SignAway}

func waveRow(run string, e ledger.WaveEnded, at time.Time) WaveRow {
	row := WaveRow{
		Run: run, N: e.Wave, At: at, Passed: len(e.Passed), Failed: len(e.Failed), Skipped: len(e.Skipped), Took: time.Duration(e.DurationMs) * time.Millisecond,
		Cost: Cost{USD: e.CostUSD, About: e.Estimated, Unpriced: e.Unpriced, Sessions: e.Sessions},
	}
	for _, n := range e.Aside {
		row.Aside += n
	}
	return row
}

// last returns the row of the wave itself.
func (w Wave) last() WaveRow { return w.Waves[len(w.Waves)-1] }

// attempted returns how many reports the wave tried to fix.
func (r WaveRow) attempted() int { return r.Passed + r.Failed }

// text says what a wave did, without its number: "3 of 5 fixed · 41 min · $1.24".
func (r WaveRow) text() string {
	parts := []string{fmt.Sprintf("%d of %d fixed", r.Passed, r.attempted()), bot.Took(r.Took)}
	if r.attempted() == 0 {
		parts[0] = "nothing tried"
	}
	if r.Cost.Sessions > 0 {
		parts = append(parts, r.Cost.brief())
	}
	return strings.Join(parts, " · ")
}

// waveLines returns a line for each wave that ended in the span, in their order.
func (f Facts) waveLines() []string {
	var out []string
	for _, r := range f.Waves {
		sign, line := bot.SignDone, r.name(f.runsInWaves())+": "+r.text()
		if r.Passed == 0 {
			sign = bot.SignLook
		}
		if r.Aside > 0 {
			line += fmt.Sprintf(" · set aside %d", r.Aside)
		}
		out = append(out, sign+" "+line)
	}
	return out
}

// runsInWaves reports whether several runs had waves in the span.
func (f Facts) runsInWaves() bool {
	return slices.ContainsFunc(f.Waves, func(r WaveRow) bool { return r.Run != f.Waves[0].Run })
}

// WaveAlt returns the content of a wave's picture as text of at most bot.MaxAlt
// characters.
func WaveAlt(w Wave) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	last := w.last()
	say("Wave %d of %s, %s to %s: %d fixed, %d failed, %d skipped, %d set aside, %s, %s.", last.N, bot.Clean(w.Project), w.Began.Format("15:04"), w.Ended.Format("15:04"),
		last.Passed, last.Failed, last.Skipped, last.Aside, plural(last.Cost.Sessions, "session"), w.spent())
	for _, r := range w.Reports[:min(len(w.Reports), maxWaveReports)] {
		word := map[string]string{bot.SignDone: "fixed", bot.SignFailed: "failed", bot.SignAway: "skipped"}[r.Sign]
		line := shortID(r.ID) + " " + word
		for _, text := range []string{r.Title, r.Result} {
			if text != "" {
				line += ", " + strings.TrimRight(bot.Cut(bot.Clean(text), 80), ".")
			}
		}
		if r.Worked > 0 {
			line += ", " + bot.Took(r.Worked) + " of sessions"
		}
		say("%s.", line)
	}
	if more := len(w.Reports) - maxWaveReports; more > 0 {
		say("%d more.", more)
	}
	var aside []string
	for _, c := range w.Aside {
		aside = append(aside, fmt.Sprintf("%d %s", c.N, c.Name))
	}
	if len(aside) > 0 {
		say("Set aside: %s.", strings.Join(aside, ", "))
	}
	if len(w.Waves) > 1 {
		for _, r := range w.Waves[max(len(w.Waves)-maxWaveRows, 0):] {
			say("Wave %d: %s.", r.N, r.text())
		}
	}
	return bot.Cut(strings.Join(parts, " "), bot.MaxAlt)
}

// spent says what the wave took of tokens and money.
func (w Wave) spent() string {
	if w.last().Cost.Sessions == 0 {
		return "nothing spent"
	}
	return w.Tokens + ", " + w.last().Cost.String()
}
