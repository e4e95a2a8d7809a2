package workspace

import (
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/glob"
)

// isSetupInput reports whether a change of the path requires the project's
// setup to run again: it is a lockfile or one of its manifests.
func isSetupInput(p string) bool {
	base := path.Base(p)
	if _, ok := glob.Lockfiles[base]; ok || isRequirements(p) {
		return true
	}
	for _, manifests := range glob.Lockfiles {
		if slices.ContainsFunc(manifests, func(m string) bool { return glob.Match(m, base) }) {
			return true
		}
	}
	return false
}

// isRequirements reports whether a path is one of pip's lists, by the usual names:
// requirements-dev.txt, test_requirements.txt, requirements/base.txt.
func isRequirements(p string) bool {
	dir, base := path.Split(p)
	return strings.HasSuffix(base, ".txt") && (strings.Contains(base, "requirements") || path.Base(dir) == "requirements")
}

// companion reports whether a path accompanies a writable one: a lockfile with
// a manifest in or below its folder, or a snapshot with its test. in reports
// whether a path is writable.
func (r *scope) companion(p string, in func(string) bool) bool {
	dir, base := path.Split(p)
	if manifests, ok := glob.Lockfiles[base]; ok {
		own := func(q string) bool {
			return strings.HasPrefix(q, dir) && slices.ContainsFunc(manifests, func(m string) bool { return glob.Match(m, path.Base(q)) }) && in(q)
		}
		if slices.ContainsFunc(r.files, own) {
			return true
		}
		// The manifest itself may be new.
		return slices.ContainsFunc(manifests, func(m string) bool { return !strings.Contains(m, "*") && own(dir+m) })
	}
	parent := path.Dir(strings.TrimSuffix(dir, "/"))
	folder := path.Base(strings.TrimSuffix(dir, "/"))
	switch {
	case folder == "__snapshots__" && path.Ext(base) == ".snap": // jest, vitest, bun
		return in(path.Join(parent, strings.TrimSuffix(base, ".snap")))
	case strings.HasSuffix(folder, "-snapshots"): // playwright
		return in(path.Join(parent, strings.TrimSuffix(folder, "-snapshots")))
	case folder == "snapshots" && path.Ext(base) == ".snap": // the Rust tool insta names a snapshot after the module, not after the file
		return slices.ContainsFunc(r.files, func(q string) bool { return path.Dir(q) == parent && path.Ext(q) == ".rs" && in(q) })
	}
	return false
}
