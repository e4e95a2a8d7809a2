package patch

import (
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Class is what a part of a line is in its language.
type Class byte

// The classes.
const (
	Plain Class = iota
	Comment
	String
	Number
	Keyword
	Call // a name before a parenthesis
	Key  // of a setting, an attribute, a heading
)

// token is a part of a line, up to its byte end.
type token struct {
	end   int
	class Class
}

// language is what the colours of a language depend on.
type language struct {
	line     []string    // beginnings of a comment that ends with the line
	block    [][2]string // beginning and end of longer comments
	quotes   string      // characters around a string of one line
	long     []string    // marks around a string of several lines
	keywords string      // each between spaces: a map would be built at every start of the process
	settings bool        // a line is "key: value" or "key = value"
	prose    bool
	tags     bool // markup in angle brackets
	anyCase  bool // keywords in capitals too
}

// Families of languages. A few keywords too many in one of them cost nothing.
var (
	cBlock = [][2]string{{"/*", "*/"}}

	goLang = &language{line: []string{"//"}, block: cBlock, quotes: `"'`, long: []string{"`"}, keywords: ` break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota error string int int64 uint byte rune bool float64 any `}
	cLike  = &language{line: []string{"//"}, block: cBlock, quotes: `"'`, keywords: ` abstract as assert async auto await bool boolean break byte case catch char class const constexpr continue def default defer delegate delete do double dynamic else enum explicit export extends extern false final finally float fn for foreach friend fun get goto guard if impl implements import in inline instanceof int interface internal is lazy let lock long match mod module mut namespace native new nil noexcept null nullptr object open operator out override package private protected pub public ref return sealed self set short signed sizeof static string struct super suspend switch synchronized template this throw throws trait transient true try typedef typename union unsafe unsigned use using val var virtual void volatile when where while with yield `}
	jsLike = &language{line: []string{"//"}, block: cBlock, quotes: `"'`, long: []string{"`"}, keywords: ` abstract any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let namespace never new null number of private protected public readonly return set static string super switch this throw true try type typeof undefined unknown var void while with yield `}
	python = &language{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}, keywords: ` and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield `}
	ruby   = &language{line: []string{"#"}, quotes: `"'` + "`", keywords: ` alias and begin break case class def defined? defmodule do else elsif end ensure false fn for if in include module next nil not or private protected public raise redo require rescue retry return self super then true undef unless until use when while yield `}
	shell  = &language{line: []string{"#"}, quotes: `"'`, keywords: ` if then else elif fi for in do done while until case esac function return local export set unset exit echo cd test source readonly FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT WORKDIR EXPOSE USER ifeq ifneq ifdef ifndef endif include define endef `}
	sql    = &language{line: []string{"--"}, block: cBlock, quotes: `'"`, anyCase: true, keywords: ` add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction trigger union unique update using values view when where with `}
	lua    = &language{line: []string{"--"}, quotes: `"'`, keywords: ` and as break case class data deriving do else elseif end false for function goto if import in infix instance let local module newtype nil not of or repeat return then true type until where while `}
	lisp   = &language{line: []string{";"}, quotes: `"`, keywords: ` def defn defun defmacro fn if let cond do loop recur ns require lambda define nil true false `}
	style  = &language{line: []string{"//"}, block: cBlock, quotes: `"'`, settings: true}
	yaml   = &language{line: []string{"#"}, quotes: `"'`, settings: true, keywords: ` true false null yes no on off `}
	config = &language{line: []string{"#", ";"}, quotes: `"'`, long: []string{`"""`}, settings: true, keywords: ` true false `}
	json   = &language{line: []string{"//"}, quotes: `"`, settings: true, keywords: ` true false null `}
	markup = &language{block: [][2]string{{"<!--", "-->"}}, quotes: `"`, tags: true}
	prose  = &language{prose: true}
)

