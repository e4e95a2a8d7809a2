package proof

import (
	"path"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// script follows a file that is executed.
func (f *finder) script(p string, argv []arg, pl place) { f.scriptAs("", p, argv, pl) }

// scriptAs follows a file that the interpreter runs; without one the file's
// first line or its name tells.
func (f *finder) scriptAs(interpreter, p string, argv []arg, pl place) {
	p, ok := f.target(p, pl)
	if !ok || f.subject(p, pl) {
		return
	}
	at := f.enter(p, pl)
	f.whole(p, KindScript, at)
	text, ok := f.text(p)
	if !ok {
		return
	}
	if interpreter == "" {
		interpreter = shebang(text)
	}
	if interpreter == "" {
		interpreter = byExtension[path.Ext(p)]
	}
	if pythonName.MatchString(interpreter) {
		interpreter = "python"
	}
	f.programs[interpreter] = true
	at.via, at.name, at.script = p, p, p
	at.errexit = strings.HasPrefix(string(text), "#!") && strings.Contains(firstLine(text), " -e")
	at.vars, at.funcs = map[string][]string{}, nil
	if v := pl.vars["PATH"]; v != nil {
		at.vars["PATH"] = v
	}
	at.args = nil
	for _, a := range argv {
		at.args = append(at.args, a.text)
	}
	switch interpreter {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "bats", "":
		if interpreter != "" || !strings.HasPrefix(string(text), "#!") {
			f.shell(string(text), at)
		}
	case "make":
		f.make(append([]arg{{text: "-f", known: true}, {text: rootMark + "/" + p, known: true}}, argv...), at)
	default:
		if f.first(at, "text\x00"+p) {
			f.named(p, string(text), at)
		}
	}
}

// subject reports whether a file is what a test is about: a test in a folder of
// tests runs it, and it is no test itself. A product that consists of scripts
// would else count as its own check. A script such as test.sh, which starts the
// tests, lies elsewhere, and what it runs is followed.
func (f *finder) subject(p string, pl place) bool {
	return strings.Contains(pl.script, "/") && f.match.test(pl.script) && !f.match.test(p)
}

// dropSubjects takes out the scripts that tests import: they are what the tests are
// about, although a command runs them, too. With the start's version of such a file
// laid over a tree, the tests would pass on whatever the tree has in its place.
func (f *finder) dropSubjects() {
	reads := 0
	for _, e := range f.entries {
		if it := f.items[e.Path]; it == nil || it.Kind != KindTest || !isSource(e.Path) {
			continue
		}
		if reads++; reads > maxReads {
			return
		}
		text, _ := f.text(e.Path)
		for _, to := range f.imports(e.Path, string(text)) {
			if it := f.items[to]; it != nil && it.Kind == KindScript && it.Parts == nil && !f.match.test(to) && !helperPath(to) {
				delete(f.items, to)
			}
		}
	}
}

// target resolves links in the tree; each link on the way proves, too. It
// returns false for a file that is not there.
func (f *finder) target(p string, pl place) (string, bool) {
	for range 8 {
		if pl.depth > maxDepth {
			return "", false
		}
		e, ok := f.files[p]
		if !ok {
			// A folder of the path may be a link.
			for dir := parent(p); dir != ""; dir = parent(dir) {
				if f.files[dir].Mode == modeLink {
					f.whole(dir, KindScript, f.enter(dir, pl))
					to, ok := join(parent(dir), string(f.read(dir)))
					if !ok {
						return "", false
					}
					return f.target(to+p[len(dir):], f.enter(dir, pl).deeper())
				}
			}
			f.need(p, pl)
			return "", false
		}
		if e.Mode != modeLink {
			return p, true
		}
		f.whole(p, KindScript, f.enter(p, pl))
		to, ok := join(parent(p), string(f.read(p)))
		if !ok {
			return "", false
		}
		p = to
	}
	return "", false
}

func (pl place) deeper() place {
	pl.depth++
	return pl
}

var byExtension = map[string]string{
	".sh": "sh", ".bash": "bash", ".bats": "bats", ".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "tsx", ".rb": "ruby", ".pl": "perl", ".php": "php", ".mk": "make",
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text[:min(len(text), 300)]), "\n")
	return strings.TrimRight(line, "\r")
}

// shebang returns the program of a script's first line.
func shebang(text []byte) string {
	rest, ok := strings.CutPrefix(firstLine(text), "#!")
	if !ok {
		return ""
	}
	for i, w := range strings.Fields(rest) {
		b := path.Base(w)
		if b == "env" || i > 0 && (strings.HasPrefix(w, "-") || strings.Contains(w, "=")) {
			continue
		}
		return b
	}
	return ""
}

// literal is a quoted string of most languages.
var literal = regexp.MustCompile("\"([^\"\\\\\n]{1,300})\"|'([^'\\\\\n]{1,300})'|`([^`\\\\\n$]{1,300})`")

func literals(text string) []string {
	var out []string
	for _, m := range literal.FindAllStringSubmatch(text, maxFollows) {
		out = append(out, m[1]+m[2]+m[3])
	}
	return out
}

// named follows what a script in another language than shell executes, as far
// as its strings tell: a shell command that names a script of the tree, or the
// script alone.
func (f *finder) named(p, text string, pl place) {
	pl = pl.unsure()
	pl.dir, pl.outside = "", false
	for _, s := range literals(text) {
		first, _, _ := strings.Cut(s, " ")
		switch {
		case strings.Contains(s, " ") && (first == "sh" || first == "bash" || first == "npm" || first == "node" || first == "python" || first == "python3" || first == "make" || first == "go" || first == "pnpm" || first == "yarn"):
			f.shell(s, pl)
		case strings.HasSuffix(s, ".sh") || strings.HasSuffix(s, ".bash"):
			for _, dir := range []string{"", parent(p)} {
				if q, ok := join(dir, s); ok && f.has(q) {
					f.script(q, nil, pl)
				}
			}
		}
	}
}
