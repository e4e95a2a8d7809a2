package proof

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// tomlFile is pyproject.toml or Cargo.toml: parts are dotted paths of tables
// or keys.
type tomlFile struct {
	text   string
	doc    map[string]any
	pieces []piece
}

// piece is a run of lines: a table's header, a key with its value, or blank
// lines and comments.
type piece struct {
	text   string
	path   []string // full, with the table's
	header bool
}

func decodeTOML(data []byte) (map[string]any, bool) {
	doc := map[string]any{}
	if nesting(string(data)) > maxNesting || toml.Unmarshal(data, &doc) != nil {
		return nil, false
	}
	return doc, true
}

func readTOML(data []byte) (document, bool) {
	doc, ok := decodeTOML(data)
	if !ok {
		return nil, false
	}
	return tomlFile{text: string(data), doc: doc, pieces: tomlPieces(string(data))}, true
}

// tomlPieces cuts a valid TOML text.
func tomlPieces(text string) []piece {
	var out []piece
	var table []string
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
			i++
		}
		switch {
		case i >= len(text) || text[i] == '\n' || text[i] == '\r' || text[i] == '#':
			i = lineEnd(text, i)
			out = append(out, piece{text: text[from:i]})
		case text[i] == '[':
			start := i
			i = expressionEnd(text, i)
			table = dottedKey(strings.TrimLeft(text[start:i], "["))
			out = append(out, piece{text: text[from:i], path: table, header: true})
		default:
			start := i
			i = expressionEnd(text, i)
			key := dottedKey(text[start:i])
			out = append(out, piece{text: text[from:i], path: append(append([]string{}, table...), key...)})
		}
	}
	return out
}

func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// expressionEnd returns the end of the line on which an expression ends that
// begins at i.
func expressionEnd(text string, i int) int {
	depth := 0
	for i < len(text) {
		switch c := text[i]; c {
		case '"', '\'':
			if strings.HasPrefix(text[i:], strings.Repeat(string(c), 3)) {
				i += 3
				for i < len(text) && !strings.HasPrefix(text[i:], strings.Repeat(string(c), 3)) {
					if c == '"' && text[i] == '\\' {
						i++
					}
					i++
				}
				for i < len(text) && text[i] == c { // a quote may stand before the last three
					i++
				}
				continue
			}
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			if i = lineEnd(text, i); strings.HasSuffix(text[:i], "\n") {
				i-- // the newline counts
			}
			continue
		case '\n':
			if depth <= 0 {
				return i + 1
			}
		}
		i++
	}
	return len(text)
}

// dottedKey reads the key at the start of a text.
func dottedKey(s string) []string {
	var out []string
	for {
		s = strings.TrimLeft(s, " \t")
		var key string
		if s != "" && (s[0] == '"' || s[0] == '\'') {
			end := strings.IndexByte(s[1:], s[0])
			if end < 0 {
				return out
			}
			key, s = s[1:end+1], s[end+2:]
		} else {
			n := strings.IndexAny(s, " \t.=]\n")
			if n < 0 {
				n = len(s)
			}
			key, s = s[:n], s[n:]
		}
		out = append(out, key)
		s = strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(s, ".") {
			return out
		}
		s = s[1:]
	}
}

func (f tomlFile) part(name string) (string, bool) {
	var v any = f.doc
	for _, k := range strings.Split(name, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return "", false
		}
		if v, ok = m[k]; !ok {
			return "", false
		}
	}
	return fmt.Sprintf("%#v", v), true
}

// under reports whether a path lies in one of the parts.
func under(p []string, parts []string) bool {
	joined := strings.Join(p, "\x00") + "\x00"
	for _, part := range parts {
		if strings.HasPrefix(joined, strings.ReplaceAll(part, ".", "\x00")+"\x00") {
			return true
		}
	}
	return false
}

func (f tomlFile) lay(from document, parts []string) ([]byte, bool) {
	src, ok := from.(tomlFile)
	if !ok {
		return nil, false
	}
	tables, keys, order := src.proving(parts)
	var b strings.Builder
	placed, dropping := false, false
	root := true
	flush := func(header string) {
		for _, k := range keys[header] {
			b.WriteString(endLine(k))
		}
		delete(keys, header)
	}
	for i, p := range f.pieces {
		if p.header {
			if root {
				root = false
				flush("")
			}
			dropping = under(p.path, parts)
			if dropping && !placed {
				placed = true
				b.WriteString(tables)
			}
		}
		switch {
		case dropping && (p.path != nil || inTable(f.pieces[i:])):
		case p.path != nil && under(p.path, parts):
		default:
			b.WriteString(p.text)
			if p.header {
				if s := b.String(); !strings.HasSuffix(s, "\n") {
					b.WriteString("\n")
				}
				flush(strings.Join(p.path, "\x00"))
			}
		}
	}
	if root {
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteString("\n")
		}
		flush("")
	}
	for _, h := range order {
		if list := keys[h.key]; list != nil {
			if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
				b.WriteString("\n")
			}
			b.WriteString(endLine(h.text))
			flush(h.key)
		}
	}
	if !placed && tables != "" {
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteString("\n")
		}
		b.WriteString(tables)
	}
	out := []byte(b.String())
	doc, ok := decodeTOML(out)
	// What does not prove must be the result's, too.
	return out, ok && rest(doc, parts) == rest(f.doc, parts)
}

type tableHeader struct{ key, text string }

// proving returns the text of the tables below the parts, and the keys below
// them that stand in other tables.
func (f tomlFile) proving(parts []string) (tables string, keys map[string][]string, order []tableHeader) {
	keys = map[string][]string{}
	var b strings.Builder
	in := false
	header := tableHeader{}
	for i, p := range f.pieces {
		if p.header {
			in = under(p.path, parts)
			header = tableHeader{strings.Join(p.path, "\x00"), p.text}
		}
		switch {
		case in && (p.path != nil || inTable(f.pieces[i:])):
			b.WriteString(endLine(p.text))
		case !in && !p.header && p.path != nil && under(p.path, parts):
			if keys[header.key] == nil && header.key != "" {
				order = append(order, header)
			}
			keys[header.key] = append(keys[header.key], p.text)
		}
	}
	return b.String(), keys, order
}

// inTable reports whether a comment or blank line is followed by a key of the
// same table.
func inTable(rest []piece) bool {
	for _, p := range rest {
		if p.path != nil {
			return !p.header
		}
	}
	return false
}

// rest is a document without the parts, and without tables that are empty
// then.
func rest(doc map[string]any, parts []string) string {
	var strip func(m map[string]any, at []string) map[string]any
	strip = func(m map[string]any, at []string) map[string]any {
		out := map[string]any{}
		for k, v := range m {
			p := append(append([]string{}, at...), k)
			if under(p, parts) {
				continue
			}
			if in, ok := v.(map[string]any); ok {
				s := strip(in, p)
				if len(s) > 0 {
					out[k] = s
				}
				continue
			}
			out[k] = v
		}
		return out
	}
	return fmt.Sprintf("%#v", strip(doc, nil))
}
