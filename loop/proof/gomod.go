package proof

import "strings"

// goMod is go.mod: parts are "replace MODULE" and "ignore".
type goMod struct{ lines []goModLine }

// goModLine is one line; the lines of a block have its directive.
type goModLine struct {
	text, directive string
	fields          []string
}

func readGoMod(data []byte) document {
	var f goMod
	inBlock := ""
	for _, text := range strings.SplitAfter(string(data), "\n") {
		code, _, _ := strings.Cut(text, "//")
		l := goModLine{text: text, fields: strings.Fields(code)}
		switch {
		case len(l.fields) == 0:
		case inBlock != "" && l.fields[0] == ")":
			inBlock, l.fields = "", nil
		case inBlock != "":
			l.directive = inBlock
		case len(l.fields) == 2 && l.fields[1] == "(":
			inBlock, l.fields = l.fields[0], nil
		default:
			l.directive, l.fields = l.fields[0], l.fields[1:]
		}
		f.lines = append(f.lines, l)
	}
	return f
}

func (l goModLine) in(part string) bool {
	directive, name, _ := strings.Cut(part, " ")
	return l.directive == directive && len(l.fields) > 0 && (name == "" || strings.Trim(l.fields[0], `"`) == name)
}

func (f goMod) part(part string) (string, bool) {
	var b strings.Builder
	for _, l := range f.lines {
		if l.in(part) {
			b.WriteString(l.directive + " " + strings.Join(l.fields, " ") + "\n")
		}
	}
	return b.String(), b.Len() > 0
}

func (f goMod) lay(from document, parts []string) ([]byte, bool) {
	src, ok := from.(goMod)
	if !ok {
		return nil, false
	}
	proves := func(l goModLine) bool {
		for _, p := range parts {
			if l.in(p) {
				return true
			}
		}
		return false
	}
	var b strings.Builder
	for _, l := range f.lines {
		if !proves(l) {
			b.WriteString(l.text)
		}
	}
	out := endLine(b.String())
	for _, l := range src.lines {
		if proves(l) {
			out += l.directive + " " + strings.Join(l.fields, " ") + "\n"
		}
	}
	return []byte(out), true
}

// localReplaces are the modules that a folder of the repository replaces.
func (f goMod) localReplaces() []string {
	var out []string
	for _, l := range f.lines {
		if n := len(l.fields); l.directive == "replace" && n >= 3 && strings.HasPrefix(strings.Trim(l.fields[n-1], `"`), ".") {
			out = append(out, strings.Trim(l.fields[0], `"`))
		}
	}
	return out
}
