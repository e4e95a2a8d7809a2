package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// ScopeOf returns the scope that the files of a session in flight will be
// checked against. It returns false if no files are taken over from that
// session.
func ScopeOf(s State, session string) (ledger.Scope, bool) {
	ses, ok := s.Project.Session(session)
	if !ok || s.Project.Run == nil {
		return ledger.Scope{}, false
	}
	hat := s.Project.Run.Settings.Hats[ses.Planned.Hat]
	t, ok := s.Project.Find(ses.Task)
	if !ok || !hat.Writes() {
		return ledger.Scope{}, false
	}
	return s.scope(t, hat), true
}

// scope returns the scope that the files of a hat's session are checked against
// (docs/spec 4.1).
func (s State) scope(t TaskState, hat ledger.Hat) ledger.Scope {
	out := ledger.Scope{
		Task: t.Task.Scope, Layout: s.Project.Run.Settings.Layout, Allowed: hat.WriteAllowed, Denied: hat.WriteDenied,
		Shipped: hat.Shipped, Adds: hat.OwnScope, Also: slices.Concat(t.Allowed, leaves(t.Task)),
	}
	if n := s.Project.index(t.Task.Parent); n >= 0 {
		parent := s.Project.Tasks.At(n)
		if out.Within = parent.Task.Scope; len(ledger.ParseScope(out.Within)) == 0 {
			out.Within = "none" // limits the part all the same: a plan cannot exceed the scope of its task
		}
		out.Also = slices.Concat(t.Allowed, parent.Allowed)
	}
	return out
}
