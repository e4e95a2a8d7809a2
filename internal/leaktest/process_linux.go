package leaktest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is one entry of /proc.
type process struct {
	pid, parent int
	command     string
}

func (p process) String() string { return fmt.Sprintf("%d: %s", p.pid, p.command) }

// descendants returns the processes below pid, zombies excepted, by id.
func descendants(pid int) []process {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	children := map[int][]process{}
	for _, file := range files {
		if p, ok := readProcess(file); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	var all []process
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			all = append(all, p)
			next = append(next, p.pid)
		}
	}
	slices.SortFunc(all, func(a, b process) int { return a.pid - b.pid })
	return all
}

// readProcess reads a process's stat file; false for one that has ended.
func readProcess(file string) (process, bool) {
	data, err := os.ReadFile(file)
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if err != nil || open < 0 || end < open {
		return process{}, false
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	p := process{command: "(" + string(data[open+1:end]) + ")"}
	if p.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(file))); err != nil {
		return process{}, false
	}
	if p.parent, err = strconv.Atoi(fields[1]); err != nil {
		return process{}, false
	}
	line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
	if text := strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))); err == nil && text != "" {
		p.command = text
	}
	return p, true
}
