package markdown

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/task/form"
)

// document is a Markdown text with its boxes and headings. Code blocks, comments and
// front matter have none.
type document struct {
	plan
	boxes    []box
	headings []heading
	code     []bool  // per line: inside a code block, a comment or front matter
	strict   int     // index of the first line that is meant as a task of a plan; -1 = none
	heads    []int   // the headings that are tasks, once they were asked for
	where    []place // what each heading says of the boxes below it, once it was asked
	bullet   bool    // there are list items without a box
}

// box is a list item with a check box.
type box struct {
	at       form.Span // the character between the brackets
	text     form.Span // behind the box, without surrounding white space
	line     int       // index of its line
	end      int       // index after its last line
	indent   int       // columns before the bullet
	parent   int       // index of the box that it is indented below; -1 = none
	heading  int       // index of the heading above it; -1 = none
	optional bool      // [ ]*
}

// heading is a line that begins with #.
type heading struct {
	text  form.Span // without the # signs and surrounding white space
	line  int
	level int
	end   int // index after the last line of its section, which ends at a heading of the same or a higher level
}

// scanDocument finds boxes and headings, and reports what hides or breaks them.
func scanDocument(file string, data []byte) *document {
	d := &document{plan: plan{file: filepath.Base(file), data: data}, strict: -1}
	if !d.checkText() {
		return d
	}
	d.splitLines()
	d.code = make([]bool, len(d.lines))
	d.scanBlocks()
	var openBoxes, openHeadings []int // stacks of indices
	blank := true
	for i := range d.lines {
		if d.code[i] {
			blank = false
			continue
		}
		indent, at := d.measure(i)
		text := d.data[at.Start:at.End]
		if len(text) == 0 {
			blank = true
			continue
		}
		level := headingLevel(text)
		isHeading := level > 0 && indent < 4
		item := itemLength(text)
		// A line of text directly below an item continues it.
		if ends := isHeading || item > 0 || blank || text[0] == '|' || text[0] == '>'; ends {
			for n := len(openBoxes); n > 0 && (isHeading || d.boxes[openBoxes[n-1]].indent >= indent); n-- {
				openBoxes = openBoxes[:n-1]
			}
		}
		switch {
		case isHeading:
			for n := len(openHeadings); n > 0 && d.headings[openHeadings[n-1]].level >= level; n-- {
				d.headings[openHeadings[n-1]].end = i
				openHeadings = openHeadings[:n-1]
			}
			openHeadings = append(openHeadings, len(d.headings))
			d.headings = append(d.headings, heading{text: headingText(d.data, form.Span{Start: at.Start + level, End: at.End}), line: i, level: level, end: len(d.lines)})
		case item > 0:
			d.scanItem(i, indent, at, item, openBoxes, openHeadings)
			if n := len(d.boxes); n > 0 && d.boxes[n-1].line == i {
				openBoxes = append(openBoxes, n-1)
			}
		}
		for _, n := range openBoxes {
			d.boxes[n].end = i + 1
		}
		blank = false
	}
	return d
}

// anyState matches a box in front of a text, also a broken one.
var anyState = regexp.MustCompile(`^\[([^\]\n]{0,12})\](\*?)([ \t]|$)`)

// scanItem processes a list item. item is the length of its bullet.
func (d *document) scanItem(i, indent int, at form.Span, item int, boxes, headings []int) {
	text := d.data[at.Start:at.End]
	if d.strict < 0 && isBullet(text[0]) && mayBeTask(text) && meantAsPlan.Match(text) {
		d.strict = i
	}
	var m []int
	if item < len(text) && text[item] == '[' {
		m = anyState.FindSubmatchIndex(text[item:])
	}
	if m == nil {
		d.bullet = true
		return
	}
	b := box{
		at: form.Span{Start: at.Start + item + m[2], End: at.Start + item + m[3]}, text: form.Span{Start: at.Start + item + m[1], End: at.End},
		line: i, end: i + 1, indent: indent, parent: -1, heading: -1, optional: m[5] > m[4],
	}
	for b.text.Start < b.text.End && isBlank(d.data[b.text.Start]) {
		b.text.Start++
	}
	if len(headings) > 0 {
		b.heading = headings[len(headings)-1]
	}
	if len(boxes) > 0 {
		b.parent = boxes[len(boxes)-1]
	}
	switch state := string(d.data[b.at.Start:b.at.End]); state {
	case " ", "x", "X", "-", "~", "/":
		if b.text.Start < b.text.End {
			d.boxes = append(d.boxes, b)
		}
	default:
		d.oddBox(i, state, b.text)
	}
}

// oddBox reports brackets that are neither [ ] nor [x]. Letters are labels, such as
// [P] in a legend, and a word is a state of somebody's own: such a line is no task.
func (d *document) oddBox(i int, state string, text form.Span) {
	switch {
	case len(state) == 1 && (state[0]|0x20 < 'a' || state[0]|0x20 > 'z') && (state[0] < '0' || state[0] > '9'), len(state) <= 3 && strings.Trim(state, " xX\t\u00a0") == "":
		d.finding(i, fmt.Sprintf("broken box [%s]: expected [ ] or [x]", state), "Write [ ] for open, [x] for done, [-] for at work")
	case len(state) > 1 && strings.ToUpper(state) == state && strings.Trim(state, "ABCDEFGHIJKLMNOPQRSTUVWXYZ/") == "" && explicitID.Match(d.data[text.Start:text.End]):
		d.warning(i, fmt.Sprintf("[%s] is no box: this line is no task", clip(state, 12)), "Write [ ] for open, [x] for done")
	}
}

