package ledger

import (
	"maps"
	"slices"
	"strings"
)

// AnswerVerb is one answer that a kind of question takes.
type AnswerVerb struct {
	Name  string    // as it is typed and recorded
	Words WordsRule // whether words follow it

	offered func(Question) bool // nil: by every question of the kind
}

// WordsRule says whether a verb is followed by a person's words.
type WordsRule string

// Rules for words. Words after a verb without them are kept with the answer and
// reach no session.
const (
	WordsNone     WordsRule = "none"
	WordsOptional WordsRule = "optional"
	WordsRequired WordsRule = "required"
)

// Alarm is a name of [digest] urgent that an open question can fall under.
type Alarm string

// Alarms of questions.
const (
	AlarmNone    Alarm = ""
	AlarmBlocked Alarm = "blocked"
	AlarmAborts  Alarm = "question" // where its task is blocked without an answer
)

// kindRow is what holds for all questions of a kind. Package loop has a table
// of what their answers do, and package bot one of what people read of them,
// both by the same kind and verbs.
type kindRow struct {
	verbs    []AnswerVerb
	own      WordsRule                // of an answer in a person's own words, or by an option; "" where words are a slip
	sentence string                   // the verb that a sentence without one stands for, "" for none
	yes, no  string                   // verbs, or an option's first word, that /approve and /reject stand for; "" = no yes or no
	role     Role                     // that an answer takes
	urgency  int                      // Rank among open questions: what holds up most is 1
	alarm    Alarm                    // whether it may ring in quiet hours
	personal bool                     // it asks somebody back about their own command
	holds    bool                     // the run may stand still for it, also without an end
	remind   bool                     // it is said once more before it ends
	ofRun    bool                     // it ends with its run
	ofSource bool                     // it ends with its source, unless a task waits for it
	undo     func(choice string) bool // answers that can be taken back for a while; nil: none
}

// questionKinds has a row for each kind.
var questionKinds = map[QuestionKind]kindRow{
	AskBaseline: {
		verbs: []AnswerVerb{{Name: "fix", Words: WordsNone}, {Name: "go", Words: WordsNone}, {Name: "stop", Words: WordsNone}},
		yes:   "go", no: "stop", role: RoleSteer, urgency: 1, ofRun: true,
	},
	AskReview: {
		verbs: []AnswerVerb{{Name: "resume", Words: WordsNone}, {Name: "stop", Words: WordsNone}},
		yes:   "resume", no: "stop", role: RoleSteer, urgency: 2, ofRun: true,
	},
	AskPlan: {
		verbs: []AnswerVerb{{Name: "approve", Words: WordsNone}, {Name: "reject", Words: WordsRequired}},
		yes:   "approve", no: "reject", role: RoleAdmin, urgency: 3, holds: true,
	},
	AskAgent: {
		verbs: []AnswerVerb{{Name: "skip", Words: WordsNone}}, own: WordsOptional,
		yes: "yes", no: "no", role: RoleSteer, urgency: 4, alarm: AlarmAborts, remind: true, undo: except("skip"),
	},
	AskBlocked: {
		verbs:    []AnswerVerb{{Name: "retry", Words: WordsNone}, {Name: "skip", Words: WordsNone}, {Name: "guide", Words: WordsRequired}},
		sentence: "guide", role: RoleSteer, urgency: 5, alarm: AlarmBlocked, undo: only("retry", "skip"),
	},
	AskUnticked: {
		verbs: []AnswerVerb{{Name: "keep", Words: WordsNone}, {Name: "redo", Words: WordsNone}},
		role:  RoleSteer, urgency: 6, ofSource: true,
	},
	AskAllow: {
		verbs: []AnswerVerb{{Name: "deny", Words: WordsNone}, {Name: "allow", Words: WordsNone}},
		yes:   "allow", no: "deny", role: RoleSteer, urgency: 7, ofSource: true,
	},
	AskManual: {
		verbs: []AnswerVerb{{Name: "pass", Words: WordsOptional}, {Name: "fail", Words: WordsRequired}},
		yes:   "pass", no: "fail", role: RoleSteer, urgency: 8, undo: always,
	},
	AskSkip: {
		verbs: []AnswerVerb{{Name: "wait", Words: WordsNone}, {Name: "skip", Words: WordsNone}},
		role:  RoleSteer, urgency: 9, ofSource: true,
	},
	AskLate: {
		verbs: []AnswerVerb{{Name: "no", Words: WordsNone}, {Name: "yes", Words: WordsNone}},
		yes:   "yes", no: "no", role: RoleSteer, urgency: 10, personal: true,
	},
	AskStart: {
		verbs: []AnswerVerb{
			{Name: "start", Words: WordsNone},
			{Name: "review", Words: WordsNone, offered: func(q Question) bool { return q.Review != nil }},
			{Name: "cancel", Words: WordsNone},
		},
		yes: "start", no: "cancel", role: RoleSteer, urgency: 11, personal: true,
	},
	AskNow: {
		verbs: []AnswerVerb{{Name: "queue", Words: WordsNone}, {Name: "rerun", Words: WordsNone}},
		yes:   "rerun", no: "queue", role: RoleSteer, urgency: 12, personal: true, ofRun: true,
	},
}

