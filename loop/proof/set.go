package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of a search. A session can write what is searched.
const (
	maxText    = 256 << 10 // bytes of a file that is parsed; a larger one proves as a whole
	maxDepth   = 24        // scripts that start scripts
	maxFollows = 3000      // commands that are followed
	maxValues  = 128       // values of one variable or glob
	maxReads   = 4000      // files that are read to see who imports a helper
	maxNotes   = 100
)

// Project is what a project's configuration says about its proof.
type Project struct {
	Commands []string // the verification commands
	Tests    []string // globs of tests besides the usual ones; "!GLOB" = no test
}

// Kind is what an item contributes to a proof.
type Kind string

// The kinds of items.
const (
	KindTest     Kind = "test"     // a test, its fixtures
	KindHelper   Kind = "helper"   // a file that only tests and scripts import
	KindSnapshot Kind = "snapshot" // what a test expects, written by its runner
	KindScript   Kind = "script"   // what a verification command runs
	KindConfig   Kind = "config"   // what tells a runner which tests to run and how
)

// Item is a file that proves, or the parts of it that do.
type Item struct {
	Path string
	Kind Kind
	// Parts are the parts of a mixed file that prove, such as "scripts.test" of
	// package.json. Of a file without parts all of it proves.
	Parts []string
	// Via names the command or file that led here; empty for tests and
	// configuration, which are found by their names.
	Via string

	reached bool            // by a command, not by its name
	sourced bool            // read into the shell of another script
	wanted  bool            // the start's commands need it, and the start had none
	lacking map[string]bool // parts that are wanted
}

// Set is what proves in one tree.
type Set struct {
	Items []Item // by path
	// Unknown names what a command or script runs that could not be followed,
	// with the place: `test.sh: cannot follow "$CMD"`.
	Unknown []string
	// Notes tell about files that could not be read in parts and prove as a
	// whole.
	Notes []string

	project  Project
	index    map[string]int
	programs map[string]bool // base names of the programs that are run
	missing  map[string]bool // what the commands need and the tree has not
}

// Item returns the item of a path.
func (s *Set) Item(p string) (Item, bool) {
	i, ok := s.index[p]
	if !ok {
		return Item{}, false
	}
	return s.Items[i], true
}

// Find returns what proves in a tree, which is normally the start of an
// attempt. An error is the tree's: a file of any content is no error.
func Find(t Tree, p Project) (Set, error) {
	r := newReader(t)
	s := find(r, p, nil)
	return *s, r.err
}

// find is Find for a tree that is compared with a start: what the start's
// commands need and the start has not is marked as wanted.
func find(r *reader, p Project, start *Set) *Set {
	f := &finder{
		reader: r, items: map[string]*Item{}, seen: map[string]bool{}, notes: map[string]bool{}, unknown: map[string]bool{},
		programs: map[string]bool{}, missing: map[string]bool{}, match: newTestMatcher(p.Tests),
	}
	if start != nil {
		f.wanted = start.missing
	}
	for _, c := range p.Commands {
		f.shell(c, place{sure: true, errexit: true, via: c, name: c, vars: map[string][]string{}})
	}
	f.configs()
	f.tests()
	f.helpers()
	f.dropSubjects()
	s := &Set{project: p, programs: f.programs, missing: f.missing, index: map[string]int{}}
	for _, path := range slices.Sorted(maps.Keys(f.items)) {
		it := *f.items[path]
		if r := f.match.rule(path); it.Kind == KindScript && it.Parts == nil && r >= 0 && usualTests.isCase(r) {
			it.Kind = KindTest // a harness runs it
		}
		slices.Sort(it.Parts)
		s.index[path] = len(s.Items)
		s.Items = append(s.Items, it)
	}
	s.Unknown = slices.Sorted(maps.Keys(f.unknown))
	s.Notes = slices.Sorted(maps.Keys(f.notes))
	return s
}

// finder collects the items of a tree.
type finder struct {
	*reader
	match    *matcher
	items    map[string]*Item
	seen     map[string]bool // what was followed
	follows  int
	unknown  map[string]bool
	notes    map[string]bool
	programs map[string]bool
	missing  map[string]bool
	wanted   map[string]bool
}

// whole adds a file of which everything proves.
func (f *finder) whole(p string, k Kind, pl place) {
	it := f.items[p]
	if it == nil {
		it = &Item{Path: p, Kind: k, Via: pl.via, wanted: pl.wanted}
		f.items[p] = it
	}
	it.Parts = nil
	it.reach(pl)
}

// reach notes that a command leads to an item.
func (it *Item) reach(pl place) {
	if pl.via != "" {
		it.reached = true
		it.wanted = it.wanted && pl.wanted
	}
}

// part adds parts of a mixed file. A file that cannot be read in parts proves
// as a whole.
func (f *finder) part(p string, k Kind, pl place, parts ...string) {
	it := f.items[p]
	if it != nil && it.Parts == nil {
		it.reach(pl)
		return
	}
	if it == nil {
		data, ok := f.text(p)
		if ok {
			_, ok = readParts(p, data)
		}
		if !ok {
			f.note("%s cannot be read in parts: all of it counts as a check", p)
			f.whole(p, k, pl)
			return
		}
		it = &Item{Path: p, Kind: k, Via: pl.via, wanted: pl.wanted, lacking: map[string]bool{}}
		f.items[p] = it
	}
	it.reach(pl)
	for _, part := range parts {
		if !slices.Contains(it.Parts, part) {
			it.Parts = append(it.Parts, part)
			if pl.wanted {
				it.lacking[part] = true
			}
		}
		if !pl.wanted {
			delete(it.lacking, part)
		}
	}
}

func (f *finder) note(format string, args ...any) {
	if len(f.notes) < maxNotes {
		f.notes[fmt.Sprintf(format, args...)] = true
	}
}

// lost reports what cannot be followed.
func (f *finder) lost(pl place, what string) {
	if what = strings.TrimSpace(what); len(what) > 80 {
		what = what[:80] + "…"
	}
	if len(f.unknown) < maxNotes {
		f.unknown[strings.ToValidUTF8(fmt.Sprintf("%s: cannot follow %q", pl.name, what), "�")] = true
	}
}

// need handles a reference to something that the tree has not. It is wanted in
// a later tree only where the verification cannot be green without it.
func (f *finder) need(key string, pl place) {
	if pl.sure && !pl.wanted {
		f.missing[key] = true
	}
}

// enter returns the place behind a reference that the tree has.
func (f *finder) enter(key string, pl place) place {
	pl.wanted = pl.wanted || f.wanted[key]
	pl.depth++
	return pl
}

// first reports whether something is followed for the first time, and counts
// against the limits.
func (f *finder) first(pl place, key string) bool {
	key = fmt.Sprint(key, "\x00", pl.dir, "\x00", pl.sure, pl.wanted, pl.args)
	if f.seen[key] {
		return false
	}
	f.seen[key] = true
	if f.follows++; f.follows > maxFollows || pl.depth > maxDepth {
		f.lost(pl, "more: too many or too deep")
		return false
	}
	return true
}
