package loop

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
)

// AnswerVerb is one answer that a kind of question takes.
type AnswerVerb struct {
	Name  string    // as it is typed and recorded
	Words WordsRule // whether words follow it

	offered func(Question) bool                   // nil: always
	along   func(*decision, Question) []string    // tasks that the answer takes along; nil: none
	check   func(words string) (code, why string) // refuses words; nil: takes any
	apply   func(*decision, answerGiven)
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

// answerGiven is an answer on its way into effect. Its entry is written.
type answerGiven struct {
	q             Question
	choice, words string
	along         []string
}

// kindRow is all that the core knows of one kind of question. What people read
// of it stands in the table of package bot under the same kind.
type kindRow struct {
	verbs    []AnswerVerb
	own      *AnswerVerb                       // the answer in a person's own words, or by an option; nil: words are a slip
	sentence string                            // the verb that a sentence without one stands for, "" for none
	yes, no  string                            // verbs, or an option's first word, that /approve and /reject stand for; "" = no yes or no
	role     Role                              // that an answer takes
	urgency  int                               // rank among open questions: what holds up most is 1
	alarm    Alarm                             // whether it may ring in quiet hours
	personal bool                              // it asks somebody back about their own command
	holds    bool                              // the run may stand still for it, also without an end
	remind   bool                              // it is said once more before it ends
	ofRun    bool                              // it ends with its run
	ofSource bool                              // it ends with its source, unless a task waits for it
	undo     func(choice string) bool          // answers that can be taken back for UndoTime
	expire   func(*decision, Question)         // what becomes of it when nobody answers in time
	drop     func(*decision, Question, string) // settles it by what happened instead, which the last argument says
}

// Alarm is a name of [digest] urgent that an open question can fall under.
type Alarm string

// Alarms of questions.
const (
	AlarmNone    Alarm = ""
	AlarmBlocked Alarm = "blocked"
	AlarmAborts  Alarm = "question" // where its task is blocked without an answer
)

// questionKinds has a row for each kind. It is filled by init because what an
// answer does leads back to the table.
var questionKinds map[QuestionKind]kindRow

func init() {
	questionKinds = map[QuestionKind]kindRow{
		AskBaseline: {
			verbs: []AnswerVerb{
				{Name: "fix", Words: WordsNone, apply: applyBaseline},
				{Name: "go", Words: WordsNone, apply: applyBaseline},
				{Name: "stop", Words: WordsNone, apply: applyBaseline},
			},
			yes: "go", no: "stop", role: RoleSteer, urgency: 1, ofRun: true,
			undo: never, expire: (*decision).expireBaseline, drop: (*decision).withdraw,
		},
		AskReview: {
			verbs: []AnswerVerb{
				{Name: "resume", Words: WordsNone, apply: func(d *decision, _ answerGiven) { d.resume("") }},
				{Name: "stop", Words: WordsNone, apply: func(d *decision, _ answerGiven) { d.stop(Stop{}) }},
			},
			yes: "resume", no: "stop", role: RoleSteer, urgency: 2, ofRun: true,
			undo: never, expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskPlan: {
			verbs: []AnswerVerb{
				{Name: "approve", Words: WordsNone, apply: applyPlan},
				{Name: "reject", Words: WordsRequired, apply: applyPlan},
			},
			yes: "approve", no: "reject", role: RoleAdmin, urgency: 3, holds: true,
			undo: never, expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskAgent: {
			verbs: []AnswerVerb{
				{Name: "skip", Words: WordsNone, apply: func(d *decision, a answerGiven) { d.skipTask(a.q.Task) }},
			},
			own: &AnswerVerb{Words: WordsOptional, apply: func(d *decision, a answerGiven) { d.answerAgent(a.q, a.choice, a.words) }},
			yes: "yes", no: "no", role: RoleSteer, urgency: 4, alarm: AlarmAborts, remind: true,
			undo: except("skip"), expire: (*decision).expireAgent, drop: (*decision).withdraw,
		},
		AskBlocked: {
			verbs: []AnswerVerb{
				{Name: "retry", Words: WordsNone, apply: func(d *decision, a answerGiven) { d.retryTask(a.q.Task) }},
				{Name: "skip", Words: WordsNone, apply: func(d *decision, a answerGiven) { d.skipTask(a.q.Task) }},
				{Name: "guide", Words: WordsRequired, check: checkGuidance, apply: func(d *decision, a answerGiven) {
					d.queueGuidance(a.words, guidance.Address{Task: a.q.Task})
					d.retryTask(a.q.Task)
				}},
			},
			sentence: "guide", role: RoleSteer, urgency: 5, alarm: AlarmBlocked,
			undo: only("retry", "skip"), expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskUnticked: {
			verbs: []AnswerVerb{
				{Name: "keep", Words: WordsNone, apply: applyUnticked},
				{Name: "redo", Words: WordsNone, apply: applyUnticked},
			},
			role: RoleSteer, urgency: 6, ofSource: true,
			undo: never, expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskAllow: {
			verbs: []AnswerVerb{
				{Name: "deny", Words: WordsNone, apply: applyAllow},
				{Name: "allow", Words: WordsNone, apply: applyAllow},
			},
			yes: "allow", no: "deny", role: RoleSteer, urgency: 7, ofSource: true,
			undo: never, expire: (*decision).expireAllow, drop: (*decision).withdraw,
		},
		AskManual: {
			verbs: []AnswerVerb{
				{Name: "pass", Words: WordsOptional, apply: applyManual},
				{Name: "fail", Words: WordsRequired, apply: applyManual},
			},
			yes: "pass", no: "fail", role: RoleSteer, urgency: 8,
			undo: always, expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskSkip: {
			verbs: []AnswerVerb{
				{Name: "wait", Words: WordsNone, apply: func(*decision, answerGiven) {}},
				{Name: "skip", Words: WordsNone, along: func(d *decision, q Question) []string { return d.needing(q.Tasks) }, apply: applySkip},
			},
			role: RoleSteer, urgency: 9, ofSource: true,
			undo: never, expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskLate: {
			verbs: []AnswerVerb{
				{Name: "no", Words: WordsNone, apply: applyLate},
				{Name: "yes", Words: WordsNone, apply: applyLate},
			},
			yes: "yes", no: "no", role: RoleSteer, urgency: 10, personal: true,
			undo: never, expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskStart: {
			verbs: []AnswerVerb{
				{Name: "start", Words: WordsNone, apply: applyStart},
				{Name: "review", Words: WordsNone, offered: func(q Question) bool { return q.Review != nil }, apply: applyStart},
				{Name: "cancel", Words: WordsNone, apply: applyStart},
			},
			yes: "start", no: "cancel", role: RoleSteer, urgency: 11, personal: true,
			undo: never, expire: (*decision).expireQuietly, drop: (*decision).withdraw,
		},
		AskNow: {
			verbs: []AnswerVerb{
				{Name: "queue", Words: WordsNone, apply: applyNow},
				{Name: "rerun", Words: WordsNone, apply: applyNow},
			},
			yes: "rerun", no: "queue", role: RoleSteer, urgency: 12, personal: true, ofRun: true,
			undo: never, expire: (*decision).expireNow, drop: (*decision).settleNow,
		},
	}
}

func never(string) bool  { return false }
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
	if row.own != nil {
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
	if row.own != nil {
		return *row.own, true
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
	if q.row().own == nil || word == "" {
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
func (q Question) OwnWords() bool { return q.row().own != nil }

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
func Undoable(q Question, choice string) bool { return q.row().undo(choice) }

func applyBaseline(d *decision, a answerGiven) { d.settleBaseline(a.choice) }

func applyManual(d *decision, a answerGiven) { d.judged(a.q, a.choice == "pass", a.words) }

func applyPlan(d *decision, a answerGiven) { d.settlePlan(a.q, a.choice == "approve", a.words) }

func applyUnticked(d *decision, a answerGiven) {
	for _, id := range a.q.Tasks {
		if a.choice == "keep" {
			d.mark(id, MarkDone)
		} else if t, ok := d.task(id); ok && t.Status == Done && t.Task.Mark != markGone {
			d.add(scope{task: id}, TaskSet{From: t.Status, To: Ready, Why: "redo, by " + d.by(), Fresh: true})
		}
	}
}

func applySkip(d *decision, a answerGiven) {
	for _, id := range a.along {
		if t, ok := d.task(id); ok {
			d.putAway(t)
		}
	}
}

func applyStart(d *decision, a answerGiven) {
	if a.choice == "cancel" {
		d.say("%s not started", d.in.Project)
		return
	}
	s := *a.q.Offer
	if a.choice == "review" {
		s = s.limited(*a.q.Review)
	}
	d.startRun(StartRun{Settings: s})
	d.say("%s starts %s", d.answer.ID, d.in.Project)
}

func applyAllow(d *decision, a answerGiven) {
	if d.settleAllow(a.q, a.choice == "allow", d.by()) {
		d.goOn()
	}
}

func applyLate(d *decision, a answerGiven) {
	if a.choice == "yes" {
		d.act(a.q.Do)
	} else {
		d.say("%s not done", a.q.Text)
	}
}

func applyNow(d *decision, a answerGiven) {
	item := d.queueNow(a.q)
	if s, ok := d.Project.Session(a.q.Session); a.choice == "rerun" && ok && s.Event == nil {
		d.cut(s, "/now")
		d.say("%s goes into the session that starts now", item)
	}
}

// withdraw settles a question without an answer.
func (d *decision) withdraw(q Question, then string) {
	d.add(scope{task: q.Task}, QuestionExpired{ID: q.ID, Then: then})
}

// expireQuietly settles a question whose silence changes nothing.
func (d *decision) expireQuietly(q Question) { d.withdraw(q, "nothing was done") }

func (d *decision) expireBaseline(q Question) {
	choice, then := "stop", "not started"
	if d.run().Settings.Profile == "overnight" {
		choice, then = "go", "goes on; the red commands are shown, not counted"
	}
	d.add(scope{task: q.Task}, QuestionExpired{ID: q.ID, Choice: choice, Then: then})
	d.settleBaseline(choice)
}

func (d *decision) expireAgent(q Question) {
	about, then := scope{task: q.Task}, d.run().Settings.QuestionThen
	if then == ThenAbort {
		d.add(about, QuestionExpired{ID: q.ID, Then: ShortID(q.Task) + " is blocked"})
		d.abort(q)
		return
	}
	if q.Choice == "" || then == ThenPause {
		d.add(about, QuestionExpired{ID: q.ID, Then: ShortID(q.Task) + " waits; answer any time"})
		// The question stays answerable: it is asked again, without an end.
		q.Expires, q.Remind = time.Time{}, time.Time{}
		d.add(about, QuestionAsked{Question: q})
		return
	}
	d.add(about, QuestionExpired{ID: q.ID, Choice: q.Choice, Then: q.Choice})
	d.answered(q, q.Choice+" (nobody answered in time; your own choice stands)")
}

func (d *decision) expireNow(q Question) { d.settleNow(q, "queued, nothing is stopped") }

func (d *decision) expireAllow(q Question) {
	d.add(scope{task: q.Task}, QuestionExpired{ID: q.ID, Choice: "deny", Then: "stays out"})
	d.settleAllow(q, false, "nobody answered in time")
}
