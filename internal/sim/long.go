package main

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/store"
)

// longNights is the number of nights of -long.
const longNights = 30

// keepFor is how long a long simulation keeps what retention deletes. It is shorter
// than any default, so that thirty nights show it.
const keepFor = 10 * 24 * time.Hour

// betweenNights is the time from the end of a night to the next. What is kept for
// sixty days ends within thirty of them.
const betweenNights = 3 * 24 * time.Hour

// Bounds of a night that follows others.
const (
	maxFolded = 6_000    // entries that a start reads: snapshots come every 2,000 of a stream
	lastOf    = 60 / 3   // nights whose tasks the state holds, besides the one of the moment
	maxSlack  = 24 << 10 // bytes by which the state may differ from so many first nights
)

// longLife is what a simulation of many nights on one ledger knows of the nights
// before. The zero value is the first night.
type longLife struct {
	night     int
	began     time.Duration // of the night, since the first one began
	firstSize int           // of the states after the first night
	folded    int           // entries that a start has read, the most
	rows      int           // of inputs, effects and messages that were deleted
}

// inNight is the time since the night began.
func (w *world) inNight() time.Duration { return w.elapsed() - w.long.began }

// morning holds what must be true after each night of many: all has come to an end,
// and nothing has grown with the nights.
func (w *world) morning() {
	w.audit.end()
	size := w.audit.stateSize
	if w.long.night == 0 {
		w.long.firstSize = size
	}
	held := min(w.long.night, lastOf) + 1
	if most := held*w.long.firstSize + maxSlack; size > most {
		w.fail("bounded memory", "after night %d the state takes %d bytes, %d after the first", w.long.night+1, size, w.long.firstSize)
	}
	if queued, err := w.store.QueueLength(background); err != nil || queued > 0 {
		w.fail("bounded outbox", "%d messages wait in the morning, %v", queued, err)
	}
}

// evening begins the next night: maintenance, a new plan in each project, and
// everything goes wrong again.
func (w *world) evening() {
	w.maintain()
	w.all.sleep(betweenNights - w.inNight()%(24*time.Hour))
	w.long.night++
	w.long.began = w.elapsed()
	w.calm = false
	w.wishes = nil // of another plan
	clear(w.ideas)
	w.audit.entries, w.audit.stateSize, w.audit.shortUntil = 0, 0, time.Time{}
	for _, s := range w.sites {
		s.audit.calmRun = false
		clear(s.audit.committedTasks) // of another plan
		s.settings.Source.Path = planOf(w.long.night)
		s.machine.forget()
		s.drawPlan()
		s.write(s.plan.text)
		if until := s.settings.Until; !until.IsZero() {
			s.settings.Until = w.wall().Add(w.between(time.Hour, 10*time.Hour))
		}
	}
	w.tell("night", "night %d begins", w.long.night+1)
	if w.disk != nil {
		w.spawn(w.diskFate)
	}
}

// maintain deletes what retention allows, as the daemon does each day.
func (w *world) maintain() {
	file, is := w.store.(*store.Store)
	if w.daemon == nil || !is {
		return
	}
	before := w.wall().Add(-keepFor)
	for _, delete := range []func() (int, error){
		func() (int, error) { return file.PruneInputs(background, w.wall(), keepFor) },
		func() (int, error) { return file.PruneEffects(background, before) },
		func() (int, error) { return file.PruneMessages(background, before) },
	} {
		n, err := delete()
		if err != nil {
			w.fail("store", "retention: %v", err)
		}
		w.long.rows += n
	}
}

// forget removes the folders of sessions that have ended.
func (m *machine) forget() {
	m.order = slices.DeleteFunc(m.order, func(id string) bool {
		old := m.sessions[id].ended
		if old {
			delete(m.sessions, id)
		}
		return old
	})
	clear(m.refused)
}
