package ledger

import (
	"maps"
	"slices"
	"strings"
)

// QuestionKind is the subject of a question. It decides which answers there are.
type QuestionKind string

// Kinds of question. All share the type Question; questionKinds has their answers.
const (
	AskBlocked  QuestionKind = "blocked"  // a task is blocked
	AskManual   QuestionKind = "manual"   // only a person can judge a task
	AskAgent    QuestionKind = "agent"    // a session asks
	AskBaseline QuestionKind = "baseline" // verification fails before any work
	AskReview   QuestionKind = "review"   // paused after max_tasks
	AskUnticked QuestionKind = "unticked" // tasks that are done here are open or gone in the source
	AskSkip     QuestionKind = "skip"     // a skipped task has dependents
	AskNow      QuestionKind = "now"      // a /now would stop a session
	AskStart    QuestionKind = "start"    // a requested run waits for its confirmation
	AskLate     QuestionKind = "late"     // a command arrived more than an hour after it was sent
	AskPlan     QuestionKind = "plan"     // a person decides on a plan
	AskAllow    QuestionKind = "allow"    // a path out of scope was written again
	AskChecks   QuestionKind = "checks"   // a task rests on changed checks
	AskSecret   QuestionKind = "secret"   // what looks like a secret was written again
	AskRemake   QuestionKind = "remake"   // tasks are to be taken out of the branch
	AskMerge    QuestionKind = "merge"    // a requested merge waits for its confirmation
	AskIdea     QuestionKind = "idea"     // a person decides on the plan that was made from an idea
	AskNewFiles QuestionKind = "newfiles" // a session made more new files than are taken without a question
	AskHost     QuestionKind = "host"     // a session wants to reach a host that is not named
	AskBudget   QuestionKind = "budget"   // a session does not fit into a budget

	AskThreshold QuestionKind = "threshold" // the ledger speaks for another threshold of a kind of task
)

// AnswerVerb is one answer that a kind of question takes.
type AnswerVerb struct {
	Name  string    // as people type it and the ledger records it
	Words WordsRule // whether words may or must follow the verb
	role  Role      // role that it requires, where that is more than its kind's; "" = the kind's

	offered func(Question) bool // which questions of the kind offer it; nil: all
}

// WordsRule says whether a verb is followed by a person's words.
type WordsRule string

// Rules for words. Words after a WordsNone verb are recorded with the answer but
// reach no session.
const (
	WordsNone     WordsRule = "none"
	WordsOptional WordsRule = "optional"
	WordsRequired WordsRule = "required"
)

// Alarm is a value of the configuration key [digest] urgent: a kind of open
// question that may make a sound in quiet hours.
type Alarm string

// Alarms of questions.
const (
	AlarmNone    Alarm = ""
	AlarmBlocked Alarm = "blocked"
	AlarmTrouble Alarm = "trouble"
	AlarmAborts  Alarm = "question" // only if the task is blocked when nobody answers
)

