package agent

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process holds the needed fields of /proc/PID/stat.
type process struct {
	pid, parent int
	state       byte
	start       uint64 // in ticks since boot
	cpu         uint64 // ticks used by it and its reaped children
	threads     int
}

func (p process) gone() bool { return p.state == 'Z' || p.state == 'X' }

// readProcess reads a process from /proc. An error means that the process is
// gone.
func readProcess(pid int) (process, error) {
	data, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	return parseStat(pid, data)
}

// parseStat parses proc(5) stat. The second field is the program's name, which
// may contain anything, so fields are counted from the last ')'.
func parseStat(pid int, data []byte) (process, error) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return process{}, fmt.Errorf("/proc/%d/stat is not understood", pid)
	}
	f := strings.Fields(string(data[end+1:]))
	if len(f) < 20 {
		return process{}, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	p := process{pid: pid, state: f[0][0]}
	var err error
	if p.parent, err = strconv.Atoi(f[1]); err != nil {
		return process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	// utime stime cutime cstime: the times of reaped children are added to
	// their parent, so that the sum over a tree never decreases.
	for _, s := range f[11:15] {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		p.cpu += n
	}
	if p.threads, err = strconv.Atoi(f[17]); err != nil {
		return process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	if p.start, err = strconv.ParseUint(f[19], 10, 64); err != nil {
		return process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return p, nil
}

// processIDs returns the ids of all processes in /proc.
func processIDs() []int {
	names, err := listProc("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processes returns all processes in /proc.
func processes() []process {
	var all []process
	for _, pid := range processIDs() {
		if p, err := readProcess(pid); err == nil { // otherwise it ended in between
			all = append(all, p)
		}
	}
	return all
}

// descendants returns all processes below root, including zombies but not root
// itself.
func descendants(root int) []process {
	children := map[int][]process{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	var tree []process
	for next := []int{root}; len(next) > 0; {
		pid := next[0]
		next = next[1:]
		for _, c := range children[pid] {
			tree = append(tree, c)
			next = append(next, c.pid)
		}
		delete(children, pid) // a list read during changes may contain a cycle
	}
	return tree
}

// treeBelow is descendants by the kernel's lists of children. It reads as many files as
// the tree has threads, where descendants reads one of each process of the machine: with
// many sessions at a time, all of them would read about all others every second. While
// processes end it may miss some, so what must not miss any uses descendants.
func treeBelow(root int) []process {
	var tree []process
	for next := []int{root}; len(next) > 0; {
		children, ok := childrenOf(next[0])
		if !ok && next[0] == root { // the kernel has no such lists, or root is gone
			return descendants(root)
		}
		next = next[1:]
		for _, pid := range children {
			if p, err := readProcess(pid); err == nil {
				tree, next = append(tree, p), append(next, pid)
			}
		}
		if len(tree) > maxListed { // of many that come and go, the lists miss more
			return descendants(root)
		}
	}
	return tree
}

// maxListed limits the processes that are found by lists of children.
const maxListed = 200

// childrenOf returns the children of all threads of a process. ok is false if it has no
// list.
func childrenOf(pid int) (children []int, ok bool) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := listProc(tasks)
	if err != nil {
		return nil, false
	}
	for _, thread := range threads {
		list, err := readProc(tasks + "/" + thread + "/children")
		if err != nil {
			continue // the thread has ended
		}
		ok = true
		for field := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children, ok
}

// readProc reads a file of /proc. os.ReadFile asks the kernel a dozen things more about
// each file, such as whether it can be waited for, which doubles what a look at a session
// costs.
func readProc(name string) ([]byte, error) {
	fd, err := openProc(name, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	data := make([]byte, 0, 2048) // most files of a process are shorter
	for {
		data = slices.Grow(data, 512)
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", name, err)
		case n == 0:
			return data, nil
		default:
			data = data[:len(data)+n]
		}
	}
}

// listProc returns the names in a folder of /proc, as readProc reads a file.
func listProc(name string) (names []string, err error) {
	fd, err := openProc(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	buf := make([]byte, 2048)
	for {
		n, err := unix.ReadDirent(fd, buf)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", name, err)
		case n == 0:
			return names, nil
		default:
			_, _, names = unix.ParseDirent(buf[:n], -1, names)
		}
	}
}

func openProc(name string, flags int) (int, error) {
	for {
		fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return -1, fmt.Errorf("open %s: %w", name, err)
		default:
			return fd, nil
		}
	}
}

// bootID returns the kernel's id of this boot, "" if it has none.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// sameProcess reports whether pid still belongs to the process that began at
// start.
func sameProcess(pid int, start uint64) bool {
	p, err := readProcess(pid)
	return err == nil && p.start == start && !p.gone()
}
