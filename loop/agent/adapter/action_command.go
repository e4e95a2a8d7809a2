package adapter

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxShells limits the shells within shells that commandWords looks into.
const maxShells = 3

// commandWords returns the program that a command line is about, and its first
// argument unless that is an option: "go test" of "cd cart && CI=1 go test ./...".
// It returns nothing for a line that it cannot parse or that is too long.
func commandWords(command, dir string) []string {
	for range maxShells {
		args := mainCommand(command)
		script, isShell := shellScript(args)
		if !isShell {
			return shortWords(args, dir)
		}
		command = script
	}
	return nil
}

// mainCommand returns the literal words of the first command that does more than
// prepare the shell, or of the first one if all only do that. Words end before
// the first one that the shell computes.
func mainCommand(command string) []string {
	if len(command) > maxFrom {
		// A file in a here document makes a line long; its beginning says enough.
		command, _, _ = strings.Cut(command, "\n")
	}
	if len(command) > maxFrom {
		return nil
	}
	var first, main []string
	read := func(stmt *syntax.Stmt) bool {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			call, isCall := n.(*syntax.CallExpr)
			if !isCall || main != nil || len(call.Args) == 0 {
				return main == nil
			}
			args := withoutWrapper(literals(call.Args))
			if len(args) == 0 || !slices.Contains(preparations, args[0]) {
				main = append([]string{}, args...) // not nil: a computed program ends the search
			} else if first == nil {
				first = args
			}
			return false
		})
		return true // the parser fails if its caller stops early
	}
	// An error, such as the missing end of a cut here document, ends the statements.
	_ = syntax.NewParser(syntax.Variant(syntax.LangBash)).Stmts(strings.NewReader(command), read)
	if main == nil {
		return first
	}
	return main
}

// preparations are commands that prepare the shell for the next one.
var preparations = []string{"cd", "pushd", "popd", "set", "shopt", "export", "unset", "source", ".", "ulimit", "umask", "alias", "true", ":"}

// wrappers are programs that run the command in their arguments, with the number
// of arguments before it.
var wrappers = map[string]int{"env": 0, "nice": 0, "nohup": 0, "time": 0, "command": 0, "exec": 0, "stdbuf": 0, "setsid": 0, "timeout": 1}

// withoutWrapper removes wrappers and the variables that env sets. A wrapper with
// options stays: which of them have a value, only the wrapper knows.
func withoutWrapper(args []string) []string {
	for len(args) > 0 {
		skip, isWrapper := wrappers[args[0]]
		if !isWrapper {
			break
		}
		rest := args[1:]
		for len(rest) > 0 && args[0] == "env" && strings.Contains(rest[0], "=") {
			rest = rest[1:]
		}
		if len(rest) <= skip || strings.HasPrefix(rest[0], "-") {
			return args[:1]
		}
		args = rest[skip:]
	}
	return args
}

// shellScript returns the script in the arguments of sh -c.
func shellScript(args []string) (script string, is bool) {
	if len(args) < 3 || !slices.Contains([]string{"sh", "bash", "dash", "zsh"}, filepath.Base(args[0])) {
		return "", false
	}
	for n, arg := range args[1 : len(args)-1] {
		if !strings.HasPrefix(arg, "-") {
			break
		}
		if strings.HasSuffix(arg, "c") {
			return args[n+2], true
		}
	}
	return "", false
}

// shortWords returns a program without its folder, and its first argument unless
// that is an option.
func shortWords(args []string, dir string) []string {
	if len(args) == 0 || args[0] == "" {
		return nil
	}
	program := args[0]
	if filepath.IsAbs(program) && relativeTo(dir, program) == program {
		program = filepath.Base(program)
	}
	words := []string{relativeTo(dir, program)}
	if len(args) > 1 && args[1] != "" && !strings.HasPrefix(args[1], "-") {
		words = append(words, relativeTo(dir, args[1]))
	}
	return words
}

// literals returns the words of a command up to the first one that the shell
// computes.
func literals(words []*syntax.Word) []string {
	var out []string
	for _, w := range words {
		text, ok := literal(w.Parts)
		if !ok {
			break
		}
		out = append(out, text)
	}
	return out
}

func literal(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := literal(p.Parts)
			if !ok {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	return b.String(), true
}
