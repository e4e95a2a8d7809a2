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
	if q.Kind == ledger.AskPlan {
		m.button("Read", PlanCommand(q))
	}
}

// PlanCommand is how the plan is read that a question is about.
func PlanCommand(q ledger.Question) string { return "/plan " + arg(q.Task) }

// label is a verb as a button has it.
func label(q ledger.Question, v string) string {
	switch string(q.Kind) + " " + v {
	case "agent skip":
		return "Skip task"
	case "start review":
		return asReview
	case "now queue":
		return "Queue it"
	case "now rerun":
		return "Rerun now"
	case "late no":
		return "Keep going"
	case "late yes":
		word, _, _ := strings.Cut(string(q.Do), " ")
		if word == "" {
			word = "do it"
		}
		return strings.ToUpper(word[:1]) + word[1:]
	}
	text := strings.ToUpper(v[:1]) + v[1:]
	if wantsWords(v) {
		text += "…"
	}
	return text
}

// wantsWords reports whether a verb is nothing without words.
func wantsWords(verb string) bool { return verb == "guide" || verb == "fail" || verb == "reject" }
