package request

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// State is what was pushed of a project. It is the fold of the entries of
// loop/ledger/entry_request.go. The zero value is the state before the first push.
type State struct {
	Branches []Branch `json:"branches,omitempty"` // a run's or a task's each, oldest first
}

// Branch is a run's branch on the remote, or that of one of its tasks (stack.go). The
// zero value was never pushed.
type Branch struct {
	Run     string           `json:"run"`             // the run; of a task's branch an id: r14-5
	Of      string           `json:"of,omitempty"`    // of a task's branch: the run
	Task    string           `json:"task,omitempty"`  // with Of: id as written
	On      string           `json:"on,omitempty"`    // with Of: id of the branch that it stands on
	Joint   bool             `json:"joint,omitempty"` // with Of: only a later commit was verified
	Red     string           `json:"red,omitempty"`   // with Of: the command that failed on its commit, and passed on a later one
	Lift    *Lift            `json:"lift,omitempty"`  // with Of: what it is to have; nil = it is one of a stack of all tasks
	With    []string         `json:"with,omitempty"`  // with Lift: ids of tasks whose changes it has besides those of On
	Name    string           `json:"name"`
	Source  string           `json:"source,omitempty"` // KIND:PATH of the run's source
	Forge   ledger.ForgeKind `json:"forge,omitempty"`
	Pushed  string           `json:"pushed,omitempty"`   // the remote's commit
	Pushing string           `json:"pushing,omitempty"`  // commit whose push is under way
	GivenUp string           `json:"given_up,omitempty"` // commit whose push broke: it is not begun again
	Begun   int              `json:"begun,omitempty"`    // times that the request was to be opened or written
	Asking  string           `json:"asking,omitempty"`   // fingerprint of the text that is being written
	Written string           `json:"written,omitempty"`  // value of Pushed when its text was begun last
	Print   string           `json:"print,omitempty"`    // fingerprint of the text that was written last
	Tasks   []string         `json:"tasks,omitempty"`    // ids of the tasks that the request has commits of
	Request *ledger.Request  `json:"request,omitempty"`  // nil = none yet
	Seen    *Seen            `json:"seen,omitempty"`     // nil = nobody looked at the request since the last push
	HeadAt  time.Time        `json:"head_at,omitzero"`   // the request has its present head since then, as far as that is known
	Checked bool             `json:"checked,omitempty"`  // some head of its request had checks
	Merges  int              `json:"merges,omitempty"`   // times that a person confirmed a merge
	Merging string           `json:"merging,omitempty"`  // head of the merge that is under way
	Queued  bool             `json:"queued,omitempty"`   // the forge merges the request later
	InQueue time.Time        `json:"in_queue,omitzero"`  // with Queued: since when
	Stale   string           `json:"stale,omitempty"`    // commit that was pushed before the branch was made again: it has what was taken out

	Since    time.Time           `json:"since,omitzero"`     // older comments are not new
	Taken    []Taken             `json:"taken,omitempty"`    // comments that became guidance, oldest first
	Comments []Comment           `json:"comments,omitempty"` // those of them whose authors are to be told what became of them
	Count    ledger.CommentCount `json:"count,omitzero"`     // of the comments that are not guidance
	Replying string              `json:"replying,omitempty"` // key of the reply that is under way
	Refused  bool                `json:"refused,omitempty"`  // the forge did not take the last reply
	Upkeep   Upkeep              `json:"upkeep,omitzero"`    // what keeps the request green
}

// kept limits the branches that the state keeps. Those with an open request stay.
const kept = 200

// Branch returns what is known of a run's branch.
func (s State) Branch(run string) Branch {
	if n := s.index(run); n >= 0 {
		return s.Branches[n]
	}
	return Branch{Run: run}
}

func (s State) index(run string) int {
	return slices.IndexFunc(s.Branches, func(b Branch) bool { return b.Run == run })
}

// Open returns the branches whose request can still be merged, oldest first.
func (s State) Open() []Branch {
	return slices.DeleteFunc(slices.Clone(s.Branches), func(b Branch) bool { return !b.IsOpen() })
}

// IsOpen reports whether the branch has a request that can still be merged.
func (b Branch) IsOpen() bool { return b.Request != nil && b.Request.State == ledger.RequestOpen }

// IsMerged reports whether the branch's request was merged.
func (b Branch) IsMerged() bool {
	return b.Request != nil && b.Request.State == ledger.RequestMerged
}

// PushKey returns the key of the push of a run's commit.
func PushKey(run, commit string) string { return run + " " + commit }

// RequestKey returns the key of the nth writing of a run's request.
func RequestKey(run string, n int) string { return fmt.Sprintf("%s request %d", run, n) }

// UnderWay returns the effect that is being carried out for the branch, and whether
// there is one.
func (b Branch) UnderWay() (kind, key string, ok bool) {
	switch {
	case b.Lift != nil && b.Lift.UnderWay:
		return ledger.EffectLift{}.EffectKind(), LiftKey(b.Run, b.Lift.N), true
	case b.Pushing != "":
		return ledger.EffectPush{}.EffectKind(), PushKey(b.Run, b.Pushing), true
	case b.Asking != "":
		return ledger.EffectRequest{}.EffectKind(), RequestKey(b.Run, b.Begun), true
	}
	return "", "", false
}

// Push returns the entry and the effect that push a commit of the branch; ok is
// false if the remote has it or something else is under way.
//
// contains is a commit of the request's base that the pushed one is known to contain.
func (b Branch) Push(branch, source, commit, contains string) (e ledger.PushBegun, effect ledger.EffectPush, ok bool) {
	if _, _, busy := b.UnderWay(); busy || commit == "" || b.Pushed == commit || b.GivenUp == commit {
		return e, effect, false
	}
	if b.IsOpen() && b.Seen != nil && b.Seen.HeadCommit == commit { // others pushed it
		return e, effect, false
	}
	if b.Upkeep.Fetched == commit { // others pushed it, and perhaps more since
		return e, effect, false
	}
	return ledger.PushBegun{Run: b.Run, Branch: branch, Commit: commit, Source: source, Contains: contains, Of: b.Of, Task: b.Task, On: b.On, Joint: b.Joint, Red: b.Red, With: b.With},
		ledger.EffectPush{Run: b.Run, Push: ledger.Push{Branch: branch, Commit: commit}}, true
}

// Ask returns the entry and the effect that open the branch's request or write its
// text anew; ok is false if there is nothing to write, nowhere to write it, or
// something else is under way.
func (b Branch) Ask(d ledger.RequestDraft, head string) (e ledger.RequestBegun, effect ledger.EffectRequest, ok bool) {
	_, _, busy := b.UnderWay()
	if busy || b.Pushed == "" || b.Forge == ledger.ForgePlain || b.Forge == "" {
		return e, effect, false
	}
	text := Fingerprint(d)
	if r := b.Request; r != nil {
		// The commits of a request that was merged are in its base. One that was
		// closed is a person's answer.
		if r.State != ledger.RequestOpen || b.Print == text {
			return e, effect, false
		}
		d.Number = r.Number
	}
	return ledger.RequestBegun{Run: b.Run, N: b.Begun + 1, Print: text},
		ledger.EffectRequest{Run: b.Run, Draft: d, Print: text, Head: head}, true
}

// Fingerprint returns a hash of all that a draft says.
func Fingerprint(d ledger.RequestDraft) string {
	d.Number, d.Was = 0, ""
	data, err := json.Marshal(d)
	if err != nil { // texts, numbers and lists of texts always encode
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
