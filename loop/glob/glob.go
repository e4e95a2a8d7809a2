// Package glob compares the globs with which people say which paths a task may change.
// It reads no files.
package glob

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Complete completes globs from configuration and hats: a plain path stands for
// that file, or for everything below that folder.
func Complete(list []string) []string {
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

// Match reports whether a glob matches the path p. An invalid glob matches
// nothing.
func Match(glob, p string) bool {
	ok, err := doublestar.Match(glob, p)
	return ok && err == nil
}

func MatchAny(globs []string, p string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return Match(g, p) })
}

// Literal returns a glob that matches only the path p.
func Literal(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(p)
}

// Unescape is the inverse of Literal, for globs without classes.
func Unescape(g string) string { return strings.ReplaceAll(g, `\`, "") }

// Limits of the search for a common path: a session can supply the globs.
// Longer ones count as having none in common.
const (
	maxMeet         = 1 << 16
	maxAlternatives = 64
)

// Intersect returns a path that both globs match, and whether one exists.
func Intersect(a, b string) (string, bool) {
	for _, x := range alternatives(a) {
		for _, y := range alternatives(b) {
			if len(x)*len(y) > maxMeet {
				continue
			}
			p, ok := intersectPaths(strings.Split(x, "/"), strings.Split(y, "/"), map[[2]int]bool{})
			if ok && Match(a, p) && Match(b, p) {
				return p, true
			}
		}
	}
	return "", false
}

// alternatives expands the braces of a glob, up to a number that is enough for
// any useful glob.
func alternatives(glob string) []string {
	open, depth, last := -1, 0, 0
	var parts []string
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				open, last = i, i+1
			}
		case depth == 1 && (c == ',' || c == '}'):
			parts = append(parts, glob[last:i])
			last = i + 1
			if c == ',' {
				continue
			}
			var out []string
			for _, p := range parts {
				if len(out) < maxAlternatives {
					out = append(out, alternatives(glob[:open]+p+glob[i+1:])...)
				}
			}
			return out[:min(len(out), maxAlternatives)]
		case c == '}' && depth > 0:
			depth--
		}
	}
	return []string{glob}
}

// intersectPaths is Intersect for paths cut into segments. failed holds the
// pairs of remaining lengths that are known to have nothing in common.
func intersectPaths(a, b []string, failed map[[2]int]bool) (string, bool) {
	left := [2]int{len(a), len(b)}
	if failed[left] {
		return "", false
	}
	p, ok := tryPaths(a, b, failed)
	failed[left] = !ok
	return p, ok
}

func tryPaths(a, b []string, failed map[[2]int]bool) (string, bool) {
	anyA, anyB := len(a) > 0 && a[0] == "**", len(b) > 0 && b[0] == "**"
	switch {
	case len(a) == 0 && len(b) == 0:
		return "", true
	case anyA && anyB:
		if p, ok := intersectPaths(a[1:], b, failed); ok {
			return p, true
		}
		return intersectPaths(a, b[1:], failed)
	case anyA && len(b) == 0:
		return intersectPaths(a[1:], b, failed)
	case anyB && len(a) == 0:
		return intersectPaths(a, b[1:], failed)
	case len(a) == 0 || len(b) == 0:
		return "", false
	}
	// Prefer a name to an empty match of **: the common path should be
	// something below the folder, not the folder itself.
	restA, restB, nameA, nameB := a[1:], b[1:], a[0], b[0]
	if anyA {
		restA, nameA = a, "*"
	}
	if anyB {
		restB, nameB = b, "*"
	}
	if name, ok := intersectNames(pieces(nameA), pieces(nameB), map[[2]int]bool{}); ok {
		if name == "" {
			name = "x" // only stars
		}
		if rest, ok := intersectPaths(restA, restB, failed); ok {
			return strings.TrimSuffix(name+"/"+rest, "/"), true
		}
	}
	switch {
	case anyA:
		return intersectPaths(a[1:], b, failed)
	case anyB:
		return intersectPaths(a, b[1:], failed)
	}
	return "", false
}

// pieces cuts a glob for one name into pieces: a letter (possibly with a \
// before it), "?", "*", or a class in brackets.
func pieces(segment string) []string {
	var out []string
	runes := []rune(segment)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == '\\' && i+1 < len(runes):
			i++
			out = append(out, `\`+string(runes[i]))
		case r == '*' || r == '?':
			out = append(out, string(r))
		case r == '[':
			end := i + 1
			for end < len(runes) && runes[end] != ']' {
				if runes[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, string(runes[i:min(end+1, len(runes))]))
			i = end
		default:
			out = append(out, `\`+string(r))
		}
	}
	return out
}

// intersectNames is Intersect for the pieces of one name.
func intersectNames(a, b []string, failed map[[2]int]bool) (string, bool) {
	left := [2]int{len(a), len(b)}
	if failed[left] {
		return "", false
	}
	name, ok := tryNames(a, b, failed)
	failed[left] = !ok
	return name, ok
}

func tryNames(a, b []string, failed map[[2]int]bool) (string, bool) {
	if len(a) == 0 && len(b) == 0 {
		return "", true
	}
	starA, starB := len(a) > 0 && a[0] == "*", len(b) > 0 && b[0] == "*"
	if starA {
		if name, ok := intersectNames(a[1:], b, failed); ok {
			return name, true
		}
	}
	if starB {
		if name, ok := intersectNames(a, b[1:], failed); ok {
			return name, true
		}
	}
	if len(a) == 0 || len(b) == 0 || starA && starB {
		return "", false
	}
	restA, restB, one, two := a[1:], b[1:], a[0], b[0]
	if starA {
		restA, one = a, "?"
	}
	if starB {
		restB, two = b, "?"
	}
	c, ok := common(one, two)
	if !ok {
		return "", false
	}
	name, ok := intersectNames(restA, restB, failed)
	return c + name, ok
}

// common returns a letter that both pieces match.
func common(a, b string) (string, bool) {
	for _, r := range a + b + "xaA0_-.Zz9é" {
		if c := string(r); Match(a, c) && Match(b, c) {
			return c, true
		}
	}
	return "", false
}
