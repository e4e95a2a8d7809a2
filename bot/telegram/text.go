package telegram

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/nightporter/nightporter/bot"
)

// joiner is a word joiner, U+2060: nobody sees it, and the platform sees
// neither command nor mention nor link across it.
const joiner = "\u2060"

var (
	escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

	// slashes and at signs in what others said (PHONE 2).
	separators = strings.NewReplacer("/", "/"+joiner, "@", "@"+joiner)
	// The platform makes a link of every "word.tld" without being asked, and
	// many endings of files are one: README.md, main.rs.
	domain = regexp.MustCompile(`([\p{L}\p{N}_-])\.([\p{L}\p{N}_-]*\p{L}{2})`)
	ip     = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
	// A command begins wherever a slash follows something that is no word.
	commandStart = regexp.MustCompile(`(^|[^\p{L}\p{N}_/<>])/([A-Za-z0-9_])`)
	ownCommand   = regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_]*$`)
)

func utf16Units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// defuse makes a text of which nothing can be tapped.
func defuse(s string) string {
	s = separators.Replace(s)
	// Matches overlap ("a.bb.cc"), so it takes two passes at most.
	for range 2 {
		s = domain.ReplaceAllString(s, "$1."+joiner+"$2")
	}
	if ip.MatchString(s) {
		s = strings.ReplaceAll(s, ".", "."+joiner)
	}
	return s
}

// renderOwnText renders what nightporter itself says, as HTML and as plain text: its
// commands can be tapped, names of files, branches and addresses stand as
// code, where code is allowed, and nothing else can be tapped.
func renderOwnText(s string, code bool) (html, text string) {
	var h, t strings.Builder
	for i, word := range strings.Split(s, " ") {
		if i > 0 {
			h.WriteByte(' ')
			t.WriteByte(' ')
		}
		core := strings.TrimLeft(word, `("'[`)
		head := word[:len(word)-len(core)]
		core = strings.TrimRight(core, `.,:;!?)]"'`)
		tail := word[len(head)+len(core):]
		safe := defuse(core)
		switch {
		case ownCommand.MatchString(core) && isCommand(core):
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

// isCommand reports whether a word is one of our commands.
func isCommand(word string) bool {
	_, err := bot.Parse(word)
	var unknown *bot.UnknownError
	return !errors.As(err, &unknown)
}

// namesFile reports whether a word is a path, a branch, a file or an address.
func namesFile(s string) bool {
	return strings.Contains(s, "://") || strings.Count(s, "/") >= 2 ||
		strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") ||
		domain.MatchString(s) || ip.MatchString(s)
}
