package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maintainedRepository notes how maintenance is asked for.
type maintainedRepository struct {
	engine.Repository

	mu    sync.Mutex
	asked []ledger.Maintenance
}

func (r *maintainedRepository) Maintain(_ context.Context, m ledger.Maintenance) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, m)
	return nil
}

func (r *maintainedRepository) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

// slowCapture is a work folder whose capture takes an hour, unless it is cancelled.
type slowCapture struct {
	engine.WorkFolders
	began, cancelled chan time.Time
}

func (f *slowCapture) Capture(ctx context.Context, q ledger.CaptureRequest) (ledger.Capture, error) {
	f.began <- time.Now()
	select {
	case <-ctx.Done():
		f.cancelled <- time.Now()
		return ledger.Capture{}, context.Cause(ctx)
	case <-time.After(time.Hour):
		return f.WorkFolders.Capture(ctx, q)
	}
}

// TestStopNowInCapture stops a run at once while a session is captured: the capture
// ends within two seconds, the run ends, and no maintenance was asked for meanwhile.
func TestStopNowInCapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		folders := &slowCapture{began: make(chan time.Time, 9), cancelled: make(chan time.Time, 9)}
		repository := &maintainedRepository{}
		f.options = func(o *engine.Options) { o.KeptRefs = func() time.Duration { return 21 * 24 * time.Hour } }
		f.wrap = func(p engine.Ports) engine.Ports {
			folders.WorkFolders, repository.Repository = p.Place.Folders, p.Repository
			p.Place.Folders, p.Repository = folders, repository
			return p
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		<-folders.began
		before := repository.count()
		time.Sleep(30 * time.Minute)
		if n := repository.count(); before == 0 || n != before {
			t.Errorf("maintenance was asked for %d times when the capture began, want some, and %d times in it", before, n-before)
		}
		asked := time.Now()
		if a := f.do(loop.Stop{Now: true}, "cut"); !a.OK {
			t.Fatal(a.Text)
		}
		if took := (<-folders.cancelled).Sub(asked); took > 2*time.Second {
			t.Errorf("the capture went on for %s", took)
		}
		synctest.Wait()
		if s := f.state(); s.Project.Run.State != ledger.RunOver {
			t.Errorf("the run is %s", s.Project.Run.State)
		}
		for _, m := range repository.asked {
			if m.Age != 21*24*time.Hour || m.Run != "r1" {
				t.Errorf("maintenance: %+v", m)
			}
		}
	})
}

// TestStopNowInCaptures stops a run with two lanes at once while the sessions of both
// are captured: neither capture goes on for longer than two seconds.
func TestStopNowInCaptures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		one, two := scenario.Task(1, "One"), scenario.Task(2, "Two")
		one.Scope, two.Scope = "a/**", "b/**"
		f.ports.Plan.Tasks = []ledger.Task{one, two}
		folders := &slowCapture{began: make(chan time.Time, 9), cancelled: make(chan time.Time, 9)}
		f.wrap = func(p engine.Ports) engine.Ports {
			folders.WorkFolders = p.Place.Folders
			p.Place.Folders = folders
			return p
		}
		f.restart()
		s := settings()
		s.Parallel = 2
		f.do(loop.StartRun{Settings: s, MaxSessions: 2}, "")
		<-folders.began
		<-folders.began
		asked := time.Now()
		if a := f.do(loop.Stop{Now: true}, "cut"); !a.OK {
			t.Fatal(a.Text)
		}
		for range 2 {
			if took := (<-folders.cancelled).Sub(asked); took > 2*time.Second {
				t.Errorf("a capture went on for %s", took)
			}
		}
		synctest.Wait()
		if s := f.state(); s.Project.Run.State != ledger.RunOver {
			t.Errorf("the run is %s", s.Project.Run.State)
		}
	})
}

// TestSignalInCapture stops the process while a session is captured: nothing is lost,
// and the answer says that the next start goes on with it.
func TestSignalInCapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		folders := &slowCapture{began: make(chan time.Time, 9), cancelled: make(chan time.Time, 9)}
		f.wrap = func(p engine.Ports) engine.Ports {
			folders.WorkFolders = p.Place.Folders
			p.Place.Folders = folders
			return p
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		<-folders.began
		if a := f.do(loop.Stop{Now: true, Signal: "SIGTERM"}, "cut"); a.Text != "stopped; the files of #1 are captured next time" {
			t.Errorf("the answer is %q", a.Text)
		}
		f.restart()
		<-folders.began
	})
}
