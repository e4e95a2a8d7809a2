package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/termlog"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/demo"
	"github.com/nightporter/nightporter/loop/ledger"
)

// runFlags are the flags of `nightporter run` (SPEC 17).
type runFlags struct {
	config.Overrides
	maxTasks, maxIterations, maxWaves, batch int
	check, fresh, asJSON                     bool
	config, state                            string
}

func runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run --repo DIR --source KIND:PATH",
		Short: "Work through a source until it is done, or a reason to stop",
		Long: `Work through a source until it is done, or a reason to stop.
The same command again resumes a run that has not ended.

Exit codes: 0 all done · 1 stands still, needs you · 2 stopped at a limit, run
again to go on · 3 could not start · 4 internal error · 130, 143 by a signal`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Repo, "repo", "", "git repository (default: this folder, or the config's project)")
	fl.StringVar(&f.Source, "source", "", "where the tasks come from, as KIND:PATH, for example plan:.agents/plans/in-progress/NAME.md")
	fl.StringVar(&f.Profile, "profile", "", "review (5 tasks, stops when blocked) or overnight")
	fl.StringVar(&f.Pattern, "pattern", "", "which hats a task goes through")
	fl.StringVar(&f.Agent, "agent", "", "agent that sessions run")
	fl.StringVar(&f.From, "from", "", "task to start at: \"Task 5\"")
	fl.StringVar(&f.Only, "only", "", "the only task to do")
	fl.IntVar(&f.maxTasks, "max-tasks", 0, "tasks until a pause for review, 0 = no limit")
	fl.IntVar(&f.maxIterations, "max-iterations", 0, "sessions until the run ends, 0 = no limit")
	fl.IntVar(&f.maxWaves, "max-waves", 0, "waves of bug reports")
	fl.IntVar(&f.batch, "batch", 0, "bug reports a wave")
	fl.StringVar(&f.Push, "push", "", "never, end or task")
	fl.StringVar(&f.Until, "until", "", "time at which the run ends, HH:MM")
	fl.StringArrayVar(&f.Verify, "verify", nil, "verification command; may be repeated")
	fl.StringArrayVar(&f.Setup, "setup", nil, "command that prepares the work folder; may be repeated")
	fl.BoolVar(&f.check, "check", false, "only try what would fail at 3:00")
	fl.BoolVar(&f.fresh, "new", false, "end the unfinished run and start from HEAD")
	fl.StringVar(&f.config, "config", "", "configuration file")
	fl.StringVar(&f.state, "state", "", "state folder")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per entry")
	return cmd
}