var languages = sync.OnceValue(func() map[string]*language {
	return map[string]*language{
		".go": goLang, ".mod": goLang,
		".c": cLike, ".h": cLike, ".cc": cLike, ".cpp": cLike, ".cxx": cLike, ".hpp": cLike, ".m": cLike, ".mm": cLike, ".cs": cLike, ".java": cLike, ".kt": cLike, ".kts": cLike,
		".scala": cLike, ".swift": cLike, ".rs": cLike, ".zig": cLike, ".dart": cLike, ".groovy": cLike, ".gradle": cLike, ".proto": cLike, ".php": cLike, ".d": cLike, ".v": cLike,
		".js": jsLike, ".jsx": jsLike, ".ts": jsLike, ".tsx": jsLike, ".mjs": jsLike, ".cjs": jsLike, ".mts": jsLike, ".cts": jsLike,
		".py": python, ".pyi": python, ".bzl": python, ".nim": python,
		".rb": ruby, ".ex": ruby, ".exs": ruby, ".cr": ruby, ".rake": ruby, "Gemfile": ruby, "Rakefile": ruby,
		".sh": shell, ".bash": shell, ".zsh": shell, ".fish": shell, ".bats": shell, ".mk": shell, "Makefile": shell, "Dockerfile": shell, "Justfile": shell, ".pl": shell, ".r": shell,
		".sql": sql, ".lua": lua, ".hs": lua, ".elm": lua,
		".clj": lisp, ".cljs": lisp, ".el": lisp, ".lisp": lisp, ".scm": lisp,
		".css": style, ".scss": style, ".less": style,
		".yml": yaml, ".yaml": yaml, ".toml": config, ".ini": config, ".cfg": config, ".conf": config, ".env": config, ".properties": config, ".tf": config, ".hcl": config,
		".json": json, ".jsonc": json, ".json5": json,
		".html": markup, ".htm": markup, ".xml": markup, ".vue": markup, ".svelte": markup, ".svg": markup, ".xhtml": markup,
		".md": prose, ".markdown": prose, ".txt": prose, ".rst": prose, ".adoc": prose,
	}
})

// languageOf returns the language of a file by its name, nil for one that is not
// known.
func languageOf(p string) *language {
	base := path.Base(p)
	if l := languages()[base]; l != nil {
		return l
	}
	return languages()[strings.ToLower(path.Ext(base))]
}

// colorer colours the lines of one side of a hunk in order. It remembers what a
// line left open. What the lines above a hunk left open is not known.
type colorer struct {
	lang *language
	end  string // mark that closes what is open, "" = nothing is
	what Class
}

// line returns the tokens of the next line. Together they cover it.
func (c *colorer) line(s string) []token {
	if c.lang == nil || len(s) > 4*maxLine {
		return nil
	}
	if c.lang.prose {
		return proseLine(s)
	}
	var out []token
	add := func(end int, class Class) {
		if n := len(out) - 1; n >= 0 && out[n].class == class {
			out[n].end = end
			return
		}
		out = append(out, token{end, class})
	}
	at := 0
	if c.lang.settings {
		if end := settingKey(s); end > 0 && c.end == "" {
			add(end, Key)
			at = end
		}
	}
	for at < len(s) {
		if c.end != "" {
			n := strings.Index(s[at:], c.end)
			if n < 0 {
				add(len(s), c.what)
				return out
			}
			at += n + len(c.end)
			add(at, c.what)
			c.end = ""
			continue
		}
		rest := s[at:]
		if c.opens(rest) {
			at += len(openMark(c.lang, rest))
			add(at, c.what)
			continue
		}
		if c.isLineComment(s, at) {
			add(len(s), Comment)
			return out
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case strings.ContainsRune(c.lang.quotes, r):
			at += quoted(rest, r)
			add(at, String)
		case unicode.IsDigit(r):
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) && !unicode.IsLetter(r) && r != '.' && r != '_' })
			if n < 0 {
				n = len(rest)
			}
			at += n
			add(at, Number)
		case r == '_' || unicode.IsLetter(r):
			n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if n < 0 {
				n = len(rest)
			}
			add(at+n, c.word(s, at, at+n))
			at += n
		default:
			at += size
			add(at, Plain)
		}
	}
	return out
}

