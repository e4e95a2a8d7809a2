package config

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// span is a range of bytes of a document.
type span struct{ from, to int }

// keyPosition is the position of one key in a document: of its name, and of its
// value. A table's value is its header.
type keyPosition struct{ key, value span }

// document is a TOML file with the position of each of its keys.
//
// The library's strict decoding stops at the first value of a wrong type, while
// a person wants all mistakes at once (docs/spec 24.4). So the library only
// parses and reports syntax errors, and bind fills the structs.
type document struct {
	file      string
	src       []byte
	values    map[string]any
	positions map[string]keyPosition // see keys
	located   sync.Once

	shipped bool // one of presets, which the user cannot edit
}

func parseDocument(file string, src []byte) (*document, []ledger.Diagnostic) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // some editors write a byte order mark
	d := &document{file: file, src: src, positions: map[string]keyPosition{}}
	if err := toml.Unmarshal(src, &d.values); err != nil {
		var de *toml.DecodeError
		if !errors.As(err, &de) {
			return nil, []ledger.Diagnostic{{File: file, Text: strings.TrimPrefix(err.Error(), "toml: ")}}
		}
		line, col := de.Position()
		return nil, []ledger.Diagnostic{d.syntaxProblem(line, col, strings.TrimPrefix(de.Error(), "toml: "))}
	}
	return d, nil
}

// keys returns the position of every key. Most documents have no mistake, and nobody
// asks for it.
func (d *document) keys() map[string]keyPosition {
	d.located.Do(d.locate)
	return d.positions
}

// syntaxProblem adds the remedy for the most frequent mistake, a text without
// quotes.
func (d *document) syntaxProblem(line, col int, text string) ledger.Diagnostic {
	at := d.lineStart(line) + col - 1
	p := d.problem(span{at, at + 1}, "not TOML: "+text)
	if strings.Contains(text, "start of value") {
		p.Remedy = `Texts stand in quotes: key = "text"`
	}
	return p
}

// locate records the position of every key. It reports no errors, because the
// document has been parsed before.
func (d *document) locate() {
	var p unstable.Parser
	p.Reset(d.src)
	arrays := map[string]int{} // number of elements so far in each array of tables
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = d.recordHeader(e, arrays)
		case unstable.KeyValue:
			d.recordKeyValue(e, table)
		}
	}
}

// recordHeader records the position of a table's header and returns the table's
// path. In the path an array of tables is followed by the index of its last
// element.
func (d *document) recordHeader(e *unstable.Node, arrays map[string]int) []string {
	var path []string
	at := span{from: -1}
	for it := e.Key(); it.Next(); {
		k := it.Node()
		path = append(path, string(k.Data))
		if at.from < 0 {
			at.from = int(k.Raw.Offset)
		}
		at.to = int(k.Raw.Offset + k.Raw.Length)
		last := it.IsLast()
		n, isArray := arrays[pathKey(path)]
		if last && e.Kind == unstable.ArrayTable {
			arrays[pathKey(path)] = n + 1
			path = append(path, strconv.Itoa(n))
		} else if isArray {
			path = append(path, strconv.Itoa(n-1))
		}
	}
	for at.from > 0 && strings.IndexByte("[ \t", d.src[at.from-1]) >= 0 {
		at.from--
	}
	for at.to < len(d.src) && strings.IndexByte("] \t", d.src[at.to]) >= 0 {
		at.to++
	}
	at = d.trim(at)
	d.positions[pathKey(path)] = keyPosition{key: at, value: at}
	for n := len(path) - 1; n > 0; n-- { // the parent tables that the header creates
		if _, known := d.positions[pathKey(path[:n])]; !known {
			d.positions[pathKey(path[:n])] = keyPosition{key: at, value: at}
		}
	}
	return path
}

