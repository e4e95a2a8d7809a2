package backlog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// List is what a backlog's tables say.
type List struct {
	Rows     []Row // in document order, drafts included
	Warnings []ledger.Diagnostic
}

// expectedTable says what a file needs, for findings.
const expectedTable = "expected a table with the columns ID and Status"

// ReadList reads the tables of a backlog. Malformed input is a *ledger.InputError.
// Tables without columns for ids and statuses are not read. ReadList neither keeps
// nor changes data.
func ReadList(file string, data []byte) (List, error) {
	s, rows := readRows(file, data, true)
	if err := s.findings.Err(); err != nil {
		return List{}, err
	}
	return List{Rows: rows, Warnings: s.findings.Told()}, nil
}

// readRows reads all rows and reports what is wrong with them. Without whole they have
// their keys alone.
func readRows(file string, data []byte, whole bool) (*scan, []Row) {
	base := filepath.Base(file)
	findings := &form.Findings{File: base}
	if wrong := form.CheckText(base, "backlog", data, form.MaxBytes); wrong != nil {
		findings.Errors = append(findings.Errors, *wrong)
		return &scan{file: base, findings: findings}, nil
	}
	s := scanTables(base, data, findings)
	s.twice = map[string]bool{}
	n := 0
	for _, t := range s.tables {
		n += len(t.lines)
	}
	rows, lines := make([]Row, 0, n), make(map[string]int, n)
	for i := range s.tables {
		t := &s.tables[i]
		s.resolve(t)
		for _, l := range t.lines {
			r, ok := s.readKey(t, l)
			if !ok {
				continue
			}
			key := strings.ToLower(r.ID) // as ledger.FoldID: there is no white space in it
			if first, twice := lines[key]; twice {
				findings.Error(r.Line, fmt.Sprintf("%s is in line %d, too", r.ID, first), "Give one of them another id, or remove it")
				s.twice[key] = true
				continue
			}
			lines[key] = r.Line
			if whole {
				s.readRest(t, &r)
			}
			rows = append(rows, r)
		}
	}
	for _, l := range s.orphans {
		s.checkOrphan(l)
	}
	if len(s.tables) == 0 && len(findings.Errors) == 0 {
		findings.Error(0, "has no tasks: "+expectedTable, "Write `| ID | Task | Status | Priority | Feature.md |`, a row of dashes below it, and a row for each task")
	}
	return s, rows
}

// checkOrphan reports a line that a person takes for a row of a table, and that
// belongs to none.
func (s *scan) checkOrphan(l tableLine) {
	s.cells = cellsOf(s.data, l.Span, s.cells)
	if len(s.cells) < 3 || !looksLikeID.MatchString(plainText(cellText(s.data, s.cells[0]))) {
		return
	}
	for _, c := range s.cells[1:] {
		if _, word, ok := findStatus(s.data, c); ok && plainText(cellText(s.data, c)) == string(s.data[word.Start:word.End]) {
			s.findings.Error(l.n, plainText(cellText(s.data, s.cells[0]))+" is in no table: a header with a row of dashes stands above rows, without an empty line between", "Remove the empty line above it, or repeat the header")
			return
		}
	}
}

// Table is the form of a backlog without its specs.
type Table struct{}

// Parse implements form.Form.
func (Table) Parse(file string, data []byte) (ledger.Snapshot, error) {
	list, err := ReadList(file, data)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	s := ledger.Snapshot{Name: form.Name(file), Path: file, Warnings: list.Warnings, Tasks: make([]ledger.Task, 0, len(list.Rows))}
	for _, r := range list.Rows {
		if r.Status != Draft {
			s.Tasks = append(s.Tasks, r.Task(nil))
		}
	}
	return s, nil
}

// Mark implements form.Form.
func (Table) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	marked, _, gone, err := Mark(file, data, marks)
	return marked, gone, err
}

// Recognise implements form.Recogniser.
func (Table) Recognise(path string, data []byte) string {
	s := scanTables(filepath.Base(path), data, &form.Findings{})
	if i := slices.IndexFunc(s.tables, func(t table) bool { return len(t.lines) > 0 }); i < 0 {
		return ""
	}
	return "a table with ID and Status"
}
