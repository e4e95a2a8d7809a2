package hatcli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// flags is a parsed command line. Flags may come in any order, because agents
// write them before and after the arguments.
type flags struct {
	words  []string            // arguments that are not flags
	values map[string][]string // values of valued flags, in order
	set    map[string]bool     // flags without a value
}

// parse parses arguments with the given flags (names with their dashes). After
// "--" every argument is a word.
func parse(args []string, valued, bare []string, help string) (flags, error) {
	f := flags{values: map[string][]string{}, set: map[string]bool{}}
	for _, arg := range args {
		if !utf8.ValidString(arg) { // JSON would replace the invalid bytes silently
			return f, usageError{fmt.Sprintf("%q is not UTF-8 text", arg), ""}
		}
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			f.words = append(f.words, args[i+1:]...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			f.words = append(f.words, arg)
			continue
		}
		if arg == "-h" || arg == "--help" {
			return f, helpWanted
		}
		name, value, inline := strings.Cut(arg, "=")
		switch {
		case slices.Contains(valued, name):
			if !inline {
				if i++; i == len(args) {
					return f, usageError{name + " needs a value", help}
				}
				value = args[i]
			}
			f.values[name] = append(f.values[name], value)
		case slices.Contains(bare, name) && !inline:
			f.set[name] = true
		case slices.Contains(bare, name):
			return f, usageError{name + " takes no value", help}
		default:
			return f, usageError{fmt.Sprintf("there is no flag %s here; text that begins with a dash goes after --", name), help}
		}
	}
	return f, nil
}

// single returns the value of a flag that may be given once.
func (f flags) single(name, help string) (value string, given bool, err error) {
	switch v := f.values[name]; len(v) {
	case 0:
		return "", false, nil
	case 1:
		return v[0], true, nil
	default:
		return "", false, usageError{name + " is given twice", help}
	}
}

// text joins the words, so that a sentence needs no quotes.
func (f flags) text() string { return strings.TrimSpace(strings.Join(f.words, " ")) }

// helpError is the result of parse for --help.
type helpError struct{}

func (helpError) Error() string { return "help" }

var helpWanted error = helpError{}
