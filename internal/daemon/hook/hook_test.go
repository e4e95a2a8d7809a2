package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/hook"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// place is a ledger with a hook on it, and the server at the other end.
type place struct {
	t       *testing.T
	store   *store.Store
	changes service.Broadcast
	hooks   []config.Hook
	file    string
	got     chan hook.Event
	mu      sync.Mutex
	answers []int // status codes of the next posts; 200 after them
	logged  strings.Builder
	posts   atomic.Int32
	client  *http.Client // nil = the hooks' own
	runner  hook.Runner  // of commands
	folder  string       // of commands
	last    string       // id of the last event that was compared
}

func newPlace(t *testing.T, on ...string) *place {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p := &place{t: t, store: s, file: filepath.Join(dir, "hooks.json"), got: make(chan hook.Event, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e hook.Event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil || r.URL.Path != "/secret" || r.Header.Get("Idempotency-Key") != e.ID {
			t.Errorf("%s %s: %v", r.URL, r.Header, err)
		}
		p.mu.Lock()
		code := http.StatusOK
		if len(p.answers) > 0 {
			code, p.answers = p.answers[0], p.answers[1:]
		}
		p.mu.Unlock()
		p.posts.Add(1)
		w.WriteHeader(code)
		p.got <- e
	}))
	t.Cleanup(server.Close)
	p.hooks = []config.Hook{{On: on, Post: server.URL + "/secret"}}
	return p
}

// run runs the hooks until stop is called.
func (p *place) run() (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan struct{})
	h := hook.New(hook.Options{
		Ledger: p.store, Hooks: func() []config.Hook { return p.hooks }, Next: p.changes.Next, File: p.file,
		Alive: func(context.Context) error { return nil }, Status: func() string { return "1 project, 0 at work" },
		Client: p.client, Runner: p.runner, Folder: p.folder,
		Log: slog.New(slog.NewTextHandler(&locked{w: &p.logged, mu: &p.mu}, nil)),
	})
	go func() { defer close(done); h.Run(ctx) }()
	return func() { cancel(); <-done }
}

// begin lets the hooks see the ledger as it is, and ends them.
func (p *place) begin() {
	p.t.Helper()
	stop := p.run()
	defer stop()
	for {
		known := map[string]any{}
		if data, err := os.ReadFile(p.file); err == nil && json.Unmarshal(data, &known) == nil && len(known) == len(p.hooks) {
			return
		}
		runtime.Gosched()
	}
}

// locked is a writer that two goroutines share.
type locked struct {
	w  *strings.Builder
	mu *sync.Mutex
}

func (l *locked) Write(b []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.w.Write(b) }

// commit adds an entry to the project's ledger.
func (p *place) commit(task string, body ledger.Body) {
	p.t.Helper()
	r, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: time.Now(), Run: "r1", Task: task, Body: body}.Record()
	if err == nil {
		_, err = p.store.Commit(p.t.Context(), ledger.Batch{Time: time.Now(), Records: []ledger.Record{r}})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.changes.Ring()
}

// want receives events and compares their texts. One that was answered while the
// hooks ended may come again with the same id.
func (p *place) want(texts ...string) (last hook.Event) {
	p.t.Helper()
	for _, text := range texts {
		before := p.last
		for last = <-p.got; last.ID != "" && last.ID == before; {
			last = <-p.got
		}
		if p.last = last.ID; last.Text != text {
			p.t.Errorf("got %q, want %q", last.Text, text)
		}
	}
	return last
}

func done(why string) ledger.TaskSet {
	return ledger.TaskSet{From: ledger.Active, To: ledger.Done, Why: why}
}

