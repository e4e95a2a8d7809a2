package request

import (
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/text"
)

// most is how many characters of one foreign text a request shows.
const most = 300

// plain renders foreign text as one line of Markdown that is text and nothing
// else. A forge reads names of people, numbers of issues, words that close them,
// addresses and pictures in plain text, but not in code: what could hold any of
// them stands in a code span.
func plain(s string) string {
	s = text.First(shown(s), most)
	if s == "" || !special(s) {
		return s
	}
	return code(s)
}

// special reports whether Markdown or a forge could take a text for more than
// text.
func special(s string) bool {
	if strings.ContainsAny(s, "@#!`*_~<>[]|\\&$^") || strings.Contains(s, "://") || strings.Contains(strings.ToLower(s), "www.") {
		return true
	}
	// GH-12, and hashes of commits: both become links.
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsAny(s, "-") && strings.Contains(strings.ToUpper(s), "GH-") ||
		strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "+ ")
}

// code renders a text as a code span.
func code(s string) string {
	s = shown(s)
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// block renders lines as a block of shell commands.
func block(lines []string) string {
	longest := 2
	for n := range lines {
		lines[n] = shown(lines[n])
		longest = max(longest, longestRun(lines[n], '`'))
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "sh\n" + strings.Join(lines, "\n") + "\n" + fence
}

// shown returns a text as one line without what nobody sees, and without a comment
// that would be a marker of our section.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) {
			return -1
		}
		return r
	}, text.OneLine(s))
	return strings.ReplaceAll(s, "<!--", "<! --")
}

// longestRun returns the length of the longest run of a character.
func longestRun(s string, of rune) int {
	longest, n := 0, 0
	for _, r := range s {
		if n++; r != of {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// title renders foreign text as a request's title. A merge can make it the subject
// of a commit, where forges read names and numbers too.
func title(s string) string {
	runes := []rune(shown(s))
	var b strings.Builder
	for n, r := range runes {
		next := n+1 < len(runes) && (unicode.IsLetter(runes[n+1]) || unicode.IsDigit(runes[n+1]))
		if (r == '@' || r == '#') && next {
			continue
		}
		b.WriteRune(r)
	}
	return text.First(b.String(), 100)
}
