package agent

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/egress"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// shimLock is the file descriptor of the folder's lock, inherited from the
// daemon.
const shimLock = 3

// RunShim acts as a session's supervisor, or as a stage inside its boundary, and
// returns the process's exit code: `shim FOLDER` and `shim-inner STAGE`, after the
// name of the program. It returns false and does nothing for other arguments. A
// program that is given to New as Self or Shim calls it first.
func RunShim(args []string) (code int, is bool) {
	if len(args) > 2 {
		switch args[1] {
		case "shim":
			return shimMain(args[2]), true
		case "shim-inner":
			return shimInner(args[2]), true
		}
	}
	return 0, false
}

// shimMain implements `shim FOLDER`: it supervises one session. Runner.Start runs it
// detached, and it outlives the daemon. The result is in the folder's exit.json; the
// exit code is 0 if that was written, else 1.
func shimMain(folder string) int {
	// The kernel kills the reaper when the thread that started it ends. This
	// thread lives as long as the process.
	runtime.LockOSThread()
	unix.CloseOnExec(shimLock)
	signal.Ignore(syscall.SIGHUP)
	if err := supervise(folder); err != nil {
		fmt.Fprintln(os.Stderr, "nightporter shim:", err)
		return 1
	}
	return 0
}

// supervise runs the session and writes exit.json.
func supervise(folder string) error {
	s := &supervisor{folder: folder, exit: ledger.Exit{
		Reason: ledger.ExitLost, Code: -1, Started: time.Now(), Turns: -1, Tokens: -1, CostUSD: -1,
	}}
	if err := s.load(); err != nil {
		return err
	}
	if err := becomeSubreaper(); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	if err := s.writePID(); err != nil {
		return s.finish(err)
	}
	var err error
	if s.out, err = newOutput(folder, headSize, tailSize); err != nil {
		return s.finish(err)
	}
	s.run()
	return s.finish(nil)
}

// supervisor runs one session from outside its boundary.
type supervisor struct {
	folder  string
	spec    spec
	exit    ledger.Exit
	out     *output
	mask    *mask
	watched *outputWatch // nil = nothing to watch
	pid     pidFile

	network *sessionNetwork // nil = the session's network is open

	login *os.File // the login's lease, held until the process ends

	printed  atomic.Int64 // number of bytes of output so far
	diskFull atomic.Bool
	ooms     uint64
	space    space // when the session began
}

func (s *supervisor) path(name string) string { return filepath.Join(s.folder, name) }

// load reads the instructions. It deletes the file of the environment, which
// holds keys and is not needed again.
func (s *supervisor) load() error {
	if err := readJSON(s.path(fileSpec), &s.spec); err != nil {
		return err
	}
	if s.spec.Version != FolderVersion {
		return fmt.Errorf("%s: version %d is not version %d, which this program runs", s.folder, s.spec.Version, FolderVersion)
	}
	if err := readJSON(s.path(fileEnv), &s.spec.Plan.Env); err != nil {
		return err
	}
	s.exit.Session, s.exit.Boundary = s.spec.Session, s.spec.Plan.Level
	s.mask = newMask(slices.DeleteFunc(slices.Clone(s.spec.Plan.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(s.spec.Masked, name)
	}))
	s.watched = newOutputWatch(s.spec)
	return os.Remove(s.path(fileEnv))
}

func (s *supervisor) writePID() error {
	me, err := readProcess(os.Getpid())
	if err != nil {
		return err
	}
	s.pid = pidFile{PID: me.pid, Start: me.start, Boot: bootID()}
	return writeJSON(s.path(filePID), s.pid)
}

// run runs the session from start to end. It records failures in exit.
func (s *supervisor) run() {
	s.ooms = oomKills()
	s.space = freeSpace(s.spec.State, s.spec.Plan.writesTo())
	asks := s.watchEndRequest()
	if !s.prepareLogin(asks) {
		return
	}
	s.countOthers()
	if _, asked := s.readEndRequest(); asked {
		s.notBegun(ledger.ExitAsked, "")
		return
	}
	if s.spec.Plan.Closed {
		var err error
		if s.network, err = newSessionNetwork(s.folder, &s.spec); err != nil {
			s.notStarted(err)
			return
		}
		defer func() { s.exit.Hosts = s.network.close() }()
	}
	in, err := s.startReaper()
	if err != nil {
		s.notStarted(err)
		return
	}
	if p, err := readProcess(in.cmd.Pid); err == nil {
		s.pid.Inner, s.pid.InnerStart = p.pid, p.start
		// Without this file only the detection after a crash is less certain;
		// the session can go on.
		_ = writeJSON(s.path(filePID), s.pid)
	}
	s.watch(in, asks)
	s.killOrphans()
	s.removeSecrets()
	if err := storeRenewedLogin(s.folder); err != nil {
		fmt.Fprintln(os.Stderr, "nightporter shim:", err)
	}
	// All processes of the tree are gone, so the output ends, unless a process
	// outside received it through a socket.
	select {
	case <-in.printed:
	case <-time.After(2 * time.Second):
		_ = in.pipe.Close()
		<-in.printed
	}
	s.watched.price(&s.exit)
}

