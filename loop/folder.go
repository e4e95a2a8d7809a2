package loop

// Folder folds entries into a state of its own. Apply copies the run, the task
// and the attempt that an entry changes; a Folder copies each once and then
// writes to its copy, which makes a difference for a ledger of a million
// entries. Its state is the one that Apply would give.
//
// The zero value folds from nothing. A Folder is used by one goroutine.
type Folder struct {
	state State
	own   owned
}

// NewFolder returns a Folder that goes on from a state, which it does not change.
func NewFolder(s State) *Folder { return &Folder{state: s} }

// State returns the state after the entries so far. Later ones do not change it.
func (f *Folder) State() State {
	f.own = owned{}
	return f.state
}

// owned is what a fold made itself and nobody else has seen: only these may be
// written to.
type owned struct {
	run     *Run
	task    *TaskState
	attempt *Attempt
}

// runOf returns r, or its copy, to write to.
func (o *owned) runOf(r *Run) *Run { return writable(&o.run, r) }

// taskOf returns t, or its copy, to write to.
func (o *owned) taskOf(t *TaskState) *TaskState { return writable(&o.task, t) }

// attemptOf returns a, or its copy, to write to.
func (o *owned) attemptOf(a *Attempt) *Attempt { return writable(&o.attempt, a) }

func writable[T any](own **T, v *T) *T {
	if *own != v {
		c := *v
		*own = &c
	}
	return *own
}
