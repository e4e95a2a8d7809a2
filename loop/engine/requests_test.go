package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/forge/memory"
	"github.com/nightporter/nightporter/loop/ledger"
)

// hub is a remote with a forge.
type hub struct {
	*memory.Forge
	meter *meter
}

func (h hub) Open(context.Context) (engine.Remote, engine.Forge, error) {
	return h, hubForge{h.Forge, h.meter}, nil
}

func (h hub) Push(_ context.Context, p ledger.Push) (ledger.Pushed, error) {
	h.Forge.Push(p.Branch, p.Commit)
	return ledger.Pushed{Commit: p.Commit}, nil
}

func (hub) TryPush(context.Context, ledger.Push) error { return nil }

func (hub) Fetch(context.Context, string, ...string) (map[string]string, error) { return nil, nil }

func (hub) Branches(context.Context, ...string) (map[string]string, error) { return nil, nil }

type hubForge struct {
	*memory.Forge
	meter *meter
}

func (hubForge) Kind() ledger.ForgeKind { return ledger.ForgeGitHub }

// Look is a look that shows nothing new, as far as the meter knows.
func (h hubForge) Look(ctx context.Context, number int, tag string) (ledger.RequestView, error) {
	h.meter.add(4) // the request, its base, and both kinds of checks
	return h.Forge.Look(ctx, number, tag)
}

func (h hubForge) Changed(ctx context.Context, looks map[int]string) ([]int, error) {
	h.meter.add(3) // the list, the base, and the checks of one request in turn
	for n := range looks {
		if h.meter.pending[n] {
			h.meter.add(1)
		}
	}
	return h.Forge.Changed(ctx, looks)
}

// looked counts the calls of the methods since the last one.
func (h hub) looked(before []memory.Call, methods ...string) int {
	n := 0
	for _, c := range h.Calls()[len(before):] {
		if slices.Contains(methods, c.Method) {
			n++
		}
	}
	return n
}

// withRequest returns a run that has ended with an open request.
func withRequest(t *testing.T, mode ledger.WatchMode) (*fixture, hub) {
	h := hub{memory.New(), &meter{}}
	f := newFixture(t, succeeded)
	f.wrap = func(p engine.Ports) engine.Ports {
		p.Publisher = h
		return p
	}
	f.restart()
	s := settings()
	s.Verify, s.Push, s.Requests.Watch = nil, ledger.PushEnd, mode
	f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
	synctest.Wait()
	if b := f.state().Project.Requests.Open(); len(b) != 1 || !f.state().Project.Run.Over() {
		t.Fatalf("the run has no open request: %+v", f.state().Project.Requests)
	}
	return f, h
}

// seen returns how the only request stood at the last look that was news.
func (f *fixture) seen() ledger.RequestStanding {
	b := f.state().Project.Requests.Branches[0]
	if b.Seen == nil {
		return ledger.RequestStanding{}
	}
	return b.Seen.RequestStanding
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func check(name string, state ledger.CheckState) ledger.ForgeCheck {
	return ledger.ForgeCheck{Name: name, State: state}
}

// TestLooksAtRequests looks at a request after its run, across a restart, until a
// person merges it.
func TestLooksAtRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := withRequest(t, "")
		h.Check(1, check("lint", ledger.CheckPending))
		pass(time.Minute)
		if s := f.seen(); s.Pending != 1 || s.Failing != 0 {
			t.Errorf("a pending check: %+v", s)
		}
		f.restart()
		h.Check(1, check("lint", ledger.CheckFailed))
		pass(time.Minute)
		if s := f.seen(); s.Pending != 0 || !slices.Equal(s.Failed, []string{"lint"}) {
			t.Errorf("a failed check: %+v", s)
		}
		f.mu.Lock()
		entries := f.entries
		f.mu.Unlock()
		before := h.Calls()
		pass(time.Hour)
		if n := h.looked(before, "Look", "Changed"); n < 12 || n > 25 {
			t.Errorf("%d looks in an hour in which nothing changed", n)
		}
		f.mu.Lock()
		if f.entries != entries {
			t.Errorf("%d entries for looks that showed nothing new", f.entries-entries)
		}
		f.mu.Unlock()
		h.Set(1, func(r *ledger.Request) { r.State, r.MergeCommit = ledger.RequestMerged, "m1" })
		pass(6 * time.Minute)
		if s := f.seen(); s.State != ledger.RequestMerged {
			t.Errorf("merged by a person: %+v", s)
		}
		before = h.Calls()
		pass(time.Hour)
		if n := h.looked(before, "Look", "Changed"); n > 0 {
			t.Errorf("%d looks at a request that is merged", n)
		}
	})
}