// countOthers counts the processes that share the session's limit of processes,
// which the kernel keeps for a user. A user namespace has a count of its own.
func (s *supervisor) countOthers() {
	uid := s.spec.Plan.UID
	if uid < 0 {
		uid = os.Geteuid()
	}
	if s.spec.Plan.Limits.Processes > 0 && (s.spec.Plan.Level < 3 || os.Geteuid() == 0) {
		s.spec.Plan.Others = tasksOf(uid)
	}
}

// prepareLogin waits until no other session uses the login, and copies it into
// HOME. It reports whether the session can begin; if not, it records the exit.
func (s *supervisor) prepareLogin(asks <-chan fsnotify.Event) bool {
	if s.spec.Login == nil {
		return true
	}
	lease, leased, err := s.spec.Login.lease()
	if err != nil {
		s.notStarted(err)
		return false
	}
	s.login = lease
	why, text := s.awaitLease(leased, asks)
	if why == "" {
		s.spec.Login.storeLeftLogins(filepath.Dir(s.folder))
		err := s.spec.Login.copyIn(s.folder, filepath.Join(s.folder, dirBox, boxHome), s.spec.Plan.UID, s.spec.Plan.GID)
		if err == nil {
			s.exit.Started = time.Now() // the wait does not count as run time
			return true
		}
		s.notStarted(err)
		return false
	}
	if why == ledger.ExitNotStarted {
		s.exit.Reason, s.exit.Text = why, text
	} else {
		s.notBegun(why, text)
	}
	return false
}

// notStarted records why the session could not be started.
func (s *supervisor) notStarted(err error) {
	x := &s.exit
	x.Reason, x.Text = ledger.ExitNotStarted, err.Error()
	switch f := fault.Of(err); f {
	case ledger.FaultDisk:
		x.Reason = ledger.ExitDisk
	default:
		x.Fault = f
	}
}

// notBegun records the end of a session whose agent or command was not started.
func (s *supervisor) notBegun(why ledger.ExitReason, text string) {
	s.exit.Reason, s.exit.Text, s.exit.NotBegun, s.exit.CostUSD = why, text, true, 0
}

// awaitLease waits for the login's lease. It returns the exit reason of a
// session that ends before it begins, else "".
func (s *supervisor) awaitLease(leased <-chan error, asks <-chan fsnotify.Event) (ledger.ExitReason, string) {
	const waitNote = "it had waited for another session with the same login"
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	tick := time.NewTicker(s.spec.Timing.Check.D())
	defer tick.Stop()
	var alone time.Time
	for {
		if _, asked := s.readEndRequest(); asked {
			return ledger.ExitAsked, waitNote
		}
		select {
		case err := <-leased:
			if err != nil {
				return ledger.ExitNotStarted, "login: " + err.Error()
			}
			return "", ""
		case _, ok := <-asks:
			if !ok {
				asks = nil
			}
		case <-signals:
			return ledger.ExitAsked, waitNote
		case now := <-tick.C:
			if daemonLives(s.spec.State) {
				alone = time.Time{}
				continue
			}
			if alone.IsZero() {
				alone = now
			}
			if now.Sub(alone) >= s.spec.Timing.Abandon.D() {
				return ledger.ExitAbandoned, waitNote
			}
		}
	}
}

// watchEndRequest watches for the daemon's request to end the session. It
// returns nil if the machine has no watches left: the periodic check then finds
// the request later.
func (s *supervisor) watchEndRequest() <-chan fsnotify.Event {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(s.path(dirEndRequest))
	}
	if err != nil {
		return nil
	}
	return w.Events
}

