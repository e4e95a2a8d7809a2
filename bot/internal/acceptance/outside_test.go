package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// outside takes the place of everything below the engine. A testing/synctest
// bubble cannot contain processes or git, so sessions here only take their time,
// emit their events and end as scripted.
type outside struct {
	mu      sync.Mutex
	script  map[string][]act // by "7 builder", in order
	plan    ledger.Snapshot
	emit    func(loop.Emit) error
	running map[string]chan ledger.Exit
	ended   map[string]ledger.Exit
	last    act // whose files the next capture finds
	red     string
	tree    int
	faults  []string
}

// act is the scripted behaviour of one session.
type act struct {
	till  string  // clock time of its end
	cost  float64 // dollars
	says  string  // type of its event; "" = it ends without one
	data  map[string]any
	files []ledger.FileChange
	red   string // output of the verification after it; "" = it passes
	limit string // clock time until which its agent reports a limit; "" = none
}

func (o *outside) fault(format string, args ...any) {
	o.faults = append(o.faults, fmt.Sprintf(format, args...))
}

// Start begins a session.
func (o *outside) Start(_ context.Context, l ledger.Launch) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running[l.Session] != nil {
		return nil
	}
	done := make(chan ledger.Exit, 1)
	o.running[l.Session] = done
	x := ledger.Exit{Session: l.Session, Reason: ledger.ExitSelf, Started: clock(), CostUSD: -1, Tokens: -1, Turns: -1, Boundary: 3}
	if l.Kind != ledger.KindAgent {
		red := o.red
		go func() {
			took := 38 * time.Second
			if l.Kind == ledger.KindBaseline { // so that no minute of the run coincides with an edit of live messages
				took = 25 * time.Second
			}
			time.Sleep(took)
			if x.Ended = clock(); red != "" && l.Kind == ledger.KindVerify {
				x.Code, x.Tail = 1, red
			}
			o.end(x, done)
		}()
		return nil
	}
	key := ledger.ShortID(l.Task)[1:] + " " + l.Hat
	if len(o.script[key]) == 0 {
		o.fault("%s: nothing is scripted for another session of %s", l.Session, key)
		return errors.New("not scripted")
	}
	a := o.script[key][0]
	o.script[key] = o.script[key][1:]
	go o.play(l, a, x, done)
	return nil
}

// play runs a session to its end.
func (o *outside) play(l ledger.Launch, a act, x ledger.Exit, done chan ledger.Exit) {
	if now, till := clock(), at(a.till); till.After(now) {
		time.Sleep(till.Sub(now))
	} else {
		o.mu.Lock()
		o.fault("%s %s #%s is to be through at %s, and began at %s", l.Session, l.Hat, l.Task, a.till, now.Format(time.TimeOnly))
		o.mu.Unlock()
	}
	o.mu.Lock()
	o.last, o.red = a, a.red
	if len(a.files) > 0 {
		o.tree++
	}
	o.mu.Unlock()
	x.CostUSD, x.Ended = a.cost, clock()
	switch {
	case a.limit != "":
		x.Code, x.Failure, x.Turns, x.Until = 1, ledger.FailureLimit, 3, at(a.limit)
		x.Text = "You've hit your session limit · resets 4:10am (Europe/Berlin)"
	case a.says != "":
		raw, err := json.Marshal(a.data)
		if err == nil {
			err = o.emit(loop.Emit{Session: l.Session, Type: a.says, Data: raw})
		}
		if err != nil {
			o.mu.Lock()
			o.fault("%s: %v", l.Session, err)
			o.mu.Unlock()
		}
	}
	o.end(x, done)
}

func (o *outside) end(x ledger.Exit, done chan ledger.Exit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended[x.Session] = x
	close(done)
}

// Known reports whether a session was started.
func (o *outside) Known(session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running[session] != nil
}

// Wait blocks until a session has ended.
func (o *outside) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	o.mu.Lock()
	done := o.running[session]
	o.mu.Unlock()
	select {
	case <-done:
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.ended[session], nil
	case <-ctx.Done():
		return ledger.Exit{}, ctx.Err()
	}
}

func (o *outside) End(context.Context, string, ledger.Duration) error { return nil }
func (o *outside) Touch(string)                                       {}
func (o *outside) Check(context.Context, string) error                { return nil }
func (o *outside) Level() (int, []string)                             { return 3, nil }
func (o *outside) Open(string) error                                  { return nil }
func (o *outside) Token(string) string                                { return "token" }
func (o *outside) Close(string)                                       {}

// ports returns the adapters of a project.
func (o *outside) ports(context.Context, ledger.Settings) (engine.Ports, error) {
	return engine.Ports{Source: source{o}, Workspace: o, Files: files{o}, Scoper: o, Zone: berlin}, nil
}

// source is the plan in the person's checkout.
type source struct{ *outside }

func (s source) Read(context.Context) (ledger.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan, nil
}

// Mark takes a time that differs by task, so that of two tasks marked together
// the same one is ready first every night.
func (s source) Mark(_ context.Context, marks []ledger.Marking) error {
	for _, m := range marks {
		n, err := strconv.Atoi(strings.TrimPrefix(m.Task, "Task "))
		if err != nil {
			return fmt.Errorf("mark: %w", err)
		}
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
	return nil
}

func (s source) Log(context.Context, ledger.Progress) error { return nil }
func (s source) Owned() []string                            { return []string{s.plan.Path} }
func (s source) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}

// Begin returns the start of a run.
func (o *outside) Begin(_ context.Context, b ledger.Begin) (ledger.Base, error) {
	return ledger.Base{Commit: "c0", Tree: "tree0", Head: "c0", HeadName: "main", Branch: "nightporter/shop/" + b.Run, Author: "Mira <mira@example.com>"}, nil
}

func (o *outside) Restore(context.Context, string, string) error { return nil }

// Capture returns the files of the session that ended last.
func (o *outside) Capture(context.Context, ledger.CaptureRequest) (ledger.Capture, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return ledger.Capture{Tree: fmt.Sprintf("tree%d", o.tree), Files: o.last.files}, nil
}

func (o *outside) Commit(context.Context, ledger.CommitTask, map[string][]byte) (ledger.Committed, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return ledger.Committed{Commit: fmt.Sprintf("%07x5e", 0x3b1f0aa+o.tree*0x1111)}, nil
}

func (o *outside) Merge(context.Context, ledger.MergeTree) (ledger.Merged, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tree++
	return ledger.Merged{Tree: fmt.Sprintf("tree%d", o.tree)}, nil
}

func (o *outside) ResolveScope(context.Context, string, ledger.Scope) ([]string, []ledger.Diagnostic, error) {
	return []string{"**"}, nil, nil
}

// files is the daemon's repository: it holds what prompts quote.
type files struct{ *outside }

func (files) Work(run string) string { return "/state/runs/" + run + "/work" }
func (files) Clean(_ context.Context, run, _ string) (string, error) {
	return "/state/runs/" + run + "/clean", nil
}
func (files) Read(context.Context, string, string) ([]byte, error)      { return nil, nil }
func (files) Diff(context.Context, string, string, int) (string, error) { return "", nil }
func (files) Changed(context.Context, string, string) ([]ledger.FileChange, error) {
	return nil, nil
}
