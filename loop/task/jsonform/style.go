package jsonform

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// style is how an object of the file is written: the text between its parts.
type style struct {
	open  string // behind {
	colon string // between a key and its value
	comma string // between a value and the next key
	close string // before }
	items [3]string
	ascii bool // the file writes other characters as \u…
	keys  []string
}

// styleOf returns how the object v is written.
func (l *list) styleOf(v gjson.Result) style {
	var o object
	o.read(&document{ends: l.ends}, "", v)
	s := style{colon: ": ", comma: ", ", items: [3]string{"", ", ", ""}, ascii: l.ascii()}
	if len(o.fields) == 0 {
		return s
	}
	first, last := o.fields[0], o.fields[len(o.fields)-1]
	s.open = l.text[v.Index+1 : first.at]
	s.colon = l.text[first.end:first.value.Index]
	s.close = l.text[last.value.Index+len(last.value.Raw) : v.Index+len(v.Raw)-1]
	if s.comma = "," + s.open; len(o.fields) > 1 {
		s.comma = l.text[first.value.Index+len(first.value.Raw) : o.fields[1].at]
	}
	if s.comma == "," && strings.HasSuffix(s.colon, " ") {
		s.comma = ", "
	}
	if !strings.HasSuffix(s.colon, " ") {
		s.items[1] = ","
	}
	for _, f := range o.fields {
		s.keys = append(s.keys, f.key)
		if f.value.IsArray() {
			if items, ok := l.itemsOf(f.value); ok {
				s.items = items
			}
		}
	}
	return s
}

// itemsOf returns the text before, between and behind the items of a list, and
// whether it has any that are no objects.
func (l *list) itemsOf(v gjson.Result) (items [3]string, ok bool) {
	end, n := 0, 0
	v.ForEach(func(_, item gjson.Result) bool {
		if item.IsObject() {
			ok = false
			return false
		}
		switch n {
		case 0:
			items[0], ok = l.text[v.Index+1:item.Index], true
			items[1] = "," + items[0]
			if items[0] == "" {
				items[1] = ", "
			}
		case 1:
			items[1] = l.text[end:item.Index]
		}
		end, n = item.Index+len(item.Raw), n+1
		return true
	})
	if ok {
		items[2] = l.text[end : v.Index+len(v.Raw)-1]
	}
	return items, ok
}

// ascii reports whether the file writes characters beyond ASCII as escapes.
func (l *list) ascii() bool {
	return strings.Contains(l.text, `\u`) && strings.IndexFunc(l.text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// emptyStyle is the style of the first object of a file: indented below the line
// that holds the list.
func (l *list) emptyStyle() (s style, before, after string) {
	end := "\n"
	if strings.Contains(l.text, "\r\n") {
		end = "\r\n"
	}
	unit := "  "
	for line := range strings.Lines(l.text) {
		if rest := strings.TrimLeft(line, " \t"); len(rest) < len(line) && strings.TrimSpace(rest) != "" {
			unit = line[:len(line)-len(rest)]
			break
		}
	}
	line := l.text[:l.array.Index]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	before, after = end+indent+unit, end+indent
	return style{open: before + unit, colon: ": ", comma: "," + before + unit, close: before, items: [3]string{"", ", ", ""}, ascii: l.ascii()}, before, after
}

// inserted returns the text of a field behind another one.
func (s style) inserted(key, raw string) string { return s.comma + quote(key, s.ascii) + s.colon + raw }

// property is a field of a new task.
type property struct {
	key    string
	raw    string   // JSON text, or
	text   string   // a text, or
	texts  []string // texts, or
	id     string   // an id, or
	ids    []string // ids
	list   bool     // texts or ids, which may be empty
	def    string   // JSON text that the tool takes for a missing field
	always bool     // the tool requires it
	absent bool     // it is left out where it is empty, also when other tasks have it
}

// given reports whether the task says something with it.
func (p *property) given() bool {
	return p.raw != "" && p.raw != p.def || p.text != "" || len(p.texts) > 0 || p.id != "" || len(p.ids) > 0
}

// object returns the text of an object with these fields, in the order that others
// of the file have.
func (s style) object(fields []property, reference func(id string) string) string {
	var b strings.Builder
	written := 0
	put := func(p *property) {
		if written++; written == 1 {
			b.WriteString(s.open)
		} else {
			b.WriteString(s.comma)
		}
		b.WriteString(quote(p.key, s.ascii) + s.colon)
		var items []string
		switch {
		case p.id != "":
			b.WriteString(reference(p.id))
			return
		case !p.list && p.raw != "":
			b.WriteString(p.raw)
			return
		case !p.list:
			b.WriteString(quote(p.text, s.ascii))
			return
		}
		for _, t := range p.texts {
			items = append(items, quote(t, s.ascii))
		}
		for _, id := range p.ids {
			items = append(items, reference(id))
		}
		if len(items) == 0 {
			b.WriteString("[]")
			return
		}
		b.WriteString("[" + s.items[0] + strings.Join(items, s.items[1]) + s.items[2] + "]")
	}
	b.WriteByte('{')
	left := map[string]*property{}
	for n := range fields {
		left[fields[n].key] = &fields[n]
	}
	for _, key := range s.keys {
		if p := left[key]; p != nil && (p.always || p.given() || !p.absent) {
			put(p)
		}
		delete(left, key)
	}
	for n := range fields {
		if p := left[fields[n].key]; p != nil && (p.always || p.given()) {
			put(p)
		}
	}
	b.WriteString(s.close + "}")
	return b.String()
}

// quote returns a text as JSON, with no other escapes than JSON requires, or ascii
// ones.
func quote(s string, ascii bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string cannot fail
	out := strings.TrimSuffix(b.String(), "\n")
	if !ascii {
		return out
	}
	b.Reset()
	for _, r := range out {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		}
	}
	return b.String()
}

func decimal(n int) string { return strconv.Itoa(n) }

// unlike returns body, unless it only repeats the title.
func unlike(body, title string) string {
	if strings.TrimSpace(body) == strings.TrimSpace(title) {
		return ""
	}
	return body
}

// scopeText says a scope in words: these files have no place for it.
func scopeText(scope string) string {
	if strings.TrimSpace(scope) == "" {
		return ""
	}
	return "Scope: " + scope
}
