package workspace

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/loop/glob"
	"github.com/nightporter/nightporter/loop/ledger"
)

// scope is an effective scope, against which paths can be checked.
type scope struct {
	areas   []area   // a path of any area may be written
	deny    []string // globs that no area overrides
	own     area     // the task's own scope, which also permits what runs by itself
	exempt  area     // exempt from deny: denials of a shipped hat that the task's own scope names
	granted []string // globs that a person allowed, regardless of areas and denials
	never   []string // paths that no rule permits
	names   []string // paths that the task's own scope names
	files   []string // files of the tree; companions depend on which manifests exist
}

// area is the set of paths that one rule permits: those matching a glob of
// every list. An empty area matches nothing.
type area [][]string

// has reports whether p matches a glob of every list, as decided by in.
func (a area) has(p string, in func(list []string, p string) bool) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(list []string) bool { return !in(list, p) })
}

// ResolveScope resolves a scope to the globs of paths that may be written,
// against the tree from which work starts. Its findings are warnings: a scope
// in prose, a glob that matches nothing yet. An invalid scope, or one that
// permits no path, is a *ledger.InputError.
func (w *Workspace) ResolveScope(ctx context.Context, tree string, s ledger.Scope) ([]string, []ledger.Diagnostic, error) {
	r, warnings, err := w.resolve(ctx, tree, s)
	if err != nil {
		return nil, warnings, err
	}
	return r.globs(), warnings, nil
}

func (w *Workspace) resolve(ctx context.Context, tree string, s ledger.Scope) (*scope, []ledger.Diagnostic, error) {
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return nil, nil, fmt.Errorf("resolve scope: %w", err)
	}
	in := newInventory(entries)
	r := &scope{files: in.files, deny: glob.Complete(s.Denied), never: s.Never, names: scopeNames(s)}
	submodules := gitlinksOf(entries)
	never := func(p string) bool { return w.reserved(s.Never, p) || submodules.of(p) != "" }
	warnings, wrong := r.resolveAreas(in, s, never)
	also, notes := in.allowed(s.Also)
	r.granted, warnings = also, append(warnings, notes...)
	if wrong = append(wrong, submodules.named(in, s.Task)...); len(wrong) > 0 {
		return nil, warnings, inputError(wrong...)
	}
	if !r.writable(never) {
		text := "the scope leaves nothing to write"
		if s.Task != "" {
			text = fmt.Sprintf("scope %q leaves nothing to write", s.Task)
		}
		return nil, warnings, inputError(ledger.Diagnostic{Text: text, Remedy: "name a folder or file that may be changed, and see what the hat's write_denied takes away"})
	}
	return r, warnings, nil
}

