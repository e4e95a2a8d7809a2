package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Start begins a session. If the session was started before, by any daemon,
// Start does nothing and returns nil. A mistake that a person can correct (a
// missing agent, a broken env_file) is no error but the session's end: Wait
// returns it as ExitNotStarted. Nor is a request to end it that came before (see
// End): the session has then ended without a process. An error means that
// nothing was started and Start may be called again; a full disk is
// syscall.ENOSPC. Cancelling ctx gives up the preparation.
func (r *Runner) Start(ctx context.Context, l ledger.Launch) error {
	if err := r.start(ctx, l); err != nil {
		return fmt.Errorf("start session %s: %w", l.Session, err)
	}
	return nil
}

func (r *Runner) start(ctx context.Context, l ledger.Launch) error {
	if err := errors.Join(checkName("session", l.Session), checkName("run", l.Run), checkName("project", l.Project)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.boundary(); err != nil {
		return err
	}
	if err := r.reinstall(); err != nil {
		return err
	}
	work, err := filepath.EvalSymlinks(l.Work)
	if err != nil || !filepath.IsAbs(work) {
		return errors.Join(fmt.Errorf("work folder %q is not there", l.Work), err)
	}
	l.Work = work

	folder := r.folder(l.Session)
	for _, dir := range []string{filepath.Dir(folder), folder} {
		if err := makeDir(dir, r.folderMode()); err != nil {
			return err
		}
	}
	lock, err := lockFolder(folder)
	if err != nil || lock == nil {
		return err // nil: it is running, or another process is starting it
	}
	defer func() { _ = lock.Close() }()
	// Holding the lock, no other process can start the session. A folder in
	// which no shim ever ran was left by a daemon that died before starting
	// one.
	for _, n := range []string{filePID, fileExit} {
		if _, err := os.Lstat(filepath.Join(folder, n)); err == nil {
			return nil
		}
	}
	if endRequested(folder) {
		return saveExit(folder, r.notBegun(l.Session))
	}
	err = r.prepare(l, folder)
	var no *notStarted
	if errors.As(err, &no) && fault.Of(err) == "" {
		level, _ := r.Level()
		now := time.Now()
		return saveExit(folder, ledger.Exit{
			Session: l.Session, Reason: ledger.ExitNotStarted, Code: -1, Text: no.Error(), Started: now, Ended: now,
			Turns: -1, Tokens: -1, Boundary: level, // what was not started cost nothing, which is known
		})
	}
	if err == nil && r.o.BeforeStart != nil {
		err = r.o.BeforeStart(ctx, l.Session, r.SocketPath(l.Session))
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	// A request that is written after this check is found by the supervisor,
	// which looks for one before it starts the agent.
	if endRequested(folder) {
		return saveExit(folder, r.notBegun(l.Session))
	}
	crash.Point("before-spawn")
	err = r.spawn(l.Session, folder, lock)
	crash.Point("after-spawn")
	return err
}

// notBegun returns the exit of a session that was ended before it had a process.
func (r *Runner) notBegun(session string) ledger.Exit {
	level, _ := r.Level()
	now := time.Now()
	return ledger.Exit{
		Session: session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: now, Ended: now,
		Boundary: level, NotBegun: true,
	}
}

// notStarted is a failure that a person has to correct. It ends the session.
type notStarted struct{ error }

func (e *notStarted) Unwrap() error { return e.error }

// folderMode returns the mode of the folders above the session's own. Without
// mounts, a session that runs as another user must be able to pass through
// them.
func (r *Runner) folderMode() os.FileMode {
	if level, _ := r.Level(); r.user.uid >= 0 && level < 3 {
		return 0o711
	}
	return 0o700
}

// prepare fills a session's folder. It is idempotent.
func (r *Runner) prepare(l ledger.Launch, folder string) error {
	level, _ := r.Level()
	p, stdin, err := r.plan(l, folder, level)
	if err != nil {
		return err
	}
	login, err := r.logIn(l, &p)
	if err != nil {
		return &notStarted{err}
	}
	s := spec{
		Version: FolderVersion, Session: l.Session, Kind: l.Kind, Agent: l.Agent, Model: l.Model, State: r.o.State, Plan: p, Stdin: stdin,
		Wall: l.Wall, Stall: l.Stall, Timing: r.o.Timing, Login: login, Network: l.Network,
	}
	if p.Closed {
		if s.Canary, err = plantCanary(&s.Plan); err != nil {
			return err
		}
		if err := errors.Join(makeHostFolders(folder), writeResolver(p.Resolver)); err != nil {
			return err
		}
	}
	if l.Kind == ledger.KindAgent {
		s.Output, s.Prompt = r.o.Agents[l.Agent].Output, int64(len(l.Prompt))
		if s.MaxUSD, s.MaxTokens = l.MaxUSD, l.MaxTokens; s.MaxUSD > 0 || s.MaxTokens > 0 {
			s.Prices = r.o.Prices
		}
	} else {
		g := r.o.Projects[l.Project]
		s.Project, s.Withheld = l.Project, g.withholds(l)
		vars, err := g.vars(l)
		if err != nil {
			return &notStarted{err}
		}
		for _, v := range vars {
			name, _, _ := strings.Cut(v, "=")
			s.Masked = append(s.Masked, name)
		}
		s.Secret = g.secrets(l)
	}
	env := s.Plan.Env
	s.Plan.Env = nil
	prompt := []byte(l.Prompt)
	if !stdin {
		prompt = nil
	}
	return errors.Join(
		makeDir(filepath.Join(folder, dirEndRequest), 0o700),
		fsutil.Replace(filepath.Join(folder, fileVersion), []byte(strconv.Itoa(FolderVersion)+"\n"), 0o600),
		fsutil.Replace(filepath.Join(folder, filePrompt), prompt, 0o600),
		fsutil.Replace(filepath.Join(folder, fileTouch), nil, 0o600),
		writeJSON(filepath.Join(folder, fileEnv), env),
		writeJSON(filepath.Join(folder, fileSpec), s),
		reserveExitSpace(folder),
	)
}

// plan makes the folders that the session sees, and returns the instruction for
// its inner stages.
func (r *Runner) plan(l ledger.Launch, folder string, level int) (plan, bool, error) {
	var none plan
	box := filepath.Join(folder, dirBox)
	socket := filepath.Dir(r.SocketPath(l.Session))
	if err := r.makeBox(box, socket); err != nil {
		return none, false, err
	}
	if err := r.makeHomeCaches(box, r.seenCaches(l)); err != nil {
		return none, false, err
	}
	grant := r.o.Projects[l.Project]
	if isTrusted(l) && grant.SetupHome != "" {
		if err := r.fillHome(grant.SetupHome, filepath.Join(box, boxHome)); err != nil {
			return none, false, &notStarted{err}
		}
	}
	if err := r.makeGranted(slices.Concat(r.o.Cache, grant.Cache, grant.Shared)); err != nil {
		return none, false, &notStarted{err}
	}
	if !slices.ContainsFunc(l.Mounts, func(m ledger.Mount) bool { return m.At == l.Work }) {
		if err := r.user.chownTree(l.Work); err != nil {
			return none, false, fmt.Errorf("hand over the work folder: %w", err)
		}
	}
	mounts := slices.Clone(l.Mounts)
	var material []string
	if l.Kind == ledger.KindAgent {
		own, seen := contextDirs(l)
		if err := writeContext(own, l.Context); err != nil {
			return none, false, fmt.Errorf("write CONTEXT: %w", err)
		}
		material = []string{seen}
		if own != seen {
			mounts = append(mounts, ledger.Mount{At: seen, Upper: own})
		}
	}

	p := plan{
		Level: level, Dir: l.Work, UID: r.user.uid, GID: r.user.gid,
		Write: slices.Concat([]string{l.Work, filepath.Join(box, boxHome), filepath.Join(box, boxTmp)}, grant.Shared),
		Read:  slices.Concat([]string{box, socket, r.bin}, material, r.o.Read, grant.Read, programFolders(r.path), toolchainDirs()),
		Hide:  slices.Clone(r.hide), Mounts: mounts, Limits: r.o.Limits,
		Grace: r.o.Timing.Grace, Rest: r.o.Timing.Rest,
	}
	for _, g := range r.o.Projects {
		p.Hide = append(p.Hide, g.roomFiles()...)
	}
	if l.Network.Mode.Closes() {
		if err := r.closeNetwork(l, folder, &p); err != nil {
			return none, false, &notStarted{err}
		}
	}
	if err := r.prepareCaches(l, &p); err != nil {
		return none, false, fmt.Errorf("caches: %w", err)
	}
	d := r.o.Agents[l.Agent]
	var err error
	if p.Env, err = r.environment(l, d); err != nil {
		return none, false, &notStarted{err}
	}
	if err := r.keepPath(filepath.Join(box, boxHome), p.Env); err != nil {
		return none, false, fmt.Errorf("profiles of login shells: %w", err)
	}
	stdin := false
	if l.Kind == ledger.KindAgent {
		if a, err := d.adapter(); err == nil { // agentCommand reports an unknown one
			if err := r.addAgentFiles(filepath.Join(box, boxHome), a, grant.TrustsRepo); err != nil {
				return none, false, err
			}
			if !grant.TrustsRepo {
				for _, path := range a.Settings {
					p.Hide = append(p.Hide, filepath.Join(l.Work, path))
				}
			}
		}
		if stdin, err = r.agentCommand(l, d, box, &p); err != nil {
			return none, false, &notStarted{err}
		}
	} else {
		p.Argv = []string{"/bin/sh", "-c", l.Command}
	}
	r.resolvePaths(&p)
	if l.Kind == ledger.KindAgent {
		if err := r.makeWrappers(box, l, p.Write); err != nil {
			return none, false, fmt.Errorf("wrappers of denied programs: %w", err)
		}
	}
	return p, stdin, nil
}

// logIn adds the agent's login to its environment, and returns the supervisor's
// part of it. Commands of the project get no login, because they run files that
// a session wrote.
func (r *Runner) logIn(l ledger.Launch, p *plan) (*loginUse, error) {
	if l.Kind != ledger.KindAgent {
		return nil, nil //nolint:nilnil // nothing to do is no error
	}
	d := r.o.Agents[l.Agent]
	vars, use, _, err := r.login(d, p.Env) // without a login, the agent reports it itself
	p.Env = lastValues(append(p.Env, vars...))
	return use, err
}

// agentCommand sets the agent's command in the plan, and reports whether the
// prompt goes to standard input.
func (r *Runner) agentCommand(l ledger.Launch, d Definition, box string, p *plan) (bool, error) {
	if d.Name == "" && len(d.Command) == 0 {
		return false, fmt.Errorf("there is no agent %q in the configuration", l.Agent)
	}
	prog, err := d.program(r.path)
	if err != nil {
		return false, err
	}
	a, err := d.adapter()
	if err != nil {
		return false, err
	}
	file := filepath.Join(box, "prompt")
	args, stdin, err := a.CommandLine(adapter.Call{
		Agent: d.Name, Output: d.Output, Prompt: d.Prompt, Args: d.Command[1:], MCP: d.MCP, TrustsRepo: r.o.Projects[l.Project].TrustsRepo,
		Launch: l, PromptFile: file, Hat: filepath.Join(box, boxBin, "hat"), Home: filepath.Join(box, boxHome),
	})
	if err != nil {
		return false, err
	}
	if !stdin {
		if err := fsutil.Replace(file, []byte(l.Prompt), 0o644); err != nil {
			return false, err
		}
	}
	p.Argv = append([]string{prog}, args...)
	// The program stays visible under its name and its real path, and so do the
	// files beside it.
	for _, f := range []string{prog, resolvePath(prog)} {
		p.Read = append(p.Read, f)
		if dir := filepath.Dir(f); !slices.Contains(homes(), dir) && dir != "/" {
			p.Read = append(p.Read, dir)
		}
	}
	return stdin, nil
}

// resolvePaths cleans the plan's lists and finds the folders that the session's
// user cannot pass through.
func (r *Runner) resolvePaths(p *plan) {
	tidy := func(paths []string) []string {
		for i, q := range paths {
			paths[i] = resolvePath(q)
		}
		slices.Sort(paths)
		return slices.Compact(paths)
	}
	for i := range p.Mounts {
		p.Mounts[i].At = resolvePath(p.Mounts[i].At)
	}
	p.Write, p.Read, p.Hide = tidy(p.Write), tidy(p.Read), tidy(p.Hide)
	for _, q := range slices.Concat(p.Write, p.Read) {
		if b := r.user.barrier(q); b != "" {
			p.Veil = append(p.Veil, b)
		}
	}
	p.Veil = tidy(p.Veil)
}

// makeBox makes the part of the folder that the session sees.
func (r *Runner) makeBox(box, socket string) error {
	for _, dir := range []string{box, filepath.Join(box, boxBin), filepath.Join(box, boxSock)} {
		if err := makeDir(dir, 0o755); err != nil {
			return err
		}
	}
	if filepath.Dir(filepath.Dir(socket)) != filepath.Dir(box) { // the fallback location of SocketPath
		if err := makeOwnDir(filepath.Dir(socket), r.folderMode()); err != nil {
			return err
		}
		if err := makeDir(socket, 0o755); err != nil {
			return err
		}
	}
	for _, n := range []string{boxHome, boxTmp} {
		dir := filepath.Join(box, n)
		if err := makeDir(dir, 0o700); err != nil {
			return err
		}
		if err := r.user.chown(dir); err != nil {
			return err
		}
	}
	link := filepath.Join(box, boxBin, "hat")
	if err := os.Symlink(filepath.Join(r.bin, "hat"), link); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// makeCache makes a folder of caches with those that tools are directed to.
func (r *Runner) makeCache(root string) error {
	for _, dir := range append([]string{""}, cacheDirs()...) {
		dir = filepath.Join(root, dir)
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := r.user.chown(dir); err != nil {
			return err
		}
	}
	return nil
}

// makeGranted makes the missing ones of the configured cache folders.
func (r *Runner) makeGranted(dirs []string) error {
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("cache folder: %w", err)
		}
		if err := r.user.chown(dir); err != nil {
			return fmt.Errorf("cache folder: %w", err)
		}
	}
	return nil
}

// makeDir makes a folder with exactly this mode, regardless of the umask.
func makeDir(dir string, mode os.FileMode) error {
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Chmod(dir, mode)
}

// makeOwnDir makes a folder in a location where others could have created it
// before.
func makeOwnDir(dir string, mode os.FileMode) error {
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); !fi.IsDir() || (ok && int(st.Uid) != os.Geteuid()) {
		return fmt.Errorf("%s belongs to somebody else: remove it", dir)
	}
	return os.Chmod(dir, mode)
}

