package workspace

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/loop/ledger"
)

// scope is an effective scope (SPEC 4.1) in a form that paths can be held
// against.
type scope struct {
	areas []area   // a path of any of them may be written
	deny  []string // globs that no area gets past
	lifts area     // but for these paths: a shipped hat's denials, named by the task's own scope
	also  []string // globs of what a person allowed: past areas and denials
	files []string // of the tree; companions depend on which manifests exist
}

// area is what one rule permits: paths that every one of its lists of globs
// has. None is no path.
type area [][]string

// has reports whether every list has the path, as in says.
func (a area) has(p string, in func(list []string, p string) bool) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(list []string) bool { return !in(list, p) })
}

// ResolveScope turns a scope into the globs that it permits to write, against
// the tree that work starts from. Findings are worth a look: prose, a glob
// that matches nothing yet. A scope with something wrong in it, or that leaves
// nothing to write, is a *ledger.InputError.
func (w *Workspace) ResolveScope(ctx context.Context, tree string, s ledger.Scope) ([]string, []ledger.Finding, error) {
	r, warnings, err := w.resolve(ctx, tree, s)
	if err != nil {
		return nil, warnings, err
	}
	return r.globs(), warnings, nil
}

func (w *Workspace) resolve(ctx context.Context, tree string, s ledger.Scope) (*scope, []ledger.Finding, error) {
	entries, err := w.list(ctx, tree)
	if err != nil {
		return nil, nil, fmt.Errorf("resolve scope: %w", err)
	}
	in := newInventory(entries)
	r := &scope{files: in.files, deny: globs(s.Denied)}
	never := func(p string) bool { return w.never(s.Never, p) }
	warnings, wrong := r.draw(in, s, never)
	also, notes := in.allowed(s.Also)
	r.also, warnings = also, append(warnings, notes...)
	if len(wrong) > 0 {
		return nil, warnings, stop(wrong...)
	}
	if !r.writable(never) {
		text := "the scope leaves nothing to write"
		if s.Task != "" {
			text = fmt.Sprintf("scope %q leaves nothing to write", s.Task)
		}
		return nil, warnings, stop(ledger.Finding{Text: text, Fix: "name a folder or file that may be changed, and see what the hat's write_denied takes away"})
	}
	return r, warnings, nil
}

// draw finds the areas (SPEC 4.1): the task's own scope, else the project's,
// else the hat's; for a hat that has its own, the hat's and the task's. The
// scope of a part counts only as far as its task's goes.
func (r *scope) draw(in *inventory, s ledger.Scope, never func(string) bool) (warnings, wrong []ledger.Finding) {
	task, warnings, wrong := in.read(s.Task)
	rest := globs(s.Allowed) // what is permitted where no task names anything
	if len(s.Layout) > 0 && !s.Adds {
		rest = globs(s.Layout)
	}
	for _, g := range slices.Concat(rest, r.deny) {
		if !doublestar.ValidatePattern(g) {
			wrong = append(wrong, badGlob(g))
		}
	}
	var whole []string // the scope of a part's task
	if s.Within != "" {
		var bad []ledger.Finding
		whole, _, bad = in.read(s.Within) // what is only worth a look was said of the task
		wrong = append(wrong, bad...)
	}
	if len(wrong) > 0 {
		return warnings, wrong
	}
	named := area{task}
	switch {
	case s.Within == "":
	case task == nil:
		named = area{whole}
	case whole != nil:
		named = area{task, whole}
	default:
		named = area{task, rest}
	}
	if named[0] != nil {
		r.areas = append(r.areas, named)
	}
	if s.Adds || named[0] == nil {
		r.areas = append(r.areas, area{rest})
	}
	if s.Shipped && named[0] != nil && (s.Within == "" || whole != nil) {
		r.lifts = named // only what the task's own scope names: a plan of a session lifts nothing
	}
	if len(named) > 1 {
		w, bad := r.beyond(in, s, named, never)
		warnings, wrong = append(warnings, w...), append(wrong, bad...)
	}
	return warnings, wrong
}

