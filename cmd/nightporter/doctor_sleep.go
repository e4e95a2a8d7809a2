package main

import (
	"context"
	"errors"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/internal/statelock"
)

// checkSleep reports whether this machine can be kept awake while a run works. It
// takes the lock for a moment, as the same user: what a daemon at work holds is the
// better proof, because policy may allow a person at the machine what it refuses a
// service. The status of such a daemon tells a refusal.
func checkSleep(ctx context.Context, p *doctorContext) []finding {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	can, err := systemd.CanSleep(ctx)
	switch {
	case err != nil:
		return nil // without logind nothing is known, and mostly nothing sleeps
	case !can:
		return []finding{findOK("this machine does not go to sleep")}
	case !p.cfg.KeepsAwake():
		return []finding{findOK("this machine may go to sleep while a run works: inhibit_sleep = false")}
	}
	if pid, held, err := statelock.Held(p.state); err == nil && held && p.daemon {
		if awake, err := systemd.KeptAwake(ctx, pid); err == nil && awake {
			return []finding{findOK("nightporter keeps this machine awake until no run works")}
		}
	}
	lock, err := systemd.KeepAwake(ctx)
	if errors.Is(err, systemd.ErrRefused) {
		return []finding{findLook(systemd.PolkitRule, "this machine may go to sleep while a run works: its policy (polkit) does not let this user prevent it")}
	}
	if err != nil {
		return []finding{findUnchecked("%v", err)}
	}
	_ = lock.Close()
	return []finding{findOK("this machine is kept awake while a run works; for the lid of a laptop see docs/operating.md: Sleep")}
}