// contextDirs returns the session's CONTEXT folder, which lies beside its work folder
// and so is its lane's own, and where the session sees it.
func contextDirs(l ledger.Launch) (own, seen string) {
	const name = "CONTEXT"
	work := l.Work
	for _, m := range l.Mounts {
		if m.At == l.Work && len(m.Lower) == 0 {
			work = m.Upper
		}
	}
	return filepath.Join(filepath.Dir(work), name), filepath.Join(filepath.Dir(l.Work), name)
}

// writeContext replaces a CONTEXT folder (docs/spec 17). The boundary
// prevents writes of sessions; the files' modes only make that visible.
func writeContext(dir string, files map[string][]byte) error {
	if err := removeAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for n, data := range files {
		if !filepath.IsLocal(n) {
			return fmt.Errorf("%q is not a name inside CONTEXT", n)
		}
		path := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
		if err := os.Chmod(path, 0o444); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a folder, including folders in it that are not writable.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // if this fails, RemoveAll returns the error
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// maxSocket limits the length of a socket's path, in bytes
// (docs/architecture.md 7); the kernel's own limit is 107.
const maxSocket = 100

// SocketPath returns the path of the socket on which the daemon serves a
// session's hat. It lies in the session's folder, or in a folder of the
// daemon's below /tmp if the first path is too long. Start makes the folder.
// The socket needs mode 0666 when sessions run as another user; the folders
// above it keep other users out.
func (r *Runner) SocketPath(session string) string {
	path := filepath.Join(r.folder(session), dirBox, boxSock, "hat.sock")
	if len(path) <= maxSocket {
		return path
	}
	sum := sha256.Sum256([]byte(r.o.State))
	short := "np-" + hex.EncodeToString(sum[:5])
	// TMPDIR is not used, because a daemon with another environment must find
	// the same path.
	return filepath.Join("/tmp", short, session, "hat.sock")
}

// spawn starts the supervisor. It inherits only the folder's lock, so that it
// can outlive the daemon.
func (r *Runner) spawn(session, folder string, lock *os.File) error {
	log, err := os.OpenFile(filepath.Join(folder, fileLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(r.shim(), "shim", folder) //nolint:noctx // it outlives whoever started it
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"} // other users can read it at the lower levels
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the shim: %w", err)
	}
	c := &child{done: make(chan struct{})}
	r.mu.Lock()
	r.children[session] = c
	r.mu.Unlock()
	go func() {
		_ = cmd.Wait() // exit.json holds the result
		close(c.done)
	}()
	return nil
}
