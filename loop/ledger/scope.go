package ledger

import (
	"path"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// ScopeKind is the form of one item of a task's scope (docs/spec 3.3). The spelling
// alone decides it; the workspace resolves its meaning in a tree.
type ScopeKind string

// Kinds of scope item.
const (
	ScopeGlob  ScopeKind = "glob"  // has * ? [ or {: a pattern below the repository
	ScopePath  ScopeKind = "path"  // has a slash or an extension, or is a well-known file name; it may be new
	ScopeWord  ScopeKind = "word"  // one bare word: folders of that name
	ScopeProse ScopeKind = "prose" // anything else: shown to the reviewer, it permits nothing
	ScopeBad   ScopeKind = "bad"   // leaves the repository, is in .git, or excludes: an error at preflight
)

// ScopeItem is one item of a scope. Text is cleaned for a path, glob or word
// (no leading "./", slashes as separators, no trailing one) and as written
// otherwise. A glob may also be the name of a file, such as
// `app/[id]/page.tsx`: the workspace looks for a file of that name first.
type ScopeItem struct {
	Text string    `json:"text"`
	Kind ScopeKind `json:"kind"`
}

// ParseScope reads a task's scope as people write it: items in backticks, or
// separated by commas, semicolons or lines, each perhaps with a remark in
// parentheses behind it. "none", "-" and nothing at all are no items. A
// folder that is written with a trailing slash ("src/new/") or in the manner
// of Go ("internal/...") is the glob of everything below it. Items come in the
// order written, each once.
func ParseScope(s string) []ScopeItem {
	var items []ScopeItem
	seen := map[ScopeItem]bool{}
	add := func(i ScopeItem) {
		if i.Text != "" && !seen[i] {
			seen[i] = true
			items = append(items, i)
		}
	}
	for _, part := range splitScope(s) {
		part = scopeTrimRemark(scopeTrimBullet(strings.TrimSpace(part)))
		if scopeNothing[strings.ToLower(part)] {
			continue
		}
		quoted, rest := scopeQuoted(part)
		for _, q := range quoted {
			add(scopeItem(q, true))
		}
		switch {
		case len(quoted) == 0:
			for _, i := range scopeBare(part) {
				add(i)
			}
		case rest != "":
			add(ScopeItem{rest, ScopeProse})
		}
	}
	return items
}

// scopeNothing lists the spellings for a task without a scope of its own.
var scopeNothing = map[string]bool{"": true, "none": true, "-": true, "–": true, "—": true, "n/a": true, "none.": true}

// splitScope splits at commas, semicolons and line ends, but not inside backticks,
// the {a,b} or [a,b] of a glob, or a (remark, like this).
func splitScope(s string) []string {
	var parts []string
	start, eol := 0, -1
	open := map[byte]int{} // position of the line end, for an opening byte without a closing one in that line
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ',', ';', '\n', '\r':
			parts = append(parts, s[start:i])
			start = i + 1
		case '`', '{', '[', '(':
			if i < open[c] {
				continue
			}
			if i > eol {
				if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
					eol = i + n
				} else {
					eol = len(s)
				}
			}
			if n := strings.IndexByte(s[i+1:eol], scopeClosing[c]); n >= 0 {
				i += n + 1
			} else { // an unclosed bracket encloses nothing
				open[c] = eol
			}
		}
	}
	return append(parts, s[start:])
}

var scopeClosing = map[byte]byte{'`': '`', '{': '}', '[': ']', '(': ')'}

// scopeTrimBullet removes the mark of a list item, because people also write scopes
// as nested lists.
func scopeTrimBullet(s string) string {
	if len(s) > 1 && strings.IndexByte("-*+", s[0]) >= 0 && (s[1] == ' ' || s[1] == '\t') {
		return strings.TrimSpace(s[2:])
	}
	return s
}

// scopeTrimRemark removes trailing remarks: "src/auth (only the login)". A remark
// needs a space before it, because `app/(shop)` is a folder.
func scopeTrimRemark(s string) string {
	for strings.HasSuffix(s, ")") {
		n := strings.LastIndex(s, "(")
		if n < 0 || n > 0 && s[n-1] != ' ' && s[n-1] != '\t' && s[n-1] != '`' {
			break
		}
		s = strings.TrimSpace(s[:n])
	}
	return s
}

// scopeFiller lists words that join or describe items. They are not prose, so the
// reviewer does not need them.
var scopeFiller = map[string]bool{
	"and": true, "or": true, "&": true, "+": true, "plus": true, "the": true, "only": true, "new": true,
	"file": true, "files": true, "folder": true, "folders": true, "directory": true, "package": true, "module": true,
}

