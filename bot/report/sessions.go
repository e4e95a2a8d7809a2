package report

import (
	"slices"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Sessions follows the sessions of agents through the ledger, an entry at a
// time: the digest over a whole night, the live screen over what came since it
// looked last. The zero value has seen none.
type Sessions struct {
	at  map[string]int // index of each in all, by id
	all []Session
}

// Apply takes in the next entry of a project's stream.
func (f *Sessions) Apply(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.SessionPlanned:
		if b.Kind == ledger.KindAgent {
			f.add(Session{ID: e.Session, Hat: hatName(b.Hat), Task: e.Task, Start: e.Time, Live: true})
		}
	case ledger.SessionEnded:
		if b.Kind == ledger.KindAgent {
			f.end(b, e)
		}
	}
}

func (f *Sessions) add(x Session) {
	if f.at == nil {
		f.at = map[string]int{}
	}
	f.at[x.ID] = len(f.all)
	f.all = append(f.all, x)
}

func (f *Sessions) end(b ledger.SessionEnded, e ledger.Entry) {
	if _, known := f.at[e.Session]; !known { // planned before the records begin
		f.add(Session{ID: e.Session, Hat: "unknown", Task: e.Task, Start: e.Time.Add(-b.Exit.Took())})
	}
	x := &f.all[f.at[e.Session]]
	x.Live, x.End = false, e.Time
	if t := b.Exit.Started; !t.IsZero() && !t.After(e.Time) {
		x.Start = t
	}
	if t := b.Exit.Ended; !t.IsZero() && !t.Before(x.Start) && t.Before(e.Time) {
		x.End = t
	}
	x.Failed, x.CutOff = b.Counts == ledger.CountsAsFailed, b.Counts == ledger.CountsAsNothing
}

// In returns the sessions in the order in which they were planned. Those that
// are Live have no End; one that s does not hold is of records that break off.
func (f *Sessions) In(s loop.State) []Session {
	var out []Session
	for _, x := range f.all {
		if x.Live && !slices.ContainsFunc(s.Project.Sessions, func(have loop.Session) bool { return have.ID == x.ID }) {
			continue
		}
		out = append(out, x)
	}
	return out
}
