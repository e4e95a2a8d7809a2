package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/cloudagent"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/hook"
	"github.com/nightporter/nightporter/internal/daemon/intake"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// startServices starts the services of a daemon with Options.Stays. off is the
// time at which a daemon last ran, zero for never.
func (d *Daemon) startServices(ctx context.Context, off time.Time) error {
	plans, err := autostart.SchedulesOf(d.o.Config)
	if err != nil {
		return err
	}
	d.Autostart = autostart.New(autostart.Options{
		Engine: d.Engine, Projects: d.Projects, Sessions: d.runners, Changes: d.Changes, Log: d.Log,
	}, plans, off)
	d.Projects.Reopen(d.reopen)
	d.manager = systemd.New(d.Log, systemd.Status{Line: d.statusLine, Alive: d.Alive, Changes: d.Changes})
	if d.Projects.Config().Bugs != nil {
		d.Intake = d.newIntake()
		if err := d.running.Start(ctx, d.Intake); err != nil {
			return err
		}
	}
	if d.o.Paused {
		return nil
	}
	readings := service.Loop(func(ctx context.Context) { d.Readings.Run(ctx, d.Changes.Next) })
	if err := d.running.Start(ctx, readings); err != nil {
		return err
	}
	d.CameBack(ctx, off)
	if d.Hub != nil {
		c := d.Hub.Connect(off)
		if err := d.running.Start(ctx, c); err != nil {
			return err
		}
		d.connections.Store(c)
		if err := d.running.Start(ctx, digest.NewDue(d.Digests)); err != nil {
			return err
		}
	}
	clouds := &cloudagent.Ticker{Config: d.Projects.Config, Warn: d.Projects.Warn, Changes: d.Changes, Log: d.Log}
	for _, s := range []service.Service{d.Autostart, service.Loop(clouds.Run), service.Loop(d.touchLog), service.Loop(d.removeOld), service.Loop(d.watchDisk), service.Loop(d.checkWhole), service.Loop(d.hooks().Run), service.Loop(d.reopenLoop), d.inhibitor, d.manager} {
		if err := d.running.Start(ctx, s); err != nil {
			return err
		}
	}
	debug.FreeOSMemory() // what the fold of the ledger needed would stay resident for an idle night
	d.Log.Info("nightporter is up", "version", d.o.Version, "pid", os.Getpid(), "state", d.o.State, "config", d.o.Config.File, "projects", d.Projects.Working())
	d.running.Defer(func() {
		d.manager.Stopping()
		d.Log.Info("nightporter ends; sessions in flight go on and are taken up by the next start")
	})
	return nil
}

