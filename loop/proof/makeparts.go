package proof

import (
	"slices"
	"strings"
)

// makeFile is a makefile: parts are "target NAME", "variable NAME", "first"
// (the default target) and "always", the lines that concern every target.
type makeFile struct{ blocks []block }

func readMake(data []byte) document { return makeFile{blocks(string(data))} }

// proves reports whether a block belongs to one of the parts.
func (b block) proves(parts []string) bool {
	return slices.ContainsFunc(parts, b.in)
}

func (b block) in(part string) bool {
	kind, name, _ := strings.Cut(part, " ")
	switch kind {
	case "always":
		return b.always || slices.ContainsFunc(b.names, func(n string) bool { return slices.Contains(makeSpecial, n) })
	case "target":
		return slices.ContainsFunc(b.targets, func(t string) bool { return t == name || strings.Contains(t, "$") }) ||
			slices.Contains(b.targets, ".PHONY") && slices.Contains(b.needs, name)
	case "variable":
		return slices.Contains(b.names, name)
	}
	return false
}

func (f makeFile) part(part string) (string, bool) {
	var all strings.Builder
	found := false
	for _, b := range f.blocks {
		switch {
		case part == "first":
			for _, t := range b.targets {
				if !strings.HasPrefix(t, ".") && !strings.Contains(t, "%") {
					return t, true
				}
			}
		case b.in(part):
			found = true
			for _, l := range strings.Split(strings.TrimSpace(b.text), "\n") {
				all.WriteString(strings.TrimRight(l, " \t\r") + "\n")
			}
		}
	}
	return all.String(), found
}

func (f makeFile) lay(from document, parts []string) ([]byte, bool) {
	src, ok := from.(makeFile)
	if !ok {
		return nil, false
	}
	var insert []block
	for _, b := range src.blocks {
		if b.proves(parts) {
			insert = append(insert, b)
		}
	}
	var out strings.Builder
	next := 0
	for _, b := range f.blocks {
		if !b.proves(parts) {
			out.WriteString(endLine(b.text))
			continue
		}
		// The blocks up to the one that stands here.
		at := slices.IndexFunc(insert[next:], func(s block) bool { return s.replaces(b) })
		for n := 0; n <= at; n++ {
			out.WriteString(endLine(insert[next].text))
			next++
		}
	}
	for _, b := range insert[next:] {
		out.WriteString(endLine(b.text))
	}
	if len(f.blocks) > 0 && len(insert) > 0 {
		// What proves may have to stand before the rest: the default target does.
		if a, _ := src.part("first"); slices.Contains(parts, "first") {
			if b, _ := (makeFile{blocks(out.String())}).part("first"); a != b {
				return f.before(insert, parts), true
			}
		}
	}
	return []byte(out.String()), true
}

// before puts the blocks that prove at the top.
func (f makeFile) before(insert []block, parts []string) []byte {
	var out strings.Builder
	for _, b := range insert {
		out.WriteString(endLine(b.text))
	}
	for _, b := range f.blocks {
		if !b.proves(parts) {
			out.WriteString(endLine(b.text))
		}
	}
	return []byte(out.String())
}

// replaces reports whether two blocks set or make the same.
func (b block) replaces(o block) bool {
	if len(b.targets) > 0 && len(o.targets) > 0 {
		return slices.ContainsFunc(b.targets, func(t string) bool { return slices.Contains(o.targets, t) })
	}
	if len(b.names) > 0 && len(o.names) > 0 {
		return slices.ContainsFunc(b.names, func(n string) bool { return slices.Contains(o.names, n) })
	}
	return strings.TrimSpace(b.text) == strings.TrimSpace(o.text)
}
