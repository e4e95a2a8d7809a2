package systemd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/internal/service"
)

// Inhibitor keeps the machine from going to sleep while it is needed. Create it
// with NewInhibitor. Its lock ends with Stop, and with the process.
type Inhibitor struct {
	service.Base
	log  *slog.Logger
	of   Wakefulness
	take func(context.Context) (io.Closer, error)
	held atomic.Bool
}

// Wakefulness provides what an Inhibitor needs to know. All fields are required.
type Wakefulness struct {
	Needed  func() bool                  // whether a run works now
	Changes *service.Broadcast           // signalled when Needed may have changed
	Result  func(context.Context, error) // called after a change: nil, or why the lock was not taken
}

// NewInhibitor returns an inhibitor that uses logind.
func NewInhibitor(log *slog.Logger, of Wakefulness) *Inhibitor {
	return &Inhibitor{log: log, of: of, take: func(ctx context.Context) (io.Closer, error) { return KeepAwake(ctx) }}
}

// Held reports whether the machine is kept awake now.
func (i *Inhibitor) Held() bool { return i != nil && i.held.Load() }

// Start begins to take and release the lock.
func (i *Inhibitor) Start(context.Context) error {
	if err := i.Begin(); err != nil {
		return err
	}
	i.Go(i.run)
	return nil
}

// retryLock is the pause after a lock that could not be taken. Logind may start
// later, or a person may mend the policy.
const retryLock = time.Minute

// run holds the lock while it is needed, until ctx ends.
func (i *Inhibitor) run(ctx context.Context) {
	var lock io.Closer
	release := func() {
		if lock != nil {
			_ = lock.Close()
			lock = nil
			i.held.Store(false)
		}
	}
	defer release()
	retry := time.NewTimer(0)
	defer retry.Stop()
	var failed error // of the last try; nil while no lock is needed
	waits := false   // until retry fires
	for {
		changed := i.of.Changes.Next()
		switch needed := i.of.Needed(); {
		case !needed && lock != nil:
			release()
			i.log.Info("no run works: the machine may go to sleep")
		case !needed && failed != nil:
			failed = nil
			i.of.Result(ctx, nil)
		case needed && lock == nil && !waits:
			taken, err := i.take(ctx)
			switch {
			case err == nil:
				lock = taken
				i.held.Store(true)
				i.log.Info("the machine is kept awake while a run works")
				i.of.Result(ctx, nil)
			case ctx.Err() != nil:
				return
			default:
				waits = true
				retry.Reset(retryLock)
				if failed == nil || errors.Is(err, ErrRefused) != errors.Is(failed, ErrRefused) {
					i.tell(ctx, err)
				}
			}
			failed = err
		}
		select {
		case <-changed:
		case <-retry.C:
			waits = false
		case <-ctx.Done():
			return
		}
	}
}

// tell reports why the lock was not taken. A host without logind is nothing to
// mend.
func (i *Inhibitor) tell(ctx context.Context, err error) {
	if errors.Is(err, ErrRefused) {
		i.log.Warn("the machine may go to sleep while a run works", "error", err, "remedy", PolkitRule)
	} else {
		i.log.Info("nothing keeps this machine awake", "error", err)
	}
	i.of.Result(ctx, err)
}
