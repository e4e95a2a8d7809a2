package loop

import "testing"

// TestQuestionKinds reads the table of question kinds: each kind has all its
// cells, and each verb of it does something.
func TestQuestionKinds(t *testing.T) {
	all := []QuestionKind{
		AskBlocked, AskManual, AskAgent, AskBaseline, AskReview, AskUnticked, AskSkip, AskNow, AskStart, AskLate, AskPlan, AskAllow,
	}
	if len(QuestionKinds()) != len(all) {
		t.Errorf("the table has %d kinds, the constants are %d", len(QuestionKinds()), len(all))
	}
	ranks := map[int]QuestionKind{}
	for _, kind := range all {
		row, ok := questionKinds[kind]
		if !ok {
			t.Errorf("%s has no row", kind)
			continue
		}
		if other, taken := ranks[row.urgency]; taken || row.urgency < 1 {
			t.Errorf("%s has the urgency %d, as %q", kind, row.urgency, other)
		}
		ranks[row.urgency] = kind
		if row.role.rank() == 0 || row.undo == nil || row.expire == nil || row.drop == nil || len(row.verbs) == 0 {
			t.Errorf("%s misses a role, undo, expire, drop or its verbs", kind)
		}
		q := Question{Kind: kind, Options: []string{"Yes, do it", "No"}, Review: &Limits{}}
		for _, choice := range []string{q.Yes(), q.No(), row.sentence} {
			if v, ok := q.Verb(choice); choice != "" && (!ok || v.apply == nil) {
				t.Errorf("%s: %q is none of its verbs", kind, choice)
			}
		}
		for _, v := range append(row.verbs, row.ownVerb()...) {
			if v.apply == nil || v.Words != WordsNone && v.Words != WordsOptional && v.Words != WordsRequired {
				t.Errorf("%s %q has no effect, or no rule for words", kind, v.Name)
			}
			if v.check != nil && v.Words != WordsRequired {
				t.Errorf("%s %q checks words that may be missing", kind, v.Name)
			}
		}
	}
}

func (r kindRow) ownVerb() []AnswerVerb {
	if r.own == nil {
		return nil
	}
	return []AnswerVerb{*r.own}
}
