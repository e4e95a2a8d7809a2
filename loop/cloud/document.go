package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxDepth limits the nesting of a state file.
const maxDepth = 64

// document is the text of a JSON object that is edited in place: an edit changes
// the bytes of the values that it names, and no others. Decoding and encoding
// the whole text instead would lose what it does not know, the order of keys,
// and the indentation.
type document struct {
	file string // for problems
	text []byte
	root node
}

// node is a value in the text.
type node struct {
	start, end int      // of the value's bytes
	members    []member // of an object
	items      []node   // of a list
}

// member is a key of an object with its value.
type member struct {
	name  string
	start int // of the key's bytes
	value node
}

// kind returns the first character of a value, which tells its type.
func (d *document) kind(n node) byte { return d.text[n.start] }

// find returns the value of a key.
func (n node) find(name string) (node, bool) {
	for _, m := range n.members {
		if m.name == name {
			return m.value, true
		}
	}
	return node{}, false
}

// parseDocument reads a JSON object. Every problem has its line.
func parseDocument(file string, text []byte) (*document, error) {
	d := &document{file: file, text: text}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, d.problem(0, "the file is empty; expected a JSON object")
	case !utf8.Valid(text):
		return nil, d.problem(invalidByte(text), "a byte here is no UTF-8 text")
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return nil, d.problem(0, "the file begins with a byte order mark, which JSON does not have")
	}
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		at := len(text)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = int(syntax.Offset) - 1
		}
		return nil, d.problem(at, "no valid JSON: "+strings.TrimPrefix(err.Error(), "json: "))
	}
	s := scanner{d: d}
	s.space()
	if text[s.at] != '{' {
		return nil, d.problem(s.at, "expected a JSON object")
	}
	root, err := s.value(0)
	d.root = root
	return d, err
}

func invalidByte(text []byte) int {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return 0
}

// problem returns the error about the text at an offset.
func (d *document) problem(at int, text string) error {
	at = min(max(at, 0), len(d.text))
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		File: d.file, Line: 1 + bytes.Count(d.text[:at], []byte("\n")), Text: text,
		Remedy: "Correct that line, or restore the file from git: git log -p -- " + d.file,
	}}}
}

// scanner finds where the values of a valid JSON text begin and end.
type scanner struct {
	d  *document
	at int
}

func (s *scanner) space() {
	for s.at < len(s.d.text) && strings.IndexByte(" \t\r\n", s.d.text[s.at]) >= 0 {
		s.at++
	}
}

// skip passes one character and the white space behind it.
func (s *scanner) skip() { s.at++; s.space() }

func (s *scanner) value(depth int) (node, error) {
	n := node{start: s.at}
	if depth > maxDepth {
		return n, s.d.problem(s.at, fmt.Sprintf("values are nested more than %d deep", maxDepth))
	}
	switch s.d.text[s.at] {
	case '{':
		for s.skip(); s.d.text[s.at] != '}'; s.comma() {
			m := member{start: s.at}
			s.string()
			if err := json.Unmarshal(s.d.text[m.start:s.at], &m.name); err != nil {
				return n, s.d.problem(m.start, err.Error())
			}
			if _, twice := n.find(m.name); twice {
				return n, s.d.problem(m.start, fmt.Sprintf("the key %q is there twice", m.name))
			}
			s.space()
			s.skip() // the colon
			var err error
			if m.value, err = s.value(depth + 1); err != nil {
				return n, err
			}
			n.members = append(n.members, m)
		}
		s.at++
	case '[':
		for s.skip(); s.d.text[s.at] != ']'; s.comma() {
			item, err := s.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
		s.at++
	case '"':
		s.string()
	default:
		for s.at < len(s.d.text) && strings.IndexByte(" \t\r\n,]}", s.d.text[s.at]) < 0 {
			s.at++
		}
	}
	n.end = s.at
	return n, nil
}

// comma passes the comma behind a value, if there is one.
func (s *scanner) comma() {
	s.space()
	if s.d.text[s.at] == ',' {
		s.skip()
	}
}

func (s *scanner) string() {
	for s.at++; s.d.text[s.at] != '"'; s.at++ {
		if s.d.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}
