package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// faultyRooms records which rooms are asked for, and fails as often as full says
// because the disk is full.
type faultyRooms struct {
	engine.Rooms
	mu    sync.Mutex
	full  int
	calls []string
}

func (r *faultyRooms) record(call string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	if r.full > 0 {
		r.full--
		return fmt.Errorf("%s: %w", call, syscall.ENOSPC)
	}
	return nil
}

func (r *faultyRooms) SetupRoom(ctx context.Context, use ledger.RoomUse, n int) (ledger.Room, error) {
	if err := r.record(fmt.Sprint("setup ", n)); err != nil {
		return ledger.Room{}, err
	}
	return r.Rooms.SetupRoom(ctx, use, n)
}

func (r *faultyRooms) LayRoom(ctx context.Context, use ledger.RoomUse, anew bool) (ledger.Room, error) {
	if err := r.record(fmt.Sprint("lay ", anew)); err != nil {
		return ledger.Room{}, err
	}
	return r.Rooms.LayRoom(ctx, use, anew)
}

// runWithFaults runs two tasks of a project with two setup commands. command
// returns the exit of the n-th command, from 1, or nil for success.
func runWithFaults(t *testing.T, rooms *faultyRooms, command func(n int, l ledger.Launch) *ledger.Exit) *fixture {
	n := 0
	f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
		if l.Kind != ledger.KindAgent {
			n++
			if x := command(n, l); x != nil {
				x.Session = l.Session
				return *x
			}
		}
		return succeeded(f, l)
	})
	f.wrap = func(p engine.Ports) engine.Ports {
		rooms.Rooms = p.Place.Rooms
		p.Place.Rooms = rooms
		return p
	}
	f.restart()
	s := settings()
	s.Setup = []ledger.Command{{Run: "fetch", Timeout: ledger.Duration(20 * time.Minute)}, {Run: "build"}}
	f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
	synctest.Wait()
	return f
}

// TestFullDiskHolds lays rooms on a full disk: the run says that it waits, and
// goes on by itself, with nothing held against a task.
func TestFullDiskHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rooms := &faultyRooms{full: 3}
		f := runWithFaults(t, rooms, func(int, ledger.Launch) *ledger.Exit { return nil })
		if r := f.state().Project.Run; r.Wait != ledger.WaitDisk {
			t.Errorf("on a full disk the run is %s %s", r.State, r.Wait)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Errorf("outcome %d, %v; run %+v", exit, over, f.state().Project.Run)
		}
		for _, task := range f.state().Project.Tasks.All() {
			if task.Status != ledger.Done || task.Failed > 0 {
				t.Errorf("%s is %s after %d failures", task.Task.ID, task.Status, task.Failed)
			}
		}
	})
}

// TestHungSetup names the command, its time and the last that it printed.
func TestHungSetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := runWithFaults(t, &faultyRooms{}, func(_ int, l ledger.Launch) *ledger.Exit {
			if l.Command != "fetch" {
				return nil
			}
			return &ledger.Exit{Reason: ledger.ExitWall, Code: -1, Tail: "asking the registry\n", Text: "ended after 20m0s, its whole time"}
		})
		r := f.state().Project.Run
		if want := `setup command "fetch" fails on the start commit: longer than 20m; its output: asking the registry`; !r.Over() || r.Ended.Text != want {
			t.Errorf("the run says %q, want %q", r.Ended.Text, want)
		}
	})
}

// TestLostSetup begins a layer anew after a setup command was lost: nothing shows
// how far it came.
func TestLostSetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rooms := &faultyRooms{}
		lost := false
		f := runWithFaults(t, rooms, func(_ int, l ledger.Launch) *ledger.Exit {
			if l.Command != "build" || lost || !strings.Contains(l.Work, "rooms") {
				return nil
			}
			lost = true
			return &ledger.Exit{Reason: ledger.ExitLost, Code: -1}
		})
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Errorf("outcome %d, %v", exit, over)
		}
		if want := []string{"setup 0", "setup 1", "setup 0", "setup 1", "lay true"}; len(rooms.calls) < 5 || !slices.Equal(rooms.calls[:5], want) {
			t.Errorf("rooms were asked for %q, want %q first", rooms.calls, want)
		}
	})
}

// TestCommandCannotStart blames no task for a machine on which a command cannot
// be started.
func TestCommandCannotStart(t *testing.T) {
	for _, failures := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			failed := 0
			f := runWithFaults(t, &faultyRooms{}, func(_ int, l ledger.Launch) *ledger.Exit {
				if l.Task == "" || failed == failures {
					return nil
				}
				failed++
				return &ledger.Exit{Reason: ledger.ExitNotStarted, Code: -1, Text: "mount an overlay at /state/rooms/p/room: invalid argument"}
			})
			r := f.state().Project.Run
			if failures == 1 {
				if exit, over := f.outcome(); exit != 0 || !over {
					t.Errorf("after one failure: outcome %d, %v", exit, over)
				}
				return
			}
			if !r.Over() || r.Ended.Reason != ledger.ReasonInternal || !strings.Contains(r.Ended.Text, "could not be started: mount an overlay") {
				t.Errorf("the run ended as %+v", r.Ended)
			}
			for _, task := range f.state().Project.Tasks.All() {
				if task.Failed > 0 || task.Status == ledger.Blocked {
					t.Errorf("%s is %s after %d failures", task.Task.ID, task.Status, task.Failed)
				}
			}
		})
	}
}
