package workspace

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

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

// maxMeet bounds the work of looking for a common path: the globs can come
// from a session. Longer ones are taken to have none.
const (
	maxMeet         = 1 << 16
	maxAlternatives = 64
)

// meet returns a path that two globs both match, and whether there is one.
func meet(a, b string) (string, bool) {
	for _, x := range alternatives(a) {
		for _, y := range alternatives(b) {
			if len(x)*len(y) > maxMeet {
				continue
			}
			p, ok := meetPaths(strings.Split(x, "/"), strings.Split(y, "/"), map[[2]int]bool{})
			if ok && match(a, p) && match(b, p) {
				return p, true
			}
		}
	}
	return "", false
}

// alternatives are the globs without braces that one with braces stands for,
// as many as anybody writes.
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

// meetPaths is meet for the segments of paths; failed remembers by what is
// left of both.
func meetPaths(a, b []string, failed map[[2]int]bool) (string, bool) {
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
		if p, ok := meetPaths(a[1:], b, failed); ok {
			return p, true
		}
		return meetPaths(a, b[1:], failed)
	case anyA && len(b) == 0:
		return meetPaths(a[1:], b, failed)
	case anyB && len(a) == 0:
		return meetPaths(a, b[1:], failed)
	case len(a) == 0 || len(b) == 0:
		return "", false
	}
	// A name on both sides, or one that ** takes; before ** gives way to none,
	// because what lies below a folder is rather meant than the folder.
	restA, restB, nameA, nameB := a[1:], b[1:], a[0], b[0]
	if anyA {
		restA, nameA = a, "*"
	}
	if anyB {
		restB, nameB = b, "*"
	}
	if name, ok := meetNames(pieces(nameA), pieces(nameB), map[[2]int]bool{}); ok {
		if name == "" {
			name = "x" // nothing but stars
		}
		if rest, ok := meetPaths(restA, restB, failed); ok {
			return strings.TrimSuffix(name+"/"+rest, "/"), true
		}
	}
	switch {
	case anyA:
		return meetPaths(a[1:], b, failed)
	case anyB:
		return meetPaths(a, b[1:], failed)
	}
	return "", false
}

// pieces cuts a glob of one name into a letter that stands for itself, with a
// \ before it, "?", "*", or a class in brackets.
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

// meetNames is meet for the pieces of one name.
func meetNames(a, b []string, failed map[[2]int]bool) (string, bool) {
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
		if name, ok := meetNames(a[1:], b, failed); ok {
			return name, true
		}
	}
	if starB {
		if name, ok := meetNames(a, b[1:], failed); ok {
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
	name, ok := meetNames(restA, restB, failed)
	return c + name, ok
}

// common returns a letter that two pieces of a name both match.
func common(a, b string) (string, bool) {
	for _, r := range a + b + "xaA0_-.Zz9é" {
		if c := string(r); match(a, c) && match(b, c) {
			return c, true
		}
	}
	return "", false
}
