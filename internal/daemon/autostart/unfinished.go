package autostart

import (
	"context"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Free gives the session slots of projects that are not worked on to the other
// projects, and ends their running sessions. Nobody would read the results of
// these sessions, they cost money, and their supervisors do not end them while
// a daemon runs. An ended session counts neither as failure nor as success, and
// is repeated when the project is worked on again.
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

// resume resumes a run that the command `run` left unfinished. It keeps the
// run's settings, except that the run waits for a person where `run` would have
// ended. A run that a person paused stays paused.
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