// settings resolves the flags and the configuration.
func (f *runFlags) settings(cmd *cobra.Command) (*config.Config, ledger.Settings, error) {
	cfg, err := loadConfig(f.config)
	if err != nil {
		return nil, ledger.Settings{}, err
	}
	for name, v := range map[string]struct {
		from *int
		to   **int
	}{
		"max-tasks": {&f.maxTasks, &f.MaxTasks}, "max-iterations": {&f.maxIterations, &f.MaxIterations},
		"max-waves": {&f.maxWaves, &f.MaxWaves}, "batch": {&f.batch, &f.Batch},
	} {
		if cmd.Flags().Changed(name) {
			*v.to = v.from
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, ledger.Settings{}, err
	}
	if f.Repo == "" && len(cfg.Projects) == 0 {
		f.Repo = dir
	}
	pr, err := cfg.Pick(f.Overrides, dir)
	if err != nil {
		return nil, ledger.Settings{}, err
	}
	s, err := pr.Settings(cfg, f.Overrides, time.Now())
	if err != nil {
		return nil, ledger.Settings{}, err
	}
	s.Flags = f.again(cmd)
	s.Operator = f.operator(cmd)
	refused, warned := project.Unbuilt(cfg, pr, s)
	for _, w := range warned {
		fmt.Fprintf(cmd.ErrOrStderr(), "! %s\n", w)
	}
	if len(refused) > 0 {
		return nil, ledger.Settings{}, &ledger.InputError{Findings: refused}
	}
	return cfg, s, nil
}

// again is the part of the resume command that repo, source and profile do
// not say.
func (f *runFlags) again(cmd *cobra.Command) string {
	var parts []string
	for _, name := range []string{"pattern", "agent", "from", "only", "max-tasks", "max-iterations", "until", "push", "config", "state"} {
		if fl := cmd.Flags().Lookup(name); fl != nil && fl.Changed {
			value := fl.Value.String()
			if name == "config" || name == "state" {
				if abs, err := filepath.Abs(value); err == nil {
					value = abs
				}
			}
			parts = append(parts, "--"+name+" "+quote(value))
		}
	}
	for _, c := range f.Verify {
		parts = append(parts, "--verify "+quote(c))
	}
	for _, c := range f.Setup {
		parts = append(parts, "--setup "+quote(c))
	}
	return strings.Join(parts, " ")
}

// operator is the flags with which another command finds this run.
func (f *runFlags) operator(cmd *cobra.Command) string {
	var parts []string
	for _, name := range []string{"state", "config"} {
		if fl := cmd.Flags().Lookup(name); fl.Changed {
			if abs, err := filepath.Abs(fl.Value.String()); err == nil {
				parts = append(parts, "--"+name+" "+quote(abs))
			}
		}
	}
	return strings.Join(parts, " ")
}

func (f *runFlags) run(cmd *cobra.Command) error {
	cfg, settings, err := f.settings(cmd)
	if err != nil {
		problems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	state, err := config.StateDir(f.state)
	if err != nil {
		return err
	}
	zone, err := cfg.Zone()
	if err != nil {
		return err
	}
	w := watcher{
		out: cmd.OutOrStdout(), in: cmd.InOrStdin(), err: cmd.ErrOrStderr(), zone: zone, json: f.asJSON,
		start: loop.StartRun{Settings: settings, MaxSessions: cfg.Sessions(), New: f.fresh, Check: f.check},
	}
	return w.watch(cmd.Context(), daemon.Options{Version: Version, State: state, Config: cfg, Agents: builtin(0), Person: personName()})
}

// builtin are the agents that need nothing: the scripted one.
func builtin(pace time.Duration) map[string]agent.Definition {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return map[string]agent.Definition{
		demo.Agent: {Name: demo.Agent, Command: []string{self, demo.Command, "--pace", pace.String()}, Dir: "/", Output: demo.Agent},
	}
}

// watcher runs one project in the foreground and shows it on a terminal.
type watcher struct {
	out, err io.Writer
	in       io.Reader
	zone     *time.Location
	json     bool
	demo     bool
	began    time.Time
	start    loop.StartRun
	person   person // who types when nobody does; nil = nobody
}

// person is a scripted one.
type person interface {
	// Sees is called for every entry after it was shown. hint is printed for
	// whoever sits there; with act, Turn is due after wait.
	Sees(e ledger.Entry) (hint string, wait time.Duration, act bool)
	// Turn returns what the person types now; "" for nothing.
	Turn() string
}

// printer is what shows entries: text for people, or JSON.
type printer interface {
	Entry(before, after loop.State, e ledger.Entry)
}

// watch starts the daemon, starts the run and stays until it is through.
func (w *watcher) watch(ctx context.Context, o daemon.Options) error {
	text := termlog.New(w.out, termlog.Options{Zone: w.zone, Color: colour(w.out), Demo: w.demo, Began: w.began, Width: width(w.out)})
	var show printer = text
	if w.json {
		show = termlog.NewJSON(w.out)
	}
	// The engine's goroutine must not wait for a slow terminal.
	type shown struct {
		before, after loop.State
		e             ledger.Entry
	}
	var mu sync.Mutex
	var queue []shown
	wake := make(chan struct{}, 1)
	o.Observe = func(before, after loop.State, e ledger.Entry) {
		if after.Project.Name != w.start.Settings.Project {
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
	o.Run, w.start.Alone = &w.start.Settings, true
	d := daemon.New(o)
	if err := d.Start(ctx); err != nil {
		problems(w.err, err)
		var inUse *statelock.InUseError
		if errors.As(err, &inUse) && daemon.Listens(o.State) {
			fmt.Fprintln(w.err, "  If that is nightporter up, ask it: nightporter start PROJECT, then answer what it asks.\n  For a trial beside it, take another state folder: --state DIR")
		}
		return exitCode(exitUsage)
	}
	defer d.Stop()
	name := w.start.Settings.Project
	desk := d.Operator

	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var drain func()
	var turn <-chan time.Time // when the scripted person's turn is due
	typed := func(line, by string) {
		if by != "" || !w.json && !interactive(w.in) {
			text.Echo(line, by)
		}
		m, err := bot.Handle(ctx, desk, bot.Request{
			Key: "console:" + nonce(), Actor: "console", Name: personName(), Project: name, Text: line, Time: time.Now().In(w.zone),
		})
		if err != nil {
			d.Log.Error("command", "text", line, "error", err)
		}
		drain() // what the line led to is shown by its entries
		if !w.json {
			text.Reply(m)
		}
	}
	drain = func() {
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
			if w.person == nil {
				continue
			}
			hint, wait, act := w.person.Sees(next.e)
			if hint != "" {
				text.Note(hint)
			}
			if act {
				turn = time.After(wait)
			}
		}
	}
	do := func(body loop.InputBody) (loop.Answer, error) {
		return desk.Do(ctx, loop.Input{Project: name, Actor: "console", Name: personName(), Body: body})
	}
	answer, err := do(w.start)
	if err == nil && answer.Code == ledger.CodeBusy && w.start.New {
		// A session of the old run is still there, from a process that died:
		// its end comes first.
		if _, err = do(loop.Stop{Now: true}); err == nil {
			err = w.over(ctx, desk, wake, signals, drain)
		}
		if err == nil {
			answer, err = do(w.start)
		}
	}
	switch {
	case err != nil:
		problems(w.err, err)
		return exitCode(exitUsage)
	case !answer.OK:
		fmt.Fprintln(w.err, "✗ "+answer.Text)
		return exitCode(exitUsage)
	}
	lines := make(chan string)
	go func() {
		// Ends with the input, or with the process: a read cannot be cut off.
		_ = termlog.ReadLines(ctx, w.in, func(line string) {
			select {
			case lines <- line:
			case <-ctx.Done():
			}
		})
	}()
	pressed := false
	for {
		drain()
		s, _ := desk.State(name)
		if exit, through := loop.Outcome(s); through {
			// The state is there before the last entries were seen. An input that
			// says nothing is answered when the one before it is through.
			if _, err := desk.Do(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.Wake{}}); err != nil {
				d.Log.Error("last entries", "error", err)
			}
			waiting, done := context.WithTimeout(ctx, lastWrites)
			if err := d.Engine.Written(waiting); err != nil {
				d.Log.Error("the next run writes what is left", "error", err)
			}
			done()
			drain()
			if !w.json {
				text.Leave(s, exit)
			}
			if exit == 0 {
				return nil
			}
			return exitCode(exit)
		}
		select {
		case <-wake:
		case line := <-lines:
			typed(line, "")
		case <-turn:
			turn = nil
			if line := w.person.Turn(); line != "" {
				typed(line, "typed by the demo")
			}
		case sig := <-signals:
			stop := loop.Stop{Signal: "SIGINT", Now: pressed}
			if sig == syscall.SIGTERM {
				stop = loop.Stop{Signal: "SIGTERM", Now: true}
			}
			pressed = true
			if _, err := do(stop); err != nil {
				d.Log.Error("stop", "error", err)
			}
		case <-d.Ended():
			err := d.Err()
			if err == nil {
				err = errors.New("the engine ended")
			}
			fmt.Fprintf(w.err, "✗ %v\n", err)
			return exitCode(exitInternal)
		}
	}
}

// over waits until the project's run has ended.
func (w *watcher) over(ctx context.Context, desk *operator.Service, wake <-chan struct{}, signals <-chan os.Signal, drain func()) error {
	for {
		drain()
		if s, _ := desk.State(w.start.Settings.Project); s.Project.Run.Over() {
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

// lastWrites is how long the end of a run waits for the last marks in the
// user's plan; on a full disk they wait for the next run.
const lastWrites = 10 * time.Second

func interactive(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func colour(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}

func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}
