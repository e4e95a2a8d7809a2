package loop

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUndoTwice checks that a second undo, from a double press, is not taken as
// an answer to the question that is open again.
func TestUndoTwice(t *testing.T) {
	s := State{Project: Project{Name: "shop", Questions: []ledger.Question{{ID: "q3", Kind: ledger.AskAgent, Text: "May it?", Options: []string{"Yes", "No"}}}}}
	for answer, settles := range map[AnswerQuestion]bool{
		{Question: "q3", Choice: "undo"}:                              false,
		{Question: "q3", Words: "Undo"}:                               false,
		{Question: "q3", Choice: "undo", Words: "the change instead"}: true,
		{Question: "q3", Choice: "a"}:                                 true,
	} {
		d := Decide(s, Input{Key: "k", Time: time.Unix(1e9, 0), Actor: "telegram:1", Project: "shop", Body: answer})
		if d.Answer.OK != settles || (len(d.Entries) > 0) != settles {
			t.Errorf("%+v: %+v, %d entries", answer, d.Answer, len(d.Entries))
		}
	}
}