// resolveAreas computes the areas: the task's own scope, else the project's,
// else the hat's; for a hat with a scope of its own, the hat's and the task's.
// The scope of a part counts only inside that of its task.
func (r *scope) resolveAreas(in *inventory, s ledger.Scope, never func(string) bool) (warnings, wrong []ledger.Diagnostic) {
	task, warnings, wrong := in.read(s.Task)
	rest := glob.Complete(s.Allowed) // permitted for tasks whose scope names nothing
	if len(s.Layout) > 0 && !s.Adds {
		rest = glob.Complete(s.Layout)
	}
	for _, g := range slices.Concat(rest, r.deny) {
		if !doublestar.ValidatePattern(g) {
			wrong = append(wrong, badGlob(g))
		}
	}
	var whole []string // the scope of a part's task
	if s.Within != "" {
		var bad []ledger.Diagnostic
		whole, _, bad = in.read(s.Within) // the warnings were given for the parent task
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
	if named[0] != nil && (s.Within == "" || whole != nil) { // only the task's own scope: a plan written by a session exempts nothing
		r.own = named
		if s.Shipped {
			r.exempt = named
		}
	}
	if len(named) > 1 {
		w, bad := r.checkWithin(in, s, named, never)
		warnings, wrong = append(warnings, w...), append(wrong, bad...)
	}
	return warnings, wrong
}

// checkWithin reports which items of a part's scope lie outside its task's
// scope. It returns an error if none lies inside.
func (r *scope) checkWithin(in *inventory, s ledger.Scope, named area, never func(string) bool) (warnings, wrong []ledger.Diagnostic) {
	whose := fmt.Sprintf("its task's scope %q", s.Within)
	if len(ledger.ParseScope(s.Within)) == 0 {
		whose = "what the project and the hat allow"
	}
	inside := false
	for _, item := range ledger.ParseScope(s.Task) {
		globs, _, _ := in.globsOf(item)
		one := scope{files: r.files, areas: []area{{globs, named[1]}}}
		switch {
		case globs == nil:
		case one.writable(never):
			inside = true
		default:
			warnings = append(warnings, ledger.Diagnostic{Text: fmt.Sprintf("scope %q of a part is outside %s: it permits nothing", item.Text, whose), Remedy: "leave it out, or add it to the task's scope"})
		}
	}
	if inside || s.Adds {
		return warnings, nil
	}
	return nil, []ledger.Diagnostic{{
		Text:   fmt.Sprintf("scope %q of a part names nothing inside %s", s.Task, whose),
		Remedy: "name paths inside it, or widen the task's scope",
	}}
}

// permits reports whether a path may be written. A companion is permitted with
// its manifest: go.sum with go.mod, a snapshot with its test.
func (r *scope) permits(p string) bool {
	if glob.MatchAny(r.granted, p) {
		return true
	}
	if r.denied(p) {
		return false
	}
	within := func(list []string, p string) bool {
		return glob.MatchAny(list, p) || r.companion(p, func(q string) bool { return glob.MatchAny(list, q) && !r.denied(q) })
	}
	return slices.ContainsFunc(r.areas, func(a area) bool { return a.has(p, within) }) ||
		r.companion(p, func(q string) bool { return glob.MatchAny(r.granted, q) })
}

func (r *scope) denied(p string) bool {
	return glob.MatchAny(r.deny, p) && !r.exempt.has(p, glob.MatchAny)
}

// globs lists the permitted globs before denials: for a part, those of its
// globs that intersect its task's.
func (r *scope) globs() []string {
	var out []string
	add := func(g string) {
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	for _, a := range r.areas {
		for _, g := range a[0] {
			if !slices.ContainsFunc(a[1:], func(list []string) bool { return !intersectsAny(list, g) }) {
				add(g)
			}
		}
	}
	for _, g := range r.granted {
		add(g)
	}
	return out
}

// intersectsAny reports whether a glob has a path in common with a glob of
// list.
func intersectsAny(list []string, g string) bool {
	return slices.ContainsFunc(list, func(h string) bool { _, ok := glob.Intersect(g, h); return ok })
}

// writable reports whether the scope permits at least one path: one of the
// tree, or a new one that a glob matches.
func (r *scope) writable(never func(string) bool) bool {
	may := func(p string) bool { return p != "" && !never(p) && r.permits(p) }
	for _, g := range r.granted {
		if may(glob.Unescape(strings.TrimSuffix(g, "/**"))) {
			return true
		}
	}
	for _, a := range r.areas {
		for _, g := range a[0] {
			for _, name := range []string{"", "x", "new.txt"} {
				p := glob.Unescape(strings.NewReplacer("**/*", "a/"+name, "**", name, "*", "a", "?", "a").Replace(g))
				if may(strings.TrimSuffix(p, "/")) {
					return true
				}
			}
			for _, h := range slices.Concat(slices.Concat(a[1:]...), []string{"**"}) {
				if p, ok := glob.Intersect(g, h); ok && may(p) {
					return true
				}
			}
		}
	}
	// Last, because there can be very many.
	return slices.ContainsFunc(r.files, may)
}

// reserved reports whether a path can be in no scope: the task source's files
// and nightporter's own. Case is ignored, since on some systems .Ralph is
// .ralph.
func (w *Workspace) reserved(list []string, p string) bool {
	top, _, _ := strings.Cut(p, "/")
	if f := foldName(top); f == foldName(".ralph") || f == foldName(".nightporter") {
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
