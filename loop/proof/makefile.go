package proof

import (
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// block is a piece of a makefile: a rule with its recipe, an assignment, a
// conditional as a whole, or another line. The texts of all blocks are the
// file.
type block struct {
	text    string
	targets []string // of a rule
	needs   []string // prerequisites
	recipe  []string // commands, continuation lines joined
	names   []string // variables that it sets
	value   string
	include []string
	always  bool // it can change any target
}

var (
	makeAssign = regexp.MustCompile(`^(?:(?:export|override|private|unexport)\s+)*([A-Za-z0-9_.\-]+)\s*(\?=|:::?=|:=|\+=|!=|=)\s*(.*)`)
	makeDefine = regexp.MustCompile(`^(?:override\s+|export\s+)*define\s+([^\s=]+)`)
	makeRef    = regexp.MustCompile(`\$[({]([A-Za-z0-9_.\-]+)[)}]|\$([A-Za-z])`)
	makeIf     = regexp.MustCompile(`^\s*(ifeq|ifneq|ifdef|ifndef)\b`)
	comment    = regexp.MustCompile(`(^|\s)#.*$`)
	makeEndif  = regexp.MustCompile(`^\s*endif\b`)
)

// makeSpecial are variables and targets that every rule depends on.
var makeSpecial = []string{"SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", ".RECIPEPREFIX", "PATH", ".ONESHELL", ".IGNORE", ".SILENT", ".POSIX", ".DEFAULT", ".EXPORT_ALL_VARIABLES", "MAKEFILES", "VPATH", "BASH_ENV", "ENV", ".SECONDEXPANSION"}

// blocks cuts a makefile. Of a file of any content, the texts are the file.
func blocks(text string) []block {
	var lines []string // logical lines
	for rest := text; rest != ""; {
		n := 0
		for {
			i := strings.IndexByte(rest[n:], '\n')
			if i < 0 {
				n = len(rest)
				break
			}
			n += i + 1
			if !strings.HasSuffix(strings.TrimSuffix(rest[:n-1], "\r"), `\`) {
				break
			}
		}
		lines = append(lines, rest[:n])
		rest = rest[n:]
	}
	var out []block
	for i := 0; i < len(lines); i++ {
		b := block{text: lines[i]}
		switch {
		case makeIf.MatchString(lines[i]):
			depth, from := 1, i
			for i+1 < len(lines) && depth > 0 {
				i++
				if makeIf.MatchString(lines[i]) {
					depth++
				} else if makeEndif.MatchString(lines[i]) {
					depth--
				}
			}
			b = conditional(lines[from : i+1])
		case makeDefine.MatchString(lines[i]):
			b.names = []string{makeDefine.FindStringSubmatch(lines[i])[1]}
			for i+1 < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "endef") {
				i++
				b.text += lines[i]
				b.value += lines[i]
			}
		default:
			b.read(strings.TrimSpace(unfold(lines[i])))
			if len(b.targets) > 0 {
				// Blank and comment lines belong to the recipe only where more of it
				// follows.
				last := i
				for j := i + 1; j < len(lines); j++ {
					t := strings.TrimSpace(lines[j])
					if strings.HasPrefix(lines[j], "\t") && t != "" {
						last = j
					} else if t != "" && !strings.HasPrefix(t, "#") {
						break
					}
				}
				for i < last {
					i++
					b.text += lines[i]
					if strings.HasPrefix(lines[i], "\t") && strings.TrimSpace(lines[i]) != "" {
						b.recipe = append(b.recipe, strings.TrimSpace(unfold(lines[i])))
					}
				}
			}
		}
		out = append(out, b)
	}
	return out
}

// unfold joins continuation lines.
func unfold(s string) string {
	return strings.NewReplacer("\\\r\n", " ", "\\\n", " ").Replace(s)
}

func conditional(lines []string) block {
	all := block{text: strings.Join(lines, "")}
	var inner []string
	for _, l := range lines[1:] {
		t := strings.TrimSpace(l)
		if !makeIf.MatchString(l) && !makeEndif.MatchString(l) && !strings.HasPrefix(t, "else") {
			inner = append(inner, l)
		}
	}
	for _, b := range blocks(strings.Join(inner, "")) {
		all.targets = append(all.targets, b.targets...)
		all.needs = append(all.needs, b.needs...)
		all.recipe = append(all.recipe, b.recipe...)
		all.names = append(all.names, b.names...)
		all.value += " " + b.value
		all.include = append(all.include, b.include...)
		all.always = all.always || b.always
	}
	return all
}

// read classifies one logical line that is no recipe.
func (b *block) read(line string) {
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	first, rest, _ := strings.Cut(line, " ")
	switch first {
	case "include", "-include", "sinclude":
		b.include = strings.Fields(rest)
		b.always = true
		return
	case "vpath", "load", "-load", "undefine":
		b.always = true
		return
	}
	if m := makeAssign.FindStringSubmatch(line); m != nil {
		b.names, b.value = []string{m[1]}, m[3]
		b.always = strings.HasPrefix(line, "export ") || strings.HasPrefix(line, "override ")
		return
	}
	if first == "export" || first == "unexport" {
		b.always = true
		return
	}
	line = comment.ReplaceAllString(line, "")
	left, right, ok := cutColon(line)
	if !ok {
		b.always = true // $(eval …), $(call …) and what make would refuse
		return
	}
	right = strings.TrimPrefix(strings.TrimPrefix(right, ":"), ":")
	if m := makeAssign.FindStringSubmatch(strings.TrimSpace(right)); m != nil { // target: VAR = value
		b.targets, b.value = strings.Fields(left), m[3]
		return
	}
	right, recipe, inline := strings.Cut(right, ";")
	b.targets = strings.Fields(strings.TrimSuffix(left, "&"))
	b.needs = strings.Fields(strings.ReplaceAll(right, "|", " "))
	if inline {
		b.recipe = []string{strings.TrimSpace(recipe)}
	}
	for _, t := range b.targets {
		b.always = b.always || slices.Contains(makeSpecial, t)
	}
	if strings.Contains(left, "$") {
		b.always = true
	}
}

// cutColon cuts a rule at the colon outside of $(…).
func cutColon(line string) (left, right string, ok bool) {
	depth := 0
	for i := range len(line) {
		switch line[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ':':
			if depth == 0 {
				return line[:i], line[i+1:], true
			}
		}
	}
	return "", "", false
}

// makefile is what is known of a makefile and what it includes.
type makefile struct {
	blocks []block
	vars   map[string]string
	first  string // the default target
}

// make follows make TARGET….
func (f *finder) make(argv []arg, pl place) {
	pl = pl.child()
	args := texts(argv)
	var file string
	given := map[string]string{}
	var goals []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := func(prefix string) string {
			if v := strings.TrimPrefix(a, prefix); v != "" {
				return v
			}
			if i++; i < len(args) {
				return args[i]
			}
			return ""
		}
		switch {
		case !argv[i].known:
			f.lost(pl, "make "+argv[i].text)
		case a == "--directory" || strings.HasPrefix(a, "-C"):
			f.changeDir([]string{next(map[bool]string{true: "--directory", false: "-C"}[a == "--directory"])}, &pl)
		case strings.HasPrefix(a, "--directory="):
			f.changeDir([]string{a[len("--directory="):]}, &pl)
		case a == "--file" || a == "--makefile":
			file = next(a)
		case strings.HasPrefix(a, "--file=") || strings.HasPrefix(a, "--makefile="):
			_, file, _ = strings.Cut(a, "=")
		case strings.HasPrefix(a, "-f"):
			file = next("-f")
		case a == "-j" || a == "-l" || a == "-O" || a == "-o" || a == "-W" || a == "-I":
			if i+1 < len(args) && (a == "-o" || a == "-W" || a == "-I" || strings.Trim(args[i+1], "0123456789") == "") {
				i++
			}
		case strings.HasPrefix(a, "-"):
		case assignment.MatchString(a):
			k, v, _ := strings.Cut(a, "=")
			given[k] = v
		default:
			goals = append(goals, a)
		}
	}
	if pl.outside {
		f.lost(pl, "make in another folder")
		return
	}
	var p string
	if file != "" {
		q, ok := pl.resolve(file)
		if !ok {
			return
		}
		if !f.has(q) {
			f.need(q, pl)
			return
		}
		p = q
	} else {
		for _, n := range []string{"GNUmakefile", "makefile", "Makefile"} {
			if q := strings.TrimPrefix(pl.dir+"/"+n, "/"); p == "" && f.has(q) {
				p = q
			}
		}
		if p == "" {
			f.need("makefile of "+pl.dir, pl)
			return
		}
		pl.wanted = pl.wanted || f.wanted["makefile of "+pl.dir]
	}
	pl = f.enter(p, pl)
	m, ok := f.makefile(p, pl, map[string]bool{})
	if !ok {
		return
	}
	for k, v := range given {
		m.vars[k] = v
	}
	if len(goals) == 0 {
		goals = []string{m.first}
		if d := strings.TrimSpace(m.vars[".DEFAULT_GOAL"]); d != "" {
			goals = []string{d}
		}
		f.part(p, KindScript, pl, "target .DEFAULT_GOAL", "first")
	}
	at := pl
	at.via, at.name, at.errexit = p, p, true
	reached := map[string]bool{}
	for _, g := range goals {
		f.goal(p, m, g, at, reached)
	}
}

// makefile reads a makefile and those that it includes.
func (f *finder) makefile(p string, pl place, seen map[string]bool) (makefile, bool) {
	m := makefile{vars: map[string]string{}}
	text, ok := f.text(p)
	if !ok || seen[p] || len(seen) > 50 {
		f.whole(p, KindScript, pl)
		return m, false
	}
	seen[p] = true
	m.blocks = blocks(string(text))
	if pl.via == "" {
		pl.via = "a command"
	}
	f.part(p, KindScript, pl, "always")
	for _, b := range m.blocks {
		for _, t := range b.targets {
			if m.first == "" && !strings.HasPrefix(t, ".") && !strings.Contains(t, "%") && len(b.names) == 0 {
				m.first = t
			}
		}
		for _, n := range b.names {
			if m.vars[n] != "" && len(m.vars[n]) < maxText {
				m.vars[n] += " "
			}
			m.vars[n] += b.value
		}
	}
	for _, b := range m.blocks {
		if b.always {
			f.variables(p, m, b.text, pl)
		}
		for _, inc := range b.include {
			inc, _ = f.expandMake(inc, m.vars, 0)
			var files []string
			if strings.Contains(inc, "$") {
				f.lost(place{name: p}, "include "+inc)
				continue
			}
			for _, w := range strings.Fields(inc) {
				at := pl
				if q, ok := at.resolve(w); ok && f.has(q) {
					files = append(files, q)
				} else {
					files = append(files, f.expand(w, at)...)
				}
			}
			for _, q := range files {
				q = strings.TrimPrefix(strings.TrimPrefix(q, rootMark), "/")
				if !f.has(q) {
					continue
				}
				at := f.enter(q, pl)
				at.wanted = pl.wanted
				in, _ := f.makefile(q, at, seen)
				f.whole(q, KindScript, at)
				m.blocks = append(m.blocks, in.blocks...)
				for k, v := range in.vars {
					m.vars[k] += v
				}
				if m.first == "" {
					m.first = in.first
				}
			}
		}
	}
	return m, true
}

// goal follows a target and its prerequisites.
func (f *finder) goal(p string, m makefile, target string, pl place, reached map[string]bool) {
	if target == "" || reached[target] || len(reached) > maxFollows {
		return
	}
	reached[target] = true
	key := "make " + p + " " + target
	found := false
	rule := func(b block, name string) {
		found = true
		at := f.enter(key, pl)
		if it := f.items[p]; it != nil && it.Parts != nil {
			f.part(p, KindScript, at, "target "+name)
		}
		f.variables(p, m, b.text, at)
		for _, n := range b.needs {
			n, _ = f.expandMake(n, m.vars, 0)
			for _, n := range strings.Fields(n) {
				f.goal(p, m, n, at, reached)
			}
		}
		for _, line := range b.recipe {
			f.recipe(line, target, b.needs, m, at)
		}
	}
	for _, b := range m.blocks {
		for _, t := range b.targets {
			t, _ = f.expandMake(t, m.vars, 0)
			if slices.Contains(strings.Fields(t), target) {
				rule(b, target)
				break
			}
		}
	}
	if !found {
		for _, b := range m.blocks {
			for _, t := range b.targets {
				before, after, ok := strings.Cut(t, "%")
				if ok && len(target) >= len(before)+len(after) && strings.HasPrefix(target, before) && strings.HasSuffix(target, after) {
					rule(b, t)
					break
				}
			}
		}
	}
	if q, ok := pl.resolve(target); !found && !(ok && (f.has(q) || f.folders[q])) {
		f.need(key, pl)
	}
}

// recipe follows one line of a recipe.
func (f *finder) recipe(line, target string, needs []string, m makefile, pl place) {
	for strings.HasPrefix(line, "@") || strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
		if line[0] == '-' {
			pl.sure = false
		}
		line = line[1:]
	}
	first := ""
	if len(needs) > 0 {
		first = needs[0]
	}
	line = strings.NewReplacer("$(MAKE)", "make", "${MAKE}", "make", "$@", target, "$<", first, "$^", strings.Join(needs, " "), "$*", "").Replace(line)
	text, ok := f.expandMake(line, m.vars, 0)
	if !ok {
		f.lost(pl, line)
	}
	f.shell(text, pl.child())
}

// variables adds the variables that a text uses, and those that they use.
func (f *finder) variables(p string, m makefile, text string, pl place) {
	for _, ref := range makeRef.FindAllStringSubmatch(strings.ReplaceAll(text, "$$", ""), maxValues) {
		name := ref[1] + ref[2]
		it := f.items[p]
		if it == nil || it.Parts == nil || slices.Contains(it.Parts, "variable "+name) {
			continue
		}
		f.part(p, KindScript, pl, "variable "+name)
		for _, b := range m.blocks {
			if slices.Contains(b.names, name) {
				f.variables(p, m, b.value, pl)
			}
		}
	}
}

// expandMake replaces variables in a makefile's text. It returns false where a
// function of make is left.
func (f *finder) expandMake(text string, vars map[string]string, depth int) (string, bool) {
	if !strings.Contains(text, "$") {
		return text, true
	}
	if depth > 8 || len(text) > maxText/8 {
		return text, false
	}
	ok := true
	text = strings.ReplaceAll(text, "$$", "\x02")
	text = makeRef.ReplaceAllStringFunc(text, func(ref string) string {
		name := strings.Trim(ref, "$(){}")
		switch name {
		case "CURDIR", "PWD":
			return "."
		case "MAKE":
			return "make"
		}
		v, in := f.expandMake(vars[name], vars, depth+1)
		ok = ok && in
		return strings.TrimSpace(v)
	})
	if strings.Contains(text, "$(") || strings.Contains(text, "${") {
		ok = false
	}
	return strings.ReplaceAll(text, "\x02", "$"), ok
}

// isMakefile reports whether a file is read as a makefile in parts.
func isMakefile(p string) bool {
	b := path.Base(p)
	return b == "Makefile" || b == "makefile" || b == "GNUmakefile" || strings.HasSuffix(b, ".mk") || strings.HasPrefix(b, "Makefile.")
}
