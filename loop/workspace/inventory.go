package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/loop/glob"
	"github.com/nightporter/nightporter/loop/ledger"
)

// inventory is the content of a tree, against which the items of a scope are
// resolved.
type inventory struct {
	files   []string
	inTree  map[string]bool
	folders map[string]bool
	byFold  map[string][]string // files and folders by folded name; built on first use
}

func newInventory(entries []treeEntry) *inventory {
	in := &inventory{inTree: map[string]bool{}, folders: map[string]bool{}}
	for _, e := range entries {
		in.files = append(in.files, e.path)
		in.inTree[e.path] = true
		for dir := path.Dir(e.path); dir != "." && !in.folders[dir]; dir = path.Dir(dir) {
			in.folders[dir] = true
		}
	}
	return in
}

// read resolves a task's own scope to globs. It returns none for a task without
// a scope or with a scope in prose only.
func (in *inventory) read(text string) (allow []string, warnings, wrong []ledger.Diagnostic) {
	lost := false
	for _, item := range ledger.ParseScope(text) {
		globs, warning, bad := in.globsOf(item)
		for _, g := range globs {
			if !slices.Contains(allow, g) {
				allow = append(allow, g)
			}
		}
		if bad != nil {
			wrong = append(wrong, *bad)
		}
		if warning != nil {
			warnings = append(warnings, *warning)
		}
		lost = lost || item.Kind == ledger.ScopeWord && globs == nil
	}
	if allow == nil && wrong == nil && lost {
		// A scope that names nothing must not fall back to the project's
		// general permission.
		wrong = append(wrong, ledger.Diagnostic{Text: fmt.Sprintf("scope %q names nothing in this repository", text), Remedy: "write a path, which may be new, for example src/auth or src/auth/login.go"})
	}
	return allow, warnings, wrong
}

// globsOf resolves one item of a scope to globs, with a warning or an error
// about it.
func (in *inventory) globsOf(item ledger.ScopeItem) (allow []string, warning, wrong *ledger.Diagnostic) {
	switch item.Kind {
	case ledger.ScopeProse:
		return nil, &ledger.Diagnostic{Text: fmt.Sprintf("scope %q is prose: the reviewer sees it, but it permits nothing", item.Text), Remedy: "name folders, files or globs, for example `src/auth`"}, nil
	case ledger.ScopeBad:
		return nil, nil, &ledger.Diagnostic{Text: fmt.Sprintf("scope %q leaves the repository or cannot be meant", item.Text), Remedy: "write it relative to the repository's top folder, for example src/auth"}
	}
	text := item.Text
	if !in.folders[text] && !in.inTree[text] && item.Kind != ledger.ScopeWord {
		if text, wrong = in.actualSpelling(text); wrong != nil {
			return nil, nil, wrong
		}
		if text != item.Text {
			warning = otherSpelling(item.Text, text)
		}
	}
	lit := glob.Literal(text)
	switch {
	case in.folders[text]:
		return []string{lit + "/**"}, warning, nil
	case in.inTree[text]:
		return []string{lit}, warning, nil
	case item.Kind == ledger.ScopePath:
		// A new path: it may become a file or a folder.
		return []string{lit, lit + "/**"}, warning, nil
	case item.Kind == ledger.ScopeWord:
		allow, warning = in.foldersNamed(text)
		return allow, warning, nil
	case !doublestar.ValidatePattern(text):
		bad := badGlob(text)
		return nil, nil, &bad
	}
	allow = []string{text}
	if !slices.ContainsFunc(in.files, func(p string) bool { return glob.Match(text, p) }) {
		// "packages/*" means the folders in packages if it holds folders only.
		below := in.below(func(dir string) bool { return glob.Match(text, dir) })
		if below == nil && warning == nil {
			warning = &ledger.Diagnostic{Text: fmt.Sprintf("scope %q matches nothing yet: only new files can be in it", item.Text)}
		}
		allow = append(allow, below...)
	}
	return allow, warning, nil
}