// recordKeyValue records the position of a key, of its value and of everything
// within the value.
func (d *document) recordKeyValue(e *unstable.Node, table []string) {
	path := append([]string(nil), table...)
	key := span{from: -1}
	for it := e.Key(); it.Next(); {
		k := it.Node()
		path = append(path, string(k.Data))
		if key.from < 0 {
			key.from = int(k.Raw.Offset)
		}
		key.to = int(k.Raw.Offset + k.Raw.Length)
		if _, known := d.positions[pathKey(path)]; !known && !it.IsLast() {
			d.positions[pathKey(path)] = keyPosition{key: key, value: key} // a dotted key creates its parent tables
		}
	}
	value := span{key.to, int(e.Raw.Offset + e.Raw.Length)}
	if eq := bytes.IndexByte(d.src[value.from:value.to], '='); eq >= 0 {
		value.from += eq + 1
	}
	value = d.trim(value)
	d.positions[pathKey(path)] = keyPosition{key: key, value: value}
	d.recordNested(e.Value(), path)
}

// recordNested records the positions within an array or an inline table.
func (d *document) recordNested(value *unstable.Node, path []string) {
	i := 0
	for it := value.Children(); it.Next(); i++ {
		n := it.Node()
		if value.Kind == unstable.InlineTable {
			d.recordKeyValue(n, path)
			continue
		}
		if value.Kind != unstable.Array {
			return
		}
		element := append(append([]string(nil), path...), strconv.Itoa(i))
		at := span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
		switch n.Kind { // the parser gives no complete range for nested values
		case unstable.Array:
			at = d.positions[pathKey(path)].value
		case unstable.InlineTable:
			at.to = d.end(n)
		}
		d.positions[pathKey(element)] = keyPosition{key: at, value: at}
		d.recordNested(n, element)
	}
}

// end returns the offset behind an inline table's closing brace.
func (d *document) end(table *unstable.Node) int {
	end := int(table.Raw.Offset + table.Raw.Length)
	for it := table.Children(); it.Next(); {
		end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	if i := bytes.IndexByte(d.src[end:], '}'); i >= 0 {
		end += i + 1
	}
	return end
}

func (d *document) trim(s span) span {
	for s.from < s.to && strings.IndexByte(" \t\r\n", d.src[s.from]) >= 0 {
		s.from++
	}
	for s.to > s.from && strings.IndexByte(" \t\r\n", d.src[s.to-1]) >= 0 {
		s.to--
	}
	return s
}

// has reports whether the document holds the key.
func (d *document) has(path ...string) bool { _, ok := d.keys()[pathKey(path)]; return ok }

// atKey returns a problem with a key, or with the section that lacks it.
func (d *document) atKey(path []string, text string) ledger.Diagnostic {
	return d.problem(d.find(path).key, text)
}

// atValue returns a problem with a key's value.
func (d *document) atValue(path []string, text string) ledger.Diagnostic {
	return d.problem(d.find(path).value, text)
}

func (d *document) find(path []string) keyPosition {
	for n := len(path); n > 0; n-- {
		if p, ok := d.keys()[pathKey(path[:n])]; ok {
			return p
		}
	}
	return keyPosition{}
}

// problem returns a diagnostic about a range, which ends at the end of its first
// line.
func (d *document) problem(s span, text string) ledger.Diagnostic {
	p := ledger.Diagnostic{File: d.file, Text: text}
	if s.to == 0 { // nothing in the document is to blame
		return p
	}
	s.from = min(s.from, len(d.src))
	start := bytes.LastIndexByte(d.src[:s.from], '\n') + 1
	end := len(d.src)
	if i := bytes.IndexByte(d.src[start:], '\n'); i >= 0 {
		end = start + i
	}
	p.Line = 1 + bytes.Count(d.src[:start], []byte{'\n'})
	p.Excerpt.Col = 1 + utf8.RuneCount(d.src[start:s.from])
	p.Excerpt.Source = strings.TrimSuffix(string(d.src[start:end]), "\r")
	p.Excerpt.Len = max(1, utf8.RuneCount(bytes.TrimRight(d.src[s.from:max(s.from, min(s.to, end))], " \t\r")))
	return p
}

// lineStart returns the byte offset of a line, which is 1-based.
func (d *document) lineStart(line int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(d.src[at:], '\n')
		if i < 0 {
			return len(d.src)
		}
		at += i + 1
	}
	return at
}

// pathKey joins a path into a map key. Its separator is NUL, because TOML keys
// may contain dots but no unescaped NUL.
func pathKey(path []string) string { return strings.Join(path, "\x00") }
