package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/demo"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/workspace"
)

// runFlags are the flags of `nightporter run`.
type runFlags struct {
	config.Overrides
	maxTasks, maxIterations, maxWaves, batch, parallel int
	check, fresh, asJSON                               bool
	config, state                                      string
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
	fl.BoolVar(&f.YesDemo, "yes-demo", false, "let the scripted agent (demo) tick tasks, although it does nothing of them")
	fl.StringVar(&f.From, "from", "", "task to start at: \"Task 5\"")
	fl.StringVar(&f.Only, "only", "", "the only task to do")
	fl.IntVar(&f.maxTasks, "max-tasks", 0, "tasks until a pause for review, 0 = no limit")
	fl.IntVar(&f.maxIterations, "max-iterations", 0, "sessions until the run ends, 0 = no limit")
	fl.IntVar(&f.maxWaves, "max-waves", 0, "waves of bug reports")
	fl.IntVar(&f.batch, "batch", 0, "bug reports a wave")
	fl.IntVar(&f.parallel, "parallel", 1, "tasks that are worked on at a time")
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

// settings resolves the flags and the configuration. It prints warnings about
// settings without effect.
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
		"max-waves": {&f.maxWaves, &f.MaxWaves}, "batch": {&f.batch, &f.Batch}, "parallel": {&f.parallel, &f.Parallel},
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
	if err := pr.Check(cfg, f.state); err != nil {
		return nil, ledger.Settings{}, err
	}
	s, err := pr.Settings(cfg, f.Overrides, time.Now())
	if err != nil {
		return nil, ledger.Settings{}, err
	}
	s.Flags = f.resumeFlags(cmd)
	s.Operator = f.operatorFlags(cmd)
	refused, warned := project.Unbuilt(cfg, pr, s)
	refused = append(refused, session.Unpriced(cfg, s)...)
	s.Barred = session.Barred(cfg, s)
	for _, w := range append(warned, session.Overcommitted(cfg, s)...) {
		fmt.Fprintf(cmd.ErrOrStderr(), "! %s\n", w)
	}
	if len(refused) > 0 {
		return nil, ledger.Settings{}, &ledger.InputError{Diagnostics: refused}
	}
	return cfg, s, nil
}

// resumeFlags returns the flags of the resume command, except repo, source and
// profile.
func (f *runFlags) resumeFlags(cmd *cobra.Command) string {
	var parts []string
	for _, name := range []string{"pattern", "agent", "from", "only", "max-tasks", "max-iterations", "max-waves", "batch", "parallel", "until", "push", "config", "state"} {
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
	if f.YesDemo {
		parts = append(parts, "--yes-demo")
	}
	for _, c := range f.Verify {
		parts = append(parts, "--verify "+quote(c))
	}
	for _, c := range f.Setup {
		parts = append(parts, "--setup "+quote(c))
	}
	return strings.Join(parts, " ")
}

// operatorFlags returns the flags with which another command finds this run.
func (f *runFlags) operatorFlags(cmd *cobra.Command) string {
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
		printProblems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	if found := obstacles(cmd.Context(), settings.Repo); len(found) > 0 {
		// With the mistakes of the list, so that one look mends all.
		_, err := readSource(cmd.Context(), cfg, settings)
		if in, ok := errors.AsType[*ledger.InputError](err); ok {
			found = append(found, in.Diagnostics...)
		}
		printProblems(cmd.ErrOrStderr(), &ledger.InputError{Diagnostics: found})
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
	w := foreground{
		out: cmd.OutOrStdout(), in: cmd.InOrStdin(), err: cmd.ErrOrStderr(), zone: zone, json: f.asJSON, most: cfg.MostSessions(),
		start: loop.StartRun{Settings: settings, MaxSessions: cfg.Sessions(settings), Day: cfg.Budget.Day(), New: f.fresh, Check: f.check},
	}
	return w.runAndShow(cmd.Context(), daemon.Options{Version: Version, State: state, Config: cfg, Agents: builtin(0), Person: personName()})
}

// obstacles returns what keeps every run of a repository from its start.
func obstacles(ctx context.Context, repo string) []ledger.Diagnostic {
	return append(workspace.Obstacles(ctx, repo), workspace.NoCommits(ctx, repo)...)
}

// readSource reads the tasks of a project.
func readSource(ctx context.Context, cfg *config.Config, s ledger.Settings) (ledger.Snapshot, error) {
	source, err := (&project.Sources{Config: func() *config.Config { return cfg }}).Open(s.Project, s.Repo, s.Remote, s.Source, task.Options{BdWrite: s.BdWrite})
	if err != nil {
		return ledger.Snapshot{}, err
	}
	return source.Read(ctx)
}

// builtin returns the agents that need no configuration: the scripted one, with
// pace between its steps.
func builtin(pace time.Duration) map[string]agent.Definition {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return map[string]agent.Definition{
		demo.Agent: {Name: demo.Agent, Command: []string{self, demo.Command, "--pace", pace.String()}, Dir: "/", Output: demo.Agent},
	}
}
