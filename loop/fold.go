package loop

import "github.com/nightporter/nightporter/loop/ledger"

// Apply returns the state after one more entry. It is total: every entry
// gives a state, and one that it does not know leaves the state as it is. It
// never changes the state that it was given, so an old one stays valid.
func Apply(s State, e ledger.Entry) State {
	f := Folder{state: s}
	f.Add(e)
	return f.state
}

// Add folds one more entry.
func (f *Folder) Add(e ledger.Entry) {
	if e.Stream == ledger.SharedStream {
		f.state.Shared = applyHouse(f.state.Shared, e)
		return
	}
	f.state.Project = applyProject(f.state.Project, e, &f.own)
}