// scopeQuoted returns the texts in backticks and the words outside of them;
// rest is "" if these are only filler words. Without texts in backticks rest is not read.
func scopeQuoted(s string) (quoted []string, rest string) {
	if strings.IndexByte(s, '`') < 0 {
		return nil, s
	}
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 { // the last backtick has no partner and quotes nothing
		last := len(parts) - 1
		parts = append(parts[:last-1], parts[last-1]+"`"+parts[last])
	}
	var words []string
	filler := true
	for i, p := range parts {
		if i%2 == 1 {
			if p = strings.TrimSpace(p); p != "" {
				quoted = append(quoted, p)
			}
			continue
		}
		for _, w := range strings.Fields(p) {
			words = append(words, w)
			filler = filler && scopeFiller[strings.ToLower(strings.Trim(w, ".:"))]
		}
	}
	if filler {
		return quoted, ""
	}
	return quoted, strings.Join(words, " ")
}

// scopeBare reads an item without backticks. "src/api and src/web" is two
// paths; "search and replace" is prose.
func scopeBare(s string) []ScopeItem {
	if !strings.ContainsAny(s, " \t\n\f\r") {
		return []ScopeItem{scopeItem(s, false)} // no word joins two paths
	}
	var items []ScopeItem
	for _, p := range scopeAnd.Split(s, -1) {
		i := scopeItem(strings.TrimSpace(p), false)
		if i.Kind != ScopePath && i.Kind != ScopeGlob && i.Kind != ScopeBad {
			return []ScopeItem{scopeItem(s, false)}
		}
		items = append(items, i)
	}
	return items
}

var (
	scopeAnd  = regexp.MustCompile(`\s+(?:and|&|\+)\s+`)
	scopeWord = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	scopeExt  = regexp.MustCompile(`\.[0-9_-]*[A-Za-z][A-Za-z0-9_-]*$`)
	scopeStop = regexp.MustCompile(`[^./]\.$`) // the end of a sentence
)

// onDisk reports whether a path begins with the letter of a disk, as in C:\.
func onDisk(s string) bool {
	return len(s) > 2 && s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// scopeFiles lists, in lower case, well-known file names without an extension.
var scopeFiles = map[string]bool{
	"authors": true, "brewfile": true, "caddyfile": true, "changelog": true, "codeowners": true,
	"containerfile": true, "contributing": true, "copying": true, "dockerfile": true, "gemfile": true,
	"gnumakefile": true, "jenkinsfile": true, "justfile": true, "license": true, "licence": true, "makefile": true,
	"notice": true, "pipfile": true, "podfile": true, "procfile": true, "rakefile": true, "readme": true,
	"taskfile": true, "vagrantfile": true,
}

// scopeItem classifies one item. In backticks a path may hold spaces.
func scopeItem(s string, quoted bool) ScopeItem {
	if !quoted && strings.HasSuffix(s, ".") && scopeStop.MatchString(s) {
		s = s[:len(s)-1]
	}
	switch {
	case strings.Contains(s, "://"), strings.Contains(s, "`"), strings.Trim(s, ".") == "" && len(s) > 2:
		return ScopeItem{s, ScopeProse}
	case strings.ContainsAny(s, " \t") && (!quoted || !strings.Contains(s, "/")):
		return ScopeItem{s, ScopeProse}
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~"), strings.HasPrefix(s, "!"), onDisk(s):
		return ScopeItem{s, ScopeBad}
	}
	for seg := range strings.SplitSeq(s, "/") {
		if seg == ".." || strings.EqualFold(seg, ".git") {
			return ScopeItem{s, ScopeBad}
		}
	}
	below := false // the spelling says that it is a folder
	text := s
	if t, ok := strings.CutSuffix(text, "/..."); ok {
		text, below = t, true
	}
	below = below || strings.HasSuffix(text, "/")
	text = path.Clean(text)
	switch {
	case text == ".":
		return ScopeItem{"**", ScopeGlob}
	case below:
		return ScopeItem{text + "/**", ScopeGlob}
	case strings.ContainsAny(text, "*?[{"):
		return ScopeItem{text, ScopeGlob}
	case strings.HasPrefix(s, "./"), strings.Contains(text, "/"), scopeExt.MatchString(text), scopeFiles[strings.ToLower(text)]:
		return ScopeItem{text, ScopePath}
	case scopeWord.MatchString(text):
		return ScopeItem{text, ScopeWord}
	}
	return ScopeItem{s, ScopeProse}
}