// TestWatchModes looks at no request after the run, or at none at all.
func TestWatchModes(t *testing.T) {
	for _, mode := range []ledger.WatchMode{ledger.WatchNight, ledger.WatchOff} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, h := withRequest(t, mode)
				before := h.Calls()
				pass(time.Hour)
				f.restart()
				pass(time.Hour)
				if n := h.looked(before, "Look", "Changed"); n > 0 {
					t.Errorf("%d looks", n)
				}
			})
		})
	}
}

// TestLooksFail records what only a person can mend at once, and a forge that is
// away after five minutes.
func TestLooksFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := withRequest(t, "")
		pass(time.Minute)
		for range 100 {
			h.Fail(memory.Fault{Err: &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "no answer within 30s"}})
		}
		pass(2 * time.Minute)
		if s := f.seen(); s.Failure != "" {
			t.Errorf("away for a moment: %+v", s)
		}
		before := h.Calls()
		pass(10 * time.Minute)
		if s := f.seen(); s.Failure != ledger.ForgeAway || s.State != ledger.RequestOpen {
			t.Errorf("away for long: %+v", s)
		}
		if n := len(h.Calls()) - len(before); n > 20 {
			t.Errorf("%d calls of a forge that is away, in ten minutes", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f, h := withRequest(t, "")
		pass(time.Minute)
		h.Fail(memory.Fault{Err: &ledger.ForgeError{Failure: ledger.ForgeLogin, Text: "the token is wrong"}})
		pass(5 * time.Minute)
		if s := f.seen(); s.Failure != "" { // it failed once and works again
			t.Errorf("after a failure: %+v", s)
		}
		h.Fail(memory.Fault{Err: &ledger.ForgeError{Failure: ledger.ForgeLimited, Text: "limit", RetryAt: time.Now().Add(40 * time.Minute)}})
		pass(6 * time.Minute)
		before := h.Calls()
		pass(30 * time.Minute)
		if n := len(h.Calls()) - len(before); n > 0 {
			t.Errorf("%d calls before a rate limit is over", n)
		}
	})
}

// TestStrangers tells commits that nightporter pushed, whose author the forge does not
// know, from those of somebody else.
func TestStrangers(t *testing.T) {
	for name, own := range map[string]bool{"ours": true, "theirs": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, h := withRequest(t, "")
				pass(time.Minute)
				b := f.state().Project.Requests.Branches[0]
				if own {
					h.Author(b.Pushed, "nobody")
				} else {
					h.Commit(b.Name, "nobody")
				}
				pass(6 * time.Minute)
				if s := f.seen(); s.Strangers != 1 || s.OwnUnknown != own {
					t.Errorf("%d strangers, ours %v", s.Strangers, s.OwnUnknown)
				}
			})
		})
	}
}

// confirmed asks for a merge of request 1 and confirms it.
func (f *fixture) confirmed() ledger.Answer {
	a := f.do(loop.MergeRequest{Number: 1}, fmt.Sprintf("ask-%d", time.Now().UnixNano()))
	if !a.OK || a.ID == "" {
		return a
	}
	b := f.do(loop.AnswerQuestion{Question: a.ID, Choice: "merge"}, "yes-"+a.ID)
	synctest.Wait()
	return b
}

// mergeEnded returns what became of the only merge.
func (f *fixture) mergeEnded() (out ledger.MergeEnded) {
	if err := f.ledger.Records(f.t.Context(), ledger.ProjectStream("p"), 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if b, is := e.Body.(ledger.MergeEnded); is {
			out = b
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return out
}

// TestMerges merges a confirmed request by the method that the repository permits,
// once, though its answer is lost and the process dies.
func TestMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := withRequest(t, "")
		h.Repo.Methods, h.Repo.DeletesBranch = []ledger.MergeMethod{ledger.MergeSquash}, true
		h.Check(1, check("lint", ledger.CheckPending))
		pass(time.Minute)
		if a := f.confirmed(); a.OK || a.Code != ledger.CodeNotGreen {
			t.Errorf("a merge with a pending check: %+v", a)
		}
		h.Check(1, check("lint", ledger.CheckPassed))
		pass(time.Minute)
		h.Fail(memory.Fault{Method: "Merge", After: true})
		if a := f.confirmed(); !a.OK {
			t.Fatalf("%+v", a)
		}
		f.restart()
		pass(10 * time.Minute)
		b := f.state().Project.Requests.Branches[0]
		if b.Merging != "" || b.Request.State != ledger.RequestMerged {
			t.Errorf("after the merge: %+v %+v", b, b.Request)
		}
		if n := h.looked(nil, "Merge"); n != 1 {
			t.Errorf("%d merges", n)
		}
	})
}

