package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Definition is a configured agent: its row in package adapter with the
// settings of [agents.X] applied.
type Definition struct {
	Name    string
	Command []string // program and arguments; a program with a slash is relative to Dir
	Dir     string   // absolute folder of the configuration file that defines the agent
	Prompt  string   // stdin (default), arg or file
	Output  string   // output format; "" and "text" = plain text without records
	EnvFile string   // file of NAME=VALUE lines, relative to Dir
	PassEnv []string // names of the daemon's environment variables that it inherits

	USDEstimate float64 // what a session costs of which its output has no cost; 0 = unknown

	MCP      bool // it is offered the verbs of hat as tools of MCP
	Written  bool // an event that ends its last message is taken as sent
	Terminal bool // it cannot work without a terminal of its own
}

// BuiltIn returns, by name, the agents that need no [agents.X] because their
// program is found on PATH. The configuration can override their settings.
func BuiltIn() map[string]Definition {
	defs := map[string]Definition{}
	for _, a := range adapter.All() {
		if a.Origin == adapter.FromPath {
			defs[a.Name] = Definition{Name: a.Name, Command: []string{a.Program}, Dir: "/", Output: a.Name}
		}
	}
	return defs
}

// Prices reports whether the cost of its sessions with the model is known, at least as an
// estimate. "" is the model that the agent uses by itself.
func (d Definition) Prices(model string) bool {
	a, err := d.adapter()
	return err == nil && (a.Cost == adapter.CostReported && !a.Guesses(model) || d.USDEstimate > 0)
}

// ReportsCost reports whether the agent says what its sessions cost, at least with some
// models.
func (d Definition) ReportsCost() bool {
	a, err := d.adapter()
	return err == nil && a.Cost == adapter.CostReported
}

// adapter returns the agent's row in package adapter.
func (d Definition) adapter() (*adapter.Agent, error) {
	if a := adapter.FindOutput(d.Output); a != nil {
		return a, nil
	}
	return nil, d.problem(fmt.Sprintf("output = %q is not known", d.Output),
		fmt.Sprintf("set output = \"text\" in [agents.%s], or leave it out", d.Name))
}

// Runs reports whether the agent's command is the program of a row, by its name.
// The output of any other command proves nothing of that program, in whatever
// format it is: the command can print everything that the program prints.
func (d Definition) Runs(a *adapter.Agent) bool {
	return len(d.Command) > 0 && a.Program != "" && filepath.Base(d.Command[0]) == a.Program
}

func (d Definition) file(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.Dir, path)
}

// problem returns an error about this definition, with a remedy.
func (d Definition) problem(text, fix string) error {
	return adapter.Problem(d.Name, text, fix)
}

// program returns the absolute path of the agent's program.
func (d Definition) program(path []string) (string, error) {
	if len(d.Command) == 0 || d.Command[0] == "" {
		return "", d.problem("it has no command", fmt.Sprintf("set command = [\"PROGRAM\"] in [agents.%s]", d.Name))
	}
	prog := d.Command[0]
	if strings.ContainsRune(prog, '/') {
		prog = d.file(prog)
		if err := executable(prog); err != nil {
			return "", d.problem(err.Error(), fmt.Sprintf("correct command in [agents.%s]", d.Name))
		}
		return prog, nil
	}
	for _, dir := range path {
		if p := filepath.Join(dir, prog); executable(p) == nil {
			return p, nil
		}
	}
	how := "install " + prog
	if a, err := d.adapter(); err == nil && prog == a.Program {
		how = a.Install
	}
	return "", d.problem(prog+" was not found on PATH ("+strings.Join(path, ":")+")",
		fmt.Sprintf("%s; or give its full path as command in [agents.%s]", how, d.Name))
}

func executable(path string) error {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case err != nil:
		return err
	case fi.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case fi.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable (chmod +x %s)", path, path)
	}
	return nil
}

// Check reports why the agent cannot be started: an unknown name, a missing
// program or env_file, a boundary below the required level, or folders that the
// session's user cannot reach. A mistake that a person can correct is a
// *ledger.InputError. Check uses no model.
func (r *Runner) Check(ctx context.Context, agent string) error {
	d, ok := r.o.Agents[agent]
	if !ok {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   fmt.Sprintf("there is no agent %q", agent),
			Remedy: fmt.Sprintf("add [agents.%s] with its command, or name one of: %s", agent, strings.Join(r.names(), ", ")),
		}}}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("check agent %q: %w", agent, err)
	}
	prog, err := d.program(r.path)
	if err != nil {
		return err
	}
	a, err := d.adapter()
	if err != nil {
		return err
	}
	env, err := r.environment(ledger.Launch{Session: "check", Project: "check", Kind: ledger.KindAgent}, d)
	if err != nil {
		var in *ledger.InputError
		if errors.As(err, &in) {
			return in
		}
		return d.problem(err.Error(), fmt.Sprintf("correct env_file in [agents.%s]", agent))
	}
	level, _ := r.Level()
	if err := r.boundary(); err != nil {
		return err
	}
	if d.Terminal {
		if ok, why := r.Terminals(); !ok {
			return d.problem("it needs a terminal, and sessions have none here: "+why,
				fmt.Sprintf("docs/operating.md, Boundary, says what level 3 needs; or call it without a terminal, and take terminal out of [agents.%s]", agent))
		}
	}
	if fi, err := os.Stat(prog); err == nil && !r.user.permits(fi, 0o1) {
		return d.problem(fmt.Sprintf("%s cannot be run by the user of sessions, uid %d", prog, r.user.uid), "chmod o+rx "+prog)
	}
	if level < 3 {
		if dir := r.user.barrier(prog); dir != "" {
			return d.problem(fmt.Sprintf("%s cannot be reached by the user of sessions, uid %d", prog, r.user.uid), "chmod o+x "+dir)
		}
	}
	if filepath.Base(prog) == a.Program {
		return r.checkKnown(ctx, d, a, prog, env)
	}
	return nil
}

// checkKnown checks version and login of an agent whose command is its known
// program. It is not called for a script around that program, which may log in
// by itself and need not answer --version.
func (r *Runner) checkKnown(ctx context.Context, d Definition, a *adapter.Agent, prog string, env []string) error {
	switch _, err := r.version(ctx, a, prog); {
	case errors.Is(err, ErrNoAnswer): // a busy machine is no reason to refuse a program that is there
	case ctx.Err() != nil:
		return fmt.Errorf("check agent %q: %w", d.Name, ctx.Err())
	case err != nil:
		return d.problem(err.Error(), a.Install)
	}
	_, _, ok, err := r.login(d, env)
	if err != nil {
		return d.problem(err.Error(), "nightporter login "+d.Name)
	}
	if !ok {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: fmt.Sprintf("agent %s is not logged in", d.Name), Remedy: "nightporter login " + d.Name,
		}}}
	}
	return nil
}

// Installed returns why the agent's program is not there, as a *ledger.InputError; nil
// if it is.
func (r *Runner) Installed(agent string) error {
	_, err := r.o.Agents[agent].program(r.path)
	return err
}
