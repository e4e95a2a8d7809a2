package proof

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Action is what an attempt did to something that proves.
type Action string

// The actions.
const (
	Deleted Action = "deleted"
	Edited  Action = "changed"
	// Skipped is a changed test in which more stands than before that tells a
	// runner to leave tests out.
	Skipped Action = "skipped"
	// Shadowed is something new that governs what proved at the start: a runner's
	// configuration, a script that now runs before the tests, a module that is
	// found instead of the runner's.
	Shadowed Action = "shadowed"
	// Moved is a test with the same content at another place where its runner
	// finds it.
	Moved Action = "moved"
)

// Change is one thing that proved at the start and that an attempt touched.
type Change struct {
	Path   string
	To     string // where a moved test is now
	Kind   Kind
	Action Action
	Parts  []string // of a mixed file: those that differ
	Added  int      // lines, wherever they stand
	Lost   int
	Cases  []string // names of test cases that no test of the result has
	Named  bool     // the task names it
	Along  bool     // a moved test: what it tests moved with it
}

// Guards reports whether the start's version must be laid over the result
// before a green verification counts.
func (c Change) Guards() bool { return !c.Named && !c.Along }

// Report is how two trees differ in what proves.
type Report struct {
	Changes []Change
	// NewTests are tests, snapshots and helpers that the start has not. They
	// change nothing of what proves.
	NewTests []string
	// Unknown is what the result's commands run that cannot be followed and the
	// start's did not.
	Unknown []string
	Notes   []string
}

// Guarded reports whether a change asks for the start's checks.
func (r Report) Guarded() bool { return slices.ContainsFunc(r.Changes, Change.Guards) }

// Compare returns what an attempt did to what proves. set is Find of the
// start; named are globs of the paths that the task names, for which the
// caller decides how explicit a name must be. An error is a tree's.
func Compare(set Set, start, result Tree, named []string) (Report, error) {
	a, b := newReader(start), newReader(result)
	r := compare(&set, a, b, named)
	return r, cmp.Or(a.err, b.err)
}

// comparison is what Compare works with.
type comparison struct {
	set, after *Set
	a, b       *reader
	match      *matcher
	named      *matcher
	report     Report
	cases      map[string]bool // of the result's tests that are new or changed
}

