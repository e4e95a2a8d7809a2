package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// agentJSON is one object of `nightporter agents --json`. Fields are added, never
// renamed.
type agentJSON struct {
	Name      string `json:"name"`
	Program   string `json:"program,omitempty"` // as the configuration names it, or the name on PATH
	Installed bool   `json:"installed"`
	Version   string `json:"version,omitempty"` // first line of --version
	Problem   string `json:"problem,omitempty"` // why Version is not known although it is installed
	Install   string `json:"install,omitempty"`
	Output    string `json:"output"`    // whose output it is read as
	Reports   string `json:"reports"`   // which figures it reports, in words
	StopHook  bool   `json:"stop_hook"` // whether it is told that a session has not sent its event yet
	Measured  string `json:"measured_version,omitempty"`
	Day       string `json:"measured_on,omitempty"`

	unanswered bool // Problem is that the program took too long, which says nothing against it
}

func agentsCommand() *cobra.Command {
	var file, state string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "The agents that nightporter knows, and which are installed",
		Long: `The agents that nightporter knows by name, and those of the configuration: which
are installed and in which release, which figures each reports, which have no stop
hook, and with which release it was last measured. Each program is asked for its version; no model is
asked, and nothing is changed. What an agent lacks to be started: nightporter doctor`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(file)
			if err != nil {
				printProblems(cmd.ErrOrStderr(), err)
				return exitCode(exitUsage)
			}
			dir, err := config.StateDir(state)
			if err != nil {
				return err
			}
			p := &doctorContext{state: dir, now: time.Now(), cfg: cfg}
			defer p.trial.close()
			w, err := p.openTrial()
			if err != nil {
				return err
			}
			return printAgents(cmd.OutOrStdout(), lookAtAgents(cmd.Context(), cfg, w.runner), asJSON)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file")
	cmd.Flags().StringVar(&state, "state", "", "state folder")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	return cmd
}

// lookAtAgents returns what is known of each agent: those of the table in its order,
// then those that only the configuration has, by name.
func lookAtAgents(ctx context.Context, cfg *config.Config, runner *agent.Runner) []agentJSON {
	defs := session.Definitions(cfg)
	var names []string
	for _, a := range adapter.All() {
		if a.Origin == adapter.FromPath {
			names = append(names, a.Name)
		}
	}
	for _, name := range cfg.AgentNames() {
		if _, known := defs[name]; known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	out := make([]agentJSON, len(names))
	var asked sync.WaitGroup
	for n, name := range names {
		asked.Go(func() { out[n] = lookAtAgent(ctx, defs[name], runner) })
	}
	asked.Wait()
	return out
}

func lookAtAgent(ctx context.Context, d agent.Definition, runner *agent.Runner) agentJSON {
	row := adapter.FindOutput(d.Output)
	out := agentJSON{Name: d.Name, Output: row.Name, Reports: row.Reports, StopHook: row.StopHook != adapter.NoStopHook, Measured: row.Measured.Version, Day: row.Measured.Day}
	if len(d.Command) > 0 {
		out.Program = d.Command[0]
	}
	if out.Installed = runner.Installed(d.Name) == nil; !out.Installed {
		if out.Program == row.Program {
			out.Install = row.Install
		}
		return out
	}
	if !d.Runs(row) {
		return out // a script around a program need not answer --version
	}
	version, err := runner.Version(ctx, d.Name)
	if out.Version = version; err != nil {
		out.Problem, out.unanswered = err.Error(), errors.Is(err, agent.ErrNoAnswer)
	}
	return out
}

func printAgents(out io.Writer, all []agentJSON, asJSON bool) error {
	for _, a := range all {
		if asJSON {
			if err := json.NewEncoder(out).Encode(a); err != nil {
				return err
			}
			continue
		}
		sign, text := bot.SignDone, a.Version
		switch {
		case !a.Installed && a.Install != "":
			sign, text = bot.SignAway, "not installed: "+a.Install
		case !a.Installed:
			sign, text = bot.SignFailed, a.Program+" was not found"
		case a.unanswered:
			sign, text = bot.SignLook, "its release is unknown, because "+a.Problem
		case a.Problem != "":
			sign, text = bot.SignFailed, a.Problem
		case text == "":
			text = "the command " + a.Program
		}
		text += "; it reports " + a.Reports
		if !a.StopHook {
			text += "; it has no stop hook"
		}
		if a.Measured != "" {
			text += fmt.Sprintf("; measured with %s on %s", a.Measured, a.Day)
		}
		if _, err := fmt.Fprintln(out, layFinding(sign, a.Name, propose.Plain(text), "", columns(out))); err != nil {
			return err
		}
	}
	return nil
}
