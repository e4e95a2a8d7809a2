package ledger

import (
	"time"
)

// QuestionKind is what a question is about.
type QuestionKind string

// Kinds of question. All are one record; questionKinds has their answers.
const (
	AskBlocked  QuestionKind = "blocked"  // a task came to nothing
	AskManual   QuestionKind = "manual"   // only a person can judge a task
	AskAgent    QuestionKind = "agent"    // a session asks
	AskBaseline QuestionKind = "baseline" // verification fails before any work
	AskReview   QuestionKind = "review"   // paused after max_tasks
	AskUnticked QuestionKind = "unticked" // finished here, and now open or gone in the source
	AskSkip     QuestionKind = "skip"     // a skipped task has dependents
	AskNow      QuestionKind = "now"      // a /now would stop a session
	AskStart    QuestionKind = "start"    // a run that somebody asked for
	AskLate     QuestionKind = "late"     // a command that is older than an hour
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
