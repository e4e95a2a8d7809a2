package patch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/width"
	"github.com/nightporter/nightporter/loop/ledger"
)

// rowKind says what a row shows.
type rowKind byte

const (
	rowFile   rowKind = iota // name of a file
	rowInfo                  // what happened to it, besides its lines
	rowHunk                  // where a hunk stands
	rowLine                  // a line of a hunk
	rowRest                  // the rest of the line above, which was too wide
	rowBefore                // which version follows
)

// row is a line of a page.
type row struct {
	kind   rowKind
	sign   Kind // of rowLine and rowRest
	number int  // of rowLine: the line's number, in the new file where it has one
	cells  []cell
	counts string // of rowFile: what happened to the file, at the end of the row; "" = in the next row
	end    bool   // the last row of its file
}

// Layout is the size of a page.
type Layout struct {
	Columns int // of a line's text; 0 = without limit
	Lead    int // columns before a line's text, which the names of files use
	Rows    int
	Pages   int // pages that are turned over; one more says that there are too many, and what follows it is not laid out. 0 = without limit
	Tab     int
	Numbers bool // lines show their numbers
	Colored bool
}

// rows breaks the lines of files into rows.
func rows(versions [][]File, about []string, lay Layout) []row {
	var out []row
	for v, files := range versions {
		if len(versions) > 1 {
			out = append(out, wrap(rowBefore, Context, 0, textCells(about[v], Plain), lay.Columns)...)
		}
		for _, f := range files {
			out = append(out, fileRows(f, lay)...)
			out[len(out)-1].end = true
			if lay.Pages > 0 && len(out) > (lay.Pages+1)*lay.Rows {
				return out
			}
		}
	}
	return out
}

func columns(all []cell) int {
	n := 0
	for _, c := range all {
		n += c.columns
	}
	return n
}

// whole reports whether the patch has all lines of the file, as that of a new or a
// deleted one does.
func (f File) whole() bool {
	return f.Status == ledger.ChangeAdded || f.Status == ledger.ChangeDeleted
}

func textCells(s string, class Class) []cell {
	all := cells(s, 2, nil, nil, false)
	for n := range all {
		all[n].class = class
	}
	return all
}

func fileRows(f File, lay Layout) []row {
	out := wrap(rowFile, Context, 0, textCells(f.Path, Plain), lay.Columns+lay.Lead)
	last, counts := &out[len(out)-1], f.Counts()
	if counts != "" && (lay.Columns == 0 || columns(last.cells)+1+width.Of(counts) <= lay.Columns+lay.Lead) {
		last.counts, counts = counts, ""
	}
	remarks := f.remarks()
	if counts != "" {
		remarks = append([]string{counts}, remarks...)
	}
	for _, text := range remarks {
		out = append(out, wrap(rowInfo, Context, 0, textCells(text, Comment), lay.Columns)...)
	}
	lang := languageOf(f.Path)
	if !lay.Colored {
		lang = nil
	}
	for n, h := range f.Hunks {
		if n > 0 || h.Section != "" || !lay.Numbers && !f.whole() {
			out = append(out, hunkRow(h, lay.Columns))
		}
		tokens := colors(lang, h.Lines)
		for n, l := range h.Lines {
			if l.Kind == Note {
				out = append(out, wrap(rowInfo, Context, 0, textCells(noteText(l.Text), Comment), lay.Columns)...)
				continue
			}
			number := l.New
			if l.Kind == Removed {
				number = l.Old
			}
			out = append(out, wrap(rowLine, l.Kind, number, cells(l.Text, lay.Tab, tokens[n], l.Changed, l.Kind != Context), lay.Columns)...)
		}
	}
	return out
}

// hunkRow says where a hunk stands. Its section is cut, because git guesses it.
func hunkRow(h Hunk, columns int) row {
	text := ""
	for _, l := range h.Lines {
		if text == "" && l.Kind != Note {
			number := l.New
			if number == 0 {
				number = l.Old
			}
			text = "line " + strconv.Itoa(number)
		}
	}
	if h.Section != "" {
		text += "  " + h.Section
	}
	first := wrap(rowHunk, Context, 0, textCells(text, Comment), max(columns-1, 0))
	r := first[0]
	if len(first) > 1 {
		r.cells = append(r.cells, cell{text: "…", columns: 1, class: Comment})
	}
	return r
}

// noteText is git's remark about a line in fewer words.
func noteText(s string) string {
	if strings.TrimSpace(s) == "No newline at end of file" {
		return "no newline at the end"
	}
	return strings.TrimSpace(s)
}

// remarks says what Counts does not.
func (f File) remarks() []string {
	var out []string
	if f.From != "" {
		out = append(out, "from "+f.From)
	}
	if f.CRLF {
		out = append(out, "all lines end with CR LF")
	}
	if f.Unshown > 0 {
		out = append(out, left(f.Unshown))
	}
	if len(f.Hunks) == 0 && f.Unshown == 0 && !f.Binary && f.whole() {
		out = append(out, "empty")
	}
	return out
}

