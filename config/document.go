package config

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// span is a range of bytes of a document.
type span struct{ from, to int }

// place is where one key of a document stands: its name, and its value or, for
// a table, its header.
type place struct{ key, value span }

// document is a TOML file together with the place of each of its keys.
//
// The library's own strict decoding stops at the first value of a wrong type,
// while a person wants all mistakes at once (docs/spec 24.4). So the library parses
// and says what is no TOML, and bind lays the result onto our structs.
type document struct {
	file   string
	src    []byte
	values map[string]any
	places map[string]place

	shipped bool // one of presets, which nobody can mend
}

func parseDocument(file string, src []byte) (*document, []ledger.Diagnostic) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // some editors put one in front
	d := &document{file: file, src: src, places: map[string]place{}}
	if err := toml.Unmarshal(src, &d.values); err != nil {
		var de *toml.DecodeError
		if !errors.As(err, &de) {
			return nil, []ledger.Diagnostic{{File: file, Text: strings.TrimPrefix(err.Error(), "toml: ")}}
		}
		line, col := de.Position()
		return nil, []ledger.Diagnostic{d.syntaxProblem(line, col, strings.TrimPrefix(de.Error(), "toml: "))}
	}
	d.locate()
	return d, nil
}

// syntaxProblem adds the remedy for the most usual slip, a text without quotes.
func (d *document) syntaxProblem(line, col int, text string) ledger.Diagnostic {
	at := d.lineStart(line) + col - 1
	p := d.problem(span{at, at + 1}, "not TOML: "+text)
	if strings.Contains(text, "start of value") {
		p.Remedy = `Texts stand in quotes: key = "text"`
	}
	return p
}

// locate notes the place of every key. The document was parsed before, so
// nothing in it can be wrong here.
func (d *document) locate() {
	var p unstable.Parser
	p.Reset(d.src)
	arrays := map[string]int{} // elements so far of each array of tables
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = d.header(e, arrays)
		case unstable.KeyValue:
			d.keyValue(e, table)
		}
	}
}

// header notes the place of a table's header and returns its path, in which
// an array of tables is followed by the index of its last element.
func (d *document) header(e *unstable.Node, arrays map[string]int) []string {
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
	d.places[pathKey(path)] = place{key: at, value: at}
	for n := len(path) - 1; n > 0; n-- { // what the header makes on its way
		if _, known := d.places[pathKey(path[:n])]; !known {
			d.places[pathKey(path[:n])] = place{key: at, value: at}
		}
	}
	return path
}

// keyValue notes the place of a key and of all that its value holds.
func (d *document) keyValue(e *unstable.Node, table []string) {
	path := append([]string(nil), table...)
	key := span{from: -1}
	for it := e.Key(); it.Next(); {
		k := it.Node()
		path = append(path, string(k.Data))
		if key.from < 0 {
			key.from = int(k.Raw.Offset)
		}
		key.to = int(k.Raw.Offset + k.Raw.Length)
		if _, known := d.places[pathKey(path)]; !known && !it.IsLast() {
			d.places[pathKey(path)] = place{key: key, value: key} // a dotted key makes its tables
		}
	}
	value := span{key.to, int(e.Raw.Offset + e.Raw.Length)}
	if eq := bytes.IndexByte(d.src[value.from:value.to], '='); eq >= 0 {
		value.from += eq + 1
	}
	value = d.trim(value)
	d.places[pathKey(path)] = place{key: key, value: value}
	d.inside(e.Value(), path)
}

// inside notes the places within an array or an inline table.
func (d *document) inside(value *unstable.Node, path []string) {
	i := 0
	for it := value.Children(); it.Next(); i++ {
		n := it.Node()
		if value.Kind == unstable.InlineTable {
			d.keyValue(n, path)
			continue
		}
		if value.Kind != unstable.Array {
			return
		}
		element := append(append([]string(nil), path...), strconv.Itoa(i))
		at := span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
		switch n.Kind { // the parser gives no whole range for what holds others
		case unstable.Array:
			at = d.places[pathKey(path)].value
		case unstable.InlineTable:
			at.to = d.end(n)
		}
		d.places[pathKey(element)] = place{key: at, value: at}
		d.inside(n, element)
	}
}

// end is where an inline table ends: at the brace after its last value.
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
func (d *document) has(path ...string) bool { _, ok := d.places[pathKey(path)]; return ok }

// atKey is a problem with a key itself, or with the section that holds it
// where the key is missing.
func (d *document) atKey(path []string, text string) ledger.Diagnostic {
	return d.problem(d.find(path).key, text)
}

// atValue is a problem with a key's value.
func (d *document) atValue(path []string, text string) ledger.Diagnostic {
	return d.problem(d.find(path).value, text)
}

func (d *document) find(path []string) place {
	for n := len(path); n > 0; n-- {
		if p, ok := d.places[pathKey(path[:n])]; ok {
			return p
		}
	}
	return place{}
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

// lineStart is the offset of a 1-based line.
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

// pathKey is the form of a path under which its place is kept. NUL cannot
// stand in a TOML key unescaped, a dot can.
func pathKey(path []string) string { return strings.Join(path, "\x00") }
