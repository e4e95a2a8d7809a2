package ledger

import (
	"time"
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
	Options []string        `json:"options,omitempty"` // AskAgent: options a, b, c, … in order
	Choice  string          `json:"choice,omitempty"`  // the option that the agent would choose, as written
	By      string          `json:"by,omitempty"`      // AskNow, AskLate: name of the person who sent the command
	Offer   *Settings       `json:"offer,omitempty"`   // AskStart: settings of the offered run
	Review  *Limits         `json:"review,omitempty"`  // AskStart: limits of the run with profile review; nil = not offered
	Open    *int            `json:"open,omitempty"`    // AskStart: number of open tasks; nil = unknown
	First   string          `json:"first,omitempty"`   // AskStart: id of the task that the run begins with, "" = unknown
	Do      DeferredCommand `json:"do,omitempty"`      // of AskLate
	Sent    time.Time       `json:"sent,omitzero"`     // AskLate: when the command was typed
	Paths   []string        `json:"paths,omitempty"`   // AskAllow: the paths that were written
	Asked   time.Time       `json:"asked"`
	Expires time.Time       `json:"expires,omitzero"` // zero: never
	Remind  time.Time       `json:"remind,omitzero"`  // when the reminder is due; zero: never, or sent already
}

// Letter returns the letter of option n, counted from 0: a, b, c, …
func Letter(n int) string { return string(rune('a' + n%26)) }
