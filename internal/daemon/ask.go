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

// Asker answers commands and views: the daemon through its socket, or this
// process itself where there is none. Either way through the same handlers.
type Asker interface {
	Command(ctx context.Context, c api.Command) (api.Reply, error)
	View(ctx context.Context, v api.View) (api.Reply, error)
}

// Ask calls f with whoever holds the state folder: again, where that one has
// ended before it answered. Where nobody holds it, this process does for as long
// as f takes, with these options.
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
				continue // it has ended meanwhile; the same key does nothing twice
			}
			return err
		}
		d := New(o)
		err := d.Start(ctx)
		var inUse *statelock.InUseError
		if errors.As(err, &inUse) && Listens(state) {
			continue // a daemon that has just started
		}
		if err != nil {
			return err
		}
		defer d.Stop()
		return f(d.Operator)
	}
}
