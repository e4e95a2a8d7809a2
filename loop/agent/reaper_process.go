package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// reaperProcess is the supervisor's view of the running reaper.
type reaperProcess struct {
	cmd     *os.Process
	reports chan report // closed after the last report
	control *os.File
	printed chan struct{} // closed after the end of the output
	pipe    *os.File
}

// startReaper starts the reaper in the namespaces of its level.
func (s *supervisor) startReaper() (*reaperProcess, error) {
	stdin := os.DevNull
	if s.spec.Stdin {
		stdin = s.path(filePrompt)
	}
	prompt, err := os.Open(stdin)
	if err != nil {
		return nil, err
	}
	defer func() { _ = prompt.Close() }()
	var ends [4][2]*os.File // output, plan, report, control: read and write end of each
	for i := range ends {
		if ends[i][0], ends[i][1], err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	out, plan, rep, ctl := ends[0], ends[1], ends[2], ends[3]
	// Programs open /dev/stdout and /dev/stderr by name, for which they need a
	// right to the pipe itself.
	if uid := s.spec.Plan.UID; uid >= 0 {
		if err := out[1].Chown(uid, s.spec.Plan.GID); err != nil {
			return nil, err
		}
	}
	childFiles := []*os.File{prompt, out[1], out[1], plan[0], rep[1], ctl[0]}
	theirs := []*os.File{out[1], plan[0], rep[1], ctl[0]}
	var network *os.File
	if s.spec.Plan.Closed {
		ours, end, err := socketPair()
		if err != nil {
			return nil, err
		}
		network, childFiles, theirs = ours, append(childFiles, end), append(theirs, end)
	}
	proc, err := os.StartProcess("/proc/self/exe", []string{"nightporter", "shim-inner", "tree"}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: childFiles, Sys: namespaces(s.spec.Plan.Level, s.spec.Plan.Closed),
	})
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("start the tree keeper: %w", err)
	}
	if network != nil {
		if s.spec.Plan.Level >= 3 {
			go s.network.serve(network, s.spec.Plan.Listen)
		} else {
			go s.network.superviseSockets(network, s.spec.Plan)
		}
	}
	in := &reaperProcess{cmd: proc, reports: make(chan report, 8), control: ctl[1], printed: make(chan struct{}), pipe: out[0]}
	go func() {
		_ = json.NewEncoder(plan[1]).Encode(s.spec.Plan) // if this fails, the reaper reports the incomplete plan
		_ = plan[1].Close()
	}()
	go func() {
		defer close(in.reports)
		for dec := json.NewDecoder(rep[0]); ; {
			var r report
			if dec.Decode(&r) != nil {
				return
			}
			in.reports <- r
		}
	}()
	go s.copyOutput(in)
	return in, nil
}

// copyOutput stores the session's output. It reads to the end even after
// errors, because a session must not block when the disk is full.
func (s *supervisor) copyOutput(in *reaperProcess) {
	defer close(in.printed)
	buf := make([]byte, 256<<10)
	for {
		n, err := in.pipe.Read(buf)
		if n > 0 {
			s.printed.Add(int64(n))
			s.watched.next(buf[:n])
		}
		if _, werr := s.out.Write(s.mask.next(buf[:n], err != nil)); werr != nil {
			s.diskFull.Store(true)
		}
		if err != nil {
			return
		}
	}
}

// finishReaper reaps the reaper and completes the exit after its end.
func (s *supervisor) finishReaper(in *reaperProcess, ended, seen, done bool) {
	_ = in.control.Close()
	state, err := in.cmd.Wait()
	if seen || ended || done {
		return
	}
	s.exit.Reason = ledger.ExitLost
	s.exit.Text = "its keeper was ended from outside"
	if err == nil {
		s.exit.Text += ": " + state.String()
	}
	if oomKills() > s.ooms {
		s.exit.Reason, s.exit.Text = ledger.ExitMemory, "the kernel ended it: out of memory"
	}
}

// killOrphans ends the processes that a killed reaper left behind. They are now
// children of the supervisor, the next subreaper above.
func (s *supervisor) killOrphans() {
	for range 500 {
		if !reapChildren() {
			return
		}
		left := 0
		for _, p := range descendants(os.Getpid()) {
			if !p.gone() {
				left++
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		s.exit.Killed += left
		if left > 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// reapChildren reaps the children that have ended, and reports whether others are
// left. Of the machine's processes it looks at none.
func reapChildren() (left bool) {
	for {
		var status syscall.WaitStatus
		switch pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); {
		case err == syscall.ECHILD:
			return false
		case pid <= 0 && err != syscall.EINTR:
			return true
		}
	}
}
