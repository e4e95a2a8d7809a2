package backlog

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

var numbered = regexp.MustCompile(`^(.*?)([0-9]+)$`)

// NextIDs returns ids for tasks: those that they bring, or else the next free ones
// with the prefix that most rows have. used are further ids that are taken. An id
// that exists is a *ledger.InputError.
func NextIDs(file string, rows []Row, used []string, tasks []ledger.Task) ([]string, error) {
	taken, count, highest, width := map[string]bool{}, map[string]int{}, map[string]int{}, map[string]int{}
	prefix := "TASK-"
	note := func(id string) string {
		taken[ledger.FoldID(id)] = true
		m := numbered.FindStringSubmatch(strings.TrimRight(id, "abcdefghijklmnopqrstuvwxyz"))
		if m == nil {
			return ""
		}
		if n, err := strconv.Atoi(m[2]); err == nil && n >= highest[m[1]] {
			highest[m[1]], width[m[1]] = n, len(m[2])
		}
		return m[1]
	}
	for _, r := range rows {
		if p := note(r.ID); p != "" || numbered.MatchString(r.ID) {
			count[p]++
			if count[p] > count[prefix] || count[p] == count[prefix] && prefix != p {
				prefix = p // of two, the one of the later row
			}
		}
	}
	for _, id := range used {
		note(id)
	}
	var ids []string
	for _, t := range tasks {
		id := t.ID
		for id == "" || t.ID == "" && taken[ledger.FoldID(id)] {
			highest[prefix]++
			id = fmt.Sprintf("%s%0*d", prefix, max(width[prefix], 1), highest[prefix])
		}
		if taken[ledger.FoldID(id)] {
			return nil, form.InputError(file, "has "+id+" already", "Give the new task another id")
		}
		if strings.ContainsAny(id, " \t\r\n|") || len(id) > maxID {
			return nil, form.InputError(file, fmt.Sprintf("cannot take the id %q: expected one word like TECH-069", clip(id, 40)), "")
		}
		taken[ledger.FoldID(id)] = true
		ids = append(ids, id)
	}
	for _, t := range tasks {
		for _, on := range t.DependsOn {
			if !taken[ledger.FoldID(on)] {
				return nil, form.InputError(file, "has no "+on+", which the new task depends on", "")
			}
		}
	}
	return ids, nil
}

// NewRow is a row to add. Link is its spec's path relative to the backlog, "" for
// none.
type NewRow struct {
	Task ledger.Task
	Link string
}

// TakenError is the error of AddRows for an id that a row has got since NextIDs gave it.
type TakenError struct{ *ledger.InputError }

func (e *TakenError) Unwrap() error { return e.InputError }

// AddRows returns the text with rows at the end of its last table of tasks, written
// like the row above them. No other byte changes.
func AddRows(file string, data []byte, rows []NewRow) ([]byte, error) {
	s, known := readRows(file, data, false)
	if err := s.findings.Err(); err != nil {
		return nil, err
	}
	for _, r := range rows {
		for _, k := range known {
			if ledger.SameID(k.ID, r.Task.ID) {
				return nil, &TakenError{form.InputError(file, "has "+k.ID+" already", "Give the new task another id")}
			}
		}
	}
	t := s.tables[len(s.tables)-1]
	after, last := s.lastLine(t)
	end, eol := after.End, "\n"
	if bytes.HasPrefix(data[end:], []byte("\r\n")) || end == len(data) && bytes.Contains(data, []byte("\r\n")) {
		eol = "\r\n"
	}
	trimmed := bytes.TrimSpace(data[after.Start:after.End])
	lead, tail := bytes.HasPrefix(trimmed, []byte("|")), bytes.HasSuffix(trimmed, []byte("|"))
	impact := false
	s.cells = cellsOf(data, last, s.cells)
	if n := t.at[priorityColumn]; n >= 0 && n < len(s.cells) {
		impact = bytes.Contains(data[s.cells[n].Start:s.cells[n].End], []byte("⭐"))
	}
	var b strings.Builder
	for _, r := range rows {
		cells := make([]string, t.width)
		for n := range cells {
			cells[n] = "—"
		}
		set := func(c column, text string) {
			if n := t.at[c]; n >= 0 && text != "" {
				cells[n] = escapeCell(text)
			}
		}
		set(idColumn, r.Task.ID)
		set(titleColumn, r.Task.Title)
		set(statusColumn, string(Queued))
		set(dependsColumn, strings.Join(r.Task.DependsOn, ", "))
		if impact {
			set(priorityColumn, strings.Repeat("⭐", min(max(r.Task.Priority, 2), 4)+1))
		} else {
			set(priorityColumn, priorityWord(r.Task.Priority))
		}
		if r.Link != "" {
			set(specColumn, "[spec]("+r.Link+")")
		}
		row := strings.Join(cells, " | ")
		if lead {
			row = "| " + row
		}
		if tail {
			row += " |"
		}
		b.WriteString(eol + row)
	}
	grown := form.Apply(data, []form.Edit{{Span: form.Span{Start: end, End: end}, Text: b.String()}})
	if list, err := ReadList(file, grown); err != nil || len(list.Rows) != len(known)+len(rows) {
		return nil, fmt.Errorf("add to %s: the new text does not read back as intended; nothing was written", filepath.Base(file))
	}
	return grown, nil
}

// RowSpan returns where the row of an id stands, with the line end before it: what
// AddRows writes for a row. ok is false for an id that the file lacks.
func RowSpan(file string, data []byte, id string) (at form.Span, ok bool) {
	s, rows := readRows(file, data, false)
	n := slices.IndexFunc(rows, func(r Row) bool { return ledger.SameID(r.ID, id) })
	if n < 0 {
		return at, false
	}
	for _, t := range s.tables {
		for _, l := range t.lines {
			if l.n == rows[n].Line {
				at = l.Span
			}
		}
	}
	for _, end := range []string{"\n", "\r"} {
		if bytes.HasSuffix(data[:at.Start], []byte(end)) {
			at.Start--
		}
	}
	return at, true
}

// lastLine returns the line after which a table's new rows stand, and its last row,
// which is empty if it has none.
func (s *scan) lastLine(t table) (after, row form.Span) {
	if n := len(t.lines); n > 0 {
		return t.lines[n-1].Span, t.lines[n-1].Span
	}
	start := 0
	for range t.header { // the line below the header is the delimiter
		_, start = lineAt(s.data, start)
	}
	line, _ := lineAt(s.data, start)
	return line, form.Span{Start: line.End, End: line.End}
}

// escapeCell returns a text for one cell.
func escapeCell(text string) string { return strings.ReplaceAll(oneLine(text), "|", `\|`) }