// watch handles the session's events until its end, and ends it when necessary.
func (s *supervisor) watch(in *reaperProcess, asks <-chan fsnotify.Event) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	l := newLimits(s)
	tick := time.NewTicker(l.interval())
	defer tick.Stop()
	bounds, wait, used := s.spec.Plan.Limits, meterInterval, usage{}
	meter := time.NewTimer(wait)
	defer meter.Stop()
	var wall <-chan time.Time
	if s.spec.Wall > 0 {
		wall = time.After(s.spec.Wall.D())
	}
	var grace *time.Timer
	var due <-chan time.Time
	var deadline time.Time
	var leak <-chan egress.Target
	if s.network != nil {
		leak = s.network.leak
	}
	ended, seen, done := false, false, false
	end := func(why ledger.ExitReason, text string) {
		if ended || seen { // the agent has exited; the reaper ends the remaining processes
			return
		}
		ended = true
		s.exit.Reason, s.exit.Text = why, text
		order := byte(orderEnd)
		if why == ledger.ExitMemory || why == ledger.ExitProcesses || why == ledger.ExitLeak {
			order = orderKill
		}
		_, _ = in.control.Write([]byte{order}) // if this fails, the reaper has already ended the tree
	}
	look := func() {
		now := measure(in.cmd.Pid, bounds.Memory, used)
		if why, text := bounds.exceeds(now); why != "" {
			end(why, text)
		}
		wait, used = nextMeter(wait, used, now), now
		if wait < l.interval() && (bounds.Memory > 0 || bounds.Processes > 0) { // else the next check looks
			meter.Reset(wait)
		}
	}
	asked := func() {
		g, ok := s.readEndRequest()
		if !ok {
			return
		}
		// The earlier of two deadlines counts, because "now" may follow "in a
		// minute".
		if at := time.Now().Add(g); deadline.IsZero() || at.Before(deadline) {
			deadline = at
			if grace != nil {
				grace.Stop()
			}
			grace = time.NewTimer(g)
			due = grace.C
		}
	}
	asked()
	for {
		select {
		case r, ok := <-in.reports:
			if !ok {
				s.finishReaper(in, ended, seen, done)
				return
			}
			s.applyReport(r, ended)
			seen = seen || r.Exited || r.Failed != ""
			done = done || r.Done
		case e, ok := <-asks:
			if !ok {
				asks = nil
			} else if filepath.Base(e.Name) == filepath.Base(fileEndRequest) {
				asked()
			}
		case <-signals:
			end(ledger.ExitAsked, "the shim was told to end by a signal")
		case <-due:
			end(ledger.ExitAsked, "")
		case <-wall:
			end(ledger.ExitWall, fmt.Sprintf("ended after %s, its whole time", s.spec.Wall.D()))
		case f := <-s.watched.reason():
			end(f.reason, f.text)
		case t := <-leak:
			end(ledger.ExitLeak, fmt.Sprintf("ended: it sent a value of its environment to %s that nothing has a reason to send", t))
		case <-meter.C:
			look()
		case <-tick.C:
			asked()
			look()
			switch why, text := l.check(used.cpu); {
			case s.diskFull.Load():
				end(ledger.ExitDisk, "its output could not be written: the disk is full")
			case why != "":
				end(why, text)
			}
		}
	}
}

// readEndRequest reads the daemon's request to end the session, if there is
// one.
func (s *supervisor) readEndRequest() (time.Duration, bool) {
	var a endRequest
	if err := readJSON(s.path(fileEndRequest), &a); err != nil {
		return 0, false
	}
	// The request is removed, so that the next check does not restart the grace
	// period.
	_ = os.Remove(s.path(fileEndRequest))
	return a.Grace.D(), true
}

// applyReport records a report in exit.
func (s *supervisor) applyReport(r report, ended bool) {
	x := &s.exit
	switch {
	case r.Failed != "":
		if ended {
			return
		}
		x.Reason, x.Text, x.Fault = ledger.ExitNotStarted, r.Failed, r.Fault
		if s.spec.Kind != ledger.KindAgent && r.Exec {
			x.Code = 127
		}
	case r.Exited:
		x.Code, x.Signal = r.Code, ""
		if r.Signal != 0 {
			x.Signal = unix.SignalName(syscall.Signal(r.Signal))
		}
		if ended {
			return
		}
		x.Reason = ledger.ExitSelf
		switch {
		case s.spec.Kind == ledger.KindAgent && (r.Code == 126 || r.Code == 127):
			x.Reason = ledger.ExitNotStarted
			x.Text = fmt.Sprintf("%s ended with exit code %d: it, or a program that it needs, was not found or cannot be run", s.spec.Plan.Argv[0], r.Code)
		case (r.Signal == int(syscall.SIGKILL) || r.Code == 128+int(syscall.SIGKILL)) && oomKills() > s.ooms:
			x.Reason, x.Text = ledger.ExitMemory, "the kernel ended it: out of memory"
		}
	case r.Done:
		x.Killed += r.Killed
	}
}

// finish closes the output and writes exit.json, which marks the session as
// ended. err is the reason why the session could not run.
func (s *supervisor) finish(err error) error {
	x := &s.exit
	if err != nil {
		s.notStarted(err)
	}
	if s.out != nil {
		if s.spec.Withheld && x.Code != 0 {
			if _, werr := s.out.Write([]byte(cutMark("setup_env_file and setup_home are for setup of committed files; this tree has changed lockfiles or manifests, and got neither"))); werr != nil {
				s.diskFull.Store(true)
			}
		}
		if cerr := s.out.close(); cerr != nil && err == nil {
			s.diskFull.Store(true)
		}
		x.Tail = s.out.lastLines()
	}
	if s.diskFull.Load() && x.Reason != ledger.ExitAsked {
		x.Reason, x.Text = ledger.ExitDisk, "its output could not be written: the disk is full"
	}
	if s.spec.Kind == ledger.KindAgent {
		x.Denied = deniedCalls(s.folder)
	}
	s.judgeDisk()
	x.Text = oneLine(x.Text)
	x.Ended = time.Now()
	if err := saveExit(s.folder, *x); err != nil {
		return fmt.Errorf("write %s: %w", fileExit, err)
	}
	return nil
}

// oneLine returns the last 1000 bytes of a text, as one line.
func oneLine(s string) string { return text.OneLine(adapter.Clean(s, 1000)) }

// daemonLives reports whether a daemon holds the state folder. An error counts
// as yes, so that it cannot end a session.
func daemonLives(state string) bool {
	_, held, err := statelock.Held(state)
	return held || err != nil
}
