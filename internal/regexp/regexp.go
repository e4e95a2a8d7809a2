// Package regexp is the standard library's regexp with expressions that are
// compiled when they are first used.
//
// A session is four processes of this program, and every command that a person
// types is one. Compiling the expressions of all packages took 20 ms of each,
// and a process uses few of them. So product code imports this package in place
// of the standard one (internal/importtest).
//
// A mistake in an expression is a panic at its first use. Tests compile every
// expression of their package when they start, so none gets that far.
package regexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is an expression. Its methods are those of the standard library's
// Regexp, and safe for concurrent use.
type Regexp struct {
	text    string
	compile func() *regexp.Regexp
}

// eager is true in the program of a package's tests.
var eager = len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test")

// MustCompile returns an expression, which it does not compile yet.
func MustCompile(text string) *Regexp {
	r := &Regexp{text: text, compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if eager {
		r.compile()
	}
	return r
}

// Compile returns an expression that is compiled, or the mistake in it.
func Compile(text string) (*Regexp, error) {
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return &Regexp{text: text, compile: func() *regexp.Regexp { return compiled }}, nil
}

// QuoteMeta returns an expression that matches a text and nothing else.
func QuoteMeta(text string) string { return regexp.QuoteMeta(text) }
