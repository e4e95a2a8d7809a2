package proof

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// maxRounds bounds how often Overlay looks at what it has laid.
const maxRounds = 12

// Patch is what to lay over a tree.
type Patch struct {
	Write  map[string]Content
	Remove []string // paths, sorted; before Write
	// Left is what could not be laid as it should. A verification of the patched
	// tree says nothing then.
	Left  []Change
	Notes []string
}

// Apply returns the patched tree, in memory.
func (p Patch) Apply(t Tree) Tree {
	l := newLaid(newReader(t))
	for _, r := range p.Remove {
		l.drop(r)
	}
	for w, c := range p.Write {
		l.put(w, c)
	}
	return l
}

// Overlay returns what to lay over the result so that the start's checks run
// against the new code: tests, scripts and configuration as at the start, mixed
// files by Lay; what shadows them and new tests removed. What named names stays
// as it is in the result. Of a moved test the start's copy returns and the new
// one goes, unless what it tests moved along.
//
// Compare of the start and the patched tree has no change left that guards.
func Overlay(set Set, start, result Tree, named []string) (Patch, error) {
	a, base := newReader(start), newReader(result)
	l := newLaid(base)
	var notes []string
	var left []Change
	for round := range maxRounds {
		b := newReader(l)
		r := compare(&set, a, b, named)
		if err := cmp.Or(a.err, b.err, base.err); err != nil {
			return Patch{}, err
		}
		left = nil
		for _, ch := range r.Changes {
			if ch.Guards() {
				left = append(left, ch)
			}
		}
		if round > 0 && len(left) == 0 {
			break
		}
		for _, ch := range left {
			if round > 2 {
				ch.Parts = nil // what does not settle in parts is laid as a whole
			}
			lay(l, a, b, ch)
		}
		if round == 0 {
			removeNew(l, &set, r.NewTests, named)
		}
		notes = append(notes, r.Notes...)
	}
	l.clean()
	return Patch{Write: l.write, Remove: slices.Sorted(maps.Keys(l.remove)), Left: left, Notes: dedup(notes)}, cmp.Or(a.err, base.err)
}

// lay undoes one change.
func lay(l *laid, a, b *reader, ch Change) {
	if ch.Action == Moved {
		l.drop(ch.To)
	}
	e, ok := a.files[ch.Path]
	switch {
	case e.Mode == modeRepo:
		return
	case ch.Parts != nil && b.files[ch.Path].Mode != modeLink:
		var from, onto []byte
		if ok {
			from, _ = a.text(ch.Path)
		}
		if b.has(ch.Path) {
			onto, _ = b.text(ch.Path)
		}
		if data, done := Lay(ch.Path, from, onto, ch.Parts); done && (ok || b.has(ch.Path)) {
			if b.has(ch.Path) {
				e = b.files[ch.Path]
			}
			l.put(ch.Path, Content{Data: data, Mode: e.Mode})
			return
		}
	}
	if !ok {
		l.drop(ch.Path)
		return
	}
	l.put(ch.Path, Content{Data: a.read(ch.Path), Mode: e.Mode})
}

// removeNew removes new tests, of the languages in which the start has some:
// they can define what the start's tests define, too, or end their run. Data
// goes where it lies beside tests of the start. A test that the verification
// commands name stays.
func removeNew(l *laid, set *Set, tests, named []string) {
	langs, folders := map[string]bool{}, map[string]bool{}
	for _, it := range set.Items {
		if it.Kind == KindTest {
			langs[language(it.Path)] = true
			folders[parent(it.Path)] = true
		}
	}
	beside := func(p string) bool {
		for dir := parent(p); dir != ""; dir = parent(dir) {
			if folders[dir] {
				return true
			}
		}
		return false
	}
	keep := newMatcher(named)
	for key := range set.missing {
		if p, ok := strings.CutPrefix(key, "operand "); ok {
			keep.globs = append(keep.globs, escape(p), escape(p)+"/**")
		}
	}
	for _, p := range tests {
		if lang := language(p); !keep.named(p) && (lang != "" && langs[lang] || lang == "" && beside(p)) {
			l.drop(p)
		}
	}
}

// TestsOnStart returns what to lay over the start so that the result's tests
// run against the old code: new and changed tests, with the snapshots, fixtures
// and helpers that came with them. Tests that the result has not are removed,
// for what they define may stand elsewhere now.
func TestsOnStart(set Set, start, result Tree) (Patch, error) {
	a, b := newReader(start), newReader(result)
	after := find(b, set.project, &set)
	match := newTestMatcher(set.project.Tests)
	l := newLaid(a)
	proves := func(it Item) bool {
		return it.Kind == KindTest || it.Kind == KindSnapshot || it.Kind == KindHelper || match.test(it.Path)
	}
	for _, it := range set.Items {
		if proves(it) && it.Parts == nil && !b.has(it.Path) {
			l.drop(it.Path)
		}
	}
	var left []Change
	for _, it := range after.Items {
		if !proves(it) || same(a, it.Path, b, it.Path) || b.files[it.Path].Mode == modeRepo {
			continue
		}
		if it.Parts == nil {
			l.put(it.Path, Content{Data: b.read(it.Path), Mode: b.files[it.Path].Mode})
			continue
		}
		if !a.has(it.Path) {
			// A new source with tests in it: it is the new code.
			left = append(left, Change{Path: it.Path, Kind: it.Kind, Action: Shadowed, Parts: it.Parts})
			continue
		}
		from, _ := b.text(it.Path)
		onto, _ := a.text(it.Path)
		if data, ok := Lay(it.Path, from, onto, it.Parts); ok {
			l.put(it.Path, Content{Data: data, Mode: a.files[it.Path].Mode})
		} else {
			left = append(left, Change{Path: it.Path, Kind: it.Kind, Action: Edited, Parts: it.Parts})
		}
	}
	l.clean()
	return Patch{Write: l.write, Remove: slices.Sorted(maps.Keys(l.remove)), Left: left, Notes: after.Notes}, cmp.Or(a.err, b.err)
}
