package backlog

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Change is a mark of one row.
type Change struct {
	Row Row // as it was, with its old status
	To  Status
}

// Mark returns a backlog's text with statuses written into it, and what changes in
// its rows. It changes one word of each row. gone lists the ids that the text has no
// row for, or only a draft's: the other rows are still marked. Where a row is
// ambiguous the error is a *ledger.InputError, and the caller must not write.
//
// A row with a mistake elsewhere in the file does not keep others from being marked.
func Mark(file string, data []byte, marks []ledger.Marking) (marked []byte, changes []Change, gone []string, err error) {
	s, rows := readRows(file, data, false)
	if s.data == nil && len(data) > 0 {
		return nil, nil, nil, s.findings.Err()
	}
	index := make(map[string]int, len(marks))
	for _, m := range marks {
		index[ledger.FoldID(m.Task)] = -1
	}
	for n, r := range rows {
		if key := strings.ToLower(r.ID); index[key] < 0 {
			index[key] = n
		}
	}
	want := map[int]ledger.Mark{} // the last mark of each row
	for _, m := range marks {
		if Statuses[m.Mark] == "" {
			return nil, nil, nil, fmt.Errorf("mark %s: unknown mark %q", m.Task, m.Mark)
		}
		key := ledger.FoldID(m.Task)
		if s.twice[key] {
			return nil, nil, nil, s.findings.Err()
		}
		if n := index[key]; n >= 0 && rows[n].Status != Draft {
			want[n] = m.Mark
		} else {
			gone = append(gone, m.Task)
		}
	}
	var edits []form.Edit
	for _, n := range slices.Sorted(maps.Keys(want)) {
		r := s.wholeRow(rows[n])
		to := r.Status.markedAs(want[n])
		changes = append(changes, Change{r, to})
		if to != r.Status {
			edits = append(edits, form.Edit{Span: r.word, Text: to.like(string(data[r.word.Start:r.word.End]))})
			rows[n].Status = to
		}
	}
	if len(edits) == 0 {
		return data, changes, gone, nil
	}
	marked = form.Apply(data, edits)
	return marked, changes, gone, check(file, marked, rows)
}

// wholeRow returns a row of which only the key was read, with its other columns.
func (s *scan) wholeRow(r Row) Row {
	for i := range s.tables {
		t := &s.tables[i]
		n, ok := slices.BinarySearchFunc(t.lines, r.Line, func(l tableLine, line int) int { return l.n - line })
		if ok {
			s.cells = cellsOf(s.data, t.lines[n].Span, s.cells)
			s.readRest(t, &r)
			return r
		}
	}
	return r
}

// check reads the marked text again before it is written: every row must be where it
// was, with the status that it should have.
func check(file string, marked []byte, want []Row) error {
	_, rows := readRows(file, marked, false)
	same := len(rows) == len(want)
	for n := 0; same && n < len(rows); n++ {
		a, b := rows[n], want[n]
		same = a.ID == b.ID && a.Line == b.Line && a.Status == b.Status
	}
	if !same {
		return fmt.Errorf("mark %s: the marked text does not read back as intended; nothing was written", filepath.Base(file))
	}
	return nil
}
