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

// Results of a check.
const (
	resultOK        = "ok"        // nothing to do
	resultLook      = "look"      // works, but a person should know about it
	resultFix       = "mend"      // will fail until a person corrects it
	resultUnchecked = "unchecked" // not checked: impossible, or nothing to check
)

var resultSigns = map[string]string{
	resultOK: bot.SignDone, resultLook: bot.SignLook, resultFix: bot.SignFailed, resultUnchecked: bot.SignAway,
}

// finding is one line of doctor's output, and one object of its JSON. Fields
// are added, never renamed. No text in it contains a token.
type finding struct {
	Check   string `json:"check"`
	Project string `json:"project,omitempty"`
	Result  string `json:"result"` // ok, look, mend, unchecked
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"` // the command or edit that solves it
	shown   string // replaces Text on the terminal, where that shows more than the fields
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

	probe  func(ctx context.Context, pl platform.Platform, cfg *config.Config, tokens []transport.Secret) ([]transport.Finding, error)
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
	counts := map[string]int{}
	printed := map[string]bool{}
	for _, c := range checks {
		for _, f := range c.look(ctx, p) {
			if f.Check == "" {
				f.Check = c.name
			}
			// A finding shared by several projects is printed once.
			key := f.Result + "\x00" + f.File + "\x00" + f.Text
			if f.Result != resultOK && printed[key] {
				continue
			}
			printed[key] = true
			counts[f.Result]++
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
		switch mend, look := counts[resultFix], counts[resultLook]; {
		case mend > 0:
			fmt.Fprintf(out, "%s %d to mend%s. Look again with: nightporter doctor\n", bot.SignFailed, mend, toLook(look))
		case look > 0:
			fmt.Fprintf(out, "%s nothing to mend%s\n", bot.SignDone, toLook(look))
		default:
			fmt.Fprintf(out, "%s nothing to mend\n", bot.SignDone)
		}
	}
	if counts[resultFix] > 0 {
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
		line, err := json.Marshal(f)
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
		text = fmt.Sprintf("%s %-13s  %s", resultSigns[f.Result], what, f.location()+propose.Plain(f.Text))
		if f.Fix != "" {
			text += "\n" + strings.Repeat(" ", indent) + propose.Plain(f.Fix)
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

// These functions make findings of one result each.
func findOK(text string, args ...any) finding {
	return finding{Result: resultOK, Text: fmt.Sprintf(text, args...)}
}

func findLook(fix, text string, args ...any) finding {
	return finding{Result: resultLook, Fix: fix, Text: fmt.Sprintf(text, args...)}
}

func findFix(fix, text string, args ...any) finding {
	return finding{Result: resultFix, Fix: fix, Text: fmt.Sprintf(text, args...)}
}

func findUnchecked(text string, args ...any) finding {
	return finding{Result: resultUnchecked, Text: fmt.Sprintf(text, args...)}
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
		out = fromFindings(resultFix, in.Findings)
	case errors.As(err, &c):
		for _, item := range c.Items {
			f := finding{Result: resultFix, File: item.File, Line: item.Line, shown: item.String()}
			// String masks tokens, so the parts are taken from its result.
			first, rest, _ := strings.Cut(item.String(), "\n")
			f.Text = strings.TrimPrefix(first, bot.SignFailed+" ")
			if _, text, ok := strings.Cut(f.Text, "  "); ok && item.File != "" {
				f.Text = text
			}
			lines := strings.Split(rest, "\n")
			if last := lines[len(lines)-1]; item.Fix != "" {
				f.Fix = strings.TrimSpace(last)
			} else if i := strings.Index(last, `meant "`); i >= 0 { // the suggestion follows the carets
				f.Fix = last[i:]
			}
			out = append(out, f)
		}
		if c.More > 0 {
			out = append(out, findFix("", "and %d more", c.More))
		}
	default:
		out = []finding{findFix("", "%v", err)}
	}
	return out
}

func fromFindings(result string, list []ledger.Finding) []finding {
	var out []finding
	for _, f := range list {
		out = append(out, finding{Result: result, File: f.File, Line: f.Line, Text: f.Text, Fix: f.Fix})
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