// TestChecksBegin waits for checks that a forge has not begun yet: a request without
// any is not merged right after a push, and longer where an earlier head had some.
func TestChecksBegin(t *testing.T) {
	refused := func(t *testing.T, f *fixture, h hub, want string) {
		t.Helper()
		if a := f.confirmed(); a.OK || a.Code != ledger.CodeNotGreen || !strings.Contains(a.Text, want) {
			t.Errorf("a merge before checks began: %+v, want %q", a, want)
		}
		if n := h.looked(nil, "Merge"); n > 0 {
			t.Errorf("it is merged")
		}
	}
	t.Run("none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, h := withRequest(t, "")
			pass(time.Minute)
			if s := f.seen(); s.ChecksDue.IsZero() {
				t.Errorf("after a minute: %+v", s)
			}
			refused(t, f, h, "PR 1 is not merged: its checks have not begun yet. Ask again in a minute.")
			f.restart()
			pass(61 * time.Second)
			if s := f.seen(); !s.ChecksDue.IsZero() {
				t.Errorf("after two minutes: %+v", s)
			}
			if a := f.confirmed(); !a.OK || h.looked(nil, "Merge") != 1 {
				t.Errorf("a merge without checks after two minutes: %+v", a)
			}
		})
	})
	t.Run("they begin", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, h := withRequest(t, "")
			pass(40 * time.Second)
			refused(t, f, h, "Ask again in 2 minutes.")
			h.Check(1, check("lint", ledger.CheckPassed))
			pass(20 * time.Second)
			if a := f.confirmed(); !a.OK || h.looked(nil, "Merge") != 1 {
				t.Errorf("a merge with a check that passed: %+v", a)
			}
		})
	})
	t.Run("an earlier head had some", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, h := withRequest(t, "")
			h.Check(1, check("lint", ledger.CheckPassed))
			pass(time.Hour)
			h.Forge.Push(f.state().Project.Requests.Branches[0].Name, "")
			pass(9 * time.Minute)
			refused(t, f, h, "its checks have not begun yet. Ask again in ")
			pass(7 * time.Minute) // it is seen up to five minutes late
			if s := f.seen(); !s.ChecksDue.IsZero() {
				t.Errorf("after ten minutes: %+v", s)
			}
		})
	})
	t.Run("nobody has looked", func(t *testing.T) { // the last look is right before the merge
		synctest.Test(t, func(t *testing.T) {
			f, h := withRequest(t, ledger.WatchOff)
			if a := f.confirmed(); !a.OK {
				t.Fatalf("%+v", a)
			}
			if e := f.mergeEnded(); e.Failure != ledger.ForgeEarly || e.Remedy != "Ask again in 2 minutes" || h.looked(nil, "Merge") > 0 {
				t.Errorf("it ended with %+v", e)
			}
			pass(2 * time.Minute)
			if a := f.confirmed(); !a.OK || h.looked(nil, "Merge") != 1 {
				t.Errorf("a merge after two minutes: %+v", a)
			}
		})
	})
}

// TestMergeLooksFirst does not merge what was green when a person confirmed it and is
// not any more, and says so.
func TestMergeLooksFirst(t *testing.T) {
	for name, change := range map[string]func(h hub, branch string){
		"a check fails":  func(h hub, _ string) { h.Check(1, check("lint", ledger.CheckFailed)) },
		"another head":   func(h hub, branch string) { h.Forge.Push(branch, "") },
		"closed":         func(h hub, _ string) { h.Set(1, func(r *ledger.Request) { r.State = ledger.RequestClosed }) },
		"base is gone":   func(h hub, _ string) { h.Delete("main") },
		"base has moved": func(h hub, _ string) { h.Forge.Push("main", "") },
		"no rights":      func(h hub, _ string) { h.Repo.MayPush = false },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, h := withRequest(t, "")
				pass(3 * time.Minute)
				change(h, f.state().Project.Requests.Branches[0].Name)
				before := f.seen()
				f.confirmed()
				ended := f.mergeEnded()
				pass(time.Second)
				if same := fmt.Sprint(f.seen()) == fmt.Sprint(before); same != (name == "no rights") {
					t.Errorf("the request stands as before: %v: %+v", same, f.seen())
				}
				if ended.Failure == "" || ended.Text == "" {
					t.Errorf("the merge ended with %+v", ended)
				}
				t.Logf("%s: %s. %s", ended.Failure, ended.Text, ended.Remedy)
				for _, r := range h.Requests() {
					if r.State == ledger.RequestMerged {
						t.Errorf("it is merged")
					}
				}
			})
		})
	}
}

// Look implements engine.Forge.
func (*far) Look(context.Context, int, string) (ledger.RequestView, error) {
	return ledger.RequestView{Unchanged: true}, nil
}

// Merge implements engine.Forge.
func (*far) Merge(context.Context, ledger.MergeAsked) (ledger.Request, error) {
	return ledger.Request{}, nil
}
