package proof

import (
	"bytes"
	"fmt"

	"github.com/nightporter/nightporter/internal/regexp"
)

// rustFile is a Rust source: parts are "mod NAME", the modules under
// #[cfg(test)], written out or in a file of their own.
type rustFile struct {
	text []byte
	mods []rustMod
}

type rustMod struct {
	name     string
	from, to int
}

var rustTest = regexp.MustCompile(`^#\[cfg\([^\]\n]*\btest\b[^\]\n]*\)\]\s*(?:#\[[^\]\n]*\]\s*|//[^\n]*\n\s*)*(?:pub(?:\([a-z]+\))?\s+)?mod\s+([A-Za-z0-9_]+)\s*([{;])`)

func readRust(data []byte) document {
	f := rustFile{text: data}
	seen := map[string]int{}
	skipRust(data, 0, func(i int) (int, bool) {
		if data[i] != '#' {
			return i, true
		}
		m := rustTest.FindSubmatchIndex(data[i:min(len(data), i+2000)])
		if m == nil {
			return i, true
		}
		end := i + m[1]
		if data[end-1] == '{' {
			end = closing(data, end)
		}
		name := string(data[i+m[2] : i+m[3]])
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprint(name, "#", seen[name])
		}
		f.mods = append(f.mods, rustMod{name, i, end})
		return end - 1, true
	})
	return f
}

// closing returns the end of the block whose first byte is at i, behind its
// brace.
func closing(text []byte, i int) int {
	depth, end := 1, len(text)
	skipRust(text, i, func(i int) (int, bool) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				end = i + 1
				return i, false
			}
		}
		return i, true
	})
	return end
}

var rustRaw = regexp.MustCompile(`^b?r(#*)"`)

// skipRust calls f for each byte that stands outside of strings, characters
// and comments. f returns where to go on and whether to.
func skipRust(text []byte, i int, f func(i int) (int, bool)) {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			n := bytes.IndexByte(text[i:], '\n')
			if n < 0 {
				return
			}
			i += n
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			depth := 1
			for i += 2; i < len(text) && depth > 0; i++ {
				if bytes.HasPrefix(text[i:], []byte("*/")) {
					depth--
					i++
				} else if bytes.HasPrefix(text[i:], []byte("/*")) {
					depth++
					i++
				}
			}
			i--
		case (c == 'r' || c == 'b') && (i == 0 || !wordByte(text[i-1])) && rustRaw.Match(text[i:min(len(text), i+64)]):
			m := rustRaw.FindSubmatch(text[i:min(len(text), i+64)])
			i += len(m[0])
			end := bytes.Index(text[i:], append([]byte{'"'}, m[1]...))
			if end < 0 {
				return
			}
			i += end + len(m[1])
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case c == '\'':
			// A character, not a lifetime.
			if i+1 < len(text) && text[i+1] == '\\' {
				for i += 2; i < len(text) && text[i] != '\''; i++ {
					if text[i] == '\\' {
						i++
					}
				}
			} else if n := bytes.IndexByte(text[min(len(text), i+2):min(len(text), i+6)], '\''); n >= 0 && (i+1 < len(text) && (n == 0 || text[i+1] >= 0x80)) {
				i += 2 + n
			}
		default:
			next, on := f(i)
			if !on {
				return
			}
			i = next
		}
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parts are the names of the test modules.
func (f rustFile) parts() []string {
	var out []string
	for _, m := range f.mods {
		out = append(out, "mod "+m.name)
	}
	return out
}

func (f rustFile) part(part string) (string, bool) {
	for _, m := range f.mods {
		if "mod "+m.name == part {
			return string(f.text[m.from:m.to]), true
		}
	}
	return "", false
}

func (f rustFile) lay(from document, parts []string) ([]byte, bool) {
	src, ok := from.(rustFile)
	if !ok {
		return nil, false
	}
	text := string(f.text)
	for i := len(f.mods) - 1; i >= 0; i-- {
		m := f.mods[i]
		for _, p := range parts {
			if p == "mod "+m.name {
				theirs, _ := src.part(p)
				text = text[:m.from] + theirs + text[m.to:]
			}
		}
	}
	for _, p := range parts {
		theirs, ok := src.part(p)
		if _, has := f.part(p); ok && !has {
			text = endLine(text) + "\n" + theirs + "\n"
		}
	}
	return []byte(text), true
}