// foldersNamed returns globs for the folders that have the name.
func (in *inventory) foldersNamed(name string) ([]string, *ledger.Diagnostic) {
	if named := in.below(func(dir string) bool { return path.Base(dir) == name }); named != nil {
		return named, nil
	}
	var other string
	named := in.below(func(dir string) bool {
		same := foldName(path.Base(dir)) == foldName(name)
		if same {
			other = path.Base(dir)
		}
		return same
	})
	if named != nil {
		return named, otherSpelling(name, other)
	}
	return nil, &ledger.Diagnostic{Text: fmt.Sprintf("scope %q names no folder of this repository", name), Remedy: "write a path, for example src/" + name}
}

// below returns globs for everything below the wanted folders, in order.
func (in *inventory) below(wanted func(dir string) bool) []string {
	var list []string
	for dir := range in.folders {
		if wanted(dir) {
			list = append(list, glob.Literal(dir)+"/**")
		}
	}
	slices.Sort(list)
	return list
}

// actualSpelling returns a path or glob in the spelling that the tree has:
// src/auth for SRC/auth if the tree has no SRC. Since a capture refuses a new
// file that differs by case only (see collision), the spelling of the tree must
// be meant.
func (in *inventory) actualSpelling(text string) (string, *ledger.Diagnostic) {
	segments := strings.Split(text, "/")
	have := ""
	for i, s := range segments {
		if strings.ContainsAny(s, `*?[{\`) {
			break
		}
		p := path.Join(have, s)
		if !in.folders[p] && !in.inTree[p] {
			if in.byFold == nil {
				in.byFold = map[string][]string{}
				for _, f := range in.files {
					addFolded(in.byFold, f)
				}
			}
			var same []string
			for _, q := range in.byFold[foldName(p)] {
				if path.Dir(q) == path.Dir(p) {
					same = append(same, q)
				}
			}
			if len(same) > 1 {
				slices.Sort(same)
				return "", &ledger.Diagnostic{Text: fmt.Sprintf("scope %q can be any of %s", text, firstFive(same)), Remedy: "write the one that is meant, in its own capitals"}
			}
			if same == nil {
				break
			}
			p = same[0]
		}
		have, segments[i] = p, path.Base(p)
	}
	return strings.Join(segments, "/"), nil
}

// otherSpelling returns the warning about an item that is spelled differently
// in the tree.
func otherSpelling(written, have string) *ledger.Diagnostic {
	return &ledger.Diagnostic{Text: fmt.Sprintf("scope %q is taken for %s: that is how this repository writes it", written, have), Remedy: "write " + have}
}

// badGlob returns the finding about an invalid glob.
func badGlob(g string) ledger.Diagnostic {
	return ledger.Diagnostic{Text: fmt.Sprintf("scope %q is not a valid glob", g), Remedy: "close its brackets and braces, or put a \\ before those that stand for themselves"}
}

// allowed returns globs for paths that a person allowed: for each the file of
// that name, and everything below it if it is a folder in the tree or ends with
// a slash. Special characters lose their meaning: a session chose the path, and
// a path "**" must not permit everything.
func (in *inventory) allowed(paths []string) (allow []string, warnings []ledger.Diagnostic) {
	for _, p := range paths {
		clean := path.Clean(p)
		switch {
		case p == "" || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || path.IsAbs(clean):
			warnings = append(warnings, ledger.Diagnostic{Text: fmt.Sprintf("allowed path %q is not a path inside the repository: it permits nothing", p), Remedy: "allow a file or folder by its path below the repository's top folder"})
		case in.folders[clean] || strings.HasSuffix(p, "/"):
			allow = append(allow, glob.Literal(clean), glob.Literal(clean)+"/**")
		default:
			allow = append(allow, glob.Literal(clean))
		}
	}
	return allow, warnings
}
