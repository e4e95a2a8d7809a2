package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// expected is the required form, which every finding about a task's line
// quotes.
const expected = "expected `- [ ] **Task N: Title**`"

// planMark is a status in words within a task's line.
type planMark struct {
	form.Span   // includes the parentheses
	mark        ledger.Mark
	beforeTitle bool // the mark precedes the title
}

// taskLine is a task's box line in parts, with their positions.
type taskLine struct {
	id         string // with single spaces: "Task 5"
	title      string
	tail       string    // text behind the title, without marks
	box        form.Span // the characters between the brackets
	*lineMarks           // never nil
}

// lineMarks are the statuses in words of a task's line.
type lineMarks struct {
	marks  []planMark
	doubts []trouble // possible marks that were not recognised
}

// noMarks are those of nearly all lines.
var noMarks = &lineMarks{}

// addMark adds a status in words.
func (t *taskLine) addMark(m planMark) {
	if t.lineMarks == noMarks {
		t.lineMarks = &lineMarks{}
	}
	t.marks = append(t.marks, m)
}

// trouble is a mistake in one line, with its remedy.
type trouble struct{ text, fix string }

var (
	// looksLikeTask accepts more than the grammar, so that a typo is reported
	// instead of ignored. Group 1 is the box, 2 the bold, 3 the id.
	looksLikeTask = regexp.MustCompile(`^[-*+][\s\p{Zs}]*(\[(?:[^\]\n]?|[\s\p{Zs}xX~-]{2,3}|(?i:done|todo|wip))\])?[\s\p{Zs}]*(?:\([^)\n]*\)[\s\p{Zs}]*)*((?:\*\*|__)?)[\s\p{Zs}]*(?:\([^)\n]*\)[\s\p{Zs}]*)?(?i:task)[\s\p{Zs}]+([0-9][0-9A-Za-z.]*)`)
	taskID        = regexp.MustCompile(`^(?i:task)[ \t]+([0-9]+(?:\.[0-9]+)*[A-Za-z]?)`)
	anyBox        = regexp.MustCompile(`^[-*+][ \t]+\[[^\]\n]?\](?:[ \t]|$)`)
)

// mayBeTask reports whether looksLikeTask can match a text: behind the box and the
// emphasis of most bullets is another word. (The rest of the word has letters that are
// folded with others of more bytes.)
func mayBeTask(text []byte) bool {
	rest := bytes.TrimLeft(text[min(len(text), 1):], " \t")
	if len(rest) > 0 && rest[0] == '[' {
		rest = rest[bytes.IndexByte(rest, ']')+1:] // it stays without an end, and is no task
	}
	rest = bytes.TrimLeft(rest, " \t*_")
	switch {
	case len(rest) < 2:
		return false
	case rest[0] >= utf8.RuneSelf, rest[0] < ' ', rest[0] == '(':
		return true // white space, or a mark before the word
	}
	return rest[0]|0x20 == 't' && rest[1]|0x20 == 'a'
}

// taskIDLength returns the length of what taskID matches, 0 without. It is written out,
// for what has no letters beyond ASCII, because every task of a plan goes through it.
func taskIDLength(text []byte) int {
	for n := range min(len(text), 8) { // longer than the longest spelling of the word
		if text[n] >= utf8.RuneSelf {
			return len(taskID.Find(text))
		}
	}
	if len(text) < 4 || !bytes.EqualFold(text[:4], []byte("task")) {
		return 0
	}
	n := 4
	for n < len(text) && isBlank(text[n]) {
		n++
	}
	number := numberLength(text[n:])
	if n == 4 || number == 0 {
		return 0
	}
	return n + number
}

// numberLength returns the length of [0-9]+(?:\.[0-9]+)*[A-Za-z]? at the beginning of a
// text, 0 without.
func numberLength(text []byte) int {
	digits := func(n int) int {
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		return n
	}
	n := digits(0)
	if n == 0 {
		return 0
	}
	for n < len(text) && text[n] == '.' {
		next := digits(n + 1)
		if next == n+1 {
			break
		}
		n = next
	}
	if n < len(text) && text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' {
		n++
	}
	return n
}

