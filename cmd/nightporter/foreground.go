package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/termlog"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// foreground runs one project in the foreground and shows it on a terminal.
type foreground struct {
	out, err io.Writer
	in       io.Reader
	zone     *time.Location
	json     bool
	demo     bool
	began    time.Time
	start    loop.StartRun
	most     int    // sessions that the configuration allows at a time; 0 = any number
	script   typist // types lines by itself; nil = none
}

// typist types lines in place of a person, for the demo.
type typist interface {
	// Observe is called for every entry after it was shown. hint is printed for
	// the person at the terminal. With act, Turn is called after wait.
	Observe(e ledger.Entry) (hint string, wait time.Duration, act bool)
	// NextLine returns the line to type now, "" for none.
	NextLine() string
}

// printer shows entries, as text for people or as JSON.
type printer interface {
	Entry(before, after loop.State, e ledger.Entry)
}

// runAndShow starts the daemon and the run, shows its entries and passes typed
// lines on until the run ends. The result carries the exit code.
func (f *foreground) runAndShow(ctx context.Context, o daemon.Options) error {
	text := termlog.New(f.out, termlog.Options{Zone: f.zone, Color: colour(f.out), Demo: f.demo, Began: f.began, Width: columns(f.out), Most: f.most})
	var show printer = text
	if f.json {
		show = termlog.NewJSON(f.out)
	}
	// A queue decouples the engine's goroutine from a slow terminal.
	type shown struct {
		before, after loop.State
		e             ledger.Entry
	}
	var mu sync.Mutex
	var queue []shown
	wake := make(chan struct{}, 1)
	o.Observe = func(before, after loop.State, e ledger.Entry) {
		if after.Project.Name != f.start.Settings.Project {
			return
		}
		mu.Lock()
		queue = append(queue, shown{before, after, e})
		mu.Unlock()
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	var outages []engine.Outage
	var disk []bot.Message
	o.Disk = func(m bot.Message) {
		mu.Lock()
		disk = append(disk, m)
		mu.Unlock()
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	o.Outage = func(x engine.Outage) {
		mu.Lock()
		outages = append(outages, x)
		mu.Unlock()
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	o.Run, f.start.Alone = &f.start.Settings, true
	d := daemon.New(o)
	if err := d.Start(ctx); err != nil {
		printProblems(f.err, err)
		var inUse *statelock.InUseError
		if errors.As(err, &inUse) && daemon.Listens(o.State) {
			fmt.Fprintln(f.err, "  If that is nightporter up, ask it: nightporter start PROJECT, then answer what it asks.\n  For a trial beside it, take a clone and another state folder: --repo CLONE --state DIR")
		}
		return exitCode(exitUsage)
	}
	defer d.Stop()
	name := f.start.Settings.Project
	service := d.Operator

	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	lost := make(chan os.Signal, 1)
	if f.script == nil {
		// Who closed the terminal, or reads the output no more, has not ended the
		// night. Handled and not ignored: children would inherit that.
		signal.Notify(lost, syscall.SIGHUP, syscall.SIGPIPE)
		defer signal.Stop(lost)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var drain func()
	var turn <-chan time.Time // when the script types
	typed := func(line, by string) {
		if by != "" || !f.json && !interactive(f.in) {
			text.Echo(line, by)
		}
		m, err := bot.Handle(ctx, service, bot.Request{
			Key: "console:" + nonce(), Actor: "console", Name: personName(), Project: name, Text: line, Time: time.Now().In(f.zone), Terminal: true,
		})
		if err != nil {
			d.Log.Error("command", "text", line, "error", err)
		}
		drain() // shows the entries that the line caused
		if !f.json {
			text.Reply(m)
		}
	}
	var checked *ledger.RunEnded // the end of a check, which leaves no run
	var outage outageNote
	drain = func() {
		mu.Lock()
		said, remarks := outages, disk
		outages, disk = nil, nil
		mu.Unlock()
		for _, x := range said {
			f.note(text, outage.lines(x, o.State)...)
		}
		for _, m := range remarks {
			var lines []string
			for _, l := range m.Lines {
				lines = append(lines, l.Text)
			}
			f.note(text, lines...)
		}
		for {
			mu.Lock()
			if len(queue) == 0 {
				mu.Unlock()
				return
			}
			next := queue[0]
			queue = queue[1:]
			mu.Unlock()
			show.Entry(next.before, next.after, next.e)
			if b, is := next.e.Body.(ledger.RunEnded); is && f.start.Check {
				checked = &b
			}
			if f.script == nil {
				continue
			}
			hint, wait, act := f.script.Observe(next.e)
			if hint != "" {
				text.Note(hint)
			}
			if act {
				turn = time.After(wait)
			}
		}
	}
	do := func(body loop.InputBody) (ledger.Answer, error) {
		return service.Do(ctx, loop.Input{Project: name, Actor: "console", Name: personName(), Body: body})
	}
	answer, err := do(f.start)
	if err == nil && answer.Code == ledger.CodeBusy && f.start.New {
		// A session of the old run has survived its process:
		// end that run first.
		if _, err = do(loop.Stop{Now: true}); err == nil {
			err = f.awaitRunEnd(ctx, service, wake, signals, drain)
		}
		if err == nil {
			answer, err = do(f.start)
		}
	}
	switch {
	case err != nil:
		printProblems(f.err, err)
		return exitCode(exitUsage)
	case !answer.OK:
		fmt.Fprintln(f.err, "✗ "+answer.Text)
		return exitCode(exitUsage)
	}
	lines := make(chan string)
	go func() {
		// Ends with the input or the process: a read cannot be cancelled.
		_ = termlog.ReadLines(ctx, f.in, func(line string) {
			select {
			case lines <- line:
			case <-ctx.Done():
			}
		})
	}()
	pressed, gone := false, false
	var enough <-chan time.Time
	leave := false // a capture in progress is left to the next start
	for {
		drain()
		s, _ := service.State(name)
		if enough == nil && loop.Capturing(s) {
			enough = time.After(lastCapture)
		}
		if loop.Settled(s) || leave && loop.Capturing(s) {
			// The state changes before the last entries are queued. An empty
			// input is answered after all entries of the previous one.
			if _, err := service.Do(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.Wake{}}); err != nil {
				d.Log.Error("last entries", "error", err)
			}
			waiting, done := context.WithTimeout(ctx, lastWrites)
			if err := d.Engine.Written(waiting); err != nil {
				d.Log.Error("the next run writes what is left", "error", err)
			}
			done()
			drain()
			exit := runExit(s)
			if checked != nil {
				exit = exitCode(checked.Exit)
			}
			if !f.json {
				text.Leave(s, int(exit))
			}
			if exit == 0 {
				return nil
			}
			return exit
		}
		select {
		case <-wake:
		case <-enough:
			leave = true
		case line := <-lines:
			typed(line, "")
		case <-turn:
			turn = nil
			if line := f.script.NextLine(); line != "" {
				typed(line, "typed by the demo")
			}
		case sig := <-signals:
			stop := loop.Stop{Signal: "SIGINT", Now: pressed}
			if sig == syscall.SIGTERM {
				stop = loop.Stop{Signal: "SIGTERM", Now: true}
			}
			pressed = true
			switch _, err := do(stop); {
			case err == nil:
			case stop.Now && errors.Is(err, engine.ErrNotSaved):
				// The end cannot be recorded, and waiting for that could take all
				// night.
				f.note(text, bot.SignLook+" ends without saving that: the same command goes on.", "A session that runs is ended in half an hour.")
				n, _ := sig.(syscall.Signal)
				return exitCode(128 + int(n))
			default:
				d.Log.Error("stop", "error", err)
			}
		case sig := <-lost:
			if sig == syscall.SIGHUP || !gone {
				f.note(text, bot.SignLater+" the terminal is gone; the run goes on: nightporter status, nightporter stop")
				d.Log.Warn("the terminal is gone; the run goes on", "signal", sig.String())
			}
			gone = true
		case <-d.Ended():
			err := d.Err()
			if err == nil {
				err = errors.New("the engine ended")
			}
			fmt.Fprintf(f.err, "✗ %v\n", err)
			return exitCode(exitInternal)
		}
	}
}

// awaitRunEnd waits until the project's run has ended.
func (f *foreground) awaitRunEnd(ctx context.Context, service *operator.Service, wake <-chan struct{}, signals <-chan os.Signal, drain func()) error {
	for {
		drain()
		if s, _ := service.State(f.start.Settings.Project); s.Project.Run.Over() {
			return nil
		}
		select {
		case <-wake:
		case sig := <-signals:
			return fmt.Errorf("%s came before the earlier run had ended", sig)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lastCapture limits how long the process waits, after a signal, for the capture
// of a session's files.
const lastCapture = time.Second

// lastWrites limits how long the end of a run waits for the last marks in the
// user's plan. On a full disk the next run writes them.
const lastWrites = 10 * time.Second

// note prints lines that are no entries.
func (f *foreground) note(text *termlog.Console, lines ...string) {
	if f.json {
		fmt.Fprintln(f.err, strings.Join(lines, "\n  "))
		return
	}
	text.Note(lines...)
}

// outageNote says on the terminal that the ledger takes no commits, and that it
// takes them again.
type outageNote struct{ since time.Time }

func (n *outageNote) lines(x engine.Outage, state string) []string {
	if x.Since.IsZero() {
		since := n.since
		n.since = time.Time{}
		return []string{bot.SignAgain + " saved again, after " + bot.Took(time.Since(since))}
	}
	n.since = x.Since
	remedy := "Mend that; it goes on by itself. What runs goes on."
	if x.Fault == ledger.FaultLedger {
		remedy = "What runs goes on. Stop this run; nightporter verify then says what to restore."
	}
	return []string{bot.SignLook + " nothing can be saved in " + state, bot.Cut(bot.Clean(x.Text), 200), remedy}
}
