package testreport

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
)

// maxName is the length of a name in bytes. A longer one is cut and ends with
// a hash of the whole.
const maxName = 300

// unstable are parts of names that differ between two runs of the same failure.
var unstable = []struct {
	has  string // a cheap test: without one of these characters there is no match
	form *regexp.Regexp
	to   string
}{
	{"x", regexp.MustCompile(`\b0x[0-9a-fA-F]{3,}\b`), "0x#"},
	{"-", regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "#"},
	{"-", regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T_ ]\d\d[:_-]\d\d[:_-]\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`), "#"},
	{":", regexp.MustCompile(`\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b`), "#"},
	{":", regexp.MustCompile(`(\b(?:127\.0\.0\.1|0\.0\.0\.0|localhost)|\[::1?\]):\d{2,5}\b`), "$1:#"},
	{"/", regexp.MustCompile(`(/tmp|/var/folders|/private/tmp|/var/tmp|/dev/shm)/[^\s:'"\x60)\],;]*`), "$1/#"},
	{"g", regexp.MustCompile(`\bgoroutine \d+`), "goroutine #"},
	{"i", regexp.MustCompile(`\b(pid|seed|thread)([ =:]+)\d+`), "$1$2#"},
	{"0123456789", regexp.MustCompile(`\b[0-9a-f]{24,}\b`), "#"},
	{"s", regexp.MustCompile(`(^|[\s(])\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m\d+(?:\.\d+)?s)\b`), "$1#s"},
}

// stableName removes from a name what differs between runs of the same failure.
// It keeps other numbers, because "case 2" and "case 3" are two tests.
func stableName(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 4*maxName {
		s = cutName(s)
	}
	for _, u := range unstable {
		if strings.ContainsAny(s, u.has) {
			s = u.form.ReplaceAllString(s, u.to)
		}
	}
	return cutName(s)
}

func cutName(s string) string {
	if len(s) <= maxName {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return strings.ToValidUTF8(s[:maxName-10], "") + "…" + hex.EncodeToString(sum[:3])
}

var position = regexp.MustCompile(`(\.\w+):\d+(?::\d+)?\b|\((\d+),(\d+)\)|\bline \d+(?:, col(?:umn)? \d+)?`)

// stableMessage removes positions from a message as well: a line number changes
// with every edit above it.
func stableMessage(s string) string {
	return position.ReplaceAllStringFunc(s, func(m string) string {
		switch m[0] {
		case '.':
			return m[:strings.IndexByte(m, ':')]
		case '(':
			return ""
		}
		return "line #"
	})
}

var (
	number  = regexp.MustCompile(`[\w.-]*\d[\w.,:-]*`)
	numeral = regexp.MustCompile(`^\d+(?:[.,:]\d+)*[.,:%]?$`)
	counted = regexp.MustCompile(`(?i)^ (?:[a-z]+ )?(?:fail|error|broken|problem|mismatch|violation|unexpected)`)
	counts  = regexp.MustCompile(`(?i)(?:fail\w*|errors?|problems?)[:=] ?$`)
)

// stableLine removes the numbers from a line whose form is unknown: any of them
// may be a time, a port or a total. Digits in names stay. count is the number
// of failures that the line counts, 0 if it counts none.
func stableLine(s string) (text string, count int) {
	if strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return "", 0 // a ruler, a row of dots
	}
	s = stableName(s)
	var b strings.Builder
	end := 0
	for _, at := range number.FindAllStringIndex(s, -1) {
		word := s[at[0]:at[1]]
		if !numeral.MatchString(word) {
			continue
		}
		digits := strings.TrimRight(word, ".,:%")
		if n, err := strconv.Atoi(digits); err == nil && (counted.MatchString(s[at[1]:]) || counts.MatchString(s[:at[0]])) {
			count = max(count, n)
		}
		b.WriteString(s[end:at[0]] + "#" + word[len(digits):])
		end = at[1]
	}
	b.WriteString(s[end:])
	return b.String(), count
}
