package bot

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// asReview is the verb of an offer that starts the run with profile review.
const asReview = "As review"

// buttons are a question's verbs as they are pressed.
func buttons(m *Message, q ledger.Question) {
	for _, v := range q.Verbs() {
		m.button(label(q, v), Typed(q, v))
	}
	if read := ReadCommand(q); read != "" {
		m.button("Read", read)
	}
}

// PlanCommand is how the plan is read that a question is about.
func PlanCommand(q ledger.Question) string { return "/plan " + arg(q.Task) }

// label is a verb as a button has it.
func label(q ledger.Question, v string) string {
	w := wordingOf(q).verbs[v]
	switch {
	case w.labelFor != nil:
		return w.labelFor(q)
	case w.label == "": // an option's letter
		return strings.ToUpper(v)
	}
	return w.label
}

// DigestButtons are the buttons of a question where many are listed: all its
// verbs, or the likely one.
func DigestButtons(q ledger.Question, all bool) []Button {
	task := Cut(short(q.Task), 14)
	switch wordingOf(q).buttons {
	case buttonVerbs:
		var out []Button
		for _, v := range q.Verbs() {
			label, more := strings.CutSuffix(label(q, v), "…")
			about := task
			if Width(task)+Width(label)+2 > LabelWidth {
				about = q.ID
			}
			label += " " + about
			if more {
				label += "…"
			}
			out = append(out, Button{Label: label, Command: Typed(q, v)})
			if !all {
				break
			}
		}
		return out
	case buttonRead:
		return []Button{{Label: "Read " + task, Command: PlanCommand(q)}}
	case buttonFirst:
		v := q.Verbs()[0]
		return []Button{{Label: label(q, v), Command: Typed(q, v)}}
	}
	return []Button{{Label: "Answer " + q.ID, Command: q.ID}}
}

// DigestNeed is how a question stands in a list of what needs a person: need
// behind its task, or its text where text is true. Neither: by its headline.
func DigestNeed(q ledger.Question) (need string, text bool) {
	w := wordingOf(q)
	return w.need, w.need == "" && q.Task != "" && (w.text == TextOutcome || q.OwnWords())
}