// TestPosts: a new hook is told of what happens from now on, once, in order, also over
// a time in which nightporter was off, and only of what it asks for.
func TestPosts(t *testing.T) {
	p := newPlace(t, hook.TaskDone, hook.RunEnded)
	p.commit("Task 1", done("before the hook"))
	p.begin()
	p.commit("Task 2", done(""))
	p.commit("Task 3", ledger.TaskSet{From: ledger.Active, To: ledger.Blocked, Why: "no key"})
	stop := p.run()
	e := p.want("shop #2 done")
	if e.Event != hook.TaskDone || e.Project != "shop" || e.Run != "r1" || e.Task != "Task 2" || e.Status != "done" || e.ID == "" || e.Time.IsZero() {
		t.Errorf("%+v", e)
	}
	p.commit("", ledger.RunEnded{Reason: ledger.ReasonDone, Text: "all tasks done", Done: 2, Total: 3})
	p.want("shop r1 ended, 2 of 3 done: all tasks done")
	stop()
	stop = p.run()
	p.commit("Task 4", done("passed by Mira"))
	p.want("shop #4 done: passed by Mira")
	stop()
}

// TestAgain: what the other side cannot take for now is posted again, in order; what it
// refuses is left out, and the log says so without the address.
func TestAgain(t *testing.T) {
	p := newPlace(t, hook.TaskDone)
	p.begin()
	p.answers = []int{http.StatusBadGateway, http.StatusOK, http.StatusNotFound}
	defer p.run()()
	p.commit("Task 1", done(""))
	p.commit("Task 2", done(""))
	p.commit("Task 3", done(""))
	p.want("shop #1 done", "shop #2 done", "shop #3 done")
	if posts := p.posts.Load(); posts != 4 {
		t.Errorf("%d posts, want 4", posts)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if log := p.logged.String(); strings.Contains(log, "secret") || !strings.Contains(log, "502") || !strings.Contains(log, "404") {
		t.Error(log)
	}
}

// TestHanging: a hook that does not answer holds up neither other hooks nor the sign of
// life, and ends with nightporter.
func TestHanging(t *testing.T) {
	p := newPlace(t, hook.TaskDone, hook.Alive)
	asked, over := make(chan struct{}, 10), make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-over }))
	t.Cleanup(hanging.Close)
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(over) })
	p.client = &http.Client{} // without an end: whoever waits for the other hook waits for ever
	answers := p.hooks[0]
	p.hooks = []config.Hook{{On: []string{hook.TaskDone}, Post: hanging.URL}, {On: []string{hook.TaskDone}, Post: answers.Post}}
	p.begin()
	p.commit("Task 1", done(""))
	p.hooks[1].On = answers.On
	p.hooks = append([]config.Hook{{On: []string{hook.Alive}, Post: silent.URL}}, p.hooks...)
	stop := p.run()
	<-asked
	told := map[string]bool{}
	for len(told) < 2 {
		told[(<-p.got).Text] = true
	}
	p.commit("Task 2", done(""))
	told[(<-p.got).Text] = true
	if !told["shop #1 done"] || !told["1 project, 0 at work"] || !told["shop #2 done"] {
		t.Errorf("got %v", told)
	}
	stop()
	if len(asked) > 0 {
		t.Error("the hook that hangs was asked again before it had answered")
	}
}

// TestAlive: a sign of life follows the start at once, and only if the engine answers.
func TestAlive(t *testing.T) {
	p := newPlace(t, hook.Alive)
	stop := p.run()
	if e := p.want("1 project, 0 at work"); e.Event != hook.Alive || e.ID != "" {
		t.Errorf("%+v", e)
	}
	stop()
	h := hook.New(hook.Options{
		Ledger: p.store, Hooks: func() []config.Hook { return p.hooks }, Next: p.changes.Next, File: p.file, Log: slog.New(slog.DiscardHandler),
		Alive: func(context.Context) error { return errors.New("the engine hangs") }, Status: func() string { return "" },
	})
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	go func() { defer close(asked); h.Run(ctx) }()
	cancel()
	<-asked
	if len(p.got) != 0 {
		t.Error("a sign of life without life")
	}
}

// TestNewProject: the first events of a project that comes later are told.
func TestNewProject(t *testing.T) {
	p := newPlace(t, hook.TaskDone)
	p.begin()
	p.commit("Task 1", done(""))
	defer p.run()()
	p.want("shop #1 done")
}
