package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/loop/ledger"
)

// promptFlags are the flags of `nightporter prompt`: those that find the state,
// and those of `run` that change a prompt.
type promptFlags struct {
	askFlags
	config.Overrides
	hat    string
	asJSON bool
}

// promptSettings are the flags that change the settings of a run.
var promptSettings = []string{"repo", "source", "profile", "pattern", "agent"}

func promptCommand() *cobra.Command {
	var f promptFlags
	cmd := &cobra.Command{
		Use:   "prompt TASK [--hat HAT]",
		Short: "Show what a task's next session would be sent",
		Long: `Show what a task's next session would be sent if it were planned now: the prompt
on standard output, the size of its parts on standard error. Sizes are estimates.
A run that has not ended is gone on from; without one, it is what a new run from
HEAD would begin with. Nothing is started, and nothing is changed.

Exit codes: 0 shown · 3 no such task or hat, or settings that cannot be used`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error { return f.run(cmd, strings.Join(words, " ")) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.hat, "hat", "", "hat of the session (default: the one that comes next)")
	fl.StringVar(&f.Repo, "repo", "", "git repository (default: this folder, or the config's project)")
	fl.StringVar(&f.Source, "source", "", "where the tasks come from, as KIND:PATH")
	fl.StringVar(&f.Profile, "profile", "", "review or overnight")
	fl.StringVar(&f.Pattern, "pattern", "", "which hats a task goes through")
	fl.StringVar(&f.Agent, "agent", "", "agent that sessions run")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON: the parts with their sizes, and the text")
	return cmd
}

func (f *promptFlags) run(cmd *cobra.Command, task string) error {
	fail := func(err error) error {
		printProblems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	view := api.View{Name: "prompt", Project: f.project, Args: map[string]string{"task": task, "hat": f.hat}}
	cfg, settings, trouble := f.settings()
	switch {
	case cfg == nil:
		return fail(trouble)
	case trouble != nil && f.given(cmd):
		return fail(trouble)
	case trouble == nil:
		raw, err := json.Marshal(settings)
		if err != nil {
			return err
		}
		view.Args["settings"] = string(raw)
		if f.given(cmd) {
			view.Args["given"] = "yes"
		}
	}
	state, err := config.StateDir(f.state)
	if err != nil {
		return fail(err)
	}
	if _, err := os.Stat(filepath.Join(state, "nightporter.db")); err != nil {
		// A query must not create a state folder.
		if state, err = os.MkdirTemp("", "nightporter-prompt-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(state) }()
	}
	var reply api.Reply
	err = withAsker(cmd.Context(), state, cfg, func(a asker) (err error) {
		reply, err = a.View(cmd.Context(), view)
		return err
	})
	switch {
	case err != nil:
		return fail(err)
	case !reply.OK && reply.Text == "" && trouble != nil: // the daemon has no run to show instead
		return fail(trouble)
	case !reply.OK:
		return fail(errors.New(reply.Text))
	}
	if f.asJSON {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), string(reply.Data))
		return err
	}
	var p operator.Prompt
	if err := json.Unmarshal(reply.Data, &p); err != nil {
		return fmt.Errorf("read the prompt: %w", err)
	}
	printParts(cmd.ErrOrStderr(), p)
	_, err = io.WriteString(cmd.OutOrStdout(), p.Text)
	return err
}

func (f *promptFlags) given(cmd *cobra.Command) bool {
	for _, name := range promptSettings {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// settings returns the settings of `run` with the same flags.
func (f *promptFlags) settings() (*config.Config, ledger.Settings, error) {
	cfg, err := loadConfig(f.config)
	if err != nil {
		return nil, ledger.Settings{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, ledger.Settings{}, err
	}
	flags := f.Overrides
	if flags.Repo == "" && len(cfg.Projects) == 0 {
		flags.Repo = dir
	}
	project, err := cfg.Pick(flags, dir)
	for _, pr := range cfg.Projects {
		if pr.Name == f.project {
			project, err = pr, nil
		}
	}
	if err != nil {
		return cfg, ledger.Settings{}, err
	}
	s, err := project.Settings(cfg, flags, time.Now())
	return cfg, s, err
}

// printParts prints the size of each part.
func printParts(out io.Writer, p operator.Prompt) {
	of := "before any run"
	if p.Run != "" {
		of = "as " + p.Run + " stands"
	}
	fmt.Fprintf(out, "%s %s, %s; tokens are estimated\n", ledger.ShortID(p.Task), p.Hat, of)
	for _, part := range p.Parts {
		note := ""
		if part.Cut {
			note = fmt.Sprintf("  cut, whole %d", part.Whole)
		}
		fmt.Fprintf(out, "  %-22s %6d%s\n", part.Title, part.Tokens, note)
	}
	of = ""
	if p.Max > 0 {
		of = fmt.Sprintf("  of %d", p.Max)
	}
	fmt.Fprintf(out, "  %-22s %6d%s\n", "all", p.Tokens, of)
	if p.Over {
		fmt.Fprintf(out, "%s longer than the hat's max_tokens, and nothing more can be cut: it is sent as it is\n", bot.SignLook)
	}
	fmt.Fprintln(out)
}