// scanBlocks marks the lines of front matter, code blocks and comments.
func (d *document) scanBlocks() {
	var open []block // the outer block, and blocks inside an example of Markdown
	hides := -1      // the first line in it that looks like work
	blank, list := true, false
	i := d.frontMatter()
	for ; i < len(d.lines); i++ {
		indent, at := d.measure(i)
		text := d.data[at.Start:at.End]
		if len(text) == 0 {
			d.code[i] = len(open) > 0
			blank = true
			continue
		}
		wasBlank := blank
		blank = false
		if n := len(open); n > 0 {
			d.code[i] = true
			if hides < 0 && (taskHeading.Match(text) && headingLevel(text) > 0 || isBullet(text[0]) && anyBox.Match(text)) {
				hides = i
			}
			switch b := openedBlock(text); {
			case open[n-1].closedBy(text):
				open = open[:n-1]
			case b != nil && b.fence != "" && open[0].hasTask && len(b.fence) >= 3 && len(text) > len(b.fence):
				open = append(open, *b)
			}
			continue
		}
		if itemLength(text) > 0 {
			list = true
		} else if indent == 0 {
			list = false
		}
		if !list && indent >= 4 && wasBlank || i > 0 && !list && indent >= 4 && d.code[i-1] {
			d.code[i] = true // an indented code block
			continue
		}
		b := openedBlock(text)
		if b == nil {
			continue
		}
		d.code[i] = true
		if b.fence == "" && b.closedBy(text[4:]) {
			continue
		}
		// hasTask says of a code block that it is an example of Markdown: its inner
		// blocks are closed one by one, as its writer meant it.
		info := strings.ToLower(string(bytes.TrimSpace(text[len(b.fence):])))
		b.line, b.indent, b.hasTask = i, indent, b.fence != "" && (info == "markdown" || info == "md")
		open, hides = append(open, *b), -1
	}
	if len(open) > 0 && hides >= 0 {
		what := "code block"
		if open[0].fence == "" {
			what = "comment"
		}
		d.finding(open[0].line, fmt.Sprintf("this %s is never closed and hides line %d and what is below it", what, hides+1), "Close it")
	}
}

// frontMatter marks the lines between --- at the beginning of a text, and returns
// the index after them. A --- above prose is a rule between sections: what stands
// below it is not hidden.
func (d *document) frontMatter() int {
	line := func(i int) string { return string(bytes.TrimRight(d.data[d.lines[i].Start:d.lines[i].End], " \t")) }
	if len(d.lines) == 0 || line(0) != "---" {
		return 0
	}
	for i := 1; i < len(d.lines); i++ {
		if l := line(i); l == "---" || l == "..." {
			for n := range i + 1 {
				d.code[n] = true
			}
			return i + 1
		} else if i > 1000 || isProse(l) {
			break
		}
	}
	return 0
}

// frontKey matches a key of front matter.
var frontKey = regexp.MustCompile(`^["']?[\pL\pN_.$@ -]{1,40}["']?[ \t]*:(?:[ \t]|$)`)

// isProse reports whether a line is none that front matter has: a key, a list item, a
// comment, or text indented below one of them.
func isProse(line string) bool {
	return line != "" && !strings.ContainsAny(line[:1], " \t#-]}") && !frontKey.MatchString(line)
}

// itemLength returns the length of a list item's bullet or number with the white
// space behind it, 0 for other text.
func itemLength(text []byte) int {
	n := 0
	for n < min(len(text), 9) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == len(text) || n == 0 && !isBullet(text[0]) || n > 0 && text[n] != '.' && text[n] != ')' {
		return 0
	}
	n++
	start := n
	for n < len(text) && isBlank(text[n]) {
		n++
	}
	if n == start && n < len(text) {
		return 0
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// headingText returns a heading's text without white space and closing # signs.
func headingText(data []byte, at form.Span) form.Span {
	trim := func() {
		for at.Start < at.End && isBlank(data[at.Start]) {
			at.Start++
		}
		for at.Start < at.End && isBlank(data[at.End-1]) {
			at.End--
		}
	}
	trim()
	n := at.End
	for n > at.Start && data[n-1] == '#' {
		n--
	}
	if n == at.Start || n < at.End && isBlank(data[n-1]) {
		at.End = n
		trim()
	}
	return at
}

func (d *document) string(at form.Span) string { return string(d.data[at.Start:at.End]) }

// ticked reports whether a box is done.
func (d *document) ticked(b *box) bool { c := d.data[b.at.Start]; return c == 'x' || c == 'X' }

// tick returns the change that gives a box a state, none if it has it. A box that is
// at work is open.
func (d *document) tick(b *box, done bool) []form.Edit {
	switch {
	case done && !d.ticked(b):
		return []form.Edit{{Span: b.at, Text: "x"}}
	case !done && d.ticked(b):
		return []form.Edit{{Span: b.at, Text: " "}}
	}
	return nil
}

// warnWorking tells once of boxes of somebody who is at work.
func (d *document) warnWorking() {
	n, first := 0, 0
	for i := range d.boxes {
		if c := d.data[d.boxes[i].at.Start]; c == '-' || c == '~' || c == '/' {
			if n++; n == 1 {
				first = d.boxes[i].line
			}
		}
	}
	if n > 0 {
		d.warning(first, fmt.Sprintf("a box [%s] says that somebody is at work: it counts as open (%d in this file)", d.string(d.boxes[d.boxAt(first)].at), n), "")
	}
}

// boxAt returns the index of the box in a line.
func (d *document) boxAt(line int) int {
	for i := range d.boxes {
		if d.boxes[i].line == line {
			return i
		}
	}
	return -1
}
