package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/statelock"
)

// Asker answers commands and views. It is either a client of the running
// daemon's socket or an operator.Service in this process; both use the same
// handlers.
type Asker interface {
	Command(ctx context.Context, c api.Command) (api.Reply, error)
	View(ctx context.Context, v api.View) (api.Reply, error)
}

// Ask calls f with an Asker for the state folder o.State. If no daemon runs,
// Ask runs one in this process with options o until f returns. If a running
// daemon ends before it answers, Ask calls f again, so f must use idempotency
// keys.
func Ask(ctx context.Context, o Options, f func(Asker) error) error {
	state := o.State
	if _, err := os.Stat(state); err != nil {
		return fmt.Errorf("no state folder at %s: nothing was ever started there (name another: --state DIR)", state)
	}
	for {
		if Listens(state) {
			client, err := socket.Operator(state)
			if err != nil {
				return err
			}
			err = f(client)
			if errors.Is(err, api.ErrLater) && !Listens(state) {
				continue // the daemon ended meanwhile; a repeated key has no second effect
			}
			return err
		}
		d := New(o)
		err := d.Start(ctx)
		var inUse *statelock.InUseError
		if errors.As(err, &inUse) && Listens(state) {
			continue // a daemon was just starting: ask that one
		}
		if err != nil {
			return err
		}
		defer d.Stop()
		return f(d.Operator)
	}
}
