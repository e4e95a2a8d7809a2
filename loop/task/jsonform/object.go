package jsonform

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// field is a key of an object and its value.
type field struct {
	key   string
	at    int // offset of the key
	end   int // and behind it
	value gjson.Result
}

// object is a JSON object that is being read. Its getters add findings about values
// of another type; null counts as missing.
type object struct {
	doc    *document
	name   string // for findings: its id, or, where that is empty, what and index
	what   string // "task"
	index  int    // 0-based
	fields []field
	places map[string]int // by key, where it has more than manyKeys
}

// manyKeys is where a look-up replaces the walk over an object's keys: a file can have
// an object of a million.
const manyKeys = 64

// label returns what findings call o.
func (o *object) label() string {
	if o.name == "" {
		return fmt.Sprintf("%s %d", o.what, o.index+1)
	}
	return o.name
}

// read makes o the object v, and reports keys that it has twice. It reuses o's
// memory.
func (o *object) read(d *document, name string, v gjson.Result) {
	o.doc, o.name, o.fields, o.places = d, name, o.fields[:0], nil
	v.ForEach(func(key, value gjson.Result) bool {
		if n := o.find(key.Str); n >= 0 {
			d.Error(d.line(key.Index), fmt.Sprintf("%s has %q twice: line %d and line %d", o.label(), clip(key.Str, 40), d.line(o.fields[n].at), d.line(key.Index)), "Remove one of them")
		} else {
			o.add(field{key.Str, key.Index, key.Index + len(key.Raw), value})
		}
		return true
	})
}

func (o *object) add(f field) {
	o.fields = append(o.fields, f)
	switch {
	case len(o.fields) < manyKeys:
		return
	case o.places == nil:
		o.places = map[string]int{}
		for n := range o.fields {
			o.places[o.fields[n].key] = n
		}
	}
	o.places[f.key] = len(o.fields) - 1
}

func (o *object) find(key string) int {
	if o.places != nil {
		if n, ok := o.places[key]; ok {
			return n
		}
		return -1
	}
	for n := range o.fields {
		if o.fields[n].key == key {
			return n
		}
	}
	return -1
}

// get returns the value of the first key that the object has.
func (o *object) get(keys ...string) (gjson.Result, bool) {
	for _, key := range keys {
		if n := o.find(key); n >= 0 && o.fields[n].value.Type != gjson.Null {
			return o.fields[n].value, true
		}
	}
	return gjson.Result{}, false
}

// wrong reports a value of another type.
func (o *object) wrong(key string, v gjson.Result, expected string) {
	o.doc.Error(o.doc.lineOf(v), fmt.Sprintf("%s of %s is %s: expected %s", key, o.label(), describe(v), expected), "Correct it, or remove it")
}

func describe(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "a list"
	}
	return clip(v.Raw, 40)
}

// text returns a text. The result shares no memory with the document.
func (o *object) text(keys ...string) string {
	v, ok := o.get(keys...)
	if !ok {
		return ""
	}
	if v.Type != gjson.String {
		o.wrong(keys[0], v, "a text")
		return ""
	}
	return strings.Clone(v.Str)
}

// texts returns a list of texts; one text counts as a list of its lines.
func (o *object) texts(keys ...string) []string {
	v, ok := o.get(keys...)
	switch {
	case !ok:
		return nil
	case v.Type == gjson.String:
		return lines(v.Str)
	case !v.IsArray():
		o.wrong(keys[0], v, "a list of texts")
		return nil
	}
	var list []string
	v.ForEach(func(_, item gjson.Result) bool {
		if item.IsObject() {
			item = sentence(item)
		}
		switch {
		case item.Type != gjson.String:
			o.wrong("an entry of "+keys[0], item, "a text")
		case strings.TrimSpace(item.Str) != "":
			list = append(list, strings.Clone(item.Str))
		}
		return true
	})
	return list
}

// sentence returns the text of an item that has more than a text, as the criteria of
// some tools have: an id, a command, whether it passes. Without one it returns v.
func sentence(v gjson.Result) gjson.Result {
	found := v
	v.ForEach(func(key, value gjson.Result) bool {
		if value.Type == gjson.String && (key.Str == "text" || key.Str == "description" || key.Str == "criterion") {
			found = value
			return false
		}
		return true
	})
	return found
}

// lines returns the lines of a text without bullets and numbers before them.
func lines(s string) []string {
	var list []string
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		for _, bullet := range []string{"- [ ] ", "- [x] ", "- ", "* ", "• "} {
			if rest, ok := strings.CutPrefix(line, bullet); ok {
				line = strings.TrimSpace(rest)
				break
			}
		}
		if line != "" {
			list = append(list, strings.Clone(line))
		}
	}
	return list
}

// number returns a whole number between from and to, 0 if there is none.
func (o *object) number(from, to int, keys ...string) int {
	v, ok := o.get(keys...)
	if !ok {
		return 0
	}
	n := int(v.Num)
	if v.Type != gjson.Number || float64(n) != v.Num || n < from || n > to {
		o.wrong(keys[0], v, fmt.Sprintf("a whole number from %d to %d", from, to))
		return 0
	}
	return n
}

// seconds returns a time that is written as seconds since 1970, the zero time if
// there is none.
func (o *object) seconds(key string) time.Time {
	n := o.number(0, 1<<40, key)
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(int64(n), 0).UTC()
}
