package telegram

import (
	"strings"
	"unicode/utf16"

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
	// Telegram links every "word.tld", and many file extensions are also
	// top-level domains: README.md, main.rs.
	domain = regexp.MustCompile(`([\p{L}\p{N}_-])\.([\p{L}\p{N}_-]*\p{L}{2})`)
	ip     = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
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
	// Matches overlap ("a.bb.cc"), and two passes find all of them.
	for range 2 {
		s = domain.ReplaceAllString(s, "$1."+joiner+"$2")
	}
	if ip.MatchString(s) {
		s = strings.ReplaceAll(s, ".", "."+joiner)
	}
	return s
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
		domain.MatchString(s) || ip.MatchString(s)
}
