package workspace

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// installed are the beginnings of names of folders that tools fill by themselves:
// installed packages, environments, results of builds, caches. A new folder of
// such a name is counted by itself, and not with the new folder that it lies in.
var installed = []string{
	"node_modules", "bower_components", ".pnpm", ".yarn", "vendor", "site-packages", "venv", ".venv", "virtualenv", "env", ".tox", ".nox",
	"target", "build", "dist", "out", "bin", "obj", "pkg", ".gradle", ".m2", "deriveddata", "pods",
	".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", "coverage", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache",
	".cache", "cache", ".cargo", ".rustup", "gopath", "gocache", "tmp", "temp",
}

// newFiles judges the files of a session that its input tree does not have, before
// git reads any of them: a session can leave any number.
type newFiles struct {
	folders map[string]bool // folders of the input tree
	left    map[string]bool // folders of the groups that are left out
	many    []ledger.NewFiles
}

// group returns the folder with which a new file is counted: the first new folder
// above it that is named like those that tools fill, else the first new one, else
// the folder that it lies in.
func (n *newFiles) group(p string) string {
	first := ""
	for i := 0; i < len(p); i++ {
		if p[i] != '/' || n.folders[p[:i]] {
			continue
		}
		if first == "" {
			first = p[:i]
		}
		name := strings.ToLower(path.Base(p[:i]))
		if slices.ContainsFunc(installed, func(tool string) bool { return strings.HasPrefix(name, tool) }) {
			return p[:i]
		}
	}
	return cmp.Or(first, path.Dir(p))
}

// leavesOut reports whether a new path is left out.
func (n *newFiles) leavesOut(p string) bool { return len(n.left) > 0 && n.left[n.group(p)] }

// count chooses the folders to leave out, the largest first, so that no more new
// files remain than allowed. Files that took the place of removed ones, as when a
// folder is renamed, do not count. asked are folders that a person decided about.
func (n *newFiles) count(fresh []string, removed int, t ledger.CaptureRequest) {
	sizes := map[string]int{}
	for _, p := range fresh {
		sizes[n.group(p)]++
	}
	var groups []ledger.NewFiles
	total := -removed
	for folder, files := range sizes {
		if slices.Contains(t.TakeAll, folder) {
			continue
		}
		total += files
		groups = append(groups, ledger.NewFiles{Path: folder, Files: files})
	}
	slices.SortFunc(groups, func(a, b ledger.NewFiles) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), strings.Compare(a.Path, b.Path))
	})
	most := cmp.Or(t.MaxNew, ledger.DefaultMaxNewFiles)
	for _, g := range groups {
		if most < 0 || total <= most {
			return
		}
		total -= g.Files
		n.left[g.Path] = true
		if !slices.Contains(t.LeaveOut, g.Path) {
			n.many = append(n.many, g)
		}
	}
}

// judgeNew decides about new files before git reads and stores any of them. It
// returns the present files that git has to look at: those of the input tree, and
// new ones that the scope permits and that are not too many. What the scope does
// not permit is only named, except for files that may be the new place of one that
// was removed: only their content shows that.
func (l *sessionDiff) judgeNew(scope *scope, t ledger.CaptureRequest, present []string, captured *ledger.Capture) []string {
	var stored, fresh, undone []string
	for _, p := range present {
		switch by := l.runner(p); {
		case l.known(p):
			stored = append(stored, p)
		case l.w.reserved(scope.never, p), by != "" && !scope.namesRunner(p, by), !scope.permits(p):
			undone = append(undone, p)
		default:
			fresh = append(fresh, p)
		}
	}
	removed := len(l.input) - len(stored)
	l.fresh = newFiles{folders: map[string]bool{}, left: map[string]bool{}}
	for p := range l.input {
		for dir := path.Dir(p); dir != "." && !l.fresh.folders[dir]; dir = path.Dir(dir) {
			l.fresh.folders[dir] = true
		}
	}
	l.fresh.count(fresh, removed, t)
	captured.TooMany = l.fresh.many[:min(len(l.fresh.many), maxTooMany)]
	if len(l.fresh.many) > 0 || len(l.fresh.left) > 0 {
		fresh = slices.DeleteFunc(fresh, func(p string) bool {
			out := l.fresh.leavesOut(p)
			if out {
				undone = append(undone, p)
			}
			return out
		})
		for folder := range l.fresh.left {
			if !l.fresh.folders[folder] && folder != "." {
				l.ignored.list = append(l.ignored.list, folder+"/")
			}
		}
	}
	candidate := l.mayBeMoved(present, removed, len(undone))
	for _, p := range undone {
		switch {
		case candidate(p):
			fresh = append(fresh, p)
			continue
		case l.w.reserved(scope.never, p):
			captured.Dropped = appendFew(captured.Dropped, p)
		case l.fresh.leavesOut(p):
		case l.runner(p) != "":
			captured.RunsItself = appendFew(captured.RunsItself, p)
			captured.Outside = appendFew(captured.Outside, p)
		default:
			captured.Outside = appendFew(captured.Outside, p)
		}
		l.skipped++
	}
	l.newCount = len(fresh)
	return append(stored, fresh...)
}

// appendFew appends a path to a list that people read, unless it is long enough.
func appendFew(list []string, p string) []string {
	if len(list) >= maxListed {
		return list
	}
	return append(list, p)
}

// Limits of what a capture names and compares.
const (
	maxListed  = 2000 // paths that were undone, of each kind
	maxTooMany = 20   // folders with too many new files
	maxMoves   = 2000 // new files out of scope that are compared with every removed one
)

// mayBeMoved returns whether a new file that is undone has to be compared with the
// files that the session removed: git would else not see that one was moved out of
// scope, and its removal alone would be kept. Of very many only those that have the
// name of a removed one are.
func (l *sessionDiff) mayBeMoved(present []string, removed, undone int) func(string) bool {
	if removed == 0 {
		return func(string) bool { return false }
	}
	if undone <= maxMoves {
		return func(string) bool { return true }
	}
	there := make(map[string]bool, len(present))
	for _, p := range present {
		there[p] = true
	}
	gone := map[string]bool{}
	for p := range l.input {
		if !there[p] {
			gone[path.Base(p)] = true
		}
	}
	left := maxMoves
	return func(p string) bool {
		if !gone[path.Base(p)] || left == 0 {
			return false
		}
		left--
		return true
	}
}
