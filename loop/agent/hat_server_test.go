package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/socket"
)

// hatServer is a server on a session's socket that accepts every event.
type hatServer struct {
	mu      sync.Mutex
	events  []api.Emit
	asked   int      // number of requests by stop hooks
	written []string // paths that hooks asked about
	arrived chan struct{}
}

// serveHat makes a hatServer answer on the sockets of the fixture's sessions.
func serveHat(t *testing.T) (*hatServer, func(*Options)) {
	d := &hatServer{arrived: make(chan struct{}, 16)}
	return d, func(o *Options) {
		log := o.Log
		o.BeforeStart = func(_ context.Context, session, path string) error {
			var opts []socket.Option
			if u, err := parseUser(o.SessionUser, os.Geteuid()); err == nil && u.uid >= 0 {
				opts = append(opts, socket.WithOwner(u.uid, u.gid))
			}
			l, err := socket.Listen(path, 0o600, opts...)
			if err != nil {
				return err
			}
			s := socket.ServeSession(l, d, "t0ken", session, log)
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			return nil
		}
	}
}

func (d *hatServer) Emit(_ context.Context, session string, e api.Emit) (api.Reply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !json.Valid(e.Data) {
		return api.Reply{Text: "no JSON"}, nil
	}
	d.events = append(d.events, e)
	d.arrived <- struct{}{}
	return api.Reply{OK: true, Receipt: session + " " + e.Type}, nil
}

func (*hatServer) Throttled(context.Context, string, int) {}

func (d *hatServer) Session(_ context.Context, session string) (api.Reply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if n := len(d.events); n > 0 {
		return api.Reply{OK: true, Receipt: session + " " + d.events[n-1].Type}, nil
	}
	return api.Reply{OK: true, Text: "This session has not sent its event yet: hat emit build.complete"}, nil
}

// Write refuses files by the name of outside.txt, once.
func (d *hatServer) Write(_ context.Context, _ string, w api.Write) (api.Reply, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written = append(d.written, w.Path)
	if filepath.Base(w.Path) != "outside.txt" || slices.Contains(d.written[:len(d.written)-1], w.Path) {
		return api.Reply{OK: true}, nil
	}
	return api.Reply{OK: true, Text: "outside.txt is not this session's to change."}, nil
}

func (d *hatServer) Task(context.Context, string, api.TaskQuery) (api.Reply, error) {
	return api.Reply{OK: true}, nil
}
func (d *hatServer) Guidance(context.Context, string) (api.Reply, error) {
	return api.Reply{OK: true}, nil
}
func (d *hatServer) Note(context.Context, string, string, api.Note) (api.Reply, error) {
	return api.Reply{OK: true}, nil
}

func (d *hatServer) sent() []api.Emit {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]api.Emit(nil), d.events...)
}

func (d *hatServer) hooks() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}