// plainTaskBox reports whether a text begins as nearly all tasks of plans do, which
// looksLikeTask matches with a box and a bold: "- [ ] **Task 1".
func plainTaskBox(text []byte) bool {
	return len(text) > 13 && isBullet(text[0]) && text[1] == ' ' && text[2] == '[' && strings.IndexByte(" xX", text[3]) >= 0 &&
		string(text[4:8]) == "] **" && bytes.EqualFold(text[8:12], []byte("task")) && text[12] == ' ' && text[13] >= '0' && text[13] <= '9'
}

// taskLine reads a line that begins with a bullet. ok is false for a line that is no
// task; bad lists the mistakes of a task's line.
func (p *plan) taskLine(at form.Span) (t taskLine, bad []trouble, ok bool) {
	t.lineMarks = noMarks
	data, i := p.data, at.Start+1
	rest := func() []byte { return data[i:at.End] }
	space := func() (n int) {
		for i < at.End && (data[i] == ' ' || data[i] == '\t') {
			i, n = i+1, n+1
		}
		return n
	}
	report := func(text, fix string) { bad = append(bad, trouble{text, fix}) }

	if space() == 0 {
		report("no space between the bullet and the box: "+expected, "Put a space before the box")
	}
	if i >= at.End || data[i] != '[' {
		return t, bad, false
	}
	n := bytes.IndexByte(rest(), ']')
	if n < 0 {
		return t, bad, false
	}
	t.box = form.Span{Start: i + 1, End: i + n}
	if box := string(data[t.box.Start:t.box.End]); box != " " && box != "x" && box != "X" {
		report(fmt.Sprintf("broken mark [%s]: expected [ ] or [x]", box), "Write [ ] for open, [x] for done; "+knownMarks)
	}
	i += n + 1
	if space() == 0 {
		report("no space after the box: "+expected, "Put a space after the box")
	}
	lead := func() {
		for i < at.End && data[i] == '(' {
			n := bytes.IndexByte(rest(), ')')
			if n < 0 {
				return
			}
			text := string(data[i : i+n+1])
			if m, ok := markOf(text); ok {
				t.addMark(planMark{form.Span{Start: i, End: i + n + 1}, m, true})
			} else {
				report(unknownMark(text))
			}
			i += n + 1
			space()
		}
	}
	lead()
	bold := bytes.HasPrefix(rest(), []byte("**"))
	if bold {
		i += 2
		space()
		lead()
	}
	length := taskIDLength(rest())
	if length == 0 {
		return t, bad, false
	}
	t.id = oneLine(p.string(form.Span{Start: i, End: i + length}))
	i += length
	space()
	if i >= at.End || data[i] != ':' {
		report(t.id+" has no colon after its number: "+expected, "")
		return t, bad, true
	}
	i++
	if !bold {
		report(t.id+" is not bold: "+expected, "Put ** before Task and after the title")
		t.title = strings.TrimSpace(string(rest()))
		return t, bad, true
	}
	n = boldEnd(rest())
	if n < 0 {
		report("the bold title of "+t.id+" does not end on its line: "+expected, "Put ** after the title")
		return t, bad, true
	}
	title := form.Span{Start: i, End: i + n}
	for m, ok := markAtEnd(data, title); ok; m, ok = markAtEnd(data, title) {
		t.addMark(m)
		title.End = m.Start
	}
	if t.title = strings.TrimSpace(p.string(title)); t.title == "" {
		report(t.id+" has no title: "+expected, "Write what the task is about")
	}
	i += n + 2
	tail := form.Span{Start: i, End: at.End}
	for m, ok := markAtStart(data, tail); ok; m, ok = markAtStart(data, tail) {
		t.addMark(m)
		tail.Start = m.End
	}
	for m, ok := markAtEnd(data, tail); ok; m, ok = markAtEnd(data, tail) {
		t.addMark(m)
		tail.End = m.Start
	}
	t.tail = strings.TrimSpace(p.string(tail))
	if n := strings.IndexByte(t.tail, ')'); n > 0 && t.tail[0] == '(' {
		if near := nearMark(t.tail[:n+1]); near != "" {
			t.lineMarks = &lineMarks{t.marks, []trouble{{fmt.Sprintf("%s behind %s is no mark: meant %s?", clip(t.tail[:n+1], 60), t.id, near),
				"Write " + near + ", and the reason into Notes"}}}
		}
	}
	for _, m := range t.marks {
		if m.mark != t.marks[0].mark {
			report(t.id+" is marked both (blocked) and (manual-verify)", "Leave one of the two")
			break
		}
	}
	return t, bad, true
}

