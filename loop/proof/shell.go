package proof

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting bounds brackets within brackets in a text that is parsed: the
// parser calls itself for each.
const maxNesting = 200

// body is a shell function.
type body struct{ stmt *syntax.Stmt }

// shell follows a text as sh or bash runs it.
func (f *finder) shell(text string, pl place) {
	if strings.TrimSpace(text) == "" || !f.first(pl, "shell\x00"+text) {
		return
	}
	file, ok := parseShell(text)
	if !ok {
		f.lost(pl, text)
		return
	}
	if pl.vars == nil {
		pl.vars = map[string][]string{}
	}
	pl.funcs = map[string]body{}
	f.stmts(file.Stmts, &pl)
}

func parseShell(text string) (*syntax.File, bool) {
	if len(text) > maxText || nesting(text) > maxNesting {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	return file, err == nil
}

// nesting bounds how deep a parser has to go: brackets that are open at once,
// and words that open a compound command.
func nesting(text string) int {
	depth, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		most = max(most, depth)
	}
	run := 0
	for _, w := range strings.Fields(text) {
		switch w {
		case "if", "while", "until", "for", "case", "select", "!", "time", "coproc", "function":
			if run++; run > most {
				most = run
			}
		case "fi", "done", "esac":
			run = max(0, run-1)
		}
	}
	return most
}

func (f *finder) stmts(list []*syntax.Stmt, pl *place) {
	for i, s := range list {
		sure := pl.sure
		pl.sure = sure && (pl.errexit || i == len(list)-1)
		f.stmt(s, pl)
		pl.sure = sure
	}
}

// alone follows commands whose changes of folder and variables stay theirs.
func (f *finder) alone(list []*syntax.Stmt, pl *place, sure bool) {
	c := pl.child()
	c.sure = sure && pl.sure
	f.stmts(list, &c)
}

// maybe follows commands that may not be run.
func (f *finder) maybe(list []*syntax.Stmt, pl *place) {
	sure := pl.sure
	pl.sure = false
	f.stmts(list, pl)
	pl.sure = sure
}

func (f *finder) stmt(s *syntax.Stmt, pl *place) {
	if s == nil {
		return
	}
	for _, r := range s.Redirs {
		f.substitutions(r.Word, pl)
	}
	if s.Background || s.Negated {
		sure := pl.sure
		pl.sure = false
		defer func() { pl.sure = sure }()
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		f.call(c, s.Redirs, pl)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt:
			f.stmt(c.X, pl)
			f.stmt(c.Y, pl)
		case syntax.OrStmt:
			f.maybe([]*syntax.Stmt{c.X, c.Y}, pl)
		default: // a pipe
			f.alone([]*syntax.Stmt{c.X}, pl, false)
			f.alone([]*syntax.Stmt{c.Y}, pl, true)
		}
	case *syntax.Subshell:
		f.alone(c.Stmts, pl, true)
	case *syntax.Block:
		f.stmts(c.Stmts, pl)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			f.maybe(c.Cond, pl)
			f.maybe(c.Then, pl)
		}
	case *syntax.WhileClause:
		f.maybe(c.Cond, pl)
		f.maybe(c.Do, pl)
	case *syntax.ForClause:
		if w, ok := c.Loop.(*syntax.WordIter); ok {
			f.bind(pl, w)
		}
		f.maybe(c.Do, pl)
	case *syntax.CaseClause:
		f.substitutions(c.Word, pl)
		for _, item := range c.Items {
			f.maybe(item.Stmts, pl)
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			pl.funcs[c.Name.Value] = body{c.Body}
		}
	case *syntax.TimeClause:
		f.stmt(c.Stmt, pl)
	case *syntax.CoprocClause:
		f.stmt(c.Stmt, pl)
	case *syntax.DeclClause:
		f.assign(c.Args, pl)
	case nil:
	default:
		f.substitutions(s.Cmd, pl)
	}
}

// bind gives the variable of a for loop its values.
func (f *finder) bind(pl *place, w *syntax.WordIter) {
	if !w.InPos.IsValid() {
		pl.vars[w.Name.Value] = pl.args
		return
	}
	var all []string
	for _, item := range w.Items {
		f.substitutions(item, pl)
		if v := f.word(item, pl); v.known {
			all = append(all, v.values...)
		}
	}
	pl.vars[w.Name.Value] = all[:min(len(all), maxValues)]
}

