package loop

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// Answer is what a question of the attempt's sessions was answered with.
type Answer struct {
	ledger.AgentAnswer

	Again int `json:"again,omitempty"` // times that the question was asked once more
}

// askedAgain continues an attempt whose session asked what was answered before in
// this attempt. Nobody is asked: the next session gets the same answer with its note,
// once. A session that asks yet again has failed, because an agent that does not read
// its answers would ask all night. askedAgain reports whether it did so.
func (d *decision) askedAgain(t TaskState, tree string) bool {
	w := t.Attempt
	n := w.answerTo(w.Event)
	if n < 0 {
		return false
	}
	a := w.Answers[n]
	d.redo(t, ledger.Redo{Why: ledger.RedoAsked, Failed: a.Again > 0, Tree: tree, Note: fmt.Sprintf(
		"The session before asked: %s\nThat was answered already (%s): %s\nGo on with this answer; where guidance says otherwise, guidance holds. Asking once more is a failed session.", a.Text, a.Question, a.Words)})
	return true
}

// answerTo returns the index in Answers of the answer to the question that a session
// asks, -1 if there is none.
func (w *Attempt) answerTo(ev *ledger.EventAccepted) int {
	if ev == nil || ev.Type != ledger.EventQuestion {
		return -1
	}
	asked := questionKey(payload.String(ev.Data, "text"), payload.Strings(ev.Data, "options"))
	for n := len(w.Answers) - 1; n >= 0; n-- { // the newest
		if slices.Equal(questionKey(w.Answers[n].Text, w.Answers[n].Options), asked) {
			return n
		}
	}
	return -1
}

// questionKey returns the form of a question by which it is the same one, whatever its
// spaces, its punctuation and the order of its options.
func questionKey(text string, options []string) []string {
	key := make([]string, 0, 1+len(options))
	for _, o := range options {
		key = append(key, ledger.TitleKey(o))
	}
	slices.Sort(key)
	return append(key, ledger.TitleKey(text))
}

// withAnswer returns the attempt with an answer, w itself if either is nil.
func (w *Attempt) withAnswer(a *ledger.AgentAnswer) *Attempt {
	if w == nil || a == nil {
		return w
	}
	c := *w
	c.Answers = append(slices.Clip(c.Answers), Answer{AgentAnswer: *a})
	return &c
}

// withoutAnswer returns the attempt without the answer to a question, which is taken
// back; nil if w is nil.
func (w *Attempt) withoutAnswer(question string) *Attempt {
	if w == nil {
		return nil
	}
	c := *w
	c.Answers = slices.DeleteFunc(slices.Clone(c.Answers), func(a Answer) bool { return a.Question == question })
	return &c
}

// answerAgain counts that the question of the present session got its answer again.
func (w *Attempt) answerAgain() {
	if n := w.answerTo(w.Event); n >= 0 {
		w.Answers = slices.Clone(w.Answers)
		w.Answers[n].Again++
	}
}
