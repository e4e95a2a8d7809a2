package cloud

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options say what a tick works with.
type Options struct {
	File   string // the state file; it need not exist
	Agent  Agent
	Policy Policy
	Tasks  func(context.Context) ([]ledger.Task, error) // reads the source; called where a task is picked
	Now    func() time.Time
}

// maxActions is how many actions one step asks for: one that looks and one that
// changes something, and another one of each to spare.
const maxActions = 4

// Tick takes the state of a file one step further. It may be called as often as
// one likes, and killed at any moment: what it did before it could write it down
// is found by the next call.
//
// Errors: *ledger.InputError for a state file or a source that cannot be used,
// *ChangedError, *BusyError, *ledger.ForgeError. After each of them the file is
// what it was, or what somebody else made of it.
func Tick(ctx context.Context, o Options) (Outcome, error) {
	unlock, err := lock(ctx, filepath.Dir(o.File))
	if err != nil {
		return Outcome{}, err
	}
	defer unlock()
	d, text, err := read(ctx, o.File)
	if err != nil {
		return Outcome{}, err
	}
	state, err := d.state()
	if err != nil {
		return Outcome{}, err
	}
	view := View{Now: o.Now()}
	if state.Phase == NeedsTrigger {
		if view.Tasks, err = o.Tasks(ctx); err != nil {
			return Outcome{}, err
		}
	}
	for range maxActions + 1 {
		next, action, outcome := Step(state, view, o.Policy)
		if action.Kind == None {
			return outcome, save(o.File, text, d.with(state, next).text)
		}
		if err := o.act(ctx, action, &view); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("cloud: the step from %s does not end", state.Phase)
}

// act does what a step asks for and adds the answer to the view.
func (o Options) act(ctx context.Context, a Action, v *View) error {
	switch a.Kind {
	case Dispatch:
		d, err := o.Agent.Dispatch(ctx, a.Job)
		v.Dispatched = &d
		crash.Point("cloud-dispatched")
		return err
	case Poll:
		p, err := o.Agent.Poll(ctx, a.Work)
		v.Progress = &p
		crash.Point("cloud-polled")
		return err
	case Fetch:
		r, err := o.Agent.Fetch(ctx, a.Work)
		v.Result = &r
		crash.Point("cloud-fetched")
		return err
	default:
		r, err := o.Agent.Finish(ctx, a.Merge)
		v.Finished = &r
		crash.Point("cloud-finished")
		return err
	}
}

// save writes a state file that changed.
func save(path string, was, next []byte) error {
	if bytes.Equal(was, next) || was == nil && string(next) == newState {
		return nil
	}
	crash.Point("cloud-before-write")
	if err := write(path, was, next); err != nil {
		return err
	}
	crash.Point("cloud-written")
	return nil
}
