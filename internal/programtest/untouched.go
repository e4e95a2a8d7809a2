package programtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func cmdRemember(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "remember NAME DIR")
	s := sceneOf(ts)
	seen, err := s.Look(ts.MkAbs(args[1]))
	ts.Check(err)
	s.notes[args[0]] = seen
}

func cmdUntouched(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "untouched NAME DIR FILE…")
	s := sceneOf(ts)
	before, ok := s.notes[args[0]]
	if !ok {
		ts.Fatalf("nothing was remembered as %s", args[0])
	}
	after, err := s.Look(ts.MkAbs(args[1]))
	ts.Check(err)
	except := map[string]bool{}
	for _, f := range args[2:] {
		except[f] = true
	}
	for name, was := range before {
		if is, there := after[name]; !except[name] && (!there || is != was) {
			ts.Fatalf("%s was changed\n--- before\n%.500s\n--- now\n%.500s", name, was, is)
		}
	}
	for name := range after {
		if _, was := before[name]; !was && !except[name] {
			ts.Fatalf("%s is new", name)
		}
	}
}

// Look notes every file of a checkout with its mode, its index, and all that
// says what is in the repository, but for objects, which cannot change, the
// branches that nightporter is there to make, and .ralph, which is its own
// (docs/spec 9.1) and has git ignore it.
func (m Machine) Look(dir string) (map[string]string, error) {
	seen := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch name {
		case ".git/objects", ".git/refs", ".git/logs/refs/heads/nightporter", ".ralph":
			return filepath.SkipDir
		case ".git/packed-refs":
			return nil // with refs, below
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		content := ""
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		seen[name] = info.Mode().String() + "\n" + content
		return err
	})
	if err != nil {
		return nil, err
	}
	out, code, err := m.Output("git", "-C", dir, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil || code != 0 {
		return nil, fmt.Errorf("for-each-ref: exit %d: %w", code, err)
	}
	var refs bytes.Buffer
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if !strings.HasPrefix(line, "refs/heads/nightporter/") {
			refs.WriteString(line + "\n")
		}
	}
	seen["refs"] = refs.String()
	if _, err := os.Stat(filepath.Join(dir, ".ralph")); err == nil {
		// Without the index: the repository's own settings could run programs and write it.
		if _, code, err := m.Output("git", "-C", dir, "check-ignore", "--no-index", "-q", ".ralph/agent/memories.md"); err != nil || code != 0 {
			return nil, fmt.Errorf(".ralph does not ignore itself (%d): %w", code, err)
		}
	}
	return seen, nil
}
