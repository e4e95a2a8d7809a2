package request

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Lift is what a branch of one task alone is to have (docs/decisions/0024). Its commit
// is made on the base, or on the branch whose files it changes, too, and verified before
// it is pushed. Where that cannot be, it is the run's own commit, which has the changes
// of all tasks before it.
type Lift struct {
	N        int      `json:"n"`                   // times that it was begun for the branch
	Commit   string   `json:"commit"`              // of the run's own branch
	Back     bool     `json:"back,omitempty"`      // Tip takes the change back
	UnderWay bool     `json:"under_way,omitempty"` // its effect is being carried out
	Made     string   `json:"made,omitempty"`      // commit of the branch that has the change; Commit if it is the run's own
	Tip      string   `json:"tip,omitempty"`       // last commit that the branch is to have; "" = not known yet
	On       string   `json:"on,omitempty"`        // id of the branch that Made stands on; "" = the base
	Files    []string `json:"files,omitempty"`     // with On: what both change
	Why      string   `json:"why,omitempty"`       // why Made is the run's own commit
	Passed   bool     `json:"passed,omitempty"`    // Tip needs no check any more
}

// LiftKey returns the key of the nth lift of a branch.
func LiftKey(run string, n int) string { return fmt.Sprintf("%s lift %d", run, n) }

// IsOwn reports whether the branch has the run's own commit, and with it the changes of
// all tasks before it.
func (b Branch) IsOwn() bool { return b.Lift == nil || b.Lift.Made == b.Lift.Commit }

// TakenBack reports whether the remote's branch takes its task's change back.
func (b Branch) TakenBack() bool { return b.Lift != nil && b.Lift.Back && b.Pushed == b.Lift.Tip }

// BeginLift returns the entry and the effect that lay a commit of the run's own branch
// on another base, or take it back; ok is false if something else is under way.
func (b Branch) BeginLift(source string, l ledger.LiftCommit, commit string) (e ledger.LiftBegun, effect ledger.EffectLift, ok bool) {
	if _, _, busy := b.UnderWay(); busy {
		return e, effect, false
	}
	n := 1
	if b.Lift != nil {
		n = b.Lift.N + 1
	}
	return ledger.LiftBegun{Run: b.Run, N: n, Branch: b.Name, Commit: commit, Back: l.Undo, Source: source, Of: b.Of, Task: b.Task},
		ledger.EffectLift{Run: b.Run, N: n, Lift: l}, true
}

// lifting folds the beginning of a lift.
func (b *Branch) lifting(e ledger.LiftBegun) {
	l := Lift{}
	if b.Lift != nil && b.Lift.Commit == e.Commit {
		l = *b.Lift
	}
	l.N, l.Commit, l.Back, l.UnderWay = e.N, e.Commit, e.Back, true
	b.Name, b.Source, b.Of, b.Task, b.Lift = e.Branch, e.Source, e.Of, e.Task, &l
}

// lifted folds the end of a lift, or why there is none.
func (b *Branch) lifted(e ledger.Lifted) {
	l := *b.Lift
	l.UnderWay = false
	switch {
	case e.Tip == "" && l.Made != "" && b.Pushed != "": // its branch stays as it is
		l.Tip, l.Passed = b.Pushed, true
	case e.Tip == "":
		l.Made, l.Tip, l.On, l.Files, l.Why, l.Passed = l.Commit, l.Commit, "", nil, e.Why, true
	case l.Made == "" || b.Pushed == "":
		l.Made, l.Tip, l.On, l.Files, l.Why = e.Tip, e.Tip, e.On, e.Files, ""
		l.Passed = e.Tip == l.Commit
	default: // the change is taken back or brought back: that tree was verified, or is the base's
		l.Tip, l.Passed = e.Tip, true
	}
	b.Lift = &l
}

// liftChecked folds the verification of a lifted commit.
func (s State) liftChecked(v ledger.Verified) State {
	n := slices.IndexFunc(s.Branches, func(b Branch) bool { return b.Lift != nil && !b.Lift.Passed && b.Lift.Tip == v.Tree })
	if n < 0 {
		return s
	}
	return s.edit(s.Branches[n].Run, func(b *Branch) {
		if v.OK {
			l := *b.Lift
			l.Passed = true
			b.Lift = &l
			return
		}
		why := "without the rest of the run verification fails"
		if at := slices.IndexFunc(v.Results, func(r ledger.Result) bool { return !r.OK && !r.Advisory }); at >= 0 {
			why = "without the rest of the run " + v.Results[at].Run + " fails"
		}
		b.lifted(ledger.Lifted{Why: why})
	})
}

// before returns the branches of a run's tasks that were begun before b, oldest first.
func (s State) before(b Branch) []Branch {
	all := s.Stack(b.Of)
	if n := slices.IndexFunc(all, func(o Branch) bool { return o.Run == b.Run }); n >= 0 {
		return all[:n]
	}
	return all
}

// Over returns the branches that may have to be under one: those of earlier tasks of its
// run that the remote has, and whose changes nobody merged, closed or took back.
func (s State) Over(b Branch) (over []ledger.LiftUnder) {
	for _, o := range s.before(b) {
		if o.Pushed != "" && o.Lift != nil && !o.Lift.Back && (o.Request == nil || o.IsOpen()) {
			over = append(over, ledger.LiftUnder{ID: o.Run, Task: o.Task, Commit: o.Lift.Commit, Tip: o.Pushed, Has: s.has(o)})
		}
	}
	return over
}

// has returns the ids of the branches of a run whose changes one of them has besides its
// own.
func (s State) has(b Branch) (ids []string) {
	for {
		if b.IsOwn() {
			for _, o := range s.before(b) {
				ids = append(ids, o.Run)
			}
			return ids
		}
		if b.Lift.On == "" {
			return ids
		}
		ids = append(ids, b.Lift.On)
		on := s.Branch(b.Lift.On)
		if len(s.before(on)) >= len(s.before(b)) { // it was begun before b
			return ids
		}
		b = on
	}
}

// Under returns the branch that a branch with the run's own commit stands on, "" if it is
// none of the run's, and the tasks whose changes it has besides those of that branch and
// whose requests are not merged.
func (s State) Under(b Branch) (on string, with []string) {
	for _, o := range slices.Backward(s.before(b)) {
		closed := o.Request != nil && o.Request.State == ledger.RequestClosed
		if o.IsOwn() && o.Pushed != "" && !closed {
			return o.Run, with
		}
		if !o.IsMerged() {
			with = slices.Insert(with, 0, o.Task)
		}
	}
	return "", with
}
