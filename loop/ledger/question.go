package ledger

import (
	"time"
)

// Question is something that only a person can answer.
type Question struct {
	ID      string          `json:"id"` // q7
	Kind    QuestionKind    `json:"kind"`
	Run     string          `json:"run,omitempty"`
	Task    string          `json:"task,omitempty"` // id as written
	Tasks   []string        `json:"tasks,omitempty"`
	Source  string          `json:"source,omitempty"` // KIND:PATH that Task and Tasks are in; "" = no task, or asked by an earlier release
	Session string          `json:"session,omitempty"`
	Hat     string          `json:"hat,omitempty"`
	Title   string          `json:"title,omitempty"`
	Text    string          `json:"text"`
	Tried   string          `json:"tried,omitempty"`
	Needs   string          `json:"needs,omitempty"`
	Excerpt *FailureExcerpt `json:"excerpt,omitempty"` // AskBlocked: what programs said in the attempt that failed; nil = nothing is known
	Options []string        `json:"options,omitempty"` // AskAgent: options a, b, c, … in order
	Choice  string          `json:"choice,omitempty"`  // the option that the agent would choose, as written
	By      string          `json:"by,omitempty"`      // AskNow, AskLate: name of the person who sent the command
	Offer   *Settings       `json:"offer,omitempty"`   // AskStart: settings of the offered run
	Review  *Limits         `json:"review,omitempty"`  // AskStart: limits of the run with profile review; nil = not offered
	Open    *int            `json:"open,omitempty"`    // AskStart: number of open tasks; nil = unknown
	Outlook *Outlook        `json:"outlook,omitempty"` // AskStart: what the run will probably get done; nil = nobody looked
	First   string          `json:"first,omitempty"`   // AskStart: id of the task that the run begins with, "" = unknown
	Do      DeferredCommand `json:"do,omitempty"`      // of AskLate
	Sent    time.Time       `json:"sent,omitzero"`     // AskLate: when the command was typed
	Paths   []string        `json:"paths,omitempty"`   // AskAllow: the paths that were written
	Idea    string          `json:"idea,omitempty"`    // AskIdea: id of the idea whose plan it is about
	Merge   *MergeAsked     `json:"merge,omitempty"`   // AskMerge: the request, with the head that its reader confirms
	Asked   time.Time       `json:"asked"`
	Expires time.Time       `json:"expires,omitzero"` // zero: never
	Remind  time.Time       `json:"remind,omitzero"`  // when the reminder is due; zero: never, or sent already

	RunsItself []string      `json:"runs_itself,omitempty"` // AskAllow: those of Paths that run by themselves where they are checked out
	Proof      *Proof        `json:"proof,omitempty"`       // AskChecks: what was changed
	Pictured   *Pictured     `json:"pictured,omitempty"`    // AskManual: how it looked at the start and looks now
	Secrets    []SecretFound `json:"secrets,omitempty"`     // AskSecret: what was found
	Remake     *RemakeWish   `json:"remake,omitempty"`      // AskRemake: what is done with drop
	NeededBy   []RemakeNeed  `json:"needed_by,omitempty"`   // AskRemake: tasks that go along, and why
	TooMany    []NewFiles    `json:"too_many,omitempty"`    // AskNewFiles: the folders and how many new files each has

	Short *BudgetShort `json:"short,omitempty"` // AskBudget: why the session does not fit

	Host *HostRequest `json:"host,omitempty"` // AskHost: what the session wants

	Lanes *LanesProposal `json:"lanes,omitempty"` // AskStart: several lanes that the run would be faster with; nil = none

	Threshold *ThresholdProposal `json:"threshold,omitempty"` // AskThreshold: the change, and what speaks for it
}

// Letter returns the letter of option n, counted from 0: a, b, c, …
func Letter(n int) string { return string(rune('a' + n%26)) }
