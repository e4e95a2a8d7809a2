package ledger

import "time"

// RequestStanding is how a request stood when nightporter looked at it: what people
// are told of it, and what a merge depends on.
type RequestStanding struct {
	Number      int          `json:"number"`
	State       RequestState `json:"state"`
	HeadCommit  string       `json:"head_commit,omitempty"`
	Base        string       `json:"base,omitempty"`      // "" = the base is gone
	Draft       bool         `json:"draft,omitempty"`     // nobody merges it before its author says that it is ready
	Mergeable   Mergeable    `json:"mergeable,omitempty"` // by the forge
	MergeCommit string       `json:"merge_commit,omitempty"`
	BaseCommit  string       `json:"base_commit,omitempty"` // tip of Base
	// Strangers counts the commits whose author is not known to have the right to
	// write to the repository. Nothing of such a request is run.
	Strangers int `json:"strangers,omitempty"`
	// OwnUnknown is set if commits that nightporter pushed are among them: the forge
	// knows their author's address as that of no account that may write.
	OwnUnknown bool     `json:"own_unknown,omitempty"`
	Passed     int      `json:"passed,omitempty"`  // checks of HeadCommit
	Pending    int      `json:"pending,omitempty"` // checks without a result
	Failing    int      `json:"failing,omitempty"` // checks that failed
	Failed     []string `json:"failed,omitempty"`  // names of the first checks that failed
	// ChecksDue is set while HeadCommit has no check and is so new that one may still
	// begin: until then nothing is merged. Zero = none is waited for.
	ChecksDue time.Time `json:"checks_due,omitzero"`
	// Failure says why the forge does not show the request; "" = it does. All other
	// fields are those of the last look that succeeded then.
	Failure ForgeFailure `json:"failure,omitempty"`
	Text    string       `json:"text,omitempty"`   // of the failure, for people
	Remedy  string       `json:"remedy,omitempty"` // what a person has to do
}

// WatchMode says how long the open requests of a project are looked at.
type WatchMode string

// Modes of watching. The zero value stands for WatchUntilMerged.
const (
	WatchUntilMerged WatchMode = "until_merged" // also after the run and across restarts
	WatchNight       WatchMode = "night"        // while a run of the project works
	WatchOff         WatchMode = "off"
)

// Checks returns how many checks have a result or are to have one.
func (s RequestStanding) Checks() int { return s.Passed + s.Pending + s.Failing }

// Upkeep says which open request a run keeps green, and why.
type Upkeep struct {
	Run    string       `json:"run"` // whose request it is
	Number int          `json:"number"`
	Reason UpkeepReason `json:"reason"`
	Head   string       `json:"head,omitempty"`   // commit of the request that was looked at
	Into   string       `json:"into,omitempty"`   // tip of its base at that time
	Failed []string     `json:"failed,omitempty"` // names of the first checks that fail
}

// UpkeepReason is what an open request needs.
type UpkeepReason string

// Reasons to work on an open request.
const (
	UpkeepChecks   UpkeepReason = "checks"   // checks of its head fail
	UpkeepBase     UpkeepReason = "base"     // its base has commits that it lacks
	UpkeepComments UpkeepReason = "comments" // guidance from comments on it has no session yet
)
