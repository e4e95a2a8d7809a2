package workspace

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/loop"
)

// scope is an effective scope (SPEC 4.1) in a form that paths can be held
// against.
type scope struct {
	allow  []string // globs
	deny   []string // globs
	task   []string // globs that the task's own scope named
	lifts  bool     // those lift deny
	files  []string // of the tree; companions depend on which manifests exist
	inTree map[string]bool
}

// ResolveScope turns a scope into the globs that it permits to write, against
// the tree that work starts from. Findings are worth a look: prose, a glob
// that matches nothing yet. A scope with something wrong in it, or that leaves
// nothing to write, is a *loop.InputError.
func (w *Workspace) ResolveScope(ctx context.Context, tree string, s loop.Scope) ([]string, []loop.Finding, error) {
	r, warnings, err := w.resolve(ctx, tree, s)
	if err != nil {
		return nil, warnings, err
	}
	return r.allow, warnings, nil
}

func (w *Workspace) resolve(ctx context.Context, tree string, s loop.Scope) (*scope, []loop.Finding, error) {
	entries, err := w.list(ctx, tree)
	if err != nil {
		return nil, nil, fmt.Errorf("resolve scope: %w", err)
	}
	r := &scope{lifts: s.Shipped, inTree: map[string]bool{}}
	folders := map[string]bool{}
	for _, e := range entries {
		r.files = append(r.files, e.path)
		r.inTree[e.path] = true
		for dir := path.Dir(e.path); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	var warnings, wrong []loop.Finding
	r.task, warnings, wrong = r.resolveTask(s.Task, folders)
	switch {
	case len(wrong) > 0:
		return nil, warnings, stop(wrong...)
	case len(r.task) > 0:
		r.allow = r.task
	case len(s.Layout) > 0:
		r.allow = globs(s.Layout)
	default:
		r.allow = globs(s.Allowed)
	}
	r.deny = globs(s.Denied)
	for _, g := range slices.Concat(r.allow, r.deny) {
		if !doublestar.ValidatePattern(g) {
			wrong = append(wrong, loop.Finding{Text: fmt.Sprintf("scope %q is not a valid glob", g), Fix: "close its brackets and braces, or put a \\ before those that stand for themselves"})
		}
	}
	if len(wrong) > 0 {
		return nil, warnings, stop(wrong...)
	}
	if !r.writable(func(p string) bool { return w.never(s.Never, p) }) {
		text := "the scope leaves nothing to write"
		if s.Task != "" {
			text = fmt.Sprintf("scope %q leaves nothing to write", s.Task)
		}
		return nil, warnings, stop(loop.Finding{Text: text, Fix: "name a folder or file that may be changed, and see what the hat's write_denied takes away"})
	}
	return r, warnings, nil
}

// resolveTask gives the globs that a task's own scope means in this tree.
func (r *scope) resolveTask(text string, folders map[string]bool) (allow []string, warnings, wrong []loop.Finding) {
	add := func(g ...string) {
		for _, g := range g {
			if !slices.Contains(allow, g) {
				allow = append(allow, g)
			}
		}
	}
	for _, item := range loop.ParseScope(text) {
		lit := literal(item.Text)
		switch {
		case item.Kind == loop.ScopeProse:
			warnings = append(warnings, loop.Finding{Text: fmt.Sprintf("scope %q is prose: the reviewer sees it, but it permits nothing", item.Text), Fix: "name folders, files or globs, for example `src/auth`"})
		case item.Kind == loop.ScopeBad:
			wrong = append(wrong, loop.Finding{Text: fmt.Sprintf("scope %q leaves the repository or cannot be meant", item.Text), Fix: "write it relative to the repository's top folder, for example src/auth"})
		case folders[item.Text]:
			add(lit + "/**")
		case r.inTree[item.Text]:
			add(lit)
		case item.Kind == loop.ScopePath:
			// New: as a file, and as a folder where it is to become one.
			add(lit, lit+"/**")
		case item.Kind == loop.ScopeWord:
			var named []string
			for dir := range folders {
				if path.Base(dir) == item.Text {
					named = append(named, literal(dir)+"/**")
				}
			}
			slices.Sort(named)
			if named == nil {
				warnings = append(warnings, loop.Finding{Text: fmt.Sprintf("scope %q names no folder of this repository", item.Text), Fix: "write a path, for example src/" + item.Text})
			}
			add(named...)
		default:
			if !doublestar.ValidatePattern(item.Text) {
				wrong = append(wrong, loop.Finding{Text: fmt.Sprintf("scope %q is not a valid glob", item.Text), Fix: "close its brackets and braces, or put a \\ before those that stand for themselves"})
				continue
			}
			add(item.Text)
			if !slices.ContainsFunc(r.files, func(p string) bool { return match(item.Text, p) }) {
				// "packages/*" where packages holds folders only: those are meant.
				var below []string
				for dir := range folders {
					if match(item.Text, dir) {
						below = append(below, literal(dir)+"/**")
					}
				}
				slices.Sort(below)
				add(below...)
				if below == nil {
					warnings = append(warnings, loop.Finding{Text: fmt.Sprintf("scope %q matches nothing yet: only new files can be in it", item.Text)})
				}
			}
		}
	}
	if allow == nil && wrong == nil && slices.ContainsFunc(warnings, func(f loop.Finding) bool { return f.Fix != "" && strings.Contains(f.Text, "names no folder") }) {
		// A scope that was meant as one and names nothing must not open what the
		// project allows in general.
		wrong = append(wrong, loop.Finding{Text: fmt.Sprintf("scope %q names nothing in this repository", text), Fix: "write a path, which may be new, for example src/auth or src/auth/login.go"})
	}
	return allow, warnings, wrong
}

// permits reports whether a path may be written. Companions go with their
// manifest: go.sum with go.mod, a snapshot with its test.
func (r *scope) permits(p string) bool {
	if !r.denied(p) && matchAny(r.allow, p) {
		return true
	}
	if r.denied(p) {
		return false
	}
	return r.companion(p)
}

func (r *scope) denied(p string) bool {
	return matchAny(r.deny, p) && !(r.lifts && matchAny(r.task, p))
}

// writable reports whether there is at least one path that may be written: one
// of the tree, or a new one where a glob makes room for it.
func (r *scope) writable(never func(string) bool) bool {
	for _, p := range r.files {
		if !never(p) && r.permits(p) {
			return true
		}
	}
	for _, g := range r.allow {
		for _, name := range []string{"", "x", "new.txt"} {
			p := unescape(strings.NewReplacer("**/*", "a/"+name, "**", name, "*", "a", "?", "a").Replace(g))
			if p = strings.TrimSuffix(p, "/"); p != "" && !never(p) && r.permits(p) {
				return true
			}
		}
		// What cannot be guessed (classes, braces) gets the benefit of the doubt
		// as long as nothing is denied.
		if strings.ContainsAny(g, "[{") && len(r.deny) == 0 {
			return true
		}
	}
	return false
}

// never reports whether a path can be in no scope: what belongs to the source
// or to nightporter itself (SPEC 4.1).
func (w *Workspace) never(list []string, p string) bool {
	for _, own := range slices.Concat(list, w.o.Owned, []string{".ralph", ".nightporter"}) {
		own = strings.TrimSuffix(strings.TrimSuffix(path.Clean(own), "/**"), "/")
		if p == own || strings.HasPrefix(p, own+"/") {
			return true
		}
	}
	return false
}

// globs completes what stands in configuration and hats: a plain path is a
// file or a folder with all below it.
func globs(list []string) []string {
	var out []string
	for _, g := range list {
		g = strings.TrimPrefix(g, "./")
		switch {
		case g == "" || g == ".":
			out = append(out, "**")
		case strings.HasSuffix(g, "/"):
			out = append(out, g+"**")
		case strings.ContainsAny(g, `*?[{\`):
			out = append(out, g)
		default:
			out = append(out, g, g+"/**")
		}
	}
	return out
}

// match reports whether a glob matches; one that is not valid matches nothing.
func match(glob, p string) bool {
	ok, err := doublestar.Match(glob, p)
	return ok && err == nil
}

func matchAny(globs []string, p string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return match(g, p) })
}

// literal makes a path a glob that matches only itself.
func literal(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(p)
}

// unescape is the inverse of literal, as far as it matters for a guess.
func unescape(g string) string { return strings.ReplaceAll(g, `\`, "") }