func left(lines int) string {
	if lines == 1 {
		return "1 changed line is left out"
	}
	return fmt.Sprintf("%d changed lines are left out", lines)
}

// wrap breaks cells into rows of at most so many columns; 0 is without limit. It breaks after a space
// or a comma where the last third of a row has one, and never within a
// character.
func wrap(kind rowKind, sign Kind, number int, all []cell, columns int) []row {
	var out []row
	for {
		fit, used := 0, 0
		for fit < len(all) && (columns <= 0 || used+all[fit].columns <= columns) {
			used += all[fit].columns
			fit++
		}
		if fit == len(all) {
			out = append(out, row{kind: kind, sign: sign, number: number, cells: all})
			break
		}
		fit = max(fit, 1) // a character wider than a row
		at := fit
		for back := fit; back > fit*2/3; back-- {
			if strings.Contains(" ,;/({[=", all[back-1].text) {
				at = back
				break
			}
		}
		out = append(out, row{kind: kind, sign: sign, number: number, cells: all[:at:at]})
		all, number = all[at:], 0
		if kind == rowLine {
			kind = rowRest
		}
	}
	return out
}

// Page is what one message shows of a patch.
type Page struct {
	N, Of int
	File  string // name of the file that its first row belongs to, "" if it begins with the name
	rows  []row
	lay   Layout
}

// endsPage reports whether a page may end between two rows: not within a line, and
// not between the name of a file or a hunk's place and what belongs to it.
func endsPage(above, below row) bool {
	return below.kind != rowRest && (above.kind == rowLine || above.kind == rowRest || above.end)
}

// Pages breaks versions into pages, as many as the layout wants and at least one
// more if there are more.
func Pages(versions [][]File, about []string, lay Layout) []Page {
	var out []Page
	all := rows(versions, about, lay)
	file := ""
	for len(all) > 0 {
		n := min(len(all), lay.Rows)
		if n < len(all) {
			cut := n
			for cut > lay.Rows/2 && !endsPage(all[cut-1], all[cut]) {
				cut--
			}
			if cut > lay.Rows/2 {
				n = cut
			}
		}
		p := Page{rows: all[:n], lay: lay}
		if k := all[0].kind; k != rowFile && k != rowBefore {
			p.File = file
		}
		for i, r := range all[:n] {
			switch {
			case r.kind == rowFile && (i == 0 || all[i-1].kind != rowFile || all[i-1].end):
				file = r.text()
			case r.kind == rowFile:
				file += r.text()
			}
		}
		out = append(out, p)
		all = all[n:]
	}
	for n := range out {
		out[n].N, out[n].Of = n+1, len(out)
	}
	return out
}

func (r row) text() string {
	var b strings.Builder
	for _, c := range r.cells {
		b.WriteString(c.text)
	}
	return b.String()
}

// Text is a row of a page as text.
type Text struct {
	Text string
	Sign Kind // of a changed line: Added or Removed
	File bool // it names a file
}

// Lines returns the page as lines of text. A changed line begins with its sign;
// the rest of one that was broken has "›" after the sign.
func (p Page) Lines() []string {
	var out []string
	for _, t := range p.Texts() {
		out = append(out, t.Text)
	}
	return out
}

// Texts is Lines with what each line shows.
func (p Page) Texts() []Text {
	var out []Text
	for _, r := range p.rows {
		text := r.text()
		switch r.kind {
		case rowLine:
			text = string(rune(r.sign)) + " " + text
		case rowRest:
			text = string(rune(r.sign)) + "›" + text
		case rowHunk:
			text = "@ " + text
		case rowInfo:
			text = "  " + text
		case rowFile:
			if r.counts != "" {
				gap := 2
				if p.lay.Columns > 0 {
					gap = p.lay.Columns + p.lay.Lead - columns(r.cells) - width.Of(r.counts)
				}
				text += strings.Repeat(" ", gap) + r.counts
			}
		}
		t := Text{Text: strings.TrimRight(text, " "), File: r.kind == rowFile}
		if r.kind == rowLine || r.kind == rowRest {
			t.Sign = r.sign
		}
		out = append(out, t)
	}
	return out
}

// Index lists files with their counts in lines of at most so many columns. A path
// too long for a line with its counts loses its beginning, or has the counts
// below it.
func Index(files []File, columns int) []string {
	var out []string
	for _, f := range files {
		name, counts := Visible(f.Path), f.Counts()
		space := columns - width.Of(counts) - 1
		switch {
		case width.Of(name) <= space:
			out = append(out, name+strings.Repeat(" ", columns-width.Of(name)-width.Of(counts))+counts)
		case space >= 20:
			out = append(out, "…"+width.Last(name, space-1)+strings.Repeat(" ", space-1-width.Of(width.Last(name, space-1)))+" "+counts)
		default:
			if width.Of(name) > columns {
				name = "…" + width.Last(name, columns-1)
			}
			out = append(out, name, "  "+counts)
		}
	}
	return out
}
