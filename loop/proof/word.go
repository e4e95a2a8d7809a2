package proof

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arg is one argument of a command. The text of one that is not known is its
// source.
type arg struct {
	text   string
	known  bool
	fields bool // it came from an unquoted variable, which the shell splits
}

// words are the alternative values of a shell word.
type words struct {
	values []string
	known  bool
	fields bool
}

// split breaks arguments from unquoted variables into fields.
func split(argv []arg) []arg {
	var out []arg
	for _, a := range argv {
		if !a.known || !a.fields || !strings.ContainsAny(a.text, " \t\n") {
			out = append(out, a)
			continue
		}
		for _, s := range strings.Fields(a.text) {
			out = append(out, arg{text: s, known: true})
		}
	}
	return out
}

// cross joins each of a with each of b.
func cross(a, b []string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			if len(out) < maxValues && len(x)+len(y) < maxText {
				out = append(out, x+y)
			}
		}
	}
	return out
}

// word evaluates a shell word as far as the text allows.
func (f *finder) word(w *syntax.Word, pl *place) words {
	if w == nil {
		return words{values: []string{""}, known: true}
	}
	out := words{values: []string{""}, known: true}
	glob := false
	for _, p := range w.Parts {
		v := f.wordPart(p, pl, false)
		if !v.known {
			return words{}
		}
		if l, ok := p.(*syntax.Lit); ok && strings.ContainsAny(l.Value, "*?[{") {
			glob = true
		}
		out.values = cross(out.values, v.values)
		out.fields = out.fields || v.fields
	}
	if glob && !pl.outside {
		var all []string
		for _, v := range out.values {
			all = append(all, f.expand(v, *pl)...)
		}
		out.values = all[:min(len(all), maxValues)]
	}
	return out
}

func (f *finder) wordPart(p syntax.WordPart, pl *place, quoted bool) words {
	one := func(s string) words { return words{values: []string{s}, known: true} }
	switch p := p.(type) {
	case *syntax.Lit:
		return one(unescape(p.Value, quoted))
	case *syntax.SglQuoted:
		return one(p.Value)
	case *syntax.DblQuoted:
		out := one("")
		for _, in := range p.Parts {
			v := f.wordPart(in, pl, true)
			if !v.known {
				return words{}
			}
			out.values = cross(out.values, v.values)
		}
		return out
	case *syntax.ParamExp:
		v := f.param(p, pl)
		v.fields = !quoted
		return v
	case *syntax.CmdSubst:
		v := f.output(p, pl)
		v.fields = !quoted
		return v
	}
	return words{}
}

func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\n' {
				i++
				continue
			}
			if !quoted || strings.IndexByte("$`\"\\", s[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// param evaluates $name and its forms with a default.
func (f *finder) param(p *syntax.ParamExp, pl *place) words {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Slice != nil || p.Repl != nil {
		return words{}
	}
	var values []string
	switch name := p.Param.Value; {
	case name == "0" || name == "BASH_SOURCE":
		if pl.script != "" {
			values = []string{rootMark + "/" + pl.script}
		}
	case name == "@" || name == "*":
		values = orEmpty(pl.args)
	case name == "PWD":
		if !pl.outside {
			values = []string{rootMark + "/" + pl.dir}
		}
	case len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		if i := int(name[0] - '1'); i < len(pl.args) {
			values = []string{pl.args[i]}
		}
	case name == "PATH":
		values = orEmpty(pl.vars[name]) // the machine's own folders are not the tree's
	default:
		values = pl.vars[name]
	}
	if p.Exp != nil {
		w := f.word(p.Exp.Word, pl)
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if w.known {
				values = dedup(append(slices.Clone(values), w.values...))
			}
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		case syntax.RemSmallSuffix:
			if w.known && len(w.values) == 1 && w.values[0] == "/*" {
				for i, v := range values {
					values = slices.Clone(values)
					values[i] = path.Dir(v)
				}
				break
			}
			return words{}
		default:
			return words{}
		}
	}
	return words{values: values, known: len(values) > 0}
}

// output evaluates $(…) for the few commands by which scripts find their own
// folder and list files.
func (f *finder) output(c *syntax.CmdSubst, pl *place) words {
	at := pl.child()
	var list []*syntax.Stmt
	var flat func(s *syntax.Stmt) bool
	flat = func(s *syntax.Stmt) bool {
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok {
			return b.Op == syntax.AndStmt && len(list) < 4 && flat(b.X) && flat(b.Y)
		}
		list = append(list, s)
		return true
	}
	for _, s := range c.Stmts {
		if !flat(s) {
			return words{}
		}
	}
	for i, s := range list {
		call, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return words{}
		}
		var argv []string
		for _, w := range call.Args {
			v := f.word(w, &at)
			if !v.known {
				return words{}
			}
			argv = append(argv, v.values...)
		}
		if len(argv) == 0 {
			return words{}
		}
		if argv[0] == "cd" && i < len(list)-1 {
			f.changeDir(argv[1:], &at)
			continue
		}
		if i != len(list)-1 {
			return words{}
		}
		return f.outputOf(argv, at)
	}
	return words{}
}

