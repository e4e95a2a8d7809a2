package markdown

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
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
	brief    bool    // tasks are read for their ids, titles and statuses alone

	tasks     []docTask     // room for the tasks of the document's form
	room      []ledger.Task // room for all of them, of a fixed capacity
	fieldRoom fieldLines    // room for the fields of one task
	entryRoom []entry       // room for the entries of a checklist
}

// box is a list item with a check box.
type box struct {
	at      int       // the character between the brackets
	text    form.Span // behind the box, without surrounding white space
	line    int       // index of its line
	end     int       // index after its last line
	parent  int       // index of the box that it is indented below; -1 = none
	heading int       // index of the heading above it; -1 = none
}

// openBox is a box that the next line may belong to.
type openBox struct {
	box    int // its index
	indent int // columns before its bullet
}

// heading is a line that begins with #.
type heading struct {
	text  form.Span // without the # signs and surrounding white space
	line  int
	level int
	end   int // index after the last line of its section, which ends at a heading of the same or a higher level
}

// scanDocument returns the document that a text is.
func scanDocument(file string, data []byte) *document {
	d := &document{plan: plan{Findings: form.Findings{File: filepath.Base(file)}}}
	d.scan(data)
	return d
}

// scan finds boxes and headings, and reports what hides or breaks them. It uses the room
// of the text that was scanned before.
func (d *document) scan(data []byte) {
	d.plan = plan{Findings: form.Findings{File: d.File}, data: data, lines: d.lines}
	d.heads, d.where, d.strict, d.bullet = nil, nil, -1, false
	if !d.checkText() {
		return
	}
	d.splitLines()
	d.code = slices.Grow(d.code[:0], len(d.lines))[:len(d.lines)]
	clear(d.code)
	d.scanBlocks()
	d.boxes = slices.Grow(d.boxes[:0], min(len(d.lines), bytes.Count(data, []byte("] "))))
	d.headings = slices.Grow(d.headings[:0], bytes.Count(data, []byte("\n#"))+1)
	var openBoxes []openBox
	var openHeadings []int // their indices
	read := 0              // index after the last line of text: where a box ends that is left
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
			for n := len(openBoxes); n > 0 && (isHeading || openBoxes[n-1].indent >= indent); n-- {
				d.boxes[openBoxes[n-1].box].end = read
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
		case item == 0:
			d.nearBox(i, text)
		default:
			d.scanItem(i, at, item, openBoxes, openHeadings)
			if n := len(d.boxes); n > 0 && d.boxes[n-1].line == i {
				openBoxes = append(openBoxes, openBox{n - 1, indent})
			}
		}
		read, blank = i+1, false
	}
	for _, o := range openBoxes {
		d.boxes[o.box].end = read
	}
}

// anyState matches a box in front of a text, also a broken one.
var anyState = regexp.MustCompile(`^\[([^\]\n]{0,12})\](\*?)([ \t]|$)`)

// scanItem processes a list item. item is the length of its bullet.
func (d *document) scanItem(i int, at form.Span, item int, boxes []openBox, headings []int) {
	text := d.data[at.Start:at.End]
	if d.strict < 0 && isBullet(text[0]) && mayBeTask(text) && meantAsPlan.Match(text) {
		d.strict = i
	}
	var m []int
	if item < len(text) && text[item] == '[' {
		if state := text[item:]; len(state) > 3 && state[1] < utf8.RuneSelf && state[1] != ']' && state[2] == ']' && isBlank(state[3]) {
			m = []int{0, 4, 1, 2, 3, 3, 3, 4} // as nearly all are
		} else {
			m = anyState.FindSubmatchIndex(state)
		}
	}
	if m == nil {
		d.bullet = true
		d.nearBox(i, text)
		return
	}
	inside := form.Span{Start: at.Start + item + m[2], End: at.Start + item + m[3]}
	b := box{at: inside.Start, text: form.Span{Start: at.Start + item + m[1], End: at.End}, line: i, end: i + 1, parent: -1, heading: -1}
	for b.text.Start < b.text.End && isBlank(d.data[b.text.Start]) {
		b.text.Start++
	}
	if len(headings) > 0 {
		b.heading = headings[len(headings)-1]
	}
	if len(boxes) > 0 {
		b.parent = boxes[len(boxes)-1].box
	}
	switch state := string(d.data[inside.Start:inside.End]); state {
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
	sign, size := utf8.DecodeRuneInString(state)
	switch {
	case size > 0 && strings.Trim(state[size:], "\ufe0f") == "" && !unicode.IsLetter(sign) && !unicode.IsDigit(sign), len(state) <= 3 && strings.Trim(state, " xX\t\u00a0") == "":
		d.finding(i, fmt.Sprintf("broken box [%s]: expected [ ] or [x]", state), "Write [ ] for open, [x] for done, [-] for at work")
	case len(state) > 1 && strings.ToUpper(state) == state && strings.Trim(state, "ABCDEFGHIJKLMNOPQRSTUVWXYZ/") == "" && explicitID.Match(d.data[text.Start:text.End]):
		d.warning(i, fmt.Sprintf("[%s] is no box: this line is no task", clip(state, 12)), "Write [ ] for open, [x] for done")
	}
}

// almostBox matches a box that renders as text. Groups: 1 the bullet, 2 the space behind
// it, 3 emphasis around the box, 4 the first character behind the box.
var almostBox = regexp.MustCompile(`^([-*+•‣◦·–—]|[0-9]{1,9}[.)])?([ \t]*)(\*\*|__|~~)?\[[ xX]\](?:$|(.))`)

// nearBox reports a box that a person meant as one and that is none. A link is no box,
// and a box at the beginning of a line may be a word in a text.
func (d *document) nearBox(i int, text []byte) {
	if bytes.IndexByte(text[:min(len(text), 24)], '[') < 0 {
		return
	}
	m := almostBox.FindSubmatch(text)
	if m == nil {
		return
	}
	bullet, behind := string(m[1]), string(m[4])
	r, _ := utf8.DecodeRuneInString(behind)
	switch blank := behind == "" || isBlank(behind[0]); {
	case bullet == "" && blank && len(m[3]) == 0:
		d.warning(i, "a box without a bullet is no task", "Put \"- \" before it if it is one")
	case bullet == "":
	case len(m[3]) > 0 && blank:
		d.finding(i, "a box in emphasis is shown as text: expected - [ ] **Title**", "Put the emphasis behind the box")
	case len(bullet) > 1 && bullet[0] >= utf8.RuneSelf && blank:
		d.finding(i, bullet+" is no bullet, so the box behind it is shown as text: expected - [ ] Title", "Write - in its place")
	case len(m[2]) == 0 && blank:
		d.finding(i, "no space between the bullet and the box: expected - [ ] Title", "Put a space before the box")
	case len(m[2]) > 0 && len(m[3]) == 0 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("*_`~\"", r)):
		d.finding(i, "no space after the box: expected - [ ] Title", "Put a space after the box")
	}
}