func (f *finder) assign(list []*syntax.Assign, pl *place) {
	for _, a := range list {
		if a.Value != nil {
			f.substitutions(a.Value, pl)
		}
		if a.Name == nil || a.Naked {
			continue
		}
		name := a.Name.Value
		switch {
		case a.Array != nil:
			var all []string
			for _, e := range a.Array.Elems {
				if e.Value != nil {
					all = append(all, f.word(e.Value, pl).values...)
				}
			}
			pl.vars[name] = append(slices.Clip(pl.vars[name]), all[:min(len(all), maxValues)]...)
		case a.Value == nil:
			pl.vars[name] = []string{""}
		default:
			v := f.word(a.Value, pl)
			if !v.known {
				delete(pl.vars, name)
				continue
			}
			if a.Append {
				v.values = cross(orEmpty(pl.vars[name]), v.values)
			}
			// A variable that a branch may set again has both values.
			if !pl.sure && len(pl.vars[name]) > 0 && len(pl.vars[name]) < maxValues {
				v.values = append(slices.Clone(pl.vars[name]), v.values...)
				v.values = dedup(v.values)
			}
			pl.vars[name] = v.values
		}
	}
}

func orEmpty(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

func dedup(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) && len(out) < maxValues {
			out = append(out, s)
		}
	}
	return out
}

// substitutions follows the commands inside a word or an expression.
func (f *finder) substitutions(n syntax.Node, pl *place) {
	if w, ok := n.(*syntax.Word); ok && (w == nil || w.Lit() != "") {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			f.alone(n.Stmts, pl, false)
			return false
		case *syntax.ProcSubst:
			f.alone(n.Stmts, pl, false)
			return false
		}
		return true
	})
}

// call follows a simple command.
func (f *finder) call(c *syntax.CallExpr, redirs []*syntax.Redirect, pl *place) {
	if len(c.Args) == 0 {
		f.assign(c.Assigns, pl)
		return
	}
	for _, w := range c.Args {
		f.substitutions(w, pl)
	}
	at := *pl
	if len(c.Assigns) > 0 {
		at = pl.child()
		f.assign(c.Assigns, &at)
	}
	list := make([]words, len(c.Args))
	most := 1
	for i, w := range c.Args {
		list[i] = f.word(w, &at)
		most = max(most, len(list[i].values))
	}
	if !list[0].known || len(list[0].values) == 0 {
		f.lost(at, source(c))
		return
	}
	if fn, ok := pl.funcs[list[0].values[0]]; ok {
		f.function(list[0].values[0], fn, list[1:], pl)
		return
	}
	for i := range min(most, maxValues) {
		argv := make([]arg, 0, len(list))
		for n, w := range list {
			switch {
			case !w.known:
				argv = append(argv, arg{text: source(c.Args[n])})
			case len(w.values) > 0:
				argv = append(argv, arg{text: w.values[min(i, len(w.values)-1)], known: true, fields: w.fields})
			}
		}
		f.command(split(argv), redirs, &at)
	}
	// The folder of this shell, which cd in a command without assignments
	// changes.
	if len(c.Assigns) == 0 {
		pl.dir, pl.outside, pl.errexit = at.dir, at.outside, at.errexit
	}
}

// function follows the body of a shell function, and functions named by its
// arguments: a harness calls them.
func (f *finder) function(name string, fn body, args []words, pl *place) {
	if !f.first(*pl, "function\x00"+name+"\x00"+pl.name) {
		return
	}
	saved := pl.args
	pl.args = nil
	for _, a := range args {
		pl.args = append(pl.args, orEmpty(a.values)[0])
		if len(a.values) == 1 {
			if inner, ok := pl.funcs[a.values[0]]; ok && a.values[0] != name {
				f.function(a.values[0], inner, nil, pl)
			}
		}
	}
	pl.depth++
	f.stmt(fn.stmt, pl)
	pl.depth--
	pl.args = saved
}

// source is the text of a node.
func source(n syntax.Node) string {
	var b bytes.Buffer
	if syntax.NewPrinter().Print(&b, n) != nil {
		return "a command"
	}
	return b.String()
}