// Alive sends an empty input through the engine and reads the database, and
// returns an error if either fails. It blocks when the engine hangs, so the
// watchdog calls it with a deadline.
func (d *Daemon) Alive(ctx context.Context) error {
	// Wake without a project changes nothing.
	if _, err := d.Engine.Do(ctx, loop.Input{Actor: "daemon", Body: loop.Wake{}}); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if _, _, err := d.Store.Head(ctx, ledger.SharedStream); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// hooks returns what posts events to addresses of the configuration.
func (d *Daemon) hooks() *hook.Hooks {
	return hook.New(hook.Options{
		Ledger: d.Store, Hooks: func() []config.Hook { return d.Projects.Config().Hooks }, Next: d.Changes.Next,
		Alive: d.Alive, Status: d.statusLine, File: filepath.Join(d.o.State, "hooks.json"), Log: d.Log,
		Runner: commands{d.runners, d.sockets}, Folder: filepath.Join(d.o.State, "runs"),
	})
}

// newIntake returns what takes the bug reports that sites post.
func (d *Daemon) newIntake() *intake.Server {
	return intake.New(intake.Options{
		Config: d.Projects.Config, Engine: d.Engine, Log: d.Log,
		Warn: func(text string) { d.Projects.Warn("", project.AboutBugs, text) },
		Inbox: func(ctx context.Context, project string) (intake.Inbox, error) {
			read, err := d.Operator.ReadInbox(ctx, project)
			if err == nil && read.Closed != nil {
				err = &ledger.InputError{Diagnostics: []ledger.Diagnostic{*read.Closed}}
			}
			return intake.Inbox{Repo: read.Repo, Source: read.Source, Tasks: read.Tasks}, err
		},
	})
}

// commands runs the commands of hooks as sessions.
type commands struct {
	*session.Runners
	sockets *session.Sockets
}

// Wait waits for a command's end, and closes the socket that every session has.
func (c commands) Wait(ctx context.Context, name string) (ledger.Exit, error) {
	defer c.sockets.Close(name)
	return c.Runners.Wait(ctx, name)
}

// statusLine summarises the daemon in one line, such as "2 projects, 1 at
// work".
func (d *Daemon) statusLine() string {
	atWork := 0
	names := d.Operator.Projects()
	for _, name := range names {
		if s, ok := d.Operator.State(name); ok && len(s.Project.Sessions) > 0 {
			atWork++
		}
	}
	noun := "projects"
	if len(names) == 1 {
		noun = "project"
	}
	awake := ""
	if d.inhibitor.Held() {
		awake = ", kept awake"
	}
	return fmt.Sprintf("%s%d %s, %d at work%s", d.outageLine(), len(names), noun, atWork, awake)
}

// CameBack records in the ledger that no daemon ran since off. Zero records
// nothing.
func (d *Daemon) CameBack(ctx context.Context, off time.Time) {
	if off.IsZero() {
		return
	}
	if by := time.Until(off); by >= time.Minute {
		d.wentBack(ctx, -by)
	}
	if _, err := d.Engine.Do(ctx, loop.Input{Actor: "daemon", Idle: true, Body: people.CameBack{Off: off}}); err != nil && ctx.Err() == nil {
		d.Log.Error("note the time away", "error", err)
	}
}

// wentBack records that the clock was set back while no daemon ran, by at least -by.
func (d *Daemon) wentBack(ctx context.Context, by time.Duration) {
	d.Log.Warn("the clock was set back while nightporter was off", "by", (-by).String())
	for _, name := range append([]string{""}, d.Projects.Working()...) {
		if _, err := d.Engine.Do(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.ClockJumped{By: by}}); err != nil && ctx.Err() == nil {
			d.Log.Error("note the clock that was set back", "project", name, "error", err)
		}
	}
}

// logName is the log's file name in the state folder.
const logName = "nightporter.log"

// lastSeen returns the time at which a daemon last ran: the modification time
// of its log, which touchLog updates every minute. Zero means that there is no
// log.
func lastSeen(state string) time.Time {
	info, err := os.Stat(filepath.Join(state, logName))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// touchLog updates the log's modification time every minute until ctx ends.
func (d *Daemon) touchLog(ctx context.Context) {
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			_ = os.Chtimes(filepath.Join(d.o.State, logName), now, now)
		}
	}
}

// Greeting describes every project in a few lines of text, for the terminal or
// the journal of a daemon that has just started.
func (d *Daemon) Greeting() string {
	var out strings.Builder
	names := d.Projects.Working()
	what := strings.Join(names, ", ")
	if len(names) == 0 {
		what = "no project yet; add one to the configuration, then: kill -HUP " + fmt.Sprint(os.Getpid())
	}
	fmt.Fprintf(&out, "● nightporter is up: %s\n", what)
	for _, name := range d.Operator.Projects() {
		s, ok := d.Operator.State(name)
		switch {
		case !ok:
		case !s.Project.Run.Over() && d.Projects.Works(name):
			fmt.Fprintf(&out, "  %s: %s is taken up\n", name, s.Project.Run.ID)
		case d.Projects.Works(name):
			fmt.Fprintf(&out, "  %s: %s\n", name, d.Autostart.Says(name))
		default:
			fmt.Fprintf(&out, "  %s: only shown, it is not worked on\n", name)
		}
		for _, line := range d.Projects.WarningsOf(name) {
			fmt.Fprintln(&out, "  "+line)
		}
	}
	file := d.Projects.Config().File
	if file == "" {
		file = "none (make one: nightporter init)"
	}
	fmt.Fprintf(&out, "  state %s · config %s\n", d.o.State, file)
	if d.updated != "" {
		fmt.Fprintf(&out, "  updated; the ledger from before: %s\n", d.updated)
	}
	if len(platform.Used(d.Projects.Config())) == 0 {
		fmt.Fprintln(&out, "  no chat is configured: nightporter status, run, guidance, stop")
	}
	fmt.Fprintln(&out, "  Ctrl-C ends it; sessions go on and are taken up next time.")
	return out.String()
}
