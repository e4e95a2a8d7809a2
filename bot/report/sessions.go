package report

import (
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Sessions derives the sessions of agents from a project's entries. The digest
// applies the entries of a whole night, the live screen those since its last
// look. The zero value is ready for use. It is not safe for concurrent use.
type Sessions struct {
	at  map[string]int // index in all, by id
	all []Session
}

// Apply applies the next entry of a project's stream.
func (f *Sessions) Apply(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.SessionPlanned:
		if b.Kind == ledger.KindAgent {
			f.add(Session{ID: e.Session, Hat: hatName(b.Hat), Task: e.Task, Start: e.Time, Live: true, Scripted: b.Agent == ledger.ScriptedAgent})
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
	if _, known := f.at[e.Session]; !known { // its plan is older than the records
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

// In returns the sessions in the order in which they were planned. A Live
// session has no End. In omits a live session that s does not contain: its end
// is missing from the records.
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

func hatName(hat string) string {
	if hat = bot.Cut(bot.Clean(hat), 16); hat == "" {
		return "unknown"
	}
	return hat
}
