package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// call describes one run of the git program. Every call is plumbing with an
// explicit git dir: a repository that git finds by itself could be a session's.
type call struct {
	gitDir string    // --git-dir; "" only for queries about the user's folder
	work   string    // --work-tree and working directory
	dir    string    // working directory if work is ""; "" = /
	index  string    // GIT_INDEX_FILE
	in     io.Reader // standard input
	env    []string  // added to cleanEnv
	as     *syscall.Credential
	config []string // -c key=value, added to safeConfig
	out    io.Writer
	args   []string
}

// safeConfig overrides the keys by which a repository's configuration could
// make git execute a program, and those by which results would depend on the
// machine.
var safeConfig = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.attributesFile=/dev/null",
	"core.excludesFile=/dev/null",
	"core.alternateRefsCommand=true",
	// As root, git refuses other people's repositories, because their
	// configuration could name programs. All such keys that our plumbing reads
	// are overridden here.
	"safe.directory=*",
	"protocol.allow=never",
	"protocol.file.allow=always",
	"gc.auto=0",
	"maintenance.auto=false",
	"receive.autoGC=false",
	// git does not sync loose objects by default. A temporary index can be made
	// again.
	"core.fsync=all,-index",
	"core.filesRefLockTimeout=5000",
	"core.packedRefsTimeout=10000",
	"core.quotePath=false",
	"color.ui=false",
	"advice.detachedHead=false",
	// The capture refuses names that only other systems treat as .git, with an
	// explanation (names.go); git would fail with a bare error.
	"core.protectNTFS=false",
	"core.protectHFS=false",
}

// cleanEnv returns the complete environment of every git process. It takes only
// PATH from the daemon's own environment: the rest can hold GIT_* variables and
// secrets.
func cleanEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=/dev/null", // a path below /dev/null does not exist, so git finds no configuration there
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_AUTHOR_NAME=" + ownName, "GIT_AUTHOR_EMAIL=" + ownEmail,
		"GIT_COMMITTER_NAME=" + ownName, "GIT_COMMITTER_EMAIL=" + ownEmail,
	}
}

// The committer of our commits. Their author is the user.
const (
	ownName  = "nightporter"
	ownEmail = "nightporter@localhost"
)

// gitError is the error of a git process that exited with a code other than 0.
type gitError struct {
	args   []string
	gitDir string
	code   int // -1 for a process ended by a signal
	stderr string
	cause  error // the syscall.Errno that made it fail, as far as its words tell; else nil
}

// Unwrap returns the error of the system that git met, which only its words tell.
func (e *gitError) Unwrap() error { return e.cause }

// Error returns the sub-command and the end of git's standard error.
func (e *gitError) Error() string {
	said := strings.TrimSpace(e.stderr)
	if len(said) > 2000 {
		said = "… " + said[len(said)-2000:]
	}
	switch {
	case said == "" && e.code < 0:
		said = "ended by a signal"
	case said == "":
		said = fmt.Sprintf("exit code %d", e.code)
	}
	return fmt.Sprintf("git %s: %s", e.args[0], said)
}

// exitCode returns the exit code in err: 0 for nil, -1 for an error that is no
// exit. An exit for an error of the system counts as none: it says nothing about
// what git was asked.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*gitError](err); ok && e.cause == nil {
		return e.code
	}
	return -1
}

// command prepares a process without starting it.
func (w *Workspace) command(ctx context.Context, c call) *exec.Cmd {
	args := []string{"--no-pager"}
	for _, kv := range append(safeConfig[:len(safeConfig):len(safeConfig)], c.config...) {
		args = append(args, "-c", kv)
	}
	if c.gitDir != "" {
		args = append(args, "--git-dir="+c.gitDir)
	}
	if c.work != "" {
		args = append(args, "--work-tree="+c.work)
	}
	cmd := exec.CommandContext(ctx, w.program, append(args, c.args...)...)
	cmd.Dir = cmp.Or(c.work, c.dir, "/")
	cmd.Env = append(cleanEnv(), c.env...)
	if c.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.index)
	}
	cmd.Stdin = c.in
	// A separate process group: git starts helpers (upload-pack, rev-list), and
	// Ctrl-C in a terminal must not reach a git that is writing.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.as}
	// On TERM git and its helpers remove their lock files; KILL follows after
	// WaitDelay.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs git and returns its standard output, or nothing if c.out is set. An
// exit code other than 0 is a *gitError.
func (w *Workspace) run(ctx context.Context, c call) ([]byte, error) {
	out, _, err := w.runBoth(ctx, c)
	return out, err
}

// runBoth is run, and also returns git's standard error, for callers that need
// its warnings.
func (w *Workspace) runBoth(ctx context.Context, c call) (stdout []byte, stderr string, err error) {
	cmd := w.command(ctx, c)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &limited{w: &said, left: 64 << 10}
	if c.out != nil {
		cmd.Stdout = c.out
	}
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed := &gitError{args: c.args, gitDir: c.gitDir, code: exit.ExitCode(), stderr: said.String(), cause: gitFault(said.String(), c.writesTo()...)}
		if failed.code < 0 && failed.cause == nil {
			failed.cause = syscall.EINTR // a signal that is not ours: nobody cancelled it
		}
		return out.Bytes(), said.String(), errors.Join(failed, w.dropLockOf(ctx, said.String()))
	}
	if err != nil {
		if _, missing := os.Stat(w.program); missing != nil {
			err = programMissing{w.program}
		}
		return nil, said.String(), fmt.Errorf("git %s: %w", c.args[0], err)
	}
	return out.Bytes(), said.String(), nil
}

// gitOurs runs git on our bare repository and returns its output without the
// last line end.
func (w *Workspace) gitOurs(ctx context.Context, args ...string) (string, error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// limited passes on at most left bytes and discards the rest.
type limited struct {
	w    io.Writer
	left int
}

// Write reports success for discarded bytes too: an error would stop the
// process.
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if n > 0 {
		if _, err := l.w.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// zlist splits the NUL-terminated records of -z.
func zlist(out []byte) []string {
	s := strings.TrimSuffix(string(out), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// zjoin is the inverse of zlist, as standard input for a command with -z.
func zjoin(paths []string) io.Reader {
	if len(paths) == 0 {
		return strings.NewReader("")
	}
	return strings.NewReader(strings.Join(paths, "\x00") + "\x00")
}
