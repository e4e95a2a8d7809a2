package report

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

const (
	mostButtons = 9 // three rows
	firstFew    = 2 // questions whose verbs are all there
)

// buttons are the obvious next steps, for what is most urgent first.
func (f Facts) buttons(m *bot.Message) {
	press := func(label, twin string) {
		if len(m.Buttons) < mostButtons {
			m.Buttons = append(m.Buttons, bot.Button{Label: bot.Cut(bot.Clean(label), bot.LabelWidth), Command: twin})
		}
	}
	asked := 0
	for _, n := range f.Needs {
		if n.Q.ID != "" {
			asked++
		}
	}
	for _, n := range f.Needs {
		switch {
		case n.Stop && n.Sign != bot.SignPaused:
			press("Try now", "/resume")
		case n.Stop:
			press("Resume", "/resume")
		case n.Q.ID != "" && len(m.Buttons) < mostButtons-2:
			for _, b := range verbs(n.Q, asked <= firstFew) {
				press(b.Label, b.Command)
			}
		}
	}
	if f.Branch != "" {
		press("Diff", "/diff")
	}
	switch {
	case f.Live && len(f.Needs) == 0:
		press("Status", "/status")
	case !f.Live && len(f.Needs) == 0 && f.Left > 0:
		press("Start", "/run "+f.Project)
	}
	if f.Total > 0 && !f.Quiet() {
		press("Tasks", "/tasks")
	}
}

// verbs are the buttons of a question; all of them, or the likely one.
func verbs(q ledger.Question, all bool) []bot.Button {
	task := short(q.Task)
	switch q.Kind {
	case ledger.AskBlocked, ledger.AskManual:
		var out []bot.Button
		for _, v := range q.Verbs() {
			label := strings.ToUpper(v[:1]) + v[1:]
			if room := bot.LabelWidth - bot.Width(task) - bot.Width(label) - 2; room >= 0 {
				label += " " + task
			} else {
				label += " " + q.ID
			}
			if v == "guide" || v == "fail" {
				label += "…"
			}
			out = append(out, bot.Button{Label: label, Command: bot.Typed(q, v)})
			if !all {
				break
			}
		}
		return out
	case ledger.AskPlan:
		return []bot.Button{{Label: "Read " + task, Command: bot.PlanCommand(q)}}
	case ledger.AskReview:
		return []bot.Button{{Label: "Resume", Command: bot.Typed(q, "resume")}}
	}
	return []bot.Button{{Label: "Answer " + q.ID, Command: q.ID}}
}
