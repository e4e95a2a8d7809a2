package secret

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Finding is a place that looks like a secret.
type Finding struct {
	Rule       string
	Line, Last int // first and last line of the match, counted from 1; 0 for a file that its name gives away
	start, end int // of the secret, in bytes
}

// Scan returns the findings in a file's text, at most one a line, in order.
// added reports whether a line counts: only matches with such a line are
// returned. Comments in the text that allow a finding have no effect.
func Scan(path, text string, x Exceptions, added func(line int) bool) []Finding {
	set := defaults()
	if slices.ContainsFunc(set.allow, func(a allowlist) bool { return !a.all && anyMatch(a.paths, path) }) {
		return nil
	}
	s := scan{set: set, path: path, text: text, low: lower(text), lines: lineStarts(text), except: x, added: added}
	for _, r := range set.rules {
		s.apply(r)
	}
	// A specific rule says more than the generic one.
	slices.SortStableFunc(s.found, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return rank(a) - rank(b)
	})
	found := slices.CompactFunc(s.found, func(a, b Finding) bool { return a.Line == b.Line })
	return slices.DeleteFunc(found, func(f Finding) bool { return x.places[fmt.Sprintf("%s:%s:%d", path, f.Rule, f.Line)] })
}

// generic is the rule for values without a form of their own.
const generic = "generic-api-key"

func rank(f Finding) int {
	if f.Rule == generic {
		return 1
	}
	return 0
}

// scan is one pass over one text.
type scan struct {
	set    *ruleSet
	path   string
	text   string
	low    string // text in lower case
	lines  []int  // where each line starts
	except Exceptions
	added  func(line int) bool
	found  []Finding
}

// apply tries one rule.
func (s *scan) apply(r rule) {
	if r.path != nil && !r.path.MatchString(s.path) {
		return
	}
	if r.regex == nil {
		if r.path != nil && s.path != "" {
			s.found = append(s.found, Finding{Rule: r.id})
		}
		return
	}
	for _, w := range s.windows(r) {
		part := s.text[w[0]:w[1]]
		for _, at := range r.regex().FindAllStringSubmatchIndex(part, -1) {
			s.consider(r, w[0], at)
		}
	}
}

// windows returns the parts of the text that a rule is tried on: those around its
// keywords, joined where they overlap.
func (s *scan) windows(r rule) [][2]int {
	if len(r.keywords) == 0 {
		return [][2]int{{0, len(s.text)}}
	}
	var list [][2]int
	for _, k := range r.keywords {
		for from := 0; ; {
			n := strings.Index(s.low[from:], k)
			if n < 0 {
				break
			}
			pos := from + n
			line := s.lineOf(pos)
			w := [2]int{max(0, pos-r.reach.before), min(len(s.text), pos+len(k)+r.reach.after)}
			if more := r.reach.lines; more > 0 {
				w = [2]int{max(s.lines[line], w[0]), max(pos+len(k), min(s.lineEnd(line+more), w[1]))}
			}
			from = pos + len(k)
			if s.anyAdded(s.lineOf(w[0]), s.lineOf(w[1]-1)) {
				list = append(list, w)
			}
		}
	}
	slices.SortFunc(list, func(a, b [2]int) int { return a[0] - b[0] })
	var joined [][2]int
	for _, w := range list {
		if n := len(joined); n > 0 && w[0] <= joined[n-1][1] {
			joined[n-1][1] = max(joined[n-1][1], w[1])
			continue
		}
		joined = append(joined, w)
	}
	return joined
}

// consider records a match unless it is an exception.
func (s *scan) consider(r rule, offset int, at []int) {
	start, end := offset+at[0], offset+at[1]
	for start < end && s.text[start] == '\n' {
		start++
	}
	for end > start && s.text[end-1] == '\n' {
		end--
	}
	f := Finding{Rule: r.id, Line: s.lineOf(start) + 1, Last: s.lineOf(max(start, end-1)) + 1, start: start, end: end}
	if group := r.group; group > 0 && 2*group+1 < len(at) && at[2*group] >= 0 {
		f.start, f.end = offset+at[2*group], offset+at[2*group+1]
	} else if group == 0 {
		for n := 2; n+1 < len(at); n += 2 {
			if at[n] >= 0 && at[n+1] > at[n] {
				f.start, f.end = offset+at[n], offset+at[n+1]
				break
			}
		}
	}
	secret := s.text[f.start:f.end]
	if secret == "" || !s.anyAdded(f.Line-1, f.Last-1) || r.entropy > 0 && entropy(secret) <= r.entropy {
		return
	}
	m := match{path: s.path, line: s.text[s.lines[f.Line-1]:s.lineEnd(f.Last-1)], match: s.text[start:end], secret: secret}
	permitted := func(a allowlist) bool {
		return (len(a.rules) == 0 || slices.Contains(a.rules, r.id)) && a.permits(m)
	}
	if slices.ContainsFunc(s.set.allow, permitted) || slices.ContainsFunc(r.allow, permitted) || slices.ContainsFunc(s.except.lists, permitted) {
		return
	}
	s.found = append(s.found, f)
}

func (s *scan) anyAdded(first, last int) bool {
	for n := first; n <= last; n++ {
		if s.added(n + 1) {
			return true
		}
	}
	return false
}

// lineOf returns the number of the line at a position, counted from 0.
func (s *scan) lineOf(pos int) int {
	n, found := slices.BinarySearch(s.lines, pos)
	if found {
		return n
	}
	return n - 1
}

// lineEnd returns where a line ends, before its line end.
func (s *scan) lineEnd(n int) int {
	if n+1 < len(s.lines) {
		return s.lines[n+1] - 1
	}
	return len(s.text)
}

// lineStarts returns the position of each line of a text.
func lineStarts(text string) []int {
	starts := []int{0}
	for n := 0; ; {
		i := strings.IndexByte(text[n:], '\n')
		if i < 0 {
			return starts
		}
		n += i + 1
		starts = append(starts, n)
	}
}

// entropy returns Shannon's entropy of the bytes of s, in bits a byte.
func entropy(s string) float64 {
	var counts [256]float64
	for n := range len(s) {
		counts[s[n]]++
	}
	e := 0.0
	for _, c := range counts {
		if c > 0 {
			p := c / float64(len(s))
			e -= p * math.Log2(p)
		}
	}
	return e
}