// opens reports whether rest begins a comment or a string that may go beyond the
// line, and if so remembers what closes it.
func (c *colorer) opens(rest string) bool {
	for _, b := range c.lang.block {
		if strings.HasPrefix(rest, b[0]) {
			c.end, c.what = b[1], Comment
			return true
		}
	}
	for _, mark := range c.lang.long {
		if strings.HasPrefix(rest, mark) {
			c.end, c.what = mark, String
			return true
		}
	}
	return false
}

func openMark(l *language, rest string) string {
	for _, b := range l.block {
		if strings.HasPrefix(rest, b[0]) {
			return b[0]
		}
	}
	for _, mark := range l.long {
		if strings.HasPrefix(rest, mark) {
			return mark
		}
	}
	return ""
}

// isLineComment reports whether a comment begins. "#" begins one only after a
// space, because shells have $# and pages have colours.
func (c *colorer) isLineComment(s string, at int) bool {
	for _, mark := range c.lang.line {
		if strings.HasPrefix(s[at:], mark) && (len(mark) > 1 || at == 0 || s[at-1] == ' ' || s[at-1] == '\t') {
			return true
		}
	}
	return false
}

// word returns the class of the word s[at:end].
func (c *colorer) word(s string, at, end int) Class {
	w := s[at:end]
	if c.lang.anyCase {
		w = strings.ToLower(w)
	}
	switch {
	case c.lang.tags && at > 0 && (s[at-1] == '<' || strings.HasSuffix(s[:at], "</")):
		return Keyword
	case c.lang.tags && end < len(s) && s[end] == '=':
		return Key
	case strings.Contains(c.lang.keywords, " "+w+" ") && (at == 0 || s[at-1] != '.'):
		return Keyword
	case end < len(s) && s[end] == '(' && !c.lang.settings && !c.lang.tags:
		return Call
	}
	return Plain
}

// quoted returns the length of the string of one line that s begins with. One
// that is not closed ends with the line, except for an apostrophe, which may be
// one.
func quoted(s string, quote rune) int {
	escaped := false
	for at, r := range s[1:] {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == quote:
			return 1 + at + utf8.RuneLen(r)
		}
	}
	if quote == '\'' {
		return 1
	}
	return len(s)
}

// settingKey returns the length of the key that a line of settings begins with, 0
// if it begins with none. A table's header "[x]" is one.
func settingKey(s string) int {
	body := strings.TrimLeft(s, " \t-")
	lead := len(s) - len(body)
	if strings.HasPrefix(body, "[") && strings.HasSuffix(strings.TrimRight(body, " "), "]") {
		return len(s)
	}
	for at, r := range body {
		switch {
		case r == ':' || r == '=':
			if at == 0 {
				return 0
			}
			return lead + at
		case r == '_' || r == '-' || r == '.' || r == '"' || r == '$' || r == '@' || r == '/' || r == ' ' || unicode.IsLetter(r) || unicode.IsDigit(r):
		default:
			return 0
		}
	}
	return 0
}

// proseLine colours headings, lists' code and quotations of a text.
func proseLine(s string) []token {
	switch trimmed := strings.TrimLeft(s, " "); {
	case strings.HasPrefix(trimmed, "#"):
		return []token{{len(s), Key}}
	case strings.HasPrefix(trimmed, ">"):
		return []token{{len(s), Comment}}
	}
	var out []token
	class := Plain
	for at := 0; at < len(s); {
		n := strings.IndexByte(s[at:], '`')
		if n < 0 {
			break
		}
		if class == Plain {
			out = append(out, token{at + n, Plain})
			class = String
		} else {
			out = append(out, token{at + n + 1, String})
			class = Plain
		}
		at += n + 1
	}
	return append(out, token{len(s), class})
}

// colors returns the tokens of all lines of a hunk.
func colors(lang *language, lines []Line) [][]token {
	out := make([][]token, len(lines))
	was, is := colorer{lang: lang}, colorer{lang: lang}
	for n, l := range lines {
		switch l.Kind {
		case Removed:
			out[n] = was.line(l.Text)
		case Added:
			out[n] = is.line(l.Text)
		case Context:
			_ = was.line(l.Text)
			out[n] = is.line(l.Text)
		}
	}
	return out
}
