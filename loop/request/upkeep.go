package request

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Upkeep is what is known of the work that keeps a branch's request green.
type Upkeep struct {
	By        string         `json:"by,omitempty"`        // run at work on it; "" = none
	Now       *ledger.Upkeep `json:"now,omitempty"`       // of By, until that has what it needs
	Did       bool           `json:"did,omitempty"`       // By pushed something
	Rounds    int            `json:"rounds,omitempty"`    // times that red checks or comments were answered, since a person started a run
	Answered  string         `json:"answered,omitempty"`  // head whose red checks were answered last
	Mending   []string       `json:"mending,omitempty"`   // names of the checks that failed since the request was green
	Mended    int            `json:"mended,omitempty"`    // rounds since then
	Contains  string         `json:"contains,omitempty"`  // commit of the base that the pushed head is known to contain
	Pushing   string         `json:"pushing,omitempty"`   // Contains, once the push under way is made
	Fetched   string         `json:"fetched,omitempty"`   // head that the last run began with; "" = a push replaced it
	Overtaken string         `json:"overtaken,omitempty"` // head below a push that was given up, because others pushed: it is the head no more
	Merged    time.Time      `json:"merged,omitzero"`     // the base was last taken in
	TriedOn   string         `json:"tried_on,omitempty"`  // head that the base was last taken into, whatever came of it
	Tried     string         `json:"tried,omitempty"`     // commit of the base that was taken in then
	Red       time.Time      `json:"red,omitzero"`        // since when checks of the head fail
	Again     time.Time      `json:"again,omitzero"`      // nothing is tried before that: the last try could not start
	Failed    int            `json:"failed,omitempty"`    // tries in a row that could not start
	Stopped   bool           `json:"stopped,omitempty"`   // a person stopped it
	Left      string         `json:"left,omitempty"`      // head that was left to a person
}

// Bounds of what is done by itself for one request.
const (
	MaxRounds  = 3                // answers to red checks or comments; after that a person has to look
	MergePause = 10 * time.Minute // between two merges of the base
	checksLate = 30 * time.Minute // red checks are answered then, although others have no result yet

	queueTime     = 3 * time.Hour // a request that is open still then is no longer in the merge queue
	shortestPause = time.Minute   // after a try that could not start; doubles with each in a row
	longestPause  = time.Hour
)

// Need is something that an open request needs, and the time from which on it is
// answered.
type Need struct {
	Reason ledger.UpkeepReason
	From   time.Time
}

// Needs returns what the branch's open request needs now, the first to be answered
// first. It is the whole list of reasons for which work begins by itself.
//
// The base comes before the checks: what it brings may be what they lack, and merging
// it costs no round. What people say of it comes after both: what they see then is
// green.
func (b Branch) Needs() []Need {
	s, u := b.Seen, b.Upkeep
	if !b.IsOpen() || s == nil || s.Failure != "" || s.Base == "" || s.HeadCommit == "" || s.Strangers > 0 ||
		b.Merging != "" || u.By != "" || !b.IsKept() {
		return nil
	}
	if _, _, busy := b.UnderWay(); busy {
		return nil
	}
	var needs []Need
	if b.baseMoved() {
		from := u.Again
		if next := u.Merged.Add(MergePause); !u.Merged.IsZero() && next.After(from) {
			from = next
		}
		needs = append(needs, Need{ledger.UpkeepBase, from})
	}
	if b.red() && u.Rounds < MaxRounds {
		from := u.Again
		if late := u.Red.Add(checksLate); s.Pending > 0 && late.After(from) {
			from = late
		}
		needs = append(needs, Need{ledger.UpkeepChecks, from})
	}
	if len(b.WaitingComments()) > 0 && u.Rounds < MaxRounds {
		needs = append(needs, Need{ledger.UpkeepComments, u.Again})
	}
	if out := b.InQueue.Add(queueTime); b.Queued {
		for n := range needs { // a push would take it out of the queue
			if needs[n].From.Before(out) {
				needs[n].From = out
			}
		}
	}
	return needs
}

// baseMoved reports whether the request's base has commits that its head may lack, and
// that nobody tried to take in.
func (b Branch) baseMoved() bool {
	s, u := b.Seen, b.Upkeep
	if s.BaseCommit == "" || s.BaseCommit == u.Contains || s.BaseCommit == u.Tried && s.HeadCommit == u.TriedOn {
		return false
	}
	return true
}

// BaseTried reports whether the present tip of the request's base was taken into its
// present head, and whatever came of it was not enough.
func (b Branch) BaseTried() bool {
	s, u := b.Seen, b.Upkeep
	return s != nil && s.BaseCommit != "" && u.By == "" && s.BaseCommit == u.Tried && s.HeadCommit == u.TriedOn
}

