package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/cloudagent"
	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Exit codes of tick besides 0 and those of exit.go (docs/spec 14.4).
const (
	exitPerson = 1  // nothing goes on before a person has acted
	exitLater  = 75 // EX_TEMPFAIL of sysexits.h: the same call may work later
)

func tickCommand() *cobra.Command {
	var f cloudagent.Flags
	var repo, source, file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tick",
		Short: "Take one task a step further through a cloud agent",
		Long: `Take one task of the source one step further through a coding agent that works
on a machine of its own: give it an issue, look for its pull request, judge the
checks, merge. The state lies in one file, so that cron or CI can call it as
often as they like. See docs/operating.md, "Cloud agents".

Exit codes: 0 a step, or nothing to do but wait · 1 a person is needed · 3 usage,
configuration, state file or token · 75 try later.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if source != "" {
				if err := f.Source.UnmarshalText([]byte(source)); err != nil {
					return err
				}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			outcome, err := tick(ctx, file, repo, f)
			if err != nil {
				printTickError(cmd, err, configuredZone(file))
				return tickExit(err)
			}
			if asJSON {
				err = printTickJSON(cmd, outcome)
			} else {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), outcome)
			}
			if err == nil && outcome.NeedsPerson() {
				err = exitCode(exitPerson)
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&repo, "repo", "", "git repository (default: the configured one that you are in, else this folder)")
	fl.StringVar(&source, "source", "", "where the tasks come from: KIND:PATH")
	fl.StringVar(&f.State, "state", "", "state file (default: .wreck-it-state.json of the repository)")
	fl.StringVar(&f.Ralph, "ralph", "", "entry of .wreck-it/config.toml whose state file is used")
	fl.StringVar(&f.Agent, "agent", "", "cloud agent (default: copilot)")
	fl.StringVar(&f.Remote, "remote", "", "git remote of the repository on GitHub (default: origin)")
	fl.StringVar(&f.API, "api", "", "address of GitHub's interface (default: by the remote)")
	fl.StringVar(&f.TokenFile, "token-file", "", "file with a person's token, mode 0600 (default: the systemd credential github-token)")
	fl.StringVar(&f.TokenEnv, "token-env", "", "name of the environment variable that has the token, for CI")
	fl.BoolVar(&f.AllowMerge, "allow-merge", false, "merge when every check is green")
	fl.StringVar(&file, "config", "", "configuration file")
	fl.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// tick makes the step.
func tick(ctx context.Context, file, repo string, f cloudagent.Flags) (cloud.Outcome, error) {
	cfg, err := loadConfig(file)
	if err != nil {
		return cloud.Outcome{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return cloud.Outcome{}, err
	}
	if repo == "" && len(cfg.Projects) == 0 {
		repo = dir
	}
	project, err := cfg.Pick(config.Overrides{Repo: repo}, dir)
	if err != nil {
		return cloud.Outcome{}, err
	}
	for _, path := range []*string{&f.State, &f.TokenFile} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	settings, err := cloudagent.Resolve(cfg, project, f)
	if err != nil {
		return cloud.Outcome{}, err
	}
	options, err := settings.Open(ctx)
	if err != nil {
		return cloud.Outcome{}, err
	}
	return cloud.Tick(ctx, options)
}

// printTickError prints what a person, or a later call, has to do.
func printTickError(cmd *cobra.Command, err error, zone *time.Location) {
	var failed *ledger.ForgeError
	if !errors.As(err, &failed) {
		printProblems(cmd.ErrOrStderr(), err)
		return
	}
	text := failed.Text
	if failed.Remedy != "" {
		text += "\n    " + failed.Remedy
	}
	if !failed.RetryAt.IsZero() {
		text += "\n    Again after " + failed.RetryAt.In(zone).Format("15:04")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "✗ %s\n", text)
}

// tickExit returns the exit code of a step that failed.
func tickExit(err error) exitCode {
	var (
		failed  *ledger.ForgeError
		changed *cloud.ChangedError
		busy    *cloud.BusyError
		input   *ledger.InputError
		conf    *config.Error
		path    *os.PathError
		link    *os.LinkError
	)
	switch {
	case errors.As(err, &changed), errors.As(err, &busy), errors.Is(err, context.Canceled):
		return exitLater
	case errors.As(err, &failed):
		if failed.Passes() || failed.Failure == ledger.ForgeMoved {
			return exitLater
		}
		return exitUsage
	case errors.As(err, &input), errors.As(err, &conf), errors.As(err, &path), errors.As(err, &link):
		return exitUsage
	}
	return exitInternal
}

// printTickJSON prints an outcome for programs.
func printTickJSON(cmd *cobra.Command, o cloud.Outcome) error {
	return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
		From    cloud.Phase  `json:"from"`
		To      cloud.Phase  `json:"to"`
		Reason  cloud.Reason `json:"reason"`
		Person  bool         `json:"person"` // nothing goes on before a person has acted
		Task    string       `json:"task,omitempty"`
		Issue   int          `json:"issue,omitempty"`
		Request int          `json:"request,omitempty"`
		URL     string       `json:"url,omitempty"`
		Checks  []string     `json:"checks,omitempty"`
		Text    string       `json:"text"`
	}{o.From, o.To, o.Reason, o.NeedsPerson(), o.Task, o.Issue, o.Request, o.URL, o.Checks, o.Text()})
}