// boldEnd returns the position of the first ** outside a code span, or -1. In a
// longer run of asterisks the last two close the bold; the others belong to the
// title.
func boldEnd(s []byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '`':
			n := 1
			for i+n < len(s) && s[i+n] == '`' {
				n++
			}
			if end := bytes.Index(s[i+n:], s[i:i+n]); end >= 0 {
				i += n + end
			}
			i += n - 1
		case s[i] == '*' && i+1 < len(s) && s[i+1] == '*':
			for i+2 < len(s) && s[i+2] == '*' {
				i++
			}
			return i
		}
	}
	return -1
}

const knownMarks = "the words are (blocked) and (manual-verify), between box and title"

// markOf reads a mark in parentheses. It ignores case, and any usual separator
// in manual-verify.
func markOf(s string) (ledger.Mark, bool) {
	if len(s) < 2 || s[1]|0x20 != 'b' && s[1]|0x20 != 'm' {
		return "", false
	}
	switch foldMark(s) {
	case "(blocked)":
		return ledger.MarkBlocked, true
	case "(manual-verify)":
		return ledger.MarkManualVerify, true
	}
	return "", false
}

func foldMark(s string) string {
	return markSeparators.Replace(strings.ToLower(s))
}

var markSeparators = strings.NewReplacer(" ", "-", "_", "-")

// markAtStart finds a mark at the start of a span, after white space.
func markAtStart(data []byte, at form.Span) (planMark, bool) {
	s := bytes.TrimLeft(data[at.Start:at.End], " \t")
	n := bytes.IndexByte(s, ')')
	if n < 0 || s[0] != '(' || n+1 < len(s) && s[n+1] == '*' { // "**T** (blocked)*…" is other emphasis, not a mark
		return planMark{}, false
	}
	start := at.End - len(s)
	m, ok := markOf(string(s[:n+1]))
	return planMark{form.Span{Start: start, End: start + n + 1}, m, false}, ok
}

// markAtEnd finds a mark at the end of a span, before white space.
func markAtEnd(data []byte, at form.Span) (planMark, bool) {
	s := bytes.TrimRight(data[at.Start:at.End], " \t")
	if len(s) == 0 || s[len(s)-1] != ')' {
		return planMark{}, false
	}
	n := bytes.LastIndexByte(s, '(')
	if n < 0 || n > 0 && s[n-1] == '\\' {
		return planMark{}, false
	}
	m, ok := markOf(string(s[n:]))
	return planMark{form.Span{Start: at.Start + n, End: at.Start + len(s)}, m, false}, ok
}

// unknownMark returns the finding and the remedy for unknown words in
// parentheses before a title.
func unknownMark(text string) (string, string) {
	near := nearMark(text)
	if near == "" {
		return fmt.Sprintf("unknown mark %s", clip(text, 60)), knownMarks
	}
	return fmt.Sprintf("unknown mark %s: meant %s?", clip(text, 60), near), "Write " + near + "; a reason belongs into Notes"
}

// nearMark returns the mark that the words probably mean: one that they
// misspell or begin with. "" for none.
func nearMark(text string) string {
	text = foldMark(text)
	for _, w := range []string{Statuses[ledger.MarkBlocked], Statuses[ledger.MarkManualVerify]} {
		if nearest.Distance(text, w) <= 3 || strings.HasPrefix(text, strings.TrimSuffix(w, ")")+"-") || strings.HasPrefix(text, strings.TrimSuffix(w, ")")+":") {
			return w
		}
	}
	return ""
}

// clip shortens a quotation in a finding and replaces control characters.
func clip(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
