package cloud

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// replace returns the document with other bytes in place of a range. All edits
// end here.
func (d *document) replace(start, end int, by string) *document {
	text := slices.Concat(d.text[:start], []byte(by), d.text[end:])
	next, err := parseDocument(d.file, text)
	if err != nil {
		panic("cloud: an edit broke the state file: " + err.Error())
	}
	return next
}

// at returns the value at a path of keys. All but the last have to be there.
func (d *document) at(path ...string) (node, bool) {
	n, ok := d.root, true
	for _, name := range path {
		if n, ok = n.find(name); !ok {
			break
		}
	}
	return n, ok
}

// set gives the key at the end of path a value in JSON. A new key comes before
// the first one that later names, else at the end. It is a no-op where the value
// is there.
func (d *document) set(json string, later []string, path ...string) *document {
	if n, ok := d.at(path...); ok {
		if string(d.text[n.start:n.end]) == json {
			return d
		}
		return d.replace(n.start, n.end, json)
	}
	parent, ok := d.at(path[:len(path)-1]...)
	if !ok {
		panic("cloud: no " + strings.Join(path, "."))
	}
	l := d.layout(parent, len(path)-1)
	key := quote(path[len(path)-1]) + l.colon + json
	for _, m := range parent.members {
		if slices.Contains(later, m.name) {
			return d.replace(m.start, m.start, key+","+l.between)
		}
	}
	return d.add(parent, l, key)
}

// append adds a value in JSON to the end of the list at path.
func (d *document) append(json string, path ...string) *document {
	list, ok := d.at(path...)
	if !ok {
		panic("cloud: no list " + strings.Join(path, "."))
	}
	return d.add(list, d.layout(list, len(path)), json)
}

// add puts text behind the last child of an object or a list.
func (d *document) add(parent node, l layout, text string) *document {
	if last, any := parent.last(); any {
		return d.replace(last, last, ","+l.between+text)
	}
	return d.replace(parent.start+1, parent.end-1, l.open+text+l.close)
}

// remove takes the key at the end of path out, with its comma.
func (d *document) remove(path ...string) *document {
	parent, ok := d.at(path[:len(path)-1]...)
	if !ok {
		return d
	}
	i := slices.IndexFunc(parent.members, func(m member) bool { return m.name == path[len(path)-1] })
	if i < 0 {
		return d
	}
	spans := make([][2]int, len(parent.members))
	for j, m := range parent.members {
		spans[j] = [2]int{m.start, m.value.end}
	}
	return d.cut(parent, spans, i)
}

// removeItem takes one value out of the list at path.
func (d *document) removeItem(i int, path ...string) *document {
	list, _ := d.at(path...)
	spans := make([][2]int, len(list.items))
	for j, item := range list.items {
		spans[j] = [2]int{item.start, item.end}
	}
	return d.cut(list, spans, i)
}

// cut removes the child with index i of the children that spans has.
func (d *document) cut(parent node, spans [][2]int, i int) *document {
	switch {
	case len(spans) == 1:
		return d.replace(parent.start+1, parent.end-1, "")
	case i+1 < len(spans):
		return d.replace(spans[i][0], spans[i+1][0], "")
	}
	return d.replace(spans[i-1][1], spans[i][1], "")
}

// last returns where the last child of an object or a list ends.
func (n node) last() (end int, any bool) {
	switch {
	case len(n.members) > 0:
		return n.members[len(n.members)-1].value.end, true
	case len(n.items) > 0:
		return n.items[len(n.items)-1].end, true
	}
	return 0, false
}

// layout is the white space of an object or a list.
type layout struct {
	open, between, close string // before the first child, after a comma, after the last child
	colon                string // with the white space around it
}

// layout returns the white space for children of n, which lies depth levels
// below the document. An object or list with children keeps its own; an empty
// one gets that of the document.
func (d *document) layout(n node, depth int) layout {
	l := layout{colon: ":"}
	if m := d.root.members; len(m) > 0 {
		s := scanner{d: d, at: m[0].start}
		s.string()
		l.colon = string(d.text[s.at:m[0].value.start])
	}
	first, second := -1, -1
	switch {
	case len(n.members) > 0:
		first = n.members[0].start
		if len(n.members) > 1 {
			second = n.members[1].start
		}
	case len(n.items) > 0:
		first = n.items[0].start
		if len(n.items) > 1 {
			second = n.items[1].start
		}
	}
	if first >= 0 {
		l.open = string(d.text[n.start+1 : first])
		l.between = l.open
		if second >= 0 {
			comma := bytes.LastIndexByte(d.text[:second], ',')
			l.between = string(d.text[comma+1 : second])
		} else if l.open == "" && n.start != d.root.start {
			l.between = d.layout(d.root, 0).between
			if strings.Contains(l.between, "\n") {
				l.between = " " // a list on one line stays on it
			}
		}
		end, _ := n.last()
		l.close = string(d.text[end : n.end-1])
		return l
	}
	if depth == 0 { // an empty document
		return layout{open: "\n  ", between: "\n  ", close: "\n", colon: ": "}
	}
	outer := d.layout(d.root, 0)
	l.colon = outer.colon
	newline, indent, lines := strings.Cut(outer.open, "\n")
	if !lines {
		return layout{between: outer.between, colon: l.colon}
	}
	newline += "\n"
	l.open = newline + strings.Repeat(indent, depth+1)
	l.between, l.close = l.open, newline+strings.Repeat(indent, depth)
	return l
}

// object returns an object of keys and values in JSON as a child at a depth.
func (d *document) object(depth int, members ...[2]string) string {
	l := d.layout(node{}, depth)
	var parts []string
	for _, m := range members {
		if m[1] != "" {
			parts = append(parts, quote(m[0])+l.colon+m[1])
		}
	}
	return "{" + l.open + strings.Join(parts, ","+l.between) + l.close + "}"
}

// quote returns a text as JSON. It escapes only what JSON requires: other
// programs that write the file leave the rest as it is.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if r < ' ' {
				fmt.Fprintf(&b, `\u%04x`, r)
			} else {
				b.WriteRune(r)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

func number(n int) string { return strconv.Itoa(n) }
