package bot

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestQuestionWordings compares the core's table of question kinds with the
// table of their wordings: both have the same kinds and verbs, and no cell that
// people read is empty.
func TestQuestionWordings(t *testing.T) {
	now := time.Date(2027, 3, 4, 23, 10, 0, 0, time.UTC)
	kinds := ledger.QuestionKinds()
	if len(wordings) != len(kinds) {
		t.Errorf("%d kinds of question have words, the core knows %d", len(wordings), len(kinds))
	}
	for _, kind := range kinds {
		w, ok := wordings[kind]
		if !ok {
			t.Errorf("%s has no words", kind)
			continue
		}
		if w.sign == "" || w.headline == nil || w.first == nil || w.body == nil || w.waits == nil || w.then == nil ||
			w.past == nil || w.expired == nil || w.task == "" {
			t.Errorf("%s misses one of sign, headline, first, body, waits, then, past, expired, task", kind)
			continue
		}
		q := ledger.Question{ID: "q1", Kind: kind, Task: "Task 1", Asked: now, Offer: &ledger.Settings{}, Review: &ledger.Limits{}, Lanes: &ledger.LanesProposal{Parallel: 4}}
		if (w.own != nil) != q.OwnWords() {
			t.Errorf("%s: own words are an answer: %v, and have words: %v", kind, q.OwnWords(), w.own != nil)
		}
		if len(w.verbs) != len(kind.AllVerbs()) {
			t.Errorf("%s has words for %d verbs, the core knows %d", kind, len(w.verbs), len(kind.AllVerbs()))
		}
		for _, v := range kind.AllVerbs() {
			words, ok := w.verbs[v.Name]
			if !ok || words.label == "" || words.after == nil {
				t.Errorf("%s %s has no label, or no words for what comes of it", kind, v.Name)
				continue
			}
			if needs := v.Words == ledger.WordsRequired; needs != (words.words != "") {
				t.Errorf("%s %s: typed with %q, and words are %s", kind, v.Name, words.words, v.Words)
			}
			if words.after(q, "") == "" {
				t.Errorf("%s %s: nothing is said of what comes of it", kind, v.Name)
			}
		}
		s := loop.State{Project: loop.Project{Name: "shop"}}
		if m := Ask(s, q, now); len(m.Buttons) < len(kind.AllVerbs()) || m.First() == "" {
			t.Errorf("%s asks without its buttons: %+v", kind, m)
		}
	}
}
