package engine

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop"
)

// longestWait limits a wait for something that is due. A timer counts neither the
// time in which the machine sleeps nor a jump of the clock.
const longestWait = time.Minute

// nextLook returns how long to wait for something that is due after wait.
func nextLook(wait time.Duration) time.Duration {
	if wait == sched.Forever {
		return wait
	}
	return min(wait, longestWait)
}

// leastJump is the smallest jump of the clock that the core is told of. Time
// servers correct smaller ones all the time.
const leastJump = time.Minute

// jumpMeter compares the time of day with a clock that never jumps and stands
// while the machine sleeps.
type jumpMeter struct{ wall, steady time.Time }

func (m *jumpMeter) start(wall, steady time.Time) {
	m.wall, m.steady = wall.Round(0), steady // Round removes the steady part that Go keeps in a time
}

// jump returns how far the time of day jumped since the last call, or since start.
func (m *jumpMeter) jump(wall, steady time.Time) time.Duration {
	by := wall.Round(0).Sub(m.wall) - steady.Sub(m.steady)
	if by.Abs() >= leastJump {
		m.start(wall, steady)
		return by
	}
	return 0
}

// noteJump tells the core that the clock jumped. A project that cannot be told
// keeps its times: what waits in it waits for the clock.
func (e *Engine) noteJump(ctx context.Context) {
	by := e.clock.jump(e.o.Clock(), e.o.Scheduler.Now())
	if by == 0 {
		return
	}
	e.o.Log.Info("the clock jumped, or the machine slept", "by", by.String())
	_, err := e.handle(ctx, loop.Input{Actor: "daemon", Body: loop.ClockJumped{By: by}}, nil)
	e.logFailure("jump of the clock", "", err)
	for _, name := range e.Projects() {
		if !e.carriesOut(name) {
			continue
		}
		_, err := e.handle(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.ClockJumped{By: by}}, nil)
		e.logFailure("jump of the clock", name, err)
	}
}