// beyond looks for what a part's scope names outside its task's: an error
// where nothing is inside.
func (r *scope) beyond(in *inventory, s ledger.Scope, named area, never func(string) bool) (warnings, wrong []ledger.Finding) {
	whose := fmt.Sprintf("its task's scope %q", s.Within)
	if len(ledger.ParseScope(s.Within)) == 0 {
		whose = "what the project and the hat allow"
	}
	inside := false
	for _, item := range ledger.ParseScope(s.Task) {
		globs, _, _ := in.item(item)
		one := scope{files: r.files, areas: []area{{globs, named[1]}}}
		switch {
		case globs == nil:
		case one.writable(never):
			inside = true
		default:
			warnings = append(warnings, ledger.Finding{Text: fmt.Sprintf("scope %q of a part is outside %s: it permits nothing", item.Text, whose), Fix: "leave it out, or add it to the task's scope"})
		}
	}
	if inside || s.Adds {
		return warnings, nil
	}
	return nil, []ledger.Finding{{
		Text: fmt.Sprintf("scope %q of a part names nothing inside %s", s.Task, whose),
		Fix:  "name paths inside it, or widen the task's scope",
	}}
}

// permits reports whether a path may be written. Companions go with their
// manifest: go.sum with go.mod, a snapshot with its test.
func (r *scope) permits(p string) bool {
	if matchAny(r.also, p) {
		return true
	}
	if r.denied(p) {
		return false
	}
	within := func(list []string, p string) bool {
		return matchAny(list, p) || r.companion(p, func(q string) bool { return matchAny(list, q) && !r.denied(q) })
	}
	return slices.ContainsFunc(r.areas, func(a area) bool { return a.has(p, within) }) ||
		r.companion(p, func(q string) bool { return matchAny(r.also, q) })
}

func (r *scope) denied(p string) bool {
	return matchAny(r.deny, p) && !r.lifts.has(p, matchAny)
}

// globs lists what is permitted, but for denials. Of a part these are its own
// globs that have something in common with its task's.
func (r *scope) globs() []string {
	var out []string
	add := func(g string) {
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	for _, a := range r.areas {
		for _, g := range a[0] {
			if !slices.ContainsFunc(a[1:], func(list []string) bool { return !meetsAny(list, g) }) {
				add(g)
			}
		}
	}
	for _, g := range r.also {
		add(g)
	}
	return out
}

// meetsAny reports whether a glob has a path in common with one of a list.
func meetsAny(list []string, g string) bool {
	return slices.ContainsFunc(list, func(h string) bool { _, ok := meet(g, h); return ok })
}

// writable reports whether there is at least one path that may be written: one
// of the tree, or a new one where a glob makes room for it.
func (r *scope) writable(never func(string) bool) bool {
	may := func(p string) bool { return p != "" && !never(p) && r.permits(p) }
	if slices.ContainsFunc(r.files, may) {
		return true
	}
	for _, g := range r.also {
		if may(unescape(strings.TrimSuffix(g, "/**"))) {
			return true
		}
	}
	for _, a := range r.areas {
		for _, g := range a[0] {
			for _, name := range []string{"", "x", "new.txt"} {
				p := unescape(strings.NewReplacer("**/*", "a/"+name, "**", name, "*", "a", "?", "a").Replace(g))
				if may(strings.TrimSuffix(p, "/")) {
					return true
				}
			}
			for _, h := range slices.Concat(slices.Concat(a[1:]...), []string{"**"}) {
				if p, ok := meet(g, h); ok && may(p) {
					return true
				}
			}
		}
	}
	return false
}

// never reports whether a path can be in no scope: what belongs to the source
// or to nightporter itself (SPEC 4.1). On some systems, .Ralph is .ralph.
func (w *Workspace) never(list []string, p string) bool {
	top, _, _ := strings.Cut(p, "/")
	if f := fold(top); f == fold(".ralph") || f == fold(".nightporter") {
		return true
	}
	for _, own := range slices.Concat(list, w.o.Owned) {
		own = strings.TrimSuffix(strings.TrimSuffix(path.Clean(own), "/**"), "/")
		if p == own || strings.HasPrefix(p, own+"/") {
			return true
		}
	}
	return false
}
