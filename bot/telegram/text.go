package telegram

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

// joiner is U+2060, an invisible word joiner. Telegram's clients find no command,
// mention or link across it.
const joiner = "\u2060"

var (
	escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

	// slashes and at signs, which start commands and mentions
	separators = strings.NewReplacer("/", "/"+joiner, "@", "@"+joiner)
	ip         = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
	// A command starts at a slash behind a character that is not part of a word.
	commandStart = regexp.MustCompile(`(^|[^\p{L}\p{N}_/<>])/([A-Za-z0-9_])`)
)

func utf16Units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// defuse inserts joiners so that nothing in s can be tapped.
func defuse(s string) string {
	s = separators.Replace(s)
	if !strings.Contains(s, ".") { // no domain and no address
		return s
	}
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if s[i] == '.' && joinsDomain(s, i) {
			b.WriteString(s[done:i+1] + joiner)
			done = i + 1
		}
	}
	s = b.String() + s[done:]
	if ip.MatchString(s) {
		s = strings.ReplaceAll(s, ".", "."+joiner)
	}
	return s
}

// joinsDomain reports whether the dot at s[i] stands between the words of a domain.
// Telegram links every "word.tld", and many file extensions are also top-level domains:
// README.md, main.rs. A regular expression for it takes a fifth of the time of rendering.
func joinsDomain(s string, i int) bool {
	inWord := func(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsNumber(r) }
	if before, _ := utf8.DecodeLastRuneInString(s[:i]); !inWord(before) {
		return false
	}
	letters := 0
	for _, r := range s[i+1:] {
		switch {
		case unicode.IsLetter(r):
			if letters++; letters == 2 {
				return true
			}
		case inWord(r):
			letters = 0
		default:
			return false
		}
	}
	return false
}

// namesDomain reports whether s has a domain in it.
func namesDomain(s string) bool {
	for i := range len(s) {
		if s[i] == '.' && joinsDomain(s, i) {
			return true
		}
	}
	return false
}

// renderOwnText renders text that nightporter wrote, as HTML and as plain text.
// Its commands stay tappable. File names, branches and addresses become code, if
// code is true. Anything else that could be tapped is defused.
func renderOwnText(s string, code bool) (html, text string) {
	var h, t strings.Builder
	for i, word := range strings.Split(s, " ") {
		if i > 0 {
			h.WriteByte(' ')
			t.WriteByte(' ')
		}
		head, core, tail, ours := bot.CommandIn(word)
		safe := defuse(core)
		switch {
		case ours:
			h.WriteString(escape.Replace(word))
			t.WriteString(word)
		case code && namesFile(core):
			h.WriteString(escape.Replace(head) + "<code>" + escape.Replace(core) + "</code>" + escape.Replace(tail))
			t.WriteString(head + safe + tail)
		case namesFile(core):
			h.WriteString(escape.Replace(head + safe + tail))
			t.WriteString(head + safe + tail)
		default: // "9/12", "pass/fail"
			word = strings.ReplaceAll(word, "@", "@"+joiner)
			word = commandStart.ReplaceAllString(word, "$1/"+joiner+"$2")
			h.WriteString(escape.Replace(word))
			t.WriteString(word)
		}
	}
	return h.String(), t.String()
}

// namesFile reports whether a word is a path, a branch, a file or an address.
func namesFile(s string) bool {
	return strings.Contains(s, "://") || strings.Count(s, "/") >= 2 ||
		strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") ||
		namesDomain(s) || ip.MatchString(s)
}
