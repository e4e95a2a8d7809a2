package proof

import (
	"slices"
	"strings"
)

// iniRunner are sections of setup.cfg and tox.ini that tell runners what to
// do; a star stands for any end of the name.
var iniRunner = []string{"pytest", "tool:pytest", "tox", "testenv*", "coverage*", "nosetests", "aliases"}

// dependencyKeys are keys of such sections that name dependencies.
var dependencyKeys = []string{"deps", "requires", "install_requires", "tests_require"}

// iniFile is setup.cfg, tox.ini or .npmrc: parts are sections, or ".KEY" before
// the first one.
type iniFile struct {
	sections []iniSection
}

type iniSection struct {
	name   string
	header string
	keys   []iniKey
}

// iniKey is a line with those that continue it, or a comment without a name.
type iniKey struct{ name, text string }

func readINI(data []byte) (document, bool) {
	f := iniFile{sections: []iniSection{{}}}
	for _, line := range strings.SplitAfter(string(data), "\n") {
		last := &f.sections[len(f.sections)-1]
		t := strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(t, "[") && strings.HasPrefix(line, "["):
			name, _, ok := strings.Cut(t[1:], "]")
			if !ok {
				return nil, false
			}
			f.sections = append(f.sections, iniSection{name: strings.TrimSpace(name), header: line})
		case t == "" || strings.HasPrefix(t, "#") || strings.HasPrefix(t, ";"):
			last.keys = append(last.keys, iniKey{text: line})
		case (line[0] == ' ' || line[0] == '\t') && len(last.keys) > 0:
			last.keys[len(last.keys)-1].text += line
		default:
			n := strings.IndexAny(t, "=:")
			if n < 0 {
				n = len(t)
			}
			name := strings.ToLower(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(t[:n]), "[]")))
			last.keys = append(last.keys, iniKey{name: name, text: line})
		}
	}
	return f, true
}

func sectionIs(part, name string) bool {
	if p, ok := strings.CutSuffix(part, "*"); ok {
		return strings.HasPrefix(name, p)
	}
	return part == name
}

func anySection(parts []string, name string) bool {
	for _, p := range parts {
		if !strings.HasPrefix(p, ".") && sectionIs(p, name) {
			return name != ""
		}
	}
	return false
}

func isDependency(key string) bool { return slices.Contains(dependencyKeys, key) }

func (f iniFile) part(part string) (string, bool) {
	var b strings.Builder
	found := false
	for _, s := range f.sections {
		key, isKey := strings.CutPrefix(part, ".")
		if isKey && s.name != "" || !isKey && (s.name == "" || !sectionIs(part, s.name)) {
			continue
		}
		if !isKey {
			found = true
			b.WriteString("[" + s.name + "]\n")
		}
		for _, k := range s.keys {
			if k.name == "" || isKey && k.name != key || isDependency(k.name) {
				continue
			}
			found = true
			for _, l := range strings.Split(strings.TrimSpace(k.text), "\n") {
				b.WriteString(strings.TrimSpace(l) + "\n")
			}
		}
	}
	return b.String(), found
}

func (f iniFile) lay(from document, parts []string) ([]byte, bool) {
	src, ok := from.(iniFile)
	if !ok {
		return nil, false
	}
	var b strings.Builder
	write := func(s string) { b.WriteString(endLine(s)) }
	keep := func(s iniSection, proving bool) {
		for _, k := range s.keys {
			named := k.name != "" && (slices.Contains(parts, "."+k.name) && s.name == "")
			if named == proving {
				write(k.text)
			}
		}
	}
	keep(f.sections[0], false)
	keep(src.sections[0], true)
	placed := false
	place := func() {
		if placed {
			return
		}
		placed = true
		for _, s := range src.sections[1:] {
			if !anySection(parts, s.name) {
				continue
			}
			write(s.header)
			for _, k := range s.keys {
				if !isDependency(k.name) {
					write(k.text)
				}
			}
			for _, r := range f.sections[1:] { // dependencies stay the result's
				if r.name == s.name {
					for _, k := range r.keys {
						if isDependency(k.name) {
							write(k.text)
						}
					}
				}
			}
		}
	}
	for _, s := range f.sections[1:] {
		if anySection(parts, s.name) {
			place()
			continue
		}
		write(s.header)
		for _, k := range s.keys {
			write(k.text)
		}
	}
	place()
	return []byte(b.String()), true
}
