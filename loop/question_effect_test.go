package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestQuestionEffects compares the table of question kinds with the table of
// their effects: each kind and each verb has an effect, and no required cell is
// empty.
func TestQuestionEffects(t *testing.T) {
	kinds := ledger.QuestionKinds()
	if len(questionEffects) != len(kinds) || len(kinds) == 0 {
		t.Errorf("%d kinds of question have effects, the table knows %d", len(questionEffects), len(kinds))
	}
	for rank, kind := range kinds {
		q := ledger.Question{Kind: kind, Options: []string{"Yes, do it", "No"}, Review: &ledger.Limits{}}
		row, ok := questionEffects[kind]
		if !ok || row.expire == nil || row.drop == nil || (row.own != nil) != q.OwnWords() {
			t.Errorf("%s misses expire, drop, or what own words do", kind)
			continue
		}
		if q.Urgency() != rank+1 {
			t.Errorf("%s has the urgency %d at rank %d", kind, q.Urgency(), rank+1)
		}
		if q.Role() != ledger.RoleSteer && q.Role() != ledger.RoleAdmin {
			t.Errorf("%s takes the role %q", kind, q.Role())
		}
		if len(kind.AllVerbs()) == 0 || len(row.verbs) != len(kind.AllVerbs()) {
			t.Errorf("%s: %d verbs have effects, the table knows %d", kind, len(row.verbs), len(kind.AllVerbs()))
		}
		for _, v := range kind.AllVerbs() {
			switch e := row.verbs[v.Name]; {
			case e.apply == nil:
				t.Errorf("%s %s does nothing", kind, v.Name)
			case v.Words != ledger.WordsNone && v.Words != ledger.WordsOptional && v.Words != ledger.WordsRequired:
				t.Errorf("%s %s has no rule for words", kind, v.Name)
			case e.check != nil && v.Words == ledger.WordsNone:
				t.Errorf("%s %s checks words that it does not take", kind, v.Name)
			case e.check != nil && v.Words == ledger.WordsOptional:
				if code, _ := e.check(""); code != "" {
					t.Errorf("%s %s refuses words that may be missing", kind, v.Name)
				}
			}
		}
		for _, choice := range []string{q.Yes(), q.No(), q.SentenceVerb()} {
			if _, ok := q.Verb(choice); choice != "" && !ok {
				t.Errorf("%s: %q is none of its verbs", kind, choice)
			}
		}
	}
}
