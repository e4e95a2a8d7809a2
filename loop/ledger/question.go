package ledger

import (
	"time"
)

// QuestionKind is what a question is about.
type QuestionKind string

// Kinds of question. All are one record with typed answers.
const (
	AskBlocked  QuestionKind = "blocked"  // retry · skip · guide WORDS
	AskManual   QuestionKind = "manual"   // pass · fail WORDS
	AskAgent    QuestionKind = "agent"    // its options by letter, own words, skip
	AskBaseline QuestionKind = "baseline" // fix · go · stop
	AskReview   QuestionKind = "review"   // resume · stop: paused after max_tasks
	AskUnticked QuestionKind = "unticked" // keep · redo: finished here, and now open or gone in the source
	AskSkip     QuestionKind = "skip"     // wait · skip: what dependents of a skipped task shall do
	AskNow      QuestionKind = "now"      // queue · rerun
	AskStart    QuestionKind = "start"    // start · review · cancel: a run that somebody asked for
	AskLate     QuestionKind = "late"     // no · yes: a command that is older than an hour
	AskPlan     QuestionKind = "plan"     // approve · reject WORDS: a plan that a person decides on
	AskAllow    QuestionKind = "allow"    // deny · allow: a path out of scope that was written again
)

// Question is something that only a person can answer.
type Question struct {
	ID      string          `json:"id"` // q7
	Kind    QuestionKind    `json:"kind"`
	Run     string          `json:"run,omitempty"`
	Task    string          `json:"task,omitempty"` // id as written
	Tasks   []string        `json:"tasks,omitempty"`
	Session string          `json:"session,omitempty"`
	Hat     string          `json:"hat,omitempty"`
	Title   string          `json:"title,omitempty"`
	Text    string          `json:"text"`
	Tried   string          `json:"tried,omitempty"`
	Needs   string          `json:"needs,omitempty"`
	Options []string        `json:"options,omitempty"` // of AskAgent, in order: a, b, c, …
	Choice  string          `json:"choice,omitempty"`  // the agent's own: its option, as written
	By      string          `json:"by,omitempty"`      // of AskNow: whose words they are
	Offer   *Settings       `json:"offer,omitempty"`   // of AskStart: what it would start
	Review  *Limits         `json:"review,omitempty"`  // of AskStart: what differs where it is started as review; nil where it cannot be
	Do      DeferredCommand `json:"do,omitempty"`      // of AskLate
	Sent    time.Time       `json:"sent,omitzero"`     // of AskLate: when the command was typed
	Paths   []string        `json:"paths,omitempty"`   // of AskAllow: what was written
	Asked   time.Time       `json:"asked"`
	Expires time.Time       `json:"expires,omitzero"` // zero: waits as long as it takes
	Remind  time.Time       `json:"remind,omitzero"`  // when people are to be reminded of it; zero: never, or they were
}

// Letter returns the letter that stands for option n: a, b, c, …
func Letter(n int) string { return string(rune('a' + n%26)) }

// Verbs returns the typed answers of a question, the likely one first.
func (q Question) Verbs() []string {
	switch q.Kind {
	case AskBlocked:
		return []string{"retry", "skip", "guide"}
	case AskManual:
		return []string{"pass", "fail"}
	case AskBaseline:
		return []string{"fix", "go", "stop"}
	case AskReview:
		return []string{"resume", "stop"}
	case AskUnticked:
		return []string{"keep", "redo"}
	case AskSkip:
		return []string{"wait", "skip"}
	case AskNow:
		return []string{"queue", "rerun"}
	case AskStart:
		if q.Review != nil {
			return []string{"start", "review", "cancel"}
		}
		return []string{"start", "cancel"}
	case AskLate:
		return []string{"no", "yes"}
	case AskPlan:
		return []string{"approve", "reject"}
	case AskAllow:
		return []string{"deny", "allow"}
	}
	var verbs []string
	for n := range q.Options {
		verbs = append(verbs, Letter(n))
	}
	return append(verbs, "skip")
}
