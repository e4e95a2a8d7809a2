package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// State is the state of a session as far as its folder shows it.
type State string

// States of a session.
const (
	Running State = "running" // its shim is running
	Ended   State = "ended"   // exit.json exists
	Gone    State = "gone"    // it was never started, or its shim ended without exit.json
)

// State reads a session's state from its folder, also for sessions of an
// earlier daemon.
func (r *Runner) State(session string) (State, error) {
	folder := r.folder(session)
	if _, err := os.Stat(filepath.Join(folder, fileExit)); err == nil {
		return Ended, nil
	}
	held, err := lockHeld(folder)
	if err != nil {
		return Gone, fmt.Errorf("look at session %s: %w", session, err)
	}
	if held {
		return Running, nil
	}
	// The session may have ended between the two checks.
	if _, err := os.Stat(filepath.Join(folder, fileExit)); err == nil {
		return Ended, nil
	}
	return Gone, nil
}

// Wait blocks until the session has ended and its whole process tree is gone,
// and returns its exit. It also works for sessions of an earlier daemon, and
// may be called again. A session without any trace, or whose shim was killed,
// is ExitLost. Wait removes the session's HOME and TMPDIR. Errors are those of
// ctx and of reading the folder.
func (r *Runner) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	x, err := r.wait(ctx, session)
	if err != nil {
		return ledger.Exit{}, fmt.Errorf("wait for session %s: %w", session, err)
	}
	return x, nil
}

func (r *Runner) wait(ctx context.Context, session string) (ledger.Exit, error) {
	if err := checkName("session", session); err != nil {
		return ledger.Exit{}, err
	}
	folder := r.folder(session)
	if err := r.waitShim(ctx, session, folder); err != nil {
		return ledger.Exit{}, err
	}
	var x ledger.Exit
	err := readJSON(filepath.Join(folder, fileExit), &x)
	if isGone(err) {
		return r.lostExit(ctx, session, folder)
	}
	if err != nil {
		return ledger.Exit{}, err
	}
	if !x.NotBegun {
		r.readOutput(&x, folder)
	}
	if err := r.keepShot(&x, folder); err != nil {
		return ledger.Exit{}, err
	}
	r.finish(session, folder)
	return x, nil
}

// finish takes back the session's login unless the supervisor did, and then
// removes the files that only the running session needed. If a renewed login
// cannot be stored because the disk is full, HOME stays: the refresh token can
// be used once, and the stored one is no longer valid.
func (r *Runner) finish(session, folder string) {
	if err := storeRenewedLogin(folder); err != nil {
		r.o.Log.Error("login of a session is not taken back; its HOME is kept until it can be", "session", session, "home", filepath.Join(folder, dirBox, boxHome), "err", err)
		return
	}
	r.removeTemporary(session, folder)
}