func compare(set *Set, a, b *reader, named []string) Report {
	c := &comparison{set: set, a: a, b: b, after: find(b, set.project, set), match: newTestMatcher(set.project.Tests), named: newMatcher(named)}
	for _, it := range set.Items {
		c.startItem(it)
	}
	for _, it := range c.after.Items {
		if _, ok := set.Item(it.Path); !ok {
			c.newItem(it)
		}
	}
	for _, p := range c.shadows() {
		c.add(Change{Path: p, Kind: KindConfig, Action: Shadowed})
	}
	c.moves()
	for _, u := range c.after.Unknown {
		if !slices.Contains(set.Unknown, u) {
			c.report.Unknown = append(c.report.Unknown, u)
		}
	}
	c.report.Notes = c.after.Notes
	slices.SortStableFunc(c.report.Changes, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return c.report
}

func (c *comparison) add(ch Change) {
	if slices.ContainsFunc(c.report.Changes, func(o Change) bool { return o.Path == ch.Path }) {
		return
	}
	ch.Named = c.named.named(ch.Path)
	if len(ch.Parts) == 0 && ch.Added+ch.Lost == 0 {
		ch.Added, ch.Lost = lineDifference(c.lines(c.a, ch.Path), c.lines(c.b, ch.Path))
	}
	c.report.Changes = append(c.report.Changes, ch)
}

// named reports whether one of the globs names a path. No glob names nothing.
func (m *matcher) named(p string) bool {
	return slices.ContainsFunc(m.globs, func(g string) bool { return globMatch(g, p) })
}

// lines is a file's text for counting; none of a binary or very large one.
func (c *comparison) lines(r *reader, p string) []byte {
	if !r.has(p) {
		return nil
	}
	text, _ := r.text(p)
	return text
}

// startItem looks what became of a thing that proved at the start.
func (c *comparison) startItem(it Item) {
	if it.Parts == nil {
		switch {
		case !c.b.has(it.Path):
			c.add(Change{Path: it.Path, Kind: it.Kind, Action: Deleted})
		case !same(c.a, it.Path, c.b, it.Path):
			ch := Change{Path: it.Path, Kind: it.Kind, Action: Edited}
			if it.Kind == KindTest && skipsMore(c.lines(c.a, it.Path), c.lines(c.b, it.Path)) {
				ch.Action = Skipped
			}
			c.add(ch)
		}
		return
	}
	after, found := c.after.Item(it.Path)
	parts := slices.Clone(it.Parts)
	for _, p := range after.Parts {
		if !slices.Contains(parts, p) && it.Kind != KindTest {
			parts = append(parts, p)
		}
	}
	text, _ := c.a.text(it.Path)
	old, ok := readParts(it.Path, text)
	if !ok {
		return // Find made it whole
	}
	ch := Change{Path: it.Path, Kind: it.Kind, Action: Edited}
	var now document
	if c.b.has(it.Path) {
		data, ok := c.b.text(it.Path)
		if ok {
			now, ok = readParts(it.Path, data)
		}
		if !ok || c.b.files[it.Path].Mode == modeLink {
			c.add(ch) // it cannot be read in parts any more
			return
		}
	}
	had, has := false, false
	for _, p := range parts {
		x, in := old.part(p)
		y, also := "", false
		if now != nil {
			y, also = now.part(p)
		}
		if in == also && x == y || found && !in && after.lacking[p] {
			continue
		}
		had, has = had || in, has || also
		ch.Parts = append(ch.Parts, p)
		plus, minus := lineDifference([]byte(x), []byte(y))
		ch.Added += plus
		ch.Lost += minus
		if it.Kind == KindTest && skipsMore([]byte(x), []byte(y)) {
			ch.Action = Skipped
		}
	}
	switch {
	case len(ch.Parts) == 0:
		return
	case it.Kind == KindTest && now == nil && c.rustMoved(old, ch.Parts):
		return
	case now == nil:
		ch.Action = Deleted
		if it.Kind != KindTest {
			ch.Parts = nil
		}
	case !has:
		ch.Action = Deleted
	case !had:
		ch.Action = Shadowed
	}
	if slices.ContainsFunc(ch.Parts, func(p string) bool { return strings.HasPrefix(p, "scripts.") }) {
		ch.Kind = KindScript
	}
	c.add(ch)
}

// rustMoved reports whether the test modules of a source that is gone stand in
// other sources now.
func (c *comparison) rustMoved(old document, parts []string) bool {
	for _, p := range parts {
		text, _ := old.part(p)
		if !slices.ContainsFunc(c.after.Items, func(it Item) bool {
			if it.Parts == nil || !strings.HasSuffix(it.Path, ".rs") || c.a.has(it.Path) {
				return false
			}
			data, _ := c.b.text(it.Path)
			return bytes.Contains(data, []byte(text))
		}) {
			return false
		}
	}
	return true
}

// newItem looks at what proves in the result and did not at the start.
func (c *comparison) newItem(it Item) {
	p := it.Path
	existed := c.a.has(p)
	test := c.match.test(p)
	switch {
	case it.wanted:
	case existed && it.Parts == nil:
		// The start had the file, and it did not prove: what leads to it now is
		// the change. Configuration of a program that is run only now is none.
		if it.Kind == KindHelper || it.Kind == KindScript {
			return
		}
	case it.sourced:
		c.add(Change{Path: p, Kind: KindScript, Action: Shadowed})
	case it.Kind == KindTest || it.Kind == KindSnapshot || it.Kind == KindHelper || test && it.Kind == KindScript:
		if it.Parts != nil {
			if !existed {
				c.report.NewTests = append(c.report.NewTests, p)
			}
			return
		}
		if test && c.endsRun(p) {
			c.add(Change{Path: p, Kind: KindTest, Action: Shadowed})
			return
		}
		c.report.NewTests = append(c.report.NewTests, p)
	case it.reached && !existed:
		c.add(Change{Path: p, Kind: it.Kind, Action: Shadowed})
	case !it.reached && !governs(p, c.set):
		if test && c.endsRun(p) { // hooks of a new folder's conftest.py concern all
			c.add(Change{Path: p, Kind: it.Kind, Action: Shadowed})
		} else if test && !existed {
			c.report.NewTests = append(c.report.NewTests, p)
		}
	case it.Parts == nil:
		c.add(Change{Path: p, Kind: it.Kind, Action: Shadowed})
	default:
		text, _ := c.b.text(p)
		var parts []string
		if now, ok := readParts(p, text); ok {
			for _, name := range it.Parts {
				_, in := now.part(name)
				was := false
				if old, ok := readParts(p, c.lines(c.a, p)); ok && existed {
					_, was = old.part(name)
				}
				if in && !was {
					parts = append(parts, name)
				}
			}
		}
		if len(parts) > 0 {
			c.add(Change{Path: p, Kind: it.Kind, Action: Shadowed, Parts: parts})
		}
	}
}

// moves finds deleted tests at another place, and the cases that are gone.
func (c *comparison) moves() {
	for i := range c.report.Changes {
		ch := &c.report.Changes[i]
		if ch.Action != Deleted || ch.Parts != nil || ch.Kind != KindTest && ch.Kind != KindHelper && ch.Kind != KindSnapshot {
			continue
		}
		if it, _ := c.set.Item(ch.Path); it.reached {
			continue // the start's commands name it
		}
		for n, q := range c.report.NewTests {
			if c.movedTo(ch.Path, q) {
				ch.Action, ch.To, ch.Added, ch.Lost = Moved, q, 0, 0
				ch.Along = c.movedAlong(ch.Path, q)
				ch.Named = ch.Named || c.named.named(q)
				c.report.NewTests = slices.Delete(c.report.NewTests, n, n+1)
				break
			}
		}
	}
	for i := range c.report.Changes {
		ch := &c.report.Changes[i]
		if ch.Kind != KindTest || ch.Action == Moved || ch.Action == Shadowed {
			continue
		}
		for _, name := range caseNames(ch.Path, string(c.lines(c.a, ch.Path))) {
			if !c.hasCase(name) && !slices.Contains(ch.Cases, name) {
				ch.Cases = append(ch.Cases, name)
			}
		}
	}
}

// hasCase reports whether a new or changed test of the result has a case.
func (c *comparison) hasCase(name string) bool {
	if c.cases == nil {
		c.cases = map[string]bool{}
		paths := slices.Clone(c.report.NewTests)
		for _, ch := range c.report.Changes {
			if ch.Kind == KindTest {
				paths = append(paths, ch.Path)
			}
		}
		for _, p := range paths {
			for _, n := range caseNames(p, string(c.lines(c.b, p))) {
				c.cases[n] = true
			}
		}
	}
	return c.cases[name]
}

// goSystem ends the names of Go files that are built on some systems only.
var goSystem = regexp.MustCompile(`_(aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips|mipsle|mips64|mips64le|ppc64|ppc64le|riscv64|s390x|wasm)_test\.go$`)

// movedTo reports whether a new file is a deleted test at another place, where
// its runner finds it as before.
func (c *comparison) movedTo(p, q string) bool {
	rule := c.match.rule(p)
	if !same(c.a, p, c.b, q) || rule != c.match.rule(q) {
		return false
	}
	if c.a.files[p].Size == 0 {
		return path.Base(p) == path.Base(q)
	}
	switch {
	case rule >= 100 && rule < 200:
		// Known by its folder alone: what its runner does with subfolders is not
		// known.
		return path.Base(p) == path.Base(q) && strings.Count(p, "/") == strings.Count(q, "/")
	case strings.HasSuffix(p, ".go"):
		for _, s := range strings.Split(parent(q), "/") {
			if s == "testdata" || strings.HasPrefix(s, "_") || strings.HasPrefix(s, ".") {
				return false
			}
		}
		if b := path.Base(q); strings.HasPrefix(b, "_") || strings.HasPrefix(b, ".") {
			return false
		}
		return !goSystem.MatchString(q) || goSystem.MatchString(p)
	}
	return !strings.Contains("/"+q, "/.")
}

// movedAlong reports whether what a test tests moved with it: at the old place
// nothing is left that it could test.
func (c *comparison) movedAlong(p, q string) bool {
	from, to := parent(p), parent(q)
	if from == to {
		return false
	}
	if language(p) == "js" || language(p) == "python" {
		before := &finder{reader: c.a}
		now := &finder{reader: c.b}
		old := 0
		for _, target := range before.imports(p, string(c.lines(c.a, p))) {
			if !c.match.test(target) && !c.b.has(target) {
				old++
			}
		}
		return old > 0 && len(now.imports(q, string(c.lines(c.b, q)))) > 0
	}
	left, gone := 0, 0
	for _, e := range c.a.below(from) {
		if parent(e.Path) != from || c.match.test(e.Path) || language(e.Path) != language(p) {
			continue
		}
		if c.b.has(e.Path) {
			left++
		} else if c.b.has(strings.TrimPrefix(to+"/"+path.Base(e.Path), "/")) {
			gone++
		}
	}
	return left == 0 && gone > 0
}

// skipsMore reports whether the new text tells a runner more often to leave
// tests out.
func skipsMore(old, now []byte) bool {
	return len(skips.FindAllIndex(now, maxFollows)) > len(skips.FindAllIndex(old, maxFollows))
}

// lineDifference counts lines of b that a has not, and the reverse, wherever
// they stand.
func lineDifference(a, b []byte) (added, lost int) {
	count := map[string]int{}
	each := func(text []byte, n int) {
		text = bytes.TrimSuffix(text, []byte("\n"))
		if len(text) == 0 {
			return
		}
		for _, l := range bytes.Split(text, []byte("\n")) {
			count[string(l)] += n
		}
	}
	each(b, 1)
	each(a, -1)
	for _, n := range count {
		if n > 0 {
			added += n
		} else {
			lost -= n
		}
	}
	return added, lost
}
