package proof

import (
	"fmt"
	"path"
	"strings"
)

// Summary says in a few words what was done to what proves: "1 test deleted,
// test.sh −4". It names at most limit files that are no tests; the rest is a
// number. No change gives an empty text.
func Summary(changes []Change, limit int) string {
	count := map[Action]int{}
	cases := 0
	snapshots := 0
	var files []string
	rest := 0
	for _, c := range changes {
		switch {
		case c.Kind == KindSnapshot && c.Action != Moved:
			snapshots++
		case (c.Kind == KindTest || c.Kind == KindHelper) && c.Action != Shadowed:
			if c.Action == Deleted || len(c.Cases) > 0 {
				cases += max(1, len(c.Cases))
			} else {
				count[c.Action]++
			}
		case len(files) >= limit:
			rest++
		default:
			files = append(files, c.words())
		}
	}
	var out []string
	add := func(n int, what, done string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s %s", n, plural(what, n), done))
		}
	}
	add(cases, "test", "deleted")
	add(count[Skipped], "test", "changed to skip")
	add(count[Edited], "test", "changed")
	add(count[Moved], "test", "moved")
	add(snapshots, "snapshot", "changed")
	out = append(out, files...)
	if rest > 0 {
		out = append(out, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(out, ", ")
}

func plural(s string, n int) string {
	if n == 1 {
		return s
	}
	return s + "s"
}

// words is a change of one file that is no test: "test.sh −4", "new
// conftest.py", "package.json scripts.test +1 −1".
func (c Change) words() string {
	name := path.Base(c.Path)
	if len(c.Parts) == 1 {
		name += " " + c.Parts[0]
	} else if len(c.Parts) > 1 {
		name += fmt.Sprintf(" %s and %d more", c.Parts[0], len(c.Parts)-1)
	}
	switch c.Action {
	case Shadowed:
		return "new " + name
	case Deleted:
		return name + " deleted"
	}
	if c.Added > 0 {
		name += fmt.Sprintf(" +%d", c.Added)
	}
	if c.Lost > 0 {
		name += fmt.Sprintf(" −%d", c.Lost)
	}
	if c.Added+c.Lost == 0 {
		name += " changed"
	}
	return name
}
