package loop

import (
	"encoding/json"
	"fmt"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/glob"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// The area of a task is what its sessions may write, as far as that is known without a
// tree: globs of what its scope names, what changes with a file that it names, and what a
// person allowed besides. Two tasks are worked on at the same time if their areas have no
// path in common.
//
// It leaves two things out, because each would let nearly every task meet every other one.
// A folder may hold a manifest whose lockfile lies above it, and a hat with own_scope may
// write what its file says for any task, such as docs/** of the writer. Where two tasks do
// change the same lines there, the second one conflicts when it is merged (docs/spec 4.5).

// writeApart reports whether two tasks can be worked on at the same time by what their
// sessions may write. What a person allowed a task holds for its parts, and does not keep
// them from one another: none of them has asked for it.
func (d *decision) writeApart(t, o *TaskState) bool {
	x, y := areaOf(t), areaOf(o)
	if !ledger.SameID(t.Task.Parent, o.Task.Parent) {
		x, y = d.withParent(x, t), d.withParent(y, o)
	}
	return areasApart(t.Task, o.Task, x, y)
}

// withParent adds what a person allowed the task that t is a part of to t's area.
func (d *decision) withParent(area []string, t *TaskState) []string {
	of, part := d.task(t.Task.Parent)
	if area == nil || !part {
		return area
	}
	return append(area, allowedGlobs(of.Allowed)...)
}

// areasApart reports whether two tasks can be worked on at the same time: both say where
// they write and have no path in common, or both are declared independent and at most one
// says where it writes.
func areasApart(a, b ledger.Task, x, y []string) bool {
	if x == nil || y == nil {
		return independent(a) && independent(b)
	}
	return !anyMeet(x, y)
}

// anyMeet reports whether a glob of one list may have a path in common with one of the
// other.
func anyMeet(x, y []string) bool {
	return slices.ContainsFunc(x, func(g string) bool {
		return slices.ContainsFunc(y, func(h string) bool { return meets(g, h) })
	})
}

// outOfScope says which section of a plan names nothing that its task may write, "" if
// none: no session could build it, and only the planner can change that. Where a tree has
// to tell what the scope means, it is found later.
func outOfScope(t *TaskState, plan json.RawMessage) string {
	area := areaOf(t)
	if area == nil {
		return ""
	}
	for _, s := range payload.Sections(plan) {
		part := TaskState{Task: ledger.Task{Scope: scopeOf(s.Files)}}
		if files := areaOf(&part); files != nil && !anyMeet(area, files) {
			return fmt.Sprintf("section %q names nothing inside the task's scope %q (it has %s); give it files inside, or end with task.blocked if the task cannot be done there", s.ID, t.Task.Scope, strings.Join(s.Files, ", "))
		}
	}
	return ""
}

// independent reports whether the plan says that a task can be done beside its
// neighbours: the [P] of Spec Kit.
func independent(t ledger.Task) bool { return slices.Contains(t.Labels, "P") }

// longestArea is the length of a scope, in bytes, whose globs are compared. A session
// can have written it.
const longestArea = 2000

// areaOf returns globs of the paths that a task's sessions may write. It returns nil if
// the task's own scope names none, or names one that only a tree can tell: a bare word,
// prose.
func areaOf(t *TaskState) (area []string) {
	if len(t.Task.Scope) > longestArea {
		return nil
	}
	for _, item := range ledger.ParseScope(t.Task.Scope) {
		if item.Kind != ledger.ScopeGlob && item.Kind != ledger.ScopePath {
			return nil
		}
		area = append(area, globsOf(item)...)
		if item.Kind == ledger.ScopePath {
			area = append(area, companionsOf(glob.Literal(item.Text))...)
		} else {
			area = append(area, companionsOf(item.Text)...)
		}
	}
	if area == nil {
		return nil
	}
	return append(area, allowedGlobs(slices.Concat(t.Allowed, leaves(t.Task)))...)
}

// globsOf returns globs of what a path or a glob names: it also stands for a folder, and a
// glob can be the name of a file.
func globsOf(item ledger.ScopeItem) []string {
	lit := glob.Literal(item.Text)
	if item.Kind == ledger.ScopeGlob {
		return []string{item.Text, lit, item.Text + "/**"}
	}
	return []string{lit, lit + "/**"}
}

// allowedGlobs returns globs of paths that may be written whatever the scope says. Each
// can be a file or a folder.
func allowedGlobs(paths []string) (globs []string) {
	for _, p := range paths {
		lit := glob.Literal(pathpkg.Clean(p))
		globs = append(globs, lit, lit+"/**")
		globs = append(globs, companionsOf(lit)...)
	}
	return globs
}

// companionsOf returns globs of what a session may change along with the files of a glob:
// the lockfiles of a manifest, which lie beside it or in a folder above, and the snapshots
// of a test. Those of insta are not among them: their names tell the module and not the
// file, so all files of a folder would have them in common.
func companionsOf(file string) (globs []string) {
	if strings.Contains(file, "{") {
		return nil // a slash in its alternatives is no end of a folder
	}
	dir, base := pathpkg.Split(file)
	name := glob.Unescape(base)
	for lockfile, manifests := range glob.Lockfiles {
		if !slices.ContainsFunc(manifests, func(m string) bool { return glob.Match(m, name) }) {
			continue
		}
		globs = append(globs, lockfile)
		for up := strings.TrimSuffix(dir, "/"); up != "" && up != "."; up = pathpkg.Dir(up) {
			globs = append(globs, up+"/"+lockfile)
		}
	}
	if code[pathpkg.Ext(name)] {
		globs = append(globs, dir+"__snapshots__/"+base+".snap", dir+base+"-snapshots/**") // jest, vitest, bun; playwright
	}
	slices.Sort(globs)
	return globs
}

// code has the extensions of files that can be tests with snapshots beside them.
var code = map[string]bool{".js": true, ".jsx": true, ".cjs": true, ".mjs": true, ".ts": true, ".tsx": true, ".cts": true, ".mts": true, ".vue": true, ".svelte": true}

// before returns the part of a glob in front of its first special character. Every path
// that the glob matches begins with it.
func before(glob string) string {
	if n := strings.IndexAny(glob, `*?[{\`); n >= 0 {
		return glob[:n]
	}
	return glob
}

// meets reports whether two globs may have a path in common, whatever the case of its
// letters. Globs that are too long to tell may.
func meets(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	switch x, y := before(a), before(b); { // comparing globs takes long
	case !strings.HasPrefix(x, y) && !strings.HasPrefix(y, x):
		return false
	case x == a && y == b:
		return a == b
	}
	if len(a)*len(b) > 1<<15 {
		return true
	}
	_, ok := glob.Intersect(a, b)
	return ok
}
