package loop

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// answerGiven is an answer that the ledger already has and whose effects follow
// now.
type answerGiven struct {
	q             ledger.Question
	choice, words string
	along         []string
}

// answerEffect is the effect of one possible answer.
type answerEffect struct {
	check func(words string) (code ledger.AnswerCode, why string) // refuses unsuitable words; nil: accepts any
	along func(*decision, ledger.Question) []string               // ids of other tasks that the answer affects too; nil: none
	apply func(*decision, answerGiven)
}

// questionEffect holds all ways in which a question of one kind can end.
type questionEffect struct {
	verbs  map[string]answerEffect
	own    func(*decision, answerGiven)             // an option or free text; nil: not accepted
	expire func(*decision, ledger.Question)         // nobody answered in time
	drop   func(*decision, ledger.Question, string) // something other than an answer settled it; the string names the event for people
}

// questionEffects has a row for each kind of question. init fills it, because
// answers refer back to the table: Go refuses that as an initialization cycle.
var questionEffects map[ledger.QuestionKind]questionEffect

// effectsOf returns the row of q's kind. A question of an unknown kind gets the
// row of an agent's question.
func effectsOf(q ledger.Question) questionEffect {
	if e, ok := questionEffects[q.Kind]; ok {
		return e
	}
	return questionEffects[ledger.AskAgent]
}

// effectOf returns the effect of answering q with choice.
func effectOf(q ledger.Question, choice string) answerEffect {
	row := effectsOf(q)
	if e, ok := row.verbs[choice]; ok {
		return e
	}
	return answerEffect{apply: row.own}
}

// withdraw settles a question without an answer. then says what happens
// instead.
func (d *decision) withdraw(q ledger.Question, then string) {
	d.add(scope{task: q.Task}, ledger.QuestionExpired{ID: q.ID, Then: then})
}
