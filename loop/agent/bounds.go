package agent

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits bound what one session may use. 0 means no limit.
type Limits struct {
	Memory    int64 `json:"memory,omitempty"`    // bytes that its processes use together
	Processes int   `json:"processes,omitempty"` // its processes and their threads
	Files     int   `json:"files,omitempty"`     // files that one of its processes has open
}

// MachineMemory returns the memory of the machine in bytes, or what its container
// may use of it. 0 means unknown.
func MachineMemory() int64 {
	total := installedMemory()
	if total == 0 {
		return 0
	}
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64); err == nil && n > 0 {
			total = min(total, n) // "max" is no number
		}
	}
	return total
}

// meterInterval is the time between two measurements of a session's use. What
// grows faster than the machine has room for in that time meets the kernel's
// limits: of processes, and of memory by its choice of what to kill.
const meterInterval = time.Second

// meterRest is the longest such time, which comes while a session uses no CPU: nothing
// grows then, and hundreds of sessions that wait for their models cost little. It is the
// time between two checks (Timing), so that one look at the session is enough for both.
const meterRest = 5 * time.Second

// nextMeter returns the time until the next measurement after one that found u, where the
// one before found last and came wait earlier.
func nextMeter(wait time.Duration, last, u usage) time.Duration {
	if u.cpu != last.cpu || u.tasks != last.tasks {
		return meterInterval
	}
	return min(2*wait, meterRest)
}

// usage is what the processes of a session use together.
type usage struct {
	memory int64
	tasks  int
	cpu    uint64 // ticks, with those of processes that have ended
}

// measure sums up the processes below root. Memory that processes share counts
// once, where that matters for the limit. last is what was measured before: memory is
// as it was then if nothing has run since.
func measure(root int, limit int64, last usage) usage {
	var u usage
	if p, err := readProcess(root); err == nil {
		u.cpu = p.cpu
	}
	tree := treeBelow(root)
	for _, p := range tree {
		u.cpu += p.cpu
		if !p.gone() {
			u.tasks += p.threads
		}
	}
	if u.cpu == last.cpu && u.tasks == last.tasks {
		return last
	}
	for _, p := range tree {
		if limit > 0 && !p.gone() {
			u.memory += memoryOf(p.pid)
		}
	}
	// A child counts the pages that it shares with its parent, too. The
	// kernel's own division of them is exact, but costs a walk through all
	// pages.
	if limit > 0 && u.memory > limit {
		u.memory = 0
		for _, p := range tree {
			if !p.gone() {
				u.memory += shareOf(p.pid)
			}
		}
	}
	return u
}

// memoryOf returns the memory of one process that is no file's, in bytes.
func memoryOf(pid int) int64 {
	return sumLines(fmt.Sprintf("/proc/%d/status", pid), "RssAnon:", "RssShmem:")
}

// shareOf is memoryOf with shared pages divided among those who share them.
func shareOf(pid int) int64 {
	file := fmt.Sprintf("/proc/%d/smaps_rollup", pid)
	if n := sumLines(file, "Pss_Anon:", "Pss_Shmem:"); n > 0 {
		return n
	}
	return memoryOf(pid)
}

// sumLines adds up the lines "KEY: N kB" of a file in /proc, in bytes. It is 0
// for a process that ended.
func sumLines(file string, keys ...string) int64 {
	data, err := readProc(file)
	if err != nil {
		return 0
	}
	var sum int64
	for line := range bytes.Lines(data) {
		for _, key := range keys {
			rest, ok := bytes.CutPrefix(line, []byte(key))
			if !ok {
				continue
			}
			if f := bytes.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(string(f[0]), 10, 64) // the kernel writes numbers
				sum += n << 10
			}
		}
	}
	return sum
}

// exceeds returns the reason to end a session that uses more than its limits, or
// "".
func (l Limits) exceeds(u usage) (ledger.ExitReason, string) {
	const mb = 1e6
	switch {
	case l.Memory > 0 && u.memory > l.Memory:
		return ledger.ExitMemory, fmt.Sprintf("its processes used %d MB of %d MB ([limits] memory)", int64(float64(u.memory)/mb), int64(float64(l.Memory)/mb))
	case l.Processes > 0 && u.tasks > l.Processes:
		return ledger.ExitProcesses, fmt.Sprintf("it had %d processes and threads, over the limit of %d ([limits] processes)", u.tasks, l.Processes)
	}
	return "", ""
}

// apply sets the limits that the kernel keeps for each process by itself. The one
// of processes counts all of the user's, so it begins at others, the number that
// the session does not own, and leaves room for the measurement, which names the
// reason.
func (l Limits) apply(others int) error {
	if l.Files > 0 {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
			return fmt.Errorf("read the limit of files: %w", err)
		}
		hard := min(now.Max, uint64(l.Files))
		// syscall.Setrlimit also keeps exec from restoring the limit that the
		// process began with.
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: min(now.Cur, hard), Max: hard}); err != nil {
			return fmt.Errorf("set the limit of files: %w", err)
		}
	}
	if l.Processes > 0 {
		most := uint64(others + l.Processes + l.Processes/4 + 32)
		var now unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
			return fmt.Errorf("read the limit of processes: %w", err)
		}
		if most < now.Max {
			if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}); err != nil {
				return fmt.Errorf("set the limit of processes: %w", err)
			}
		}
	}
	return nil
}

// tasksOf returns the number of processes and threads of a user.
func tasksOf(uid int) int {
	n := 0
	for _, pid := range processIDs() {
		fi, err := os.Stat("/proc/" + strconv.Itoa(pid))
		if err != nil {
			continue
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid {
			if p, err := readProcess(pid); err == nil {
				n += p.threads
			}
		}
	}
	return n
}

// oomKills returns how many processes the kernel has killed for lack of memory
// since boot, 0 if unknown.
func oomKills() uint64 {
	data, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if value, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			n, _ := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
}
