package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
)

// runners is the runner of sessions for the configuration in force. A reload
// puts another in its place, for sessions that begin from then on; those in
// flight are found by their folders, whoever started them.
type runners struct {
	make func(cfg *config.Config) (*agent.Runner, error)
	now  atomic.Pointer[agent.Runner]
}

// use makes a runner for the configuration. The one before stays where that
// fails.
func (r *runners) use(cfg *config.Config) error {
	made, err := r.make(cfg)
	if err == nil {
		r.now.Store(made)
	}
	return err
}

func (r *runners) Known(session string) bool { return r.now.Load().Known(session) }

func (r *runners) Start(ctx context.Context, l ledger.Launch) error {
	return r.now.Load().Start(ctx, l)
}

func (r *runners) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	return r.now.Load().Wait(ctx, session)
}

func (r *runners) End(ctx context.Context, session string, grace ledger.Duration) error {
	return r.now.Load().End(ctx, session, grace)
}

func (r *runners) Touch(session string) { r.now.Load().Touch(session) }

func (r *runners) Check(ctx context.Context, name string) error { return r.now.Load().Check(ctx, name) }

func (r *runners) Level() (int, []string) { return r.now.Load().Level() }

// SocketPath is where a session's hat finds the daemon.
func (r *runners) SocketPath(session string) string { return r.now.Load().SocketPath(session) }

// Glimpse is what a session in hand printed last.
func (r *runners) Glimpse(session string, most int) (agent.OutputTail, error) {
	return r.now.Load().Glimpse(session, most)
}

// Tidy removes what ended sessions and runs left.
func (r *runners) Tidy(ctx context.Context, before time.Time, keep func(run string) bool) (int, error) {
	return r.now.Load().Tidy(ctx, before, keep)
}

// User is who sessions run as; -1 means as the daemon.
func (r *runners) User() (uid, gid int) { return r.now.Load().User() }