func (f *finder) outputOf(argv []string, pl place) words {
	var operands []string
	for _, a := range argv[1:] {
		if !strings.HasPrefix(a, "-") {
			operands = append(operands, a)
		}
	}
	one := func(s string, ok bool) words {
		return words{values: []string{s}, known: ok}
	}
	switch argv[0] {
	case "pwd":
		return one(rootMark+"/"+pl.dir, !pl.outside)
	case "git":
		return one(rootMark, len(argv) == 3 && argv[1] == "rev-parse" && argv[2] == "--show-toplevel")
	case "dirname":
		if len(operands) == 1 {
			return one(path.Dir(operands[0]), true)
		}
	case "basename":
		if len(operands) == 1 {
			return one(path.Base(operands[0]), true)
		}
	case "realpath", "readlink":
		if len(operands) == 1 {
			p, ok := pl.resolve(operands[0])
			return one(rootMark+"/"+p, ok)
		}
	case "echo":
		return one(strings.Join(operands, " "), true)
	case "ls":
		return words{values: operands, known: len(operands) > 0}
	case "find":
		return f.found(argv[1:], pl)
	}
	return words{}
}

// found is the output of find DIR… -name PATTERN.
func (f *finder) found(args []string, pl place) words {
	var dirs []string
	pattern := "*"
	for i := 0; i < len(args); i++ {
		switch {
		case (args[i] == "-name" || args[i] == "-iname") && i+1 < len(args):
			pattern = args[i+1]
			i++
		case strings.HasPrefix(args[i], "-"):
			i = len(args) // the other conditions only leave out more
		default:
			if d, ok := pl.resolve(args[i]); ok {
				dirs = append(dirs, d)
			}
		}
	}
	var out []string
	for _, d := range dirs {
		for _, e := range f.below(d) {
			if ok, _ := path.Match(pattern, path.Base(e.Path)); ok && len(out) < maxValues {
				out = append(out, rootMark+"/"+e.Path)
			}
		}
	}
	return words{values: out, known: true}
}

// expand returns the files that a shell pattern matches, the pattern itself
// where none does.
func (f *finder) expand(pattern string, pl place) []string {
	full, ok := pl.resolve(pattern)
	if !ok {
		return []string{pattern}
	}
	fixed := full[:strings.IndexAny(full+"*", "*?[{")]
	var out []string
	for _, e := range f.below(parent(fixed + "x")) {
		if len(out) < maxValues && globMatch(full, e.Path) {
			out = append(out, rootMark+"/"+e.Path)
		}
	}
	if out == nil {
		return []string{pattern}
	}
	return out
}
