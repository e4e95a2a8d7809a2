package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop"
)

// Ways in which an agent gets its prompt.
const (
	PromptStdin = "stdin" // on standard input, of any length
	PromptArg   = "arg"   // as the last argument, at most 128 kB
	PromptFile  = "file"  // in a file whose path is the last argument
)

// Definition is one [agents.X] of the configuration (SPEC 10, 17).
type Definition struct {
	Name    string
	Command []string // program and arguments; a program with a slash is relative to Dir
	Dir     string   // folder of the configuration file that holds it, absolute
	Prompt  string   // stdin (default), arg or file
	Output  string   // format of its output; "" and "text" mean that nothing is read from it
	EnvFile string   // file of NAME=VALUE lines, relative to Dir
	PassEnv []string // names of the daemon's variables that it gets

	// Scripted says that no model is behind it: it costs nothing, which is
	// known.
	Scripted bool
}

// maxArg is the most that one argument can take: the kernel's MAX_ARG_STRLEN,
// its end included.
const maxArg = 128<<10 - 1

func (d Definition) file(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.Dir, path)
}

// problem is a finding about this definition.
func (d Definition) problem(text, fix string) error {
	return &loop.InputError{Findings: []loop.Finding{{Text: fmt.Sprintf("agent %q: %s", d.Name, text), Fix: fix}}}
}

// program finds the agent's program, as an absolute path.
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
	return "", d.problem(prog+" was not found on PATH ("+strings.Join(path, ":")+")",
		fmt.Sprintf("install %s, or give its full path as command in [agents.%s]", prog, d.Name))
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

// Check reports what would keep the agent from being started: an unknown
// name, a missing program or env_file, a boundary below what the
// configuration requires, folders that the session's user cannot reach. What
// a person has to mend is a *loop.InputError. It starts no model turn.
func (r *Runner) Check(ctx context.Context, agent string) error {
	d, ok := r.o.Agents[agent]
	if !ok {
		return &loop.InputError{Findings: []loop.Finding{{
			Text: fmt.Sprintf("there is no agent %q", agent),
			Fix:  fmt.Sprintf("add [agents.%s] with its command, or name one of: %s", agent, strings.Join(r.names(), ", ")),
		}}}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("check agent %q: %w", agent, err)
	}
	prog, err := d.program(r.path)
	if err != nil {
		return err
	}
	if _, err := r.adapter(d); err != nil {
		return err
	}
	if _, err := r.environment(loop.Launch{Session: "check", Project: "check", Kind: loop.KindAgent}, d); err != nil {
		var in *loop.InputError
		if errors.As(err, &in) {
			return in
		}
		return d.problem(err.Error(), fmt.Sprintf("correct env_file in [agents.%s]", agent))
	}
	level, _ := r.Level()
	if err := r.boundary(); err != nil {
		return err
	}
	if fi, err := os.Stat(prog); err == nil && !r.user.may(fi, 0o1) {
		return d.problem(fmt.Sprintf("%s cannot be run by the user of sessions, uid %d", prog, r.user.uid), "chmod o+rx "+prog)
	}
	if level < 3 {
		if dir := r.user.barrier(prog); dir != "" {
			return d.problem(fmt.Sprintf("%s cannot be reached by the user of sessions, uid %d", prog, r.user.uid), "chmod o+x "+dir)
		}
	}
	return nil
}
