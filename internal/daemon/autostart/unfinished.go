package autostart

import (
	"context"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Free gives the slots of projects that are not worked on to the others, and
// ends what these have in flight: nobody hears it, it costs money, and its
// supervisor sees a nightporter and would let it be. It counts as nothing, and
// is done again should the project come back.
func (s *Autostarter) Free(ctx context.Context) {
	_, err := s.o.Engine.Do(ctx, loop.Input{Actor: "daemon", Body: loop.WorksOn{Projects: s.o.Projects.Working()}})
	if err != nil && ctx.Err() == nil {
		s.o.Log.Error("slots of other projects", "error", err)
	}
	for _, name := range s.o.Engine.Projects() {
		if s.o.Projects.Works(name) {
			continue
		}
		st, _ := s.o.Engine.State(name)
		for _, x := range st.Project.Sessions {
			s.o.Log.Warn("session of a project that is not worked on is ended", "project", name, "session", x.ID)
			if err := s.o.Sessions.End(ctx, x.ID, 0); err != nil {
				s.o.Log.Error("session of a project that is not worked on", "session", x.ID, "error", err)
			}
		}
	}
}

// adopt takes up a run that `run` left unfinished: with its own settings, but
// waiting for a person where `run` would have ended. One that a person paused
// stays paused: it is taken up once it goes on.
func (s *Autostarter) resume(ctx context.Context, name string, st loop.State) {
	r := st.Project.Run
	if r.Over() || r.Settings.Stays || r.Finishing != nil || r.Check {
		return
	}
	cut := r.State == ledger.RunStopping && r.StopNow && r.Signal != ""
	if r.State != ledger.RunRunning && r.State != ledger.RunWaiting && !cut {
		return
	}
	settings := r.Settings
	settings.Stays = true
	s.o.Log.Info("unfinished run is taken up", "project", name, "run", r.ID)
	s.start(ctx, name, settings)
}
