package backlogmd

import (
	"bytes"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/task/form"
)

// section is what stands below a heading that Backlog.md knows.
type section struct {
	title string // in lower case; "" above the first heading
	lines []form.Span
}

// knownTitles are the headings that Backlog.md writes. Any other one is text of the
// section above it: people write headings into descriptions.
var knownTitles = map[string]bool{
	"description": true, "acceptance criteria": true, "acceptance criteria (optional)": true, "definition of done": true,
	"implementation plan": true, "implementation notes": true, "comments": true, "final summary": true,
}

var (
	headingLine = regexp.MustCompile(`^##[ \t]+(.*?)[ \t]*#*$`)
	markerLine  = regexp.MustCompile(`^<!-- (?:SECTION:)?([A-Z_]+):(BEGIN|END) -->$`)
	fenceLine   = regexp.MustCompile("^[ \t>]*(```+|~~~+)")
)

// sectionsOf splits a text from at on. Between its markers a section has no headings
// of others. Lines with markers are left out.
func sectionsOf(data []byte, at int) []section {
	found := []section{{}}
	marker, fence := "", ""
	for at < len(data) {
		end := at + lineLength(data[at:])
		line := string(bytes.TrimRight(data[at:end], " \t\r\n"))
		span := form.Span{Start: at, End: at + len(line)}
		at = end
		if m := fenceLine.FindStringSubmatch(line); m != nil && (fence == "" || strings.HasPrefix(m[1], fence)) {
			if fence == "" {
				fence = m[1]
			} else if strings.Trim(line, " \t>"+fence[:1]) == "" {
				fence = ""
			}
		} else if m := markerLine.FindStringSubmatch(line); m != nil && (fence == "" || m[2] == "END" && m[1] == marker) {
			switch {
			case m[2] == "BEGIN" && marker == "":
				marker = m[1]
				continue
			case m[2] == "END" && m[1] == marker:
				marker, fence = "", ""
				continue
			}
		} else if m := headingLine.FindStringSubmatch(line); m != nil && marker == "" && fence == "" && knownTitles[strings.ToLower(m[1])] {
			found = append(found, section{title: strings.ToLower(m[1])})
			continue
		}
		s := &found[len(found)-1]
		s.lines = append(s.lines, span)
	}
	return found
}

// textOf returns the text of the sections with a title, without blank lines around it.
func textOf(data []byte, sections []section, title string) string {
	var b strings.Builder
	for _, s := range sections {
		if s.title != title {
			continue
		}
		for _, l := range s.lines {
			b.Write(data[l.Start:l.End])
			b.WriteByte('\n')
		}
	}
	return strings.Trim(b.String(), "\n")
}

// criterion is an item of a list of criteria.
type criterion struct {
	text string
	box  form.Span // of the character in its box; empty for a bullet without one
}

var itemLine = regexp.MustCompile(`^([ \t]*)(?:[-*+]|[0-9]+[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(?:#[0-9]+[ \t]+)?(.+)$`)

// criteriaOf returns the items of the sections whose titles begin with title. A line
// that is indented below an item goes on with it.
func criteriaOf(data []byte, sections []section, title string) []criterion {
	var found []criterion
	for _, s := range sections {
		if !strings.HasPrefix(s.title, title) {
			continue
		}
		open := false // the line above belongs to an item
		for _, l := range s.lines {
			line := string(data[l.Start:l.End])
			m := itemLine.FindSubmatchIndex(data[l.Start:l.End])
			switch {
			case m != nil && (m[3] == m[2] || len(found) == 0 || !open):
				c := criterion{text: line[m[6]:m[7]]}
				if m[4] >= 0 {
					c.box = form.Span{Start: l.Start + m[4], End: l.Start + m[5]}
				}
				found, open = append(found, c), true
			case strings.TrimSpace(line) == "":
				open = false
			case open && m != nil:
				found[len(found)-1].text += "; " + line[m[6]:m[7]]
			case open && !strings.HasPrefix(line, "#"):
				found[len(found)-1].text += " " + strings.TrimSpace(line)
			default:
				open = false
			}
		}
	}
	return found
}
