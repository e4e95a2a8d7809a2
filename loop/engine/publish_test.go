package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// far is a remote and its forge, which refuse what fails says.
type far struct {
	mu       sync.Mutex
	fails    map[string]*ledger.ForgeError // by call
	calls    map[string]int
	branches map[string]string
	info     ledger.ForgeInfo
	requests []ledger.RequestDraft
	none     bool // the repository has no remote
}

func newFar() *far {
	return &far{
		fails: map[string]*ledger.ForgeError{}, calls: map[string]int{}, branches: map[string]string{"main": "c0"},
		info: ledger.ForgeInfo{Kind: ledger.ForgeGitHub, Repository: "acme/shop", DefaultBranch: "trunk", MayPush: true, Template: "## Why\n"},
	}
}

func (f *far) call(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[name]++
	if err := f.fails[name]; err != nil {
		return err
	}
	return nil
}

func (f *far) set(name string, err *ledger.ForgeError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails[name] = err
}

func (f *far) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[name]
}

func (f *far) Open(context.Context) (engine.Remote, engine.Forge, error) {
	if f.none {
		return nil, nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "no remote to push to"}}}
	}
	return f, f, f.call("open")
}

func (f *far) Push(_ context.Context, p ledger.Push) (ledger.Pushed, error) {
	if err := f.call("push"); err != nil {
		return ledger.Pushed{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.branches[p.Branch] = p.Commit
	return ledger.Pushed{Commit: p.Commit}, nil
}

func (f *far) TryPush(context.Context, ledger.Push) error { return f.call("try") }

func (f *far) Fetch(ctx context.Context, _ string, names ...string) (map[string]string, error) {
	return f.Branches(ctx, names...)
}

func (f *far) Branches(_ context.Context, names ...string) (map[string]string, error) {
	has := map[string]string{}
	f.mu.Lock()
	for _, n := range names {
		if c, ok := f.branches[n]; ok {
			has[n] = c
		}
	}
	f.mu.Unlock()
	return has, f.call("branches")
}

func (f *far) Kind() ledger.ForgeKind { return ledger.ForgeGitHub }

func (f *far) Info(context.Context) (ledger.ForgeInfo, error) { return f.info, f.call("info") }

func (f *far) Request(_ context.Context, d ledger.RequestDraft) (ledger.Request, error) {
	if err := f.call("request"); err != nil {
		return ledger.Request{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, d)
	return ledger.Request{Number: 48, URL: "https://forge.test/48", State: ledger.RequestOpen, Head: d.Head, Base: d.Base}, nil
}

// published starts a run that pushes at its end.
func published(t *testing.T, x *far) *fixture {
	t.Helper()
	f := newFixture(t, succeeded)
	f.wrap = func(p engine.Ports) engine.Ports {
		p.Publisher, p.Redact = x, func(s string) string { return strings.ReplaceAll(s, "One", "[secret]") }
		return p
	}
	f.restart()
	s := settings()
	s.Push = ledger.PushEnd
	f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
	time.Sleep(2 * time.Hour)
	synctest.Wait()
	return f
}

// TestPublish: a run ends with its branch on the remote and its request open, with
// the repository's template and without secrets.
func TestPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFar()
		f := published(t, x)
		f.checkUnharmed(t)
		s := f.state()
		if b := s.Project.Requests.Branch("r1"); b.Pushed != s.Project.Run.Tip || b.Request == nil || b.Request.Number != 48 {
			t.Fatalf("%+v", b)
		}
		if n := len(x.requests); n != 1 || x.count("push") != 1 {
			t.Fatalf("%d requests, %d pushes", n, x.count("push"))
		}
		d := x.requests[0]
		if !strings.HasPrefix(d.Body, "## Why\n\n<!-- nightporter:") || strings.Contains(d.Body, "One") || !strings.Contains(d.Body, "[secret]") || d.Base == "" {
			t.Errorf("%+v", d)
		}
	})
}

// TestPublishFails lets the remote and the forge fail: what passes is tried until it
// works and told once, what does not waits for a person, and no run waits for either.
func TestPublishFails(t *testing.T) {
	for name, c := range map[string]struct {
		call  string
		err   ledger.ForgeError
		tries [2]int // in eight hours
	}{
		"remote away":   {"push", ledger.ForgeError{Failure: ledger.ForgeAway, Text: "no answer within 30s"}, [2]int{80, 120}},
		"login revoked": {"push", ledger.ForgeError{Failure: ledger.ForgeLogin, Text: "the token is revoked", Remedy: "Make another one."}, [2]int{1, 1}},
		"forge limits":  {"request", ledger.ForgeError{Failure: ledger.ForgeLimited, Text: "limited"}, [2]int{5, 20}},
		"no rights":     {"request", ledger.ForgeError{Failure: ledger.ForgeRights, Text: "may not open requests"}, [2]int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newFar()
				err := c.err
				if err.Failure == ledger.ForgeLimited {
					err.RetryAt = time.Now().Add(7 * time.Hour)
				}
				x.set(c.call, &err)
				f := published(t, x)
				if exit, over := f.outcome(); exit != 0 || !over {
					t.Fatalf("the run waits: %d, %v", exit, over)
				}
				time.Sleep(6 * time.Hour)
				synctest.Wait()
				if n := x.count(c.call); n < c.tries[0] || n > c.tries[1] {
					t.Errorf("%d tries, want %v", n, c.tries)
				}
				failing := f.state().Project.Failing
				if len(failing) != 1 || !failing[0].Told || failing[0].Text != c.err.Text || failing[0].Remedy != c.err.Remedy {
					t.Fatalf("failing: %+v", failing)
				}
				x.set(c.call, nil)
				f.do(loop.Resume{}, "") // a person's command
				synctest.Wait()
				if b := f.state().Project.Requests.Branch("r1"); b.Pushed == "" || b.Request == nil {
					t.Errorf("after a command: %+v", b)
				}
				f.checkUnharmed(t)
			})
		})
	}
}

// TestPublishPreflight says at the start what would keep a branch from being pushed,
// and starts where that passes by itself.
func TestPublishPreflight(t *testing.T) {
	for name, c := range map[string]struct {
		change func(x *far)
		starts bool
		says   string
	}{
		"remote away":      {func(x *far) { x.set("branches", &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "no answer"}) }, true, "no answer"},
		"forge away":       {func(x *far) { x.set("info", &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "502"}) }, true, "502"},
		"login":            {func(x *far) { x.set("try", &ledger.ForgeError{Failure: ledger.ForgeLogin, Text: "wrong token"}) }, false, "wrong token"},
		"archived":         {func(x *far) { x.info.Archived = true }, false, "archived"},
		"may not push":     {func(x *far) { x.info.MayPush = false }, false, "may not write"},
		"a branch of r1":   {func(x *far) { x.branches["nightporter/p/r1"] = "x" }, false, "another state folder"},
		"settings, wrong":  {func(x *far) { x.set("open", &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: "no such remote"}) }, false, "no such remote"},
		"nothing is wrong": {func(*far) {}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newFar()
				c.change(x)
				f := published(t, x)
				r := f.state().Project.Run
				if started := !r.Started.IsZero(); started != c.starts {
					t.Fatalf("started %v: %+v", started, r.Ended)
				}
				if !c.starts && !strings.Contains(r.Ended.Text, c.says) {
					t.Errorf("it says %q, want %q", r.Ended.Text, c.says)
				}
			})
		})
	}
}
