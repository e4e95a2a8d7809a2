package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// versionTimeout limits the run of `--version`: some programs unpack themselves
// first.
const versionTimeout = 30 * time.Second

// ErrNoAnswer is the error of Version for a program that is there and did not say its
// version in time. It proves nothing against the program: on a busy machine each start
// takes long.
var ErrNoAnswer = errors.New("did not answer --version")

// Version returns the first line that the agent's program prints for --version.
// The program runs without a model and with an environment of its own.
func (r *Runner) Version(ctx context.Context, agent string) (string, error) {
	d := r.o.Agents[agent]
	a, err := d.adapter()
	if err != nil {
		return "", err
	}
	prog, err := d.program(r.path)
	if err != nil {
		return "", err
	}
	return r.version(ctx, a, prog)
}

// Describe says of an agent that Check finds well which release it is and which
// figures it reports, in words for people. The release of a user's own command is
// not asked for.
func (r *Runner) Describe(ctx context.Context, agent string) string {
	d := r.o.Agents[agent]
	a, err := d.adapter()
	if err != nil {
		return ""
	}
	text := "it reports " + a.Reports
	if !d.Runs(a) {
		return text
	}
	switch v, err := r.Version(ctx, agent); {
	case errors.Is(err, ErrNoAnswer):
		text = "its release is unknown, because " + err.Error() + "; " + text
	case err == nil && v != "":
		text = v + "; " + text
	}
	return text
}

// version runs the program in a folder below the state folder, because a
// service manager may have made all other folders read-only, including /tmp. A program
// that does not answer is ended with what it started: some start themselves again.
func (r *Runner) version(ctx context.Context, a *adapter.Agent, prog string) (string, error) {
	home, err := os.MkdirTemp(r.o.State, "version-")
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", prog, err)
	}
	defer func() { _ = removeAll(home) }()
	limited, cancel := context.WithTimeout(ctx, r.answers)
	defer cancel()
	cmd := exec.CommandContext(limited, prog, "--version")
	cmd.Dir = home
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "TERM=dumb"}, rowVars(a, home)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() == nil && err != nil && limited.Err() != nil {
		return "", fmt.Errorf("%s %w within %s", prog, ErrNoAnswer, r.answers)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		out = append(out, exit.Stderr...)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	line = adapter.Clean(line, 200)
	if err != nil {
		return "", fmt.Errorf("%s --version failed: %w: %s", prog, err, line)
	}
	return line, nil
}
