package markdown

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
)

// asideHeadings are headings below which a box without an id is no work: what has to
// hold, what was looked at, what others wrote. Only the whole heading counts, so that
// "Verification of the payments" is work.
var asideHeadings = map[string]bool{
	"acceptance": true, "acceptance criteria": true, "definition of done": true, "dod": true, "definition of ready": true,
	"success criteria": true, "success metrics": true, "exit criteria": true, "verification": true, "verification plan": true,
	"verification checklist": true, "validation": true, "validation checklist": true, "checklist": true, "checklists": true, "quality gates": true, "quality checklist": true,
	"review checklist": true, "review": true, "notes": true, "note": true, "dev notes": true, "implementation notes": true, "dev agent record": true, "qa results": true,
	"improvements checklist": true, "story dod checklist": true, "post-completion": true, "progress tracking": true, "change log": true, "changelog": true,
	"legend": true, "format": true, "template": true, "example": true, "examples": true, "references": true, "out of scope": true,
	"non-goals": true, "questions": true, "open questions": true, "risks": true, "assumptions": true, "decisions": true, "learnings": true, "ideas": true, "won't do": true, "wontfix": true,
}

// logHeadings are headings of reports and samples: a heading below them that names a
// task is none.
var logHeadings = map[string]bool{
	"log": true, "autopilot log": true, "drift log": true, "progress log": true, "change log": true, "changelog": true, "history": true,
	"template": true, "example": true, "examples": true, "format": true,
}

// finishedHeadings are headings of work that is over. New tasks are not written below
// them, and an open box there is doubtful.
var finishedHeadings = map[string]bool{
	"completed": true, "complete": true, "done": true, "finished": true, "archive": true, "archived": true, "completed tasks": true,
	"recently completed": true, "completed work": true, "done tasks": true,
}

// aside reports whether boxes without an id below a heading are no work; heading is
// an index, or -1.
func (d *document) aside(heading int) bool {
	return heading >= 0 && (d.places()[heading].aside || d.places()[heading].log)
}

// boldLine matches a line of bold words alone, which people write where others write a
// heading: **Acceptance Criteria:**
var boldLine = regexp.MustCompile(`^(?:\*\*|__)([^*_]+)(?:\*\*|__)[ \t]*:?[ \t]*$`)

// labelWalk finds the labels above boxes, in document order. It reads each line once.
type labelWalk struct {
	*document
	next  int // the first line that was not read
	label int // line of the label that stands above what was read, if it is one of asideHeadings; else -1
}

// above returns the line of the bold label above a box that makes it no work, or -1. A
// label reaches to the next line that is neither indented nor a box.
func (w *labelWalk) above(b *box) int {
	for ; w.next < b.line; w.next++ {
		at := w.line(w.next)
		text := w.data[at.Start:at.End]
		if len(text) == 0 || isBlank(text[0]) || w.code[w.next] || itemLength(text) > 0 {
			continue
		}
		w.label = -1
		if m := boldLine.FindSubmatch(text); m != nil && asideHeadings[plainHeading(string(m[1]))] {
			w.label = w.next
		}
	}
	return w.label
}

// plainHeading folds a heading's words.
func plainHeading(s string) string { return strings.ToLower(oneLine(headingWords(s))) }

// headingWords returns a heading without emphasis, signs around it, a remark in
// parentheses and a colon.
func headingWords(s string) string {
	if n := strings.IndexByte(s, '('); n > 0 {
		s = s[:n]
	}
	return strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

var (
	phaseHeading    = regexp.MustCompile(`(?i)^(?:phase|stage|milestone|iteration|wave)[ \t]+([0-9]+(?:\.[0-9]+)*[a-z]?)(?:[^0-9a-z.]|\.[ \t]|\.?$)`)
	priorityHeading = regexp.MustCompile(`(?i)^(critical|urgent|high|medium|normal|low|p[0-3])(?:$|[ \t-]*(?:priority|prio)\b|[ \t]*[:(–—-])`)
	priorityRemark  = regexp.MustCompile(`(?i)\bpriority:[ \t]*(p[0-3]|critical|high|medium|low)\b`)
)

// place is what the headings above a box say of it.
type place struct {
	phase    string // "2.1" of "## Phase 2.1: …"; "" = none
	priority int
	aside    bool
	log      bool
	finished bool
}

// places returns what each heading says of the boxes directly below it.
func (d *document) places() []place {
	if d.where != nil {
		return d.where
	}
	all := make([]place, len(d.headings))
	var open []int
	for n := range d.headings {
		h := &d.headings[n]
		for len(open) > 0 && d.headings[open[len(open)-1]].level >= h.level {
			open = open[:len(open)-1]
		}
		var p place
		if len(open) > 0 {
			p = all[open[len(open)-1]]
		}
		open = append(open, n)
		text := strings.TrimLeftFunc(d.string(h.text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if m := find(phaseHeading, "pPsSmMiIwW", text); m != nil {
			p.phase = m[1]
		}
		if m := find(priorityHeading, "cCuUhHmMnNlLpP", text); m != nil {
			p.priority = headingPriority(m[1])
		} else if strings.Contains(text, "y:") || strings.Contains(text, "Y:") {
			if m := priorityRemark.FindStringSubmatch(text); m != nil {
				p.priority = headingPriority(m[1])
			}
		}
		if words := headingWords(text); !strings.ContainsAny(words, "0123456789") { // as headings of tasks have, and none of these
			name := strings.ToLower(oneLine(words))
			p.aside = p.aside || asideHeadings[name]
			p.log = p.log || logHeadings[name]
			p.finished = p.finished || finishedHeadings[name]
		}
		all[n] = p
	}
	d.where = all
	return all
}

// find returns what an expression finds in a text, which it does only where the text
// begins with one of the letters, or with one beyond ASCII.
func find(r *regexp.Regexp, letters, text string) []string {
	if text == "" || text[0] < utf8.RuneSelf && strings.IndexByte(letters, text[0]) < 0 {
		return nil
	}
	return r.FindStringSubmatch(text)
}

func headingPriority(word string) int {
	switch word = strings.ToLower(word); word {
	case "urgent":
		return priorities["critical"]
	case "normal":
		return priorities["medium"]
	}
	return priorities[word]
}

// phaseNumbers maps the phases of a document to numbers in their order: to their own,
// where all are whole.
func phaseNumbers(places []place) map[string]int {
	var names []string
	known := map[string]bool{}
	whole := true
	for _, p := range places {
		if p.phase == "" || known[p.phase] {
			continue
		}
		known[p.phase] = true
		n, err := strconv.Atoi(p.phase)
		whole = whole && err == nil && n > 0 && n < 1_000_000
		names = append(names, p.phase)
	}
	slices.SortFunc(names, compareIDs)
	numbers := map[string]int{}
	for i, name := range names {
		numbers[name] = i + 1
		if whole {
			numbers[name], _ = strconv.Atoi(name)
		}
	}
	return numbers
}