func always(string) bool { return true }

func only(choices ...string) func(string) bool {
	return func(choice string) bool { return slices.Contains(choices, choice) }
}

func except(choice string) func(string) bool {
	return func(c string) bool { return c != choice }
}

// QuestionKinds lists every kind, the most urgent first.
func QuestionKinds() []QuestionKind {
	return slices.SortedFunc(maps.Keys(questionKinds), func(a, b QuestionKind) int { return questionKinds[a].urgency - questionKinds[b].urgency })
}

// row returns the table's row of a question. One of an unknown kind, from a
// ledger of a later release, is treated as an agent's.
func (q Question) row() kindRow {
	if row, ok := questionKinds[q.Kind]; ok {
		return row
	}
	return questionKinds[AskAgent]
}

// AllVerbs returns the verbs of a kind, the likely one first, also those that
// only some of its questions offer.
func (k QuestionKind) AllVerbs() []AnswerVerb { return slices.Clone(Question{Kind: k}.row().verbs) }

// Verbs returns the typed answers of a question, the likely one first: the
// letters of its options, then its verbs.
func (q Question) Verbs() []string {
	row := q.row()
	var names []string
	if row.own != "" {
		for n := range q.Options {
			names = append(names, Letter(n))
		}
	}
	for _, v := range row.verbs {
		if v.offered == nil || v.offered(q) {
			names = append(names, v.Name)
		}
	}
	return names
}

// Verb returns the verb of a question that a recorded answer names. An option
// and own words share one, without a name. It reports false for what settled
// the question without being an answer to it, such as /skip.
func (q Question) Verb(choice string) (AnswerVerb, bool) {
	row := q.row()
	for _, v := range row.verbs {
		if v.Name == choice {
			return v, true
		}
	}
	if row.own != "" {
		return AnswerVerb{Words: row.own}, true
	}
	return AnswerVerb{}, false
}

// Yes returns the answer that /approve stands for, "" where the question is no
// yes or no.
func (q Question) Yes() string { return q.answerFor(q.row().yes) }

// No returns the answer that /reject stands for, "" where the question is no
// yes or no.
func (q Question) No() string { return q.answerFor(q.row().no) }

// answerFor returns a verb, or the letter of the one option that begins with
// the word.
func (q Question) answerFor(word string) string {
	if q.row().own == "" || word == "" {
		return word
	}
	found := ""
	for n, o := range q.Options {
		first := strings.FieldsFunc(strings.ToLower(o), func(r rune) bool { return r < 'a' || r > 'z' })
		if len(first) == 0 || first[0] != word {
			continue
		}
		if found != "" {
			return ""
		}
		found = Letter(n)
	}
	return found
}

// Role returns the role that an answer takes.
func (q Question) Role() Role { return q.row().role }

// Role returns the role that an answer to questions of the kind takes.
func (k QuestionKind) Role() Role { return Question{Kind: k}.Role() }

// Urgency ranks open questions: what holds up most is 1.
func (q Question) Urgency() int { return q.row().urgency }

// Personal reports whether a question asks somebody back about their own
// command. Nobody else is to be woken by it.
func (q Question) Personal() bool { return q.row().personal }

// OwnWords reports whether any words are an answer.
func (q Question) OwnWords() bool { return q.row().own != "" }

// SentenceVerb returns the verb that a sentence without one stands for, "" for
// none.
func (q Question) SentenceVerb() string { return q.row().sentence }

// HoldsUp reports whether a run may stand still until the question is settled.
func (q Question) HoldsUp() bool { return !q.Expires.IsZero() || q.row().holds }

// Alarm returns what an open question falls under in quiet hours, where then is
// the run's setting for agents' questions that nobody answers.
func (q Question) Alarm(then string) Alarm {
	a := q.row().alarm
	if a == AlarmAborts && then != ThenAbort {
		return AlarmNone
	}
	return a
}

// Undoable reports whether the answer that settled a question can be taken
// back for a while.
func (q Question) Undoable(choice string) bool {
	undo := q.row().undo
	return undo != nil && undo(choice)
}

// Reminds reports whether a question is said once more before it ends.
func (q Question) Reminds() bool { return q.row().remind }

// EndsWithRun reports whether a question is settled by the end of its run.
func (q Question) EndsWithRun() bool { return q.row().ofRun }

// EndsWithSource reports whether a question is settled when another source
// takes the place of its own. One that a task waits for is kept.
func (q Question) EndsWithSource() bool { return q.row().ofSource }
