package session

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Runners is the runner of sessions for the configuration in force. A reload
// puts another in its place, for sessions that begin from then on; those in
// flight are found by their folders, whoever started them.
type Runners struct {
	make func(cfg *config.Config) (*agent.Runner, error)
	now  atomic.Pointer[agent.Runner]
}

// NewRunners returns runners that makes makes: one for each configuration.
func NewRunners(makes func(cfg *config.Config) (*agent.Runner, error)) *Runners {
	return &Runners{make: makes}
}

// Use makes a runner for the configuration. The one before stays where that
// fails.
func (r *Runners) Use(cfg *config.Config) error {
	made, err := r.make(cfg)
	if err == nil {
		r.now.Store(made)
	}
	return err
}

func (r *Runners) Known(session string) bool { return r.now.Load().Known(session) }

func (r *Runners) Start(ctx context.Context, l ledger.Launch) error {
	return r.now.Load().Start(ctx, l)
}

func (r *Runners) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	return r.now.Load().Wait(ctx, session)
}

func (r *Runners) End(ctx context.Context, session string, grace ledger.Duration) error {
	return r.now.Load().End(ctx, session, grace)
}

func (r *Runners) Touch(session string) { r.now.Load().Touch(session) }

func (r *Runners) Check(ctx context.Context, name string) error { return r.now.Load().Check(ctx, name) }

func (r *Runners) Level() (int, []string) { return r.now.Load().Level() }

// SocketPath is where a session's hat finds the daemon.
func (r *Runners) SocketPath(session string) string { return r.now.Load().SocketPath(session) }

// Glimpse is what a session in hand printed last.
func (r *Runners) Glimpse(session string, most int) (agent.OutputTail, error) {
	return r.now.Load().Glimpse(session, most)
}

// Tidy removes what ended sessions and runs left.
func (r *Runners) Tidy(ctx context.Context, before time.Time, keep func(run string) bool) (int, error) {
	return r.now.Load().Tidy(ctx, before, keep)
}

// User is who sessions run as; -1 means as the daemon.
func (r *Runners) User() (uid, gid int) { return r.now.Load().User() }
