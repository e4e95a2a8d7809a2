package bot

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// asReview labels the button that starts an offered run with the profile
// review.
const asReview = "As review"

// addVerbButtons adds a button for each verb of a question, one that reads its plan,
// and one that says why its task failed.
func addVerbButtons(m *Message, q ledger.Question) {
	for _, v := range q.Verbs() {
		m.addButton(verbButton(q, v))
	}
	if read := ReadCommand(q); read != "" {
		m.button("Read", read)
	}
	if why := WhyCommand(q); why != "" {
		m.button("Why", why)
	}
}

// PlanCommand returns the command that shows the plan of a question's task.
func PlanCommand(q ledger.Question) string { return "/plan " + idArg(q.Task) }

// redoPlan returns the button that discards a task's plan. Its words go to the
// planner.
func redoPlan(label, task string) Button {
	return textButton(label, "/plan redo "+idArg(task), "WORDS")
}

// verbButton returns the button that answers a question with a verb.
func verbButton(q ledger.Question, v string) Button {
	if words := wordingOf(q).verbs[v].words; words != "" {
		return textButton(verbLabel(q, v), q.ID+" "+v, words)
	}
	return Button{Label: verbLabel(q, v), Command: Typed(q, v)}
}

// verbLabel returns the text of a verb's button, without "…".
func verbLabel(q ledger.Question, v string) string {
	w := wordingOf(q).verbs[v]
	switch {
	case w.labelFor != nil:
		return w.labelFor(q)
	case w.label == "": // an option's letter
		return strings.ToUpper(v)
	}
	return w.label
}

// DigestButtons returns a question's buttons for a message that lists many
// questions. all is false where there is room only for the likely verb.
func DigestButtons(q ledger.Question, all bool) []Button {
	task := Cut(shortID(q.Task), 14)
	switch wordingOf(q).buttons {
	case buttonVerbs:
		var out []Button
		for _, v := range q.Verbs() {
			b, label := verbButton(q, v), verbLabel(q, v)
			about := task
			if Width(task)+Width(label)+2 > LabelWidth {
				about = q.ID
			}
			b.Label = strings.Replace(b.Label, label, label+" "+about, 1)
			out = append(out, b)
			if !all {
				return out
			}
		}
		return out
	case buttonRead:
		return []Button{{Label: "Read " + task, Command: PlanCommand(q)}}
	case buttonFirst:
		v := q.Verbs()[0]
		return []Button{verbButton(q, v)}
	}
	return []Button{{Label: "Answer " + q.ID, Command: q.ID}}
}

// DigestNeed says how a digest lists a question: its task followed by need, or,
// if text is true, by the question's text. With neither, its headline stands
// there.
func DigestNeed(q ledger.Question) (need string, text bool) {
	w := wordingOf(q)
	if w.need != nil {
		return w.need(q), false
	}
	return "", q.Task != "" && (w.text == TextOutcome || q.OwnWords())
}

// Typed returns the line that answers a question with a verb: "q5 retry", "q5
// guide WORDS".
func Typed(q ledger.Question, verb string) string {
	return strings.TrimSpace(q.ID + " " + verb + " " + wordingOf(q).verbs[verb].words)
}

// ReadCommand returns the command that shows the plan a question is about, "" for
// questions whose message contains everything.
func ReadCommand(q ledger.Question) string {
	if wordingOf(q).reads {
		return PlanCommand(q)
	}
	return ""
}

// WhyCommand returns the command that says why a question's task failed, "" for a
// question about something else.
func WhyCommand(q ledger.Question) string {
	if wordingOf(q).failed && q.Task != "" {
		return "/why " + idArg(q.Task)
	}
	return ""
}