// waitShim waits until the session's shim has ended.
func (r *Runner) waitShim(ctx context.Context, session, folder string) error {
	r.mu.Lock()
	c := r.children[session]
	r.mu.Unlock()
	if c != nil {
		select {
		case <-c.done:
			r.mu.Lock()
			delete(r.children, session)
			r.mu.Unlock()
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for {
		held, err := lockHeld(folder)
		if err != nil || !held {
			return err
		}
		var p pidFile
		switch err := readJSON(filepath.Join(folder, filePID), &p); {
		case isGone(err): // it is starting right now
		case err != nil:
			return err
		default:
			if err := waitProcess(ctx, p.PID, p.Start); err != nil {
				return err
			}
		}
		// Lock and process do not end at exactly the same time.
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pollProcess is waitProcess where the kernel cannot tell of an end by itself.
func pollProcess(ctx context.Context, pid int, start uint64) error {
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	for sameProcess(pid, start) {
		select {
		case <-t.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// lostExit returns the exit of a session whose shim left none. It waits for
// remaining processes of the tree and ends those without a reaper.
func (r *Runner) lostExit(ctx context.Context, session, folder string) (ledger.Exit, error) {
	x := ledger.Exit{Session: session, Reason: ledger.ExitLost, Code: -1, Turns: -1, Tokens: -1, CostUSD: -1}
	x.Text = "its shim ended without a word"
	var p pidFile
	switch err := readJSON(filepath.Join(folder, filePID), &p); {
	case isGone(err):
		x.Text = "there is no trace of its start"
	case err != nil: // a power failure before it reached the disk
		x.Text = "the trace of its start cannot be read"
	case p.Boot != bootID():
		x.Text = "the machine was started anew while it ran"
	case p.Inner > 0:
		// The reaper notices the loss of its supervisor and ends its tree.
		if err := waitProcess(ctx, p.Inner, p.InnerStart); err != nil {
			return x, err
		}
	}
	if p.Boot == "" || p.Boot == bootID() { // nothing outlives the machine's start
		x.Killed = killAbandoned(filepath.Join(folder, dirBox, boxTmp))
	}
	if fi, err := os.Stat(filepath.Join(folder, filePID)); err == nil {
		x.Started = fi.ModTime()
	}
	x.Ended = time.Now()
	var s spec
	if err := readJSON(filepath.Join(folder, fileSpec), &s); err == nil {
		x.Boundary = s.Plan.Level
	}
	if out, err := openOutput(folder); err == nil {
		x.Tail = lastOf(out)
		_ = out.Close()
	}
	r.finish(session, folder)
	return x, nil
}

// killAbandoned kills processes whose TMPDIR is that of an abandoned session,
// and returns their number. At the lower levels a tree can outlive its
// supervisor and reaper.
func killAbandoned(tmp string) int {
	mark := "TMPDIR=" + tmp
	n := 0
	for range 100 {
		left := 0
		for _, p := range processes() {
			marked := func() bool { return hasVariable(p.pid, mark) }
			if p.pid == os.Getpid() || p.gone() || !marked() {
				continue
			}
			left++
			killIf(p.pid, marked)
		}
		if left == 0 {
			return n
		}
		n = max(n, left)
		time.Sleep(5 * time.Millisecond)
	}
	return n
}

// hasVariable reports whether a process began with a variable, as "NAME=VALUE".
func hasVariable(pid int, variable string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), variable)
}

// readOutput adds the result in the agent's output to the exit, and for a
// command what failed and how many tests ran.
func (r *Runner) readOutput(x *ledger.Exit, folder string) {
	var s spec
	if err := readJSON(filepath.Join(folder, fileSpec), &s); err != nil {
		return
	}
	if s.Kind != ledger.KindAgent {
		if err := readReport(x, s, folder); err != nil {
			r.o.Log.Warn("the output of a command cannot be read", "session", x.Session, "err", err)
		}
		if x.Failures != nil {
			newMask(r.o.Projects[s.Project].values()).failures(x.Failures)
		}
		return
	}
	x.Prompt = s.Prompt
	d := r.o.Agents[s.Agent]
	a, err := d.adapter()
	if err != nil {
		return // after a change of the configuration the result stays unknown
	}
	out, err := openOutput(folder)
	if err != nil {
		r.o.Log.Warn("output of a session cannot be read", "session", x.Session, "err", err)
		return
	}
	defer func() { _ = out.Close() }()
	v := a.Judge(out, *x)
	x.Window, x.Windows = v.Window, v.Windows
	x.Turns, x.Usage = v.Turns, v.Usage
	if !x.OverTokens || v.Tokens >= 0 { // else the supervisor has counted
		x.Tokens = v.Tokens
	}
	x.OverBudget = x.Reason == ledger.ExitBudget || v.OverBudget && s.spentAll(v.CostUSD)
	if x.Reason != ledger.ExitBudget || v.CostUSD >= 0 || x.PricedBy == "" { // as above
		r.price(x, v, d, s.Model)
	}
	x.Failure, x.Until, x.Unverified = v.Failure, v.Until, v.Unverified || v.Failure != "" && !d.Runs(a)
	if touch, err := os.Stat(filepath.Join(folder, fileTouch)); err == nil {
		x.Called = !x.Started.IsZero() && touch.ModTime().After(x.Started)
	}
	if v.Text != "" && x.Reason != ledger.ExitCircle && x.Reason != ledger.ExitBudget { // what the supervisor saw says more than the last error
		x.Text = oneLine(v.Text)
	}
	if v.OverBudget && !x.OverBudget {
		x.Text = "ended at a budget of the agent's own, which nightporter did not set"
	}
	if x.Uncounted = v.Uncounted; v.Uncounted {
		r.warnUncounted(s.Agent, x.Session)
	}
	if d.Written && x.Reason == ledger.ExitSelf && x.Failure == "" {
		x.Event = r.writtenEvent(a, folder)
	}
	x.Said = r.lastWords(x.Session)
	if x.Reason == ledger.ExitSelf && x.Failure == "" && !x.Called {
		r.explainSilence(x, folder)
	}
}

// spentAll reports whether a session that cost so much can have met the limit that it was
// started with, and not a lower one that its command or its settings have. Below 0 the
// cost is unknown.
func (s spec) spentAll(usd float64) bool {
	return s.MaxUSD > 0 && (usd < 0 || usd >= s.MaxUSD/2)
}

// warnUncounted says once of each agent that its output has changed.
func (r *Runner) warnUncounted(agent, session string) {
	if _, said := r.uncounted.LoadOrStore(agent, true); !said {
		r.o.Log.Warn("an agent tells its events or figures in a form that this release does not know: they are unknown", "agent", agent, "session", session)
	}
}

// writtenEvent returns the event that the output's last message ends with, nil for none.
func (r *Runner) writtenEvent(a *adapter.Agent, folder string) *ledger.WrittenEvent {
	out, err := openOutput(folder)
	if err != nil {
		return nil // readOutput has told it
	}
	defer func() { _ = out.Close() }()
	return adapter.WrittenEvent(a.LastMessage(out))
}

// lastWords returns the last texts and calls that an agent's output shows, "" for none.
// They are for people alone, so an output that cannot be read has none.
func (r *Runner) lastWords(session string) string {
	tail, err := r.OutputTail(session, wordsKept)
	if err != nil {
		r.o.Log.Warn("the last words of a session cannot be read", "session", session, "err", err)
		return ""
	}
	lines := slices.DeleteFunc(tail.Lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "{") }) // an event of a program that is not known
	return strings.ReplaceAll(strings.ToValidUTF8(strings.Join(lines, "\n"), ""), "\x00", "")
}

// wordsKept is how many lines ledger.Exit.Said has at most. They are not cut: half of a
// secret is not found.
const wordsKept = 6

// explainSilence adds to the exit that the session's shell did not find hat.
func (r *Runner) explainSilence(x *ledger.Exit, folder string) {
	out, err := openOutput(folder)
	if err != nil {
		r.o.Log.Warn("output of a session cannot be read", "session", x.Session, "err", err)
		return
	}
	defer func() { _ = out.Close() }()
	line, err := missingHat(out)
	if err != nil {
		r.o.Log.Warn("output of a session cannot be read", "session", x.Session, "err", err)
	}
	if line != "" {
		x.Text = oneLine(missingHatText(line))
	}
}

// removeTemporary removes the files that only the running session needed. Some
// agents unpack hundreds of megabytes into every HOME.
func (r *Runner) removeTemporary(session, folder string) {
	socket := filepath.Dir(r.SocketPath(session))
	for _, dir := range []string{filepath.Join(folder, dirBox, boxHome), filepath.Join(folder, dirBox, boxTmp)} {
		if err := removeAll(dir); err != nil {
			r.o.Log.Warn("left behind by a session", "session", session, "err", err)
		}
	}
	if !within(socket, folder) {
		_ = os.RemoveAll(socket) // the daemon removes the socket itself
	}
}

// End asks for the end of a session after grace; zero means at once. It returns
// without waiting, and does nothing for an ended session. The earliest of
// several deadlines counts.
//
// The request is a file of the session's folder, which End makes if need be: a
// session that has not begun when End returns never begins. Start and the
// supervisor look for the request before they start a process.
func (r *Runner) End(_ context.Context, session string, grace ledger.Duration) error {
	if err := r.end(session, grace); err != nil {
		return fmt.Errorf("end session %s: %w", session, err)
	}
	return nil
}

func (r *Runner) end(session string, grace ledger.Duration) error {
	if err := checkName("session", session); err != nil {
		return err
	}
	state, err := r.State(session)
	if err != nil || state == Ended {
		return err
	}
	folder := r.folder(session)
	if _, err := os.Lstat(filepath.Join(folder, filePID)); state == Gone && err == nil {
		return nil // its supervisor was killed, and the session with it
	}
	if _, err := os.Lstat(folder); isGone(err) {
		for _, dir := range []string{filepath.Dir(folder), folder} {
			if err := makeDir(dir, r.folderMode()); err != nil {
				return err
			}
		}
	}
	if err := makeDir(filepath.Join(folder, dirEndRequest), 0o700); err != nil {
		return err
	}
	return writeJSON(filepath.Join(folder, fileEndRequest), endRequest{Grace: grace})
}

// Touch records a hat call of the session, which is a sign of life (docs/spec
// 4.1). It ignores errors, because the next call records again.
func (r *Runner) Touch(session string) {
	now := time.Now()
	if err := os.Chtimes(filepath.Join(r.folder(session), fileTouch), now, now); err != nil {
		r.o.Log.Debug("touch", "session", session, "err", err)
	}
}
