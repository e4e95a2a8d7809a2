package loop

import "github.com/nightporter/nightporter/loop/ledger"

// Apply returns the state after one more entry. It is total: every entry gives a
// state, and an entry of unknown type leaves the state as it is. It never changes
// s, so earlier states stay valid. To fold a whole ledger, use a Folder.
func Apply(s State, e ledger.Entry) State {
	f := Folder{state: s}
	f.Add(e)
	return f.state
}

// Add folds one more entry into the Folder's state.
func (f *Folder) Add(e ledger.Entry) {
	if e.Stream == ledger.SharedStream {
		f.state.Shared = applyShared(f.state.Shared, e)
		return
	}
	f.state.Project = applyProject(f.state.Project, e, &f.own)
}
