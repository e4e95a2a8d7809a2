package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
)

var severitySigns = map[ledger.DiagnosticSeverity]string{
	ledger.DiagnosticOK: bot.SignDone, ledger.DiagnosticWarning: bot.SignLook,
	ledger.DiagnosticError: bot.SignFailed, ledger.DiagnosticUnchecked: bot.SignAway,
}

// finding is one line of doctor's output, and one object of its JSON. Fields
// are added, never renamed. No text in it contains a token.
type finding struct {
	Check   string
	Project string
	ledger.Diagnostic
	shown string // as it is printed, where that is more than the fields
}

// findingJSON is one object of doctor's JSON. Fields are added, never renamed.
type findingJSON struct {
	Check   string                    `json:"check"`
	Project string                    `json:"project,omitempty"`
	Result  ledger.DiagnosticSeverity `json:"result"`
	ledger.Diagnostic
}

// check is one check of doctor. It may store results in the doctorContext for
// later checks.
type check struct {
	name string
	look func(ctx context.Context, p *doctorContext) []finding
}

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
	{"sockets", checkSockets},
	{"project", checkProjects},
	{"agent", checkAgents},
}, chatChecks(), []check{
	{"people", checkPeople},
	{"service", checkService},
})

// doctorContext holds the inputs of the checks and the results that later
// checks use.
type doctorContext struct {
	config string // --config
	state  string // state folder, absolute
	now    time.Time

	cfg    *config.Config // empty until a file was read without mistakes
	usable bool           // the configuration has no mistakes, or there is none
	daemon bool           // a daemon holds the state folder and answers

	probe  func(ctx context.Context, pl platform.Platform, cfg *config.Config, tokens []transport.Secret) ([]ledger.Diagnostic, error)
	people func(ctx context.Context, p *doctorContext) (n int, known bool)

	trial  trialFolder
	agents map[string][]string // agents that projects start, with the projects of each
}

func doctorCommand() *cobra.Command {
	var file, state string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what would go wrong, without spending anything",
		Long: `Look for what would go wrong: configuration, state folder, boundary, projects,
agents, Telegram, Slack. No agent works, and nothing is changed. It may be run
beside a nightporter that is at work.

Exit codes: 0 nothing to mend · 1 something to mend · 3 could not look`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := config.StateDir(state)
			if err != nil {
				return err
			}
			p := &doctorContext{
				config: file, state: dir, now: time.Now(), cfg: config.Empty(), agents: map[string][]string{},
				probe: askPlatform, people: pairedPeople,
			}
			defer p.trial.close()
			return p.examine(cmd.Context(), cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file")
	cmd.Flags().StringVar(&state, "state", "", "state folder")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
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

// print writes one finding: the sign, the check, the text, and the remedy
// below.
func (f finding) print(out io.Writer, asJSON bool) error {
	if asJSON {
		line, err := json.Marshal(findingJSON{f.Check, f.Project, f.Severity, f.Diagnostic})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, string(line))
		return err
	}
	const indent = 17
	text := f.shown
	if text == "" {
		what := f.Check
		if f.Project != "" {
			what = f.Project
		}
		text = fmt.Sprintf("%s %-13s  %s", severitySigns[f.Severity], what, f.location()+propose.Plain(f.Text))
		if f.Remedy != "" {
			text += "\n" + strings.Repeat(" ", indent) + propose.Plain(f.Remedy)
		}
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

func (f finding) location() string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d  ", propose.Plain(f.File), f.Line)
	case f.File != "":
		return propose.Plain(f.File) + "  "
	}
	return ""
}

// Findings of each severity, in short.
func findOK(text string, args ...any) finding {
	return found(ledger.DiagnosticOK, "", text, args...)
}

func findLook(remedy, text string, args ...any) finding {
	return found(ledger.DiagnosticWarning, remedy, text, args...)
}

func findFix(remedy, text string, args ...any) finding {
	return found(ledger.DiagnosticError, remedy, text, args...)
}

func findUnchecked(text string, args ...any) finding {
	return found(ledger.DiagnosticUnchecked, "", text, args...)
}

func found(s ledger.DiagnosticSeverity, remedy, text string, args ...any) finding {
	return finding{Diagnostic: ledger.Diagnostic{Severity: s, Remedy: remedy, Text: fmt.Sprintf(text, args...)}}
}

// ofProject marks findings as those of one project.
func ofProject(project string, list []finding) []finding {
	for i := range list {
		list[i].Project = project
	}
	return list
}

// fromError converts an error with a list of mistakes into findings, and any
// other error into one finding.
func fromError(err error) []finding {
	var out []finding
	var in *ledger.InputError
	var c *config.Error
	switch {
	case errors.As(err, &in):
		out = ofSeverity(ledger.DiagnosticError, in.Diagnostics)
	case errors.As(err, &c):
		out = ofSeverity(ledger.DiagnosticError, c.Masked())
		for n, d := range c.Diagnostics {
			out[n].shown = config.Format(d)
		}
		if c.More > 0 {
			out = append(out, findFix("", "and %d more", c.More))
		}
	default:
		out = []finding{findFix("", "%v", err)}
	}
	return out
}

// ofSeverity makes findings of a list whose diagnostics all have one severity.
func ofSeverity(s ledger.DiagnosticSeverity, list []ledger.Diagnostic) []finding {
	var out []finding
	for _, d := range list {
		d.Severity = s
		out = append(out, finding{Diagnostic: d})
	}
	return out
}

// trialFolder is the folder in which doctor starts trial sessions. It is the
// state folder if that exists and belongs to this user, because its location
// and file system decide the result; otherwise it is a temporary folder.
type trialFolder struct {
	dir       string
	err       error
	tried     bool
	temporary bool // a temporary folder, to be removed
	runner    *agent.Runner
}

func (w *trialFolder) close() {
	if w.temporary {
		_ = os.RemoveAll(w.dir)
	}
}

// openTrial creates the trial folder and its runner on the first call.
func (p *doctorContext) openTrial() (*trialFolder, error) {
	w := &p.trial
	if w.tried {
		return w, w.err
	}
	w.tried = true
	w.dir, w.temporary, w.err = p.trialDir()
	if w.err != nil {
		return w, w.err
	}
	// The runner is configured as for a run. It starts trial sessions only.
	w.runner, w.err = agent.New(session.Options{State: w.dir, Agents: builtin(0), Hide: platform.TokenFiles(p.cfg)}.Agent(p.cfg))
	return w, w.err
}

func (p *doctorContext) trialDir() (dir string, mine bool, err error) {
	if info, err := os.Stat(p.state); err == nil && info.IsDir() && ownedByMe(info) && writable(p.state) == nil {
		return p.state, false, nil
	}
	dir, err = os.MkdirTemp("", "nightporter-doctor-")
	return dir, true, err
}

// agentNames returns the agents that projects start, sorted.
func (p *doctorContext) agentNames() []string {
	var names []string
	for name := range p.agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
