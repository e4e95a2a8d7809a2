package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// gitFiles are the lines of a tree's files by path.
type gitFiles map[string][]string

// filesIn reads a folder.
func (n *gitNight) filesIn(dir string) gitFiles {
	files := gitFiles{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git" && e.IsDir():
			return fs.SkipDir
		case !e.Type().IsRegular() || !strings.HasSuffix(path, ".txt"):
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = linesOf(string(data))
		return err
	})
	if err != nil {
		n.fail("files", "%v", err)
	}
	return files
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// hash is the same for the same files.
func (f gitFiles) hash() string {
	h := fnv.New128a()
	for _, path := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%s\x00%s\x00", path, strings.Join(f[path], "\n"))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (f gitFiles) has(text string) bool {
	for _, lines := range f {
		if slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, text) }) {
			return true
		}
	}
	return false
}

// failing returns the names of what fails, sorted.
func (f gitFiles) failing() (failed []string) {
	claims := map[string]int{}
	for _, lines := range f {
		for _, l := range lines {
			if _, what, is := strings.Cut(l, "CLAIM "); is {
				claims[what]++
			}
			if id, _, is := strings.Cut(l, " BROKEN"); is {
				failed = append(failed, "Test"+id)
			}
		}
	}
	for what, count := range claims {
		if count > 1 {
			failed = append(failed, "TestOne("+what+")")
		}
	}
	slices.Sort(failed)
	return failed
}

// ids returns the ids of the lines that have one.
func (f gitFiles) ids() map[string]bool {
	ids := map[string]bool{}
	for _, lines := range f {
		for _, l := range lines {
			if id, is := idOf(l); is {
				ids[id] = true
			}
		}
	}
	return ids
}

func idOf(line string) (string, bool) {
	rest, is := strings.CutPrefix(line, "[")
	id, _, closed := strings.Cut(rest, "]")
	return id, is && closed
}

// gitIn runs git in a folder as a person does, at a fixed time.
func gitIn(dir string, input []byte, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=@1763600000 +0000", "GIT_COMMITTER_DATE=@1763600000 +0000")
	cmd.Stdin = bytes.NewReader(input)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, failed.String())
	}
	return out.String(), nil
}

// mustGit is gitIn for what cannot fail in a night.
func (n *gitNight) mustGit(dir string, args ...string) string {
	out, err := gitIn(dir, nil, args...)
	if err != nil {
		n.fail("git", "%v", err)
	}
	return strings.TrimSpace(out)
}

func writeLines(path string, lines []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
