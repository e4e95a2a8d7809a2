package config

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// systemFolders are folders of the system that hold other things besides a
// cache: a session that wrote one of them, or one above it, could change what
// others run. A folder below them is fine.
var systemFolders = []string{
	"/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/usr", "/usr/local", "/usr/local/bin", "/usr/local/lib",
	"/var", "/var/cache", "/var/lib", "/var/log", "/var/tmp",
}

// systemTrees are folders of the system in which nothing at all is a cache.
var systemTrees = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr/bin", "/usr/lib", "/usr/sbin",
}

// folders checks cache and shared, the folders outside of the work folder that
// sessions write. state is the state folder, "" for the usual one.
func (c *checker) folders(p *Project, at func(...string) []string, state string) {
	for _, l := range []struct {
		key   string
		paths []string
	}{{"cache", p.Cache}, {"shared", p.Shared}} {
		for i, dir := range l.paths {
			if dir == "" {
				continue // names has reported it
			}
			if text, remedy := c.unwritable(p, dir, state); text != "" {
				c.value(l.key+": "+text, at(l.key, strconv.Itoa(i))...).Remedy = remedy
			}
		}
	}
}

// unwritable returns why sessions must not write the folder dir, and what to
// write instead; "" if they may. It compares the places that links lead to.
func (c *checker) unwritable(p *Project, dir, state string) (text, remedy string) {
	home, _ := os.UserHomeDir()
	state, _ = StateDir(state) // without a home there is none
	real := resolved(dir)
	within := func(other string) bool { return other != "" && contains(resolved(other), real) }
	holds := func(other string) bool { return other != "" && contains(real, resolved(other)) }
	usual := "/var/cache/nightporter-caches"
	if home != "" {
		usual = filepath.Join(home, ".cache", "nightporter-caches")
	}
	remedy = `Name a folder of its own, such as "` + usual + `"`
	switch {
	case real == "/":
		return "sessions could write the whole disk", remedy
	case slices.Contains(systemFolders, real), slices.ContainsFunc(systemTrees, within):
		return dir + " belongs to the system", remedy
	case home != "" && real == resolved(home):
		return dir + " is your home", remedy
	case slices.ContainsFunc(gitFolders(p.Repo), within):
		return dir + " lies in your checkout, which nightporter only reads", remedy
	case slices.ContainsFunc(gitFolders(p.Repo), holds):
		return "your checkout " + p.Repo + " lies in " + dir, remedy
	case within(state), holds(state):
		return "the state folder " + state + " and " + dir + " overlap", remedy
	case holds(c.cfg.Dir()), within(filepath.Join(c.cfg.Dir(), hatFolder)), within(filepath.Join(c.cfg.Dir(), patternFolder)), within(filepath.Join(c.cfg.Dir(), kindFolder)):
		return "the configuration lies in " + dir + ": sessions could change their own settings", remedy
	}
	return "", ""
}

// gitFolders returns the top folder of the repository that repo is or lies in
// and, where they lie elsewhere, the folders of git for it: those of a linked
// worktree or a submodule.
func gitFolders(repo string) []string {
	if repo == "" {
		return nil
	}
	for dir := repo; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			repo = dir
			break
		}
	}
	all := []string{repo}
	data, err := readFile(filepath.Join(repo, ".git"), maxGitLink)
	if err != nil { // a folder, which lies in repo
		return all
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if !ok {
		return all
	}
	if dir = strings.TrimSpace(dir); !filepath.IsAbs(dir) {
		dir = filepath.Join(repo, dir)
	}
	all = append(all, dir)
	if data, err := readFile(filepath.Join(dir, "commondir"), maxGitLink); err == nil {
		common := strings.TrimSpace(string(data))
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		all = append(all, common)
	}
	return all
}

// maxGitLink limits the files in which git names a folder of its own.
const maxGitLink = 8 << 10

// resolved returns the place that a path leads to. Of a path that does not exist
// it resolves the part that does: the folder is made there later.
func resolved(path string) string {
	path = filepath.Clean(path)
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		if link, err := os.Readlink(path); err == nil { // a link to what does not exist yet
			if !filepath.IsAbs(link) {
				link = filepath.Join(filepath.Dir(path), link)
			}
			return filepath.Join(filepath.Clean(link), rest)
		}
		if path == filepath.Dir(path) {
			return filepath.Join(path, rest)
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = filepath.Dir(path)
	}
}

// contains reports whether path is dir or lies below it. Both are absolute and
// clean.
func contains(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
