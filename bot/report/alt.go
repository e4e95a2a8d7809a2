package report

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Alt returns the picture's content as text of at most bot.MaxAlt characters,
// for people who cannot see the picture.
func Alt(f Facts) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	from, to := f.start(), f.To
	if !f.Ended.IsZero() {
		to = f.Ended
	}
	span := from.Format("Mon 2 Jan 2006")
	if to.Format("2006-01-02") != from.Format("2006-01-02") {
		span = from.Format("Mon 2") + " to " + to.Format("Mon 2 Jan 2006")
	}
	title := fmt.Sprintf("Night of %s, %s, %s to %s", bot.Clean(f.Project), span, from.Format("15:04"), to.Format("15:04"))
	if len(f.Runs) > 0 {
		title += ", run " + strings.Join(f.Runs[:min(len(f.Runs), 4)], " ")
	}
	say("%s.", title)
	if f.Scripted {
		say("%s.", scriptedNote)
	}
	tally := []string{fmt.Sprintf("%d of %s done", f.Done, plural(f.Total, "task"))}
	for _, c := range []Count{{"blocked", f.Blocked}, {"manual verify", f.Manual}, {"skipped", f.Skipped}} {
		if c.N > 0 {
			tally = append(tally, fmt.Sprintf("%d %s", c.N, c.Name))
		}
	}
	if rest := f.Left - f.Blocked - f.Manual; rest > 0 {
		tally = append(tally, fmt.Sprintf("%d left", rest))
	}
	spent := f.Cost.String()
	if f.Cost.Unpriced == 0 && !f.Cost.noneKnown() {
		spent += " spent"
	}
	say("%s, %s, %s.", strings.Join(tally, ", "), spent, plural(len(f.Sessions), "session"))
	if line := f.proofAlt(); line != "" {
		say("%s.", line)
	}
	if rates := f.rates(); len(rates) > 0 {
		say("%s.", strings.Join(rates, ", "))
	}
	if len(f.Hats) > 0 {
		var hats []string
		for _, h := range f.Hats {
			hats = append(hats, fmt.Sprintf("%s %d", h.Name, h.N))
		}
		line := "Sessions by hat: " + strings.Join(hats, ", ")
		for _, w := range f.Waits {
			line += fmt.Sprintf("; waited from %s to %s for %s", w.From.Format("15:04"), w.To.Format("15:04"), w.Why)
		}
		for _, o := range f.Off {
			line += fmt.Sprintf("; off from %s to %s", o.From.Format("15:04"), o.To.Format("15:04"))
		}
		say("%s.", line)
	}
	if f.inLanes() {
		var lanes []string
		for n := range f.Lanes {
			var ids []string
			for _, id := range f.tasksIn(n) {
				ids = append(ids, shortID(id))
			}
			lanes = append(lanes, fmt.Sprintf("%d had %s", n+1, orNone(strings.Join(ids, " "))))
		}
		say("%d lanes, at most %s at the same time: %s.", f.Lanes, plural(f.AtOnce(), "session"), strings.Join(lanes, "; "))
	}
	var said []string
	for _, g := range f.Guidance {
		if g.InSpan {
			said = append(said, g.At.Format("15:04"))
		}
	}
	if len(said) > 0 {
		say("Guidance at %s.", joinWithAnd(said))
	}
	if len(f.Burndown) > 1 {
		var left []string
		for _, p := range f.Burndown {
			left = append(left, fmt.Sprintf("%d at %s", p.Left, p.At.Format("15:04")))
		}
		say("Tasks left: %s.", strings.Join(left, ", "))
	}
	var waves []string
	for _, r := range f.Waves[max(len(f.Waves)-maxWaveRows, 0):] {
		waves = append(waves, r.name(f.runsInWaves())+", "+r.text())
	}
	if len(waves) > 0 {
		say("Waves: %s.", strings.Join(waves, "; "))
	}
	for _, r := range f.Requests[:min(len(f.Requests), maxRequests)] {
		say("%s.", r.Text)
	}
	return bot.Cut(strings.Join(parts, " "), bot.MaxAlt)
}

// proofAlt says what the row of proofs shows: "Of what was done, 3 proved, 1 changed
// checks (#2)".
func (f Facts) proofAlt() string {
	var parts []string
	for _, w := range ledger.ProofWords() {
		n := f.Proofs[w]
		if n == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, w))
	}
	if len(parts) == 0 {
		return ""
	}
	line := "Of what was done, " + strings.Join(parts, ", ")
	for _, g := range f.Proof {
		if g.Sign == bot.SignLook {
			line += "; look at " + g.Whole()
		}
	}
	return line
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func joinWithAnd(all []string) string {
	if n := len(all) - 1; n > 0 {
		return strings.Join(all[:n], ", ") + " and " + all[n]
	}
	return all[0]
}
