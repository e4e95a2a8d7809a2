package bot

import (
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// verbWording holds the texts that people read about one answer to a kind of
// question.
type verbWording struct {
	label    string                                      // on its button
	labelFor func(q ledger.Question) string              // the label if it depends on the question; nil: label
	words    string                                      // placeholder for the words to type after it: "WHY"; "" = no words needed
	means    string                                      // explanation, "" if the label is enough
	meansFor func(q ledger.Question) string              // the explanation if it depends on the question; nil: means
	harmless bool                                        // it neither stops, spends, merges nor accepts: "no" stands for it where it is the question's No
	settled  string                                      // in the question's message after the answer; "" = the verb's name
	after    func(q ledger.Question, item string) string // the consequence; item is the id of the guidance that its words became
	// overrule returns a button, without its label, that still achieves this answer
	// after another answer settled the question, a zero Button if no command does;
	// nil: never any.
	overrule func(s loop.Answered, words string, now time.Time) Button
}

// wording holds the texts that people read about one kind of question.
type wording struct {
	sign     string
	headline func(s loop.State, q ledger.Question) string            // headline of the question in one line, without its sign
	first    func(s loop.State, q ledger.Question, width int) string // first line of the question's message
	body     func(m *Message, s loop.State, q ledger.Question, now time.Time)
	facts    func(m *Message, s loop.State, q ledger.Question)        // adds lines below the question's text; nil: none
	waits    func(s loop.State, q ledger.Question) string             // what happens without an answer, for a question that never expires
	then     func(s loop.State, q ledger.Question) string             // what happens without an answer, for a question that expires
	past     func(m *Message, s loop.State, q ledger.Question)        // adds the question's subject to its message after it is settled
	expired  func(q ledger.Question, b ledger.QuestionExpired) string // the consequence of the question's expiry, "" = none
	untimed  bool                                                     // the message about the question's expiry shows no time
	verbs    map[string]verbWording
	own      *verbWording // wording of an option or a free-text answer; nil: the kind takes neither
	// closed maps a command that settled the question without being one of its verbs
	// to the consequence.
	closed map[string]func(q ledger.Question, item string) string

	terse     func(s loop.State, q ledger.Question) string    // text for a terminal about the wait for a question that never expires; nil: none
	withdrawn bool                                            // people are not told that it ended without an answer
	task      string                                          // state of the waiting task, in a list of tasks
	need      func(ledger.Question) string                    // text after the task in a digest; nil = the question's text, or its headline if it has no task of its own
	text      TextForm                                        // layout of its text
	reads     bool                                            // the question has a plan that /plan shows
	failed    bool                                            // it is about a failure that /why explains
	buttons   buttonForm                                      // in a digest
	runEnd    func(q ledger.Question) (label, command string) // button in the message about the run's end; nil: none
}

// TextForm is the layout of a question's text.
type TextForm int

const (
	TextQuoted  TextForm = iota // a quotation of an agent or a person
	TextSteps                   // steps of a manual verification, one per line
	TextOutcome                 // the reason why an attempt failed
	TextOffer                   // facts of the offer, which the headline repeats
)

// buttonForm selects a question's buttons in messages that list many questions.
type buttonForm int

const (
	buttonAnswer buttonForm = iota // one button that shows the question
	buttonVerbs                    // a button for each verb, with the task's id
	buttonRead                     // one button that shows its plan
	buttonFirst                    // one button for its likely verb
)

// wordings has a row for each kind of question that package loop knows. It is
// filled by init because some cells look up others.
var wordings map[ledger.QuestionKind]wording

// waitsForAnswer is the state of a waiting task whose question needs no other word.
const waitsForAnswer = "asks"

// wordingOf returns the row of a question's kind. A question of an unknown kind,
// from a ledger of a later release, has the texts of an agent's question.
func wordingOf(q ledger.Question) wording {
	if w, ok := wordings[q.Kind]; ok {
		return w
	}
	return wordings[ledger.AskAgent]
}

// TextOf returns the layout of a question's text.
func TextOf(q ledger.Question) TextForm { return wordingOf(q).text }

// WhileWaiting returns what the run does while a question without an expiry is open,
// "" if it has no text for that.
func WhileWaiting(s loop.State, q ledger.Question) string {
	if terse := wordingOf(q).terse; terse != nil {
		return terse(s, q)
	}
	return ""
}

// EndIsNews reports whether people are told about the expiry b of a question.
// Some kinds are settled by another event, which has a message of its own.
func EndIsNews(q ledger.Question, b ledger.QuestionExpired) bool {
	return b.Choice != "" || !wordingOf(q).withdrawn
}

// verb returns the wording of a recorded answer: a verb, or an option or own
// words where the kind takes them.
func (w wording) verb(choice string) (verbWording, bool) {
	if v, ok := w.verbs[choice]; ok {
		return v, true
	}
	if w.own != nil {
		return *w.own, true
	}
	return verbWording{}, false
}
