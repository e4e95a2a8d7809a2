package proof

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonFile is package.json: parts are keys at the top, and "scripts.NAME".
type jsonFile struct {
	text    []byte
	top     []member
	scripts []member
}

// member is a key of an object with the positions of both in the text.
type member struct {
	key                string
	at, from, to, stop int // start of the key, start and end of the value, of a comma behind it
}

func readJSON(data []byte) (document, bool) {
	body := trimBOM(data)
	if !json.Valid(body) || bytes.TrimSpace(body)[0] != '{' {
		return nil, false
	}
	f := jsonFile{text: data}
	var ok bool
	f.top, ok = members(data, bytes.IndexByte(data, '{'))
	for _, m := range f.top {
		if m.key == "scripts" && data[m.from] == '{' {
			var in bool
			f.scripts, in = members(data, m.from)
			ok = ok && in
		}
	}
	return f, ok // a key that stands there twice means what its reader likes
}

// members returns the members of the object that begins at i, in valid JSON,
// and false where a key is there twice.
func members(text []byte, i int) ([]member, bool) {
	var out []member
	seen := map[string]bool{}
	for i++; i < len(text); {
		switch c := text[i]; {
		case c == '}':
			return out, true
		case c == '"':
			m := member{at: i}
			i = skipString(text, i)
			if json.Unmarshal(text[m.at:i], &m.key) != nil || seen[m.key] {
				return nil, false
			}
			seen[m.key] = true
			for text[i] != ':' {
				i++
			}
			for i++; text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r'; i++ {
			}
			m.from = i
			i = skipValue(text, i)
			m.to, m.stop = i, i
			out = append(out, m)
		case c == ',' && len(out) > 0:
			i++
			out[len(out)-1].stop = i
		default:
			i++
		}
	}
	return out, true
}

func skipString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// find returns the members of the object that holds a part, and its index
// there.
func (f jsonFile) find(part string) (list []member, at int, name string) {
	list, name = f.top, part
	if n, ok := strings.CutPrefix(part, "scripts."); ok {
		list, name = f.scripts, n
	}
	for i, m := range list {
		if m.key == name {
			return list, i, name
		}
	}
	return list, -1, name
}

func (f jsonFile) part(part string) (string, bool) {
	list, i, _ := f.find(part)
	if i < 0 {
		return "", false
	}
	// Decoded and encoded again: spaces, the order of keys and escapes mean
	// nothing.
	dec := json.NewDecoder(bytes.NewReader(f.text[list[i].from:list[i].to]))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return "", false
	}
	out, err := json.Marshal(v)
	return string(out), err == nil
}

func (f jsonFile) lay(from document, parts []string) ([]byte, bool) {
	src, ok := from.(jsonFile)
	if !ok {
		return nil, false
	}
	for _, part := range parts {
		if equalParts(src, f, []string{part}) {
			continue
		}
		list, i, name := f.find(part)
		theirs, j, _ := src.find(part)
		var text []byte
		switch {
		case j < 0:
			text = cut(f.text, list, i)
		case i >= 0:
			text = splice(f.text, list[i].from, list[i].to, string(src.text[theirs[j].from:theirs[j].to]))
		default:
			if text, ok = f.insert(part, name, string(src.text[theirs[j].from:theirs[j].to])); !ok {
				return nil, false
			}
		}
		next, ok := readJSON(text)
		if !ok {
			return nil, false
		}
		f = next.(jsonFile)
	}
	return f.text, true
}

func splice(text []byte, from, to int, with string) []byte {
	return []byte(string(text[:from]) + with + string(text[to:]))
}

// cut removes a member with the comma that separates it.
func cut(text []byte, list []member, i int) []byte {
	from, to := list[i].at, list[i].stop
	switch {
	case i > 0 && list[i].stop == list[i].to: // the last: the comma before it goes
		from = list[i-1].to
	case i > 0:
		from = list[i-1].stop
	default:
		for from > 0 && text[from-1] != '{' {
			from--
		}
	}
	return splice(text, from, to, "")
}

// insert adds a member at the end of its object.
func (f jsonFile) insert(part, name, value string) ([]byte, bool) {
	key, err := json.Marshal(name)
	if err != nil {
		return nil, false
	}
	pair := string(key) + ": " + value
	list, object := f.top, bytes.IndexByte(f.text, '{')
	if strings.HasPrefix(part, "scripts.") {
		_, i, _ := f.find("scripts")
		if i < 0 {
			return f.insert("scripts", "scripts", "{ "+pair+" }")
		}
		if list, object = f.scripts, f.top[i].from; f.text[object] != '{' {
			return splice(f.text, f.top[i].from, f.top[i].to, "{ "+pair+" }"), true
		}
	}
	if len(list) == 0 {
		return splice(f.text, object+1, object+1, " "+pair), true
	}
	last := list[len(list)-1]
	gap := last.at
	for gap > 0 && strings.IndexByte(" \t\r\n", f.text[gap-1]) >= 0 {
		gap--
	}
	return splice(f.text, last.to, last.to, ","+string(f.text[gap:last.at])+pair), true
}