// kindRow holds the properties of a kind of question. Package loop has a table of
// the effects of the answers, and package bot one of their wording, both keyed by
// the same kinds and verbs.
type kindRow struct {
	verbs    []AnswerVerb
	own      WordsRule                // rule for a free-text answer or an option; "" if only verbs are answers
	sentence string                   // the verb that a sentence without a verb stands for; "" = none
	yes, no  string                   // verb, or first word of an option, that /approve and /reject stand for; "" = they do not apply
	role     Role                     // role that an answer requires
	urgency  int                      // rank among open questions; 1 = delays the most work
	alarm    Alarm                    // the alarm under which it may make a sound in quiet hours
	personal bool                     // it asks a person to confirm their own command
	holds    bool                     // the run may have to wait for it even if it never expires
	remind   bool                     // people are reminded of it before it expires
	ofRun    bool                     // it is settled when its run ends
	ofSource bool                     // it is settled when another source replaces its own, unless a task waits for it
	undo     func(choice string) bool // whether an answer can be taken back for a while; nil: never
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
		yes:   "approve", no: "reject", role: RoleAdmin, urgency: 4, holds: true,
	},
	AskAgent: {
		verbs: []AnswerVerb{{Name: "skip", Words: WordsNone}}, own: WordsOptional,
		yes: "yes", no: "no", role: RoleSteer, urgency: 5, alarm: AlarmAborts, remind: true, undo: except("skip"),
	},
	AskSecret: {
		verbs: []AnswerVerb{{Name: "again", Words: WordsNone}, {Name: "harmless", Words: WordsNone}},
		role:  RoleSteer, urgency: 6, alarm: AlarmTrouble,
	},
	AskBlocked: {
		verbs:    []AnswerVerb{{Name: "retry", Words: WordsNone}, {Name: "skip", Words: WordsNone}, {Name: "guide", Words: WordsRequired}},
		sentence: "guide", role: RoleSteer, urgency: 7, alarm: AlarmBlocked, undo: only("retry", "skip"),
	},
	AskChecks: {
		verbs: []AnswerVerb{{Name: "allow", Words: WordsNone}, {Name: "redo", Words: WordsNone}},
		yes:   "allow", no: "redo", role: RoleSteer, urgency: 8,
	},
	AskUnticked: {
		verbs: []AnswerVerb{{Name: "keep", Words: WordsNone}, {Name: "redo", Words: WordsNone}},
		role:  RoleSteer, urgency: 9, ofSource: true,
	},
	AskAllow: {
		verbs: []AnswerVerb{{Name: "deny", Words: WordsNone}, {Name: "allow", Words: WordsNone}},
		yes:   "allow", no: "deny", role: RoleSteer, urgency: 10, ofSource: true,
	},
	AskNewFiles: {
		verbs: []AnswerVerb{{Name: "ignore", Words: WordsNone}, {Name: "take", Words: WordsNone}},
		yes:   "take", no: "ignore", role: RoleSteer, urgency: 11,
	},
	AskManual: {
		verbs: []AnswerVerb{{Name: "pass", Words: WordsOptional}, {Name: "fail", Words: WordsRequired}},
		yes:   "pass", no: "fail", role: RoleSteer, urgency: 12, undo: always,
	},
	AskSkip: {
		verbs: []AnswerVerb{{Name: "wait", Words: WordsNone}, {Name: "skip", Words: WordsNone}},
		role:  RoleSteer, urgency: 13, ofSource: true,
	},
	AskLate: {
		verbs: []AnswerVerb{{Name: "no", Words: WordsNone}, {Name: "yes", Words: WordsNone}},
		yes:   "yes", no: "no", role: RoleSteer, urgency: 14, personal: true,
	},
	AskStart: {
		verbs: []AnswerVerb{
			{Name: "start", Words: WordsNone},
			{Name: "parallel", Words: WordsNone, offered: func(q Question) bool { return q.Lanes != nil }},
			{Name: "review", Words: WordsNone, offered: func(q Question) bool { return q.Review != nil }},
			{Name: "cancel", Words: WordsNone},
		},
		yes: "start", no: "cancel", role: RoleSteer, urgency: 15, personal: true,
	},
	AskIdea: {
		verbs:    []AnswerVerb{{Name: "start", Words: WordsNone}, {Name: "change", Words: WordsRequired}, {Name: "drop", Words: WordsNone}},
		sentence: "change", yes: "start", no: "drop", role: RoleSteer, urgency: 16,
	},
	AskRemake: {
		verbs: []AnswerVerb{{Name: "drop", Words: WordsNone}, {Name: "cancel", Words: WordsNone}},
		yes:   "drop", no: "cancel", role: RoleSteer, urgency: 18, ofSource: true,
	},
	AskMerge: {
		verbs: []AnswerVerb{{Name: "merge", Words: WordsNone}, {Name: "cancel", Words: WordsNone}},
		yes:   "merge", no: "cancel", role: RoleAdmin, urgency: 17, personal: true,
	},
	AskHost: {
		verbs: []AnswerVerb{
			{Name: "once", Words: WordsNone}, {Name: "run", Words: WordsNone},
			{Name: "always", Words: WordsNone, role: RoleAdmin}, {Name: "no", Words: WordsNone},
		},
		no: "no", role: RoleSteer, urgency: 19,
	},
	AskNow: {
		verbs: []AnswerVerb{{Name: "queue", Words: WordsNone}, {Name: "rerun", Words: WordsNone}},
		yes:   "rerun", no: "queue", role: RoleSteer, urgency: 20, personal: true, ofRun: true,
	},
	AskBudget: {
		verbs: []AnswerVerb{
			{Name: "more", Words: WordsOptional, role: RoleAdmin}, {Name: "task", Words: WordsNone, role: RoleAdmin}, {Name: "stop", Words: WordsNone},
		},
		yes: "more", no: "stop", role: RoleSteer, urgency: 3, ofRun: true,
	},
	AskThreshold: {
		verbs: []AnswerVerb{{Name: "use", Words: WordsNone}, {Name: "keep", Words: WordsNone}},
		yes:   "use", no: "keep", role: RoleAdmin, urgency: 21,
	},
}