// red reports whether checks of the request's head fail, which nobody has answered.
func (b Branch) red() bool { return b.Seen.Failing > 0 && b.Seen.HeadCommit != b.Upkeep.Answered }

// IsLeft reports whether checks of the request's head fail and nothing more is done
// about them by itself.
func (b Branch) IsLeft() bool {
	s, u := b.Seen, b.Upkeep
	if !b.IsOpen() || s == nil || s.Failing == 0 || s.Pending > 0 || s.Strangers > 0 || u.By != "" || u.Stopped {
		return false
	}
	if _, _, busy := b.UnderWay(); busy || s.HeadCommit == u.Overtaken { // what was done about them, or what others did, is to be seen yet
		return false
	}
	return s.HeadCommit == u.Answered || u.Rounds >= MaxRounds
}

// IsGreen reports whether all checks of a request passed, and there are some.
func IsGreen(s ledger.RequestStanding) bool { return s.Failing == 0 && s.Pending == 0 && s.Passed > 0 }

// Had returns the commits that the branch is known to have had on the remote last:
// what was pushed, and what a run fetched, which others may have pushed.
func (b Branch) Had() []string {
	return slices.DeleteFunc([]string{b.Pushed, b.Upkeep.Fetched}, func(c string) bool { return c == "" })
}

// Keeper returns the branch whose request a run keeps green.
func (s State) Keeper(run string) (Branch, bool) {
	n := slices.IndexFunc(s.Branches, func(b Branch) bool { return b.Upkeep.By == run && run != "" })
	if n < 0 {
		return Branch{}, false
	}
	return s.Branches[n], true
}

// begun folds the plan of a run that keeps the branch's request green.
func (u *Upkeep) begun(run string, now ledger.Upkeep) { u.By, u.Now, u.Did = run, &now, false }

// taken folds that the run has what it needs. What is tried from here on is tried
// once for this head.
func (u *Upkeep) taken(base ledger.BaseUpkeep, at time.Time) {
	now := u.Now
	u.Fetched = base.Head
	if u.Now = nil; now == nil {
		return
	}
	switch now.Reason {
	case ledger.UpkeepChecks:
		u.Rounds, u.Mended, u.Answered, u.Mending = u.Rounds+1, u.Mended+1, base.Head, now.Failed
	case ledger.UpkeepComments:
		u.Rounds++
	case ledger.UpkeepBase:
		u.Merged, u.Tried, u.TriedOn = at, base.Into, base.Head
	}
}

// ended folds the end of that run.
func (u *Upkeep) ended(e ledger.RunEnded, at time.Time) {
	began := u.Now == nil
	u.By, u.Now, u.Again = "", nil, time.Time{}
	switch {
	case e.Reason == ledger.ReasonStopped && e.Signal == "":
		u.Failed, u.Stopped = 0, true
	case e.Reason == ledger.ReasonReplaced && began && !u.Did: // what it was about is still to do
		u.Rounds, u.Mended = max(u.Rounds-1, 0), max(u.Mended-1, 0)
		u.Answered, u.Tried, u.TriedOn = "", "", ""
	case began, e.Reason == ledger.ReasonReplaced:
		u.Failed = 0
	default: // it could not start, and is tried again later
		u.Failed++
		wait := shortestPause
		for n := 1; n < u.Failed && wait < longestPause; n++ {
			wait *= 2
		}
		u.Again = at.Add(min(wait, longestPause))
	}
}

// seen folds what a look showed.
func (u *Upkeep) seen(was *Seen, now ledger.RequestStanding, at time.Time) {
	switch {
	case now.Failure != "":
	case now.Failing == 0:
		u.Red = time.Time{}
		if IsGreen(now) {
			u.Mending, u.Mended = nil, 0
		}
	case u.Red.IsZero() || was == nil || was.HeadCommit != now.HeadCommit:
		u.Red = at
	}
}

// anew forgets what bounds the work on requests: a person started a run.
func (s State) anew() State {
	if !slices.ContainsFunc(s.Branches, func(b Branch) bool { return b.IsOpen() && b.Upkeep.bounded() }) {
		return s
	}
	s.Branches = slices.Clone(s.Branches)
	for n := range s.Branches {
		u := &s.Branches[n].Upkeep
		u.Rounds, u.Answered, u.Tried, u.TriedOn, u.Again, u.Failed, u.Stopped, u.Left = 0, "", "", "", time.Time{}, 0, false, ""
	}
	return s
}

// bounded reports whether something is not tried again by itself.
func (u *Upkeep) bounded() bool {
	return u.Rounds > 0 || u.Answered != "" || u.Tried != "" || u.Stopped || u.Failed > 0 || u.Left != ""
}
