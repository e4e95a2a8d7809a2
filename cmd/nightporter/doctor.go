package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// checks lists all checks. A check comes after those whose results it uses.
var checks = slices.Concat([]check{
	{"configuration", checkConfig},
	{"programs", checkPrograms},
	{"clock", checkClock},
	{"state", checkState},
	{"disk", checkDisk},
	{"daemon", checkDaemon},
	{"ledger", checkLedger},
	{"boundary", checkBoundary},
	{"rooms", checkRooms},
	{"sockets", checkSockets},
	{"processes", checkProcesses},
	{"limits", checkLimits},
	{"project", checkProjects},
	{"agent", checkAgents},
	{"probe", announceProbe},
	{"probe", probeAgents},
	{"hook", checkHooks},
	{"voice", checkTranscribe},
	{"requests", checkRequests},
	{"bugs", checkBugs},
}, chatChecks(), []check{
	{"people", checkPeople},
	{"service", checkService},
	{"sleep", checkSleep},
})

func doctorCommand() *cobra.Command {
	var file, state string
	var asJSON, probe bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what would go wrong, without spending anything",
		Long: `Look for what would go wrong: configuration, state folder, boundary, projects,
agents, Telegram, Slack. No agent works, and nothing is changed. It may be run
beside a nightporter that is at work.

With --probe each agent that a project uses answers one line in a session of its
own, and what came is told, with its cost. This asks models, which costs money or a
little of a subscription: mostly the agent's own instructions, some ten thousand
tokens each.

Exit codes: 0 nothing to mend · 1 something to mend · 3 could not look`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := config.StateDir(state)
			if err != nil {
				return err
			}
			p := &doctorContext{
				config: file, state: dir, now: time.Now(), cfg: config.Empty(), agents: map[string][]string{}, models: map[string]string{},
				probe: askPlatform, people: pairedPeople, requests: openRequests, askAgents: probe,
			}
			defer p.trial.close()
			return p.examine(cmd.Context(), cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file")
	cmd.Flags().StringVar(&state, "state", "", "state folder")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.Flags().BoolVar(&probe, "probe", false, "let each agent answer one line, which costs money")
	return cmd
}

// examine runs all checks and prints the findings of each before it starts the
// next.
func (p *doctorContext) examine(ctx context.Context, out io.Writer, asJSON bool) error {
	counts := map[ledger.DiagnosticSeverity]int{}
	printed := map[string]bool{}
	for _, c := range checks {
		for _, f := range c.look(ctx, p) {
			if f.Check == "" {
				f.Check = c.name
			}
			// A finding shared by several projects is printed once.
			key := string(f.Severity) + "\x00" + f.File + "\x00" + f.Text
			if f.Severity != ledger.DiagnosticOK && printed[key] {
				continue
			}
			printed[key] = true
			counts[f.Severity]++
			if err := f.print(out, asJSON); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
	if !asJSON {
		fmt.Fprintln(out)
		switch mend, look := counts[ledger.DiagnosticError], counts[ledger.DiagnosticWarning]; {
		case mend > 0:
			fmt.Fprintf(out, "%s %d to mend%s. Look again with: nightporter doctor\n", bot.SignFailed, mend, toLook(look))
		case look > 0:
			fmt.Fprintf(out, "%s nothing to mend%s\n", bot.SignDone, toLook(look))
		default:
			fmt.Fprintf(out, "%s nothing to mend\n", bot.SignDone)
		}
	}
	if counts[ledger.DiagnosticError] > 0 {
		return exitCode(1)
	}
	return nil
}

func toLook(look int) string {
	if look == 0 {
		return ""
	}
	return fmt.Sprintf(", %d to look at", look)
}