// scanBlocks marks the lines of front matter, code blocks and comments.
func (d *document) scanBlocks() {
	var open []block // the outer block, and blocks inside an example of Markdown
	hides := -1      // the first line in it that looks like work
	blank, list, prose := true, false, false
	examples, first := 0, 0 // boxes in indented code, and the line of the first
	indented := false       // the line above is indented code
	i := d.frontMatter()
	for ; i < len(d.lines); i++ {
		indent, at := d.measure(i)
		text := d.data[at.Start:at.End]
		if len(text) == 0 {
			d.code[i] = len(open) > 0
			blank, indented = true, indented && len(open) == 0
			continue
		}
		wasBlank := blank
		blank = false
		if n := len(open); n > 0 {
			d.code[i] = true
			if hides < 0 && (headingLevel(text) > 0 && isTaskHeading(text) || isBullet(text[0]) && anyBox.Match(text)) {
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
		// A list that is indented as a whole is one below a heading and at the beginning,
		// whatever a renderer makes of it; below a paragraph it is an example.
		code := !list && indent >= 4 && (wasBlank && prose || indented)
		switch {
		case code && isBullet(text[0]) && anyBox.Match(text):
			if examples++; examples == 1 {
				first = i
			}
		case code:
		case itemLength(text) > 0:
			list = true
		case indent == 0:
			list = false
		}
		indented = code || !list && indent >= 4 && (wasBlank || i > 0 && d.code[i-1])
		if indented {
			d.code[i] = true // an indented code block
			continue
		}
		prose = headingLevel(text) == 0
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
		d.finding(open[0].line, fmt.Sprintf("this %s is never closed and hides line %d and what is below it", open[0].name(), hides+1), "Close it")
	}
	if examples > 0 {
		d.warning(first, fmt.Sprintf("boxes in an indented code block are an example, and no work (%d in this file)", examples), "Take their indent away if they are work")
	}
}

// frontMatter marks the lines between --- at the beginning of a text, and returns
// the index after them. A --- above prose is a rule between sections: what stands
// below it is not hidden.
func (d *document) frontMatter() int {
	line := func(i int) string {
		at := d.line(i)
		return string(bytes.TrimRight(d.data[at.Start:at.End], " \t"))
	}
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

// string returns a part of the text.
func (p *plan) string(at form.Span) string {
	if p.text == "" {
		return string(p.data[at.Start:at.End])
	}
	return p.text[at.Start:at.End]
}

// ticked reports whether a box is done.
func (d *document) ticked(b *box) bool { c := d.data[b.at]; return c == 'x' || c == 'X' }

// optional reports whether a box is one that may stay open: [ ]*
func (d *document) optional(b *box) bool { return d.data[b.at+2] == '*' }

// sign returns the place of a box's state.
func (b *box) sign() form.Span { return form.Span{Start: b.at, End: b.at + 1} }

// tick returns the change that gives a box a state, none if it has it. A box that is
// at work is open.
func (d *document) tick(b *box, done bool) []form.Edit {
	switch {
	case done && !d.ticked(b):
		return []form.Edit{{Span: b.sign(), Text: "x"}}
	case !done && d.ticked(b):
		return []form.Edit{{Span: b.sign(), Text: " "}}
	}
	return nil
}

// warnWorking tells once of boxes of somebody who is at work.
func (d *document) warnWorking() {
	n, first := 0, 0
	for i := range d.boxes {
		if c := d.data[d.boxes[i].at]; c == '-' || c == '~' || c == '/' {
			if n++; n == 1 {
				first = d.boxes[i].line
			}
		}
	}
	if n > 0 {
		d.warning(first, fmt.Sprintf("a box [%s] says that somebody is at work: it counts as open (%d in this file)", d.string(d.boxes[d.boxAt(first)].sign()), n), "")
	}
}

// boxesIn returns the boxes in the lines from start to before end.
func (d *document) boxesIn(start, end int) []box {
	from := sort.Search(len(d.boxes), func(n int) bool { return d.boxes[n].line >= start })
	to := from
	for to < len(d.boxes) && d.boxes[to].line < end {
		to++
	}
	return d.boxes[from:to]
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
