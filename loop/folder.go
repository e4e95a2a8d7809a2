package loop

// Folder folds many entries at once and gives the same state as Apply. Apply
// copies the run, task and attempt that an entry changes. A Folder copies each
// once and then writes to its copy, which matters for a ledger of a million
// entries.
//
// The zero value starts from the empty state. A Folder is not safe for concurrent
// use.
type Folder struct {
	state State
	own   owned
}

// NewFolder returns a Folder that starts from state s. It does not change s.
func NewFolder(s State) *Folder { return &Folder{state: s} }

// State returns the state after the entries so far. Later calls of Add do not
// change the returned value.
func (f *Folder) State() State {
	f.own = owned{}
	return f.state
}

// owned holds the copies that a fold made and has not returned to a caller. Only
// these may be written to.
type owned struct {
	run     *Run
	task    *TaskState
	attempt *Attempt
}

// runOf returns r if the fold owns it, and a new copy that it owns otherwise.
func (o *owned) runOf(r *Run) *Run { return writable(&o.run, r) }

// taskOf returns t if the fold owns it, and a new copy that it owns otherwise.
func (o *owned) taskOf(t *TaskState) *TaskState { return writable(&o.task, t) }

// attemptOf returns a if the fold owns it, and a new copy that it owns otherwise.
func (o *owned) attemptOf(a *Attempt) *Attempt { return writable(&o.attempt, a) }

// writable returns *own if that is v, and otherwise a copy of v that it stores in *own.
func writable[T any](own **T, v *T) *T {
	if *own != v {
		c := *v
		*own = &c
	}
	return *own
}