func always(string) bool { return true }

func only(choices ...string) func(string) bool {
	return func(choice string) bool { return slices.Contains(choices, choice) }
}

func except(choice string) func(string) bool {
	return func(c string) bool { return c != choice }
}

// QuestionKinds returns all kinds, the most urgent first.
func QuestionKinds() []QuestionKind {
	return slices.SortedFunc(maps.Keys(questionKinds), func(a, b QuestionKind) int { return questionKinds[a].urgency - questionKinds[b].urgency })
}

// row returns the row of a question's kind. A question of an unknown kind, from a
// ledger of a later release, is treated as an agent's.
func (q Question) row() kindRow {
	if row, ok := questionKinds[q.Kind]; ok {
		return row
	}
	return questionKinds[AskAgent]
}

// AllVerbs returns all verbs of a kind, the likely one first, including those that
// only some of its questions offer.
func (k QuestionKind) AllVerbs() []AnswerVerb { return slices.Clone(Question{Kind: k}.row().verbs) }

// Verbs returns the answers that can be typed to a question, the likely one first:
// the letters of its options, then its verbs.
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

// Verb returns the verb for a recorded answer. Options and own words share a verb
// without a name. It reports false for a choice that settled the question without
// being one of its answers, such as /skip.
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

// Yes returns the answer that /approve stands for, "" if the question has none.
func (q Question) Yes() string { return q.answerFor(q.row().yes) }

// No returns the answer that /reject stands for, "" if the question has none.
func (q Question) No() string { return q.answerFor(q.row().no) }

// answerFor returns the answer for a yes or no word: the word itself or, for
// kinds with options, the letter of the option that begins with it. It returns
// "" if none or several do.
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

// Role returns the role that an answer requires.
func (q Question) Role() Role { return q.row().role }

// RoleFor returns the role that one answer requires: that of its verb, if it has one
// of its own, else that of the question.
func (q Question) RoleFor(choice string) Role {
	if v, ok := q.Verb(choice); ok && v.role != "" {
		return v.role
	}
	return q.Role()
}

// Role returns the role that an answer to a question of the kind requires.
func (k QuestionKind) Role() Role { return Question{Kind: k}.Role() }

// Urgency returns the question's rank among open questions. Rank 1 delays the
// most work.
func (q Question) Urgency() int { return q.row().urgency }

// Personal reports whether the question asks a person to confirm their own
// command. It must wake nobody else.
func (q Question) Personal() bool { return q.row().personal }

// OwnWords reports whether the question takes a free-text answer.
func (q Question) OwnWords() bool { return q.row().own != "" }

// SentenceVerb returns the verb that a sentence without a verb stands for, "" if
// there is none.
func (q Question) SentenceVerb() string { return q.row().sentence }

// HoldsUp reports whether a run may have to wait until the question is settled.
func (q Question) HoldsUp() bool { return !q.Expires.IsZero() || q.row().holds }

// Alarm returns the name under which an open question may make a sound in quiet
// hours. then is the run's setting QuestionThen.
func (q Question) Alarm(then string) Alarm {
	a := q.row().alarm
	if a == AlarmAborts && then != ThenAbort {
		return AlarmNone
	}
	return a
}

// Undoable reports whether an answer to the question can be taken back for a while.
func (q Question) Undoable(choice string) bool {
	undo := q.row().undo
	return undo != nil && undo(choice)
}

// Reminds reports whether people are reminded of the question before it expires.
func (q Question) Reminds() bool { return q.row().remind }

// EndsWithRun reports whether the end of its run settles the question.
func (q Question) EndsWithRun() bool { return q.row().ofRun }

// EndsWithSource reports whether the question is settled when another source
// replaces its own. A question that a task waits for stays open.
func (q Question) EndsWithSource() bool { return q.row().ofSource }
