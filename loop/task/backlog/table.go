package backlog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/task/form"
)

// column is what a table's column holds, an index of columns.at.
type column int

const (
	idColumn column = iota
	statusColumn
	titleColumn
	priorityColumn
	specColumn
	dependsColumn
	columnCount
)

// headers are the texts of headers that name a column, in lower case. The column of
// titles is found without them: its header may be in any language.
var headers = map[column][]string{
	idColumn:       {"id", "spec id", "task id", "ticket id", "issue id"},
	statusColumn:   {"status", "state", "статус", "estado", "statut", "stato", "zustand", "状态", "狀態", "状態", "ステータス", "상태"},
	priorityColumn: {"priority", "prio", "impact", "приоритет", "влияние", "priorität", "prioridad", "prioridade", "priorité", "priorità", "优先级", "優先度", "우선순위"},
	dependsColumn:  {"depends on", "depends", "dependencies", "deps", "blocked by", "зависит от"},
	titleColumn:    {"task", "title", "name", "summary", "задача", "название", "aufgabe", "titel", "tarea", "título", "tâche", "titre", "tarefa", "任务", "タスク"},
}

// specHeader matches the header of the column with links to specs.
var specHeader = regexp.MustCompile(`(?i)\.md\b|\bspec|\bfeature|\blink|спек|ссылк`)

// table is a table that lists tasks: it has columns for ids and for statuses.
type table struct {
	at     [columnCount]int // index of each column, -1 = none
	header int              // line of its header, 1-based
	width  int              // number of its columns
	lines  []tableLine
}

type tableLine struct {
	form.Span
	n int // 1-based
}

// scan is the state of a walk over a file's lines.
type scan struct {
	file     string
	data     []byte
	findings *form.Findings
	tables   []table
	orphans  []tableLine     // lines outside of tables that look like rows
	twice    map[string]bool // ids of several rows, folded

	cells []form.Span // of the line in hand
}

// lineAt returns the line that begins at start, without its end, and the beginning of
// the next one.
func lineAt(data []byte, start int) (line form.Span, next int) {
	end, next := len(data), len(data)
	if n := bytes.IndexByte(data[start:], '\n'); n >= 0 {
		end, next = start+n, start+n+1
	}
	if end > start && data[end-1] == '\r' {
		end--
	}
	return form.Span{Start: start, End: end}, next
}

// blocks tells which lines are code, comments or front matter. A code block with a
// language inside of another one is nested: specs quote documents that way.
type blocks struct {
	fence   string // the characters that opened a code block
	nested  int
	comment bool
	front   bool
	since   int // line in which the block began
}

// open reports whether a block is open.
func (b *blocks) open() bool { return b.fence != "" || b.comment || b.front }

// skips reports whether a line is part of a block, and opens and closes blocks.
func (b *blocks) skips(text []byte, n int) bool {
	switch {
	case b.front:
		b.front = string(text) != "---" && string(text) != "..."
		return true
	case b.comment:
		b.comment = !bytes.Contains(text, []byte("-->"))
		return true
	case b.fence != "":
		switch rest := bytes.TrimLeft(text, b.fence[:1]); {
		case len(text)-len(rest) < len(b.fence):
		case len(rest) > 0 && isWordRune(rune(rest[0])):
			b.nested++
		case len(rest) > 0:
		case b.nested > 0:
			b.nested--
		default:
			b.fence = ""
		}
		return true
	case n == 1 && string(text) == "---":
		b.front, b.since = true, n
		return true
	case bytes.HasPrefix(text, []byte("<!--")):
		b.comment, b.since = !bytes.Contains(text, []byte("-->")), n
		return true
	case bytes.HasPrefix(text, []byte("```")), bytes.HasPrefix(text, []byte("~~~")):
		b.fence = string(text[:len(text)-len(bytes.TrimLeft(text, string(text[:1])))])
		b.nested, b.since = 0, n
		return true
	}
	return false
}

// scanTables finds the tables that list tasks.
func scanTables(file string, data []byte, findings *form.Findings) *scan {
	s := &scan{file: file, data: data, findings: findings}
	var (
		in     blocks
		hidden tableLine // the first line in the open block that may be a row
		open   bool      // a table is open
		ours   bool      // and it is one of s.tables
		above  tableLine
	)
	for start, n := len(data)-len(bytes.TrimPrefix(data, form.BOM)), 1; start < len(data); n++ {
		line, next := lineAt(data, start)
		start = next
		trimmed := trimSpan(data, line)
		text := data[trimmed.Start:trimmed.End]
		if in.skips(text, n) {
			// A comment between two rows ends no table that a person sees as one.
			open, above = open && in.fence == "", tableLine{}
			if len(text) > 0 && text[0] == '|' && (hidden.n == 0 || hidden.n < in.since) {
				hidden = tableLine{line, n}
			}
			continue
		}
		at := tableLine{line, n}
		switch hasPipe := bytes.IndexByte(text, '|') >= 0; {
		case !hasPipe:
			open, above = false, tableLine{}
			continue
		case isDelimiter(data, line):
			if above.n == 0 {
				continue
			}
			if open && ours { // the line above is no row, but the header of a table
				t := &s.tables[len(s.tables)-1]
				t.lines = t.lines[:len(t.lines)-1]
			} else if last := len(s.orphans) - 1; last >= 0 && s.orphans[last].n == above.n {
				s.orphans = s.orphans[:last]
			}
			open, ours = true, s.addTable(above)
			above = tableLine{}
			continue
		case open && ours:
			t := &s.tables[len(s.tables)-1]
			t.lines = append(t.lines, at)
		case !open && text[0] == '|':
			s.orphans = append(s.orphans, at)
		}
		above = at
	}
	if in.open() && hidden.n > in.since {
		findings.Error(in.since, "this code block or comment is never closed and hides the table below it", "Close it")
	}
	return s
}

// addTable adds the table with a header if it lists tasks, and reports whether it
// does.
func (s *scan) addTable(header tableLine) bool {
	s.cells = cellsOf(s.data, header.Span, s.cells)
	t := table{header: header.n, width: len(s.cells)}
	for c := range t.at {
		t.at[c] = -1
	}
	for n, cell := range s.cells {
		name := strings.ToLower(strings.TrimSuffix(plainText(cellText(s.data, cell)), ":"))
		for c, names := range headers {
			if t.at[c] < 0 && slices.Contains(names, name) {
				t.at[c] = n
				break
			}
		}
	}
	if t.at[idColumn] < 0 || t.at[statusColumn] < 0 {
		return false
	}
	for n, cell := range s.cells {
		if t.at[specColumn] < 0 && !slices.Contains(t.at[:], n) && specHeader.MatchString(cellText(s.data, cell)) {
			t.at[specColumn] = n
		}
	}
	s.tables = append(s.tables, t)
	return true
}

// resolve finds the columns that only their cells tell: the one with links, and the
// one with the longest texts for titles.
func (s *scan) resolve(t *table) {
	if t.at[specColumn] >= 0 && t.at[titleColumn] >= 0 {
		return
	}
	const sample = 200 // rows that are enough to tell
	sizes, links := make([]int, t.width), make([]int, t.width)
	for _, l := range t.lines[:min(len(t.lines), sample)] {
		s.cells = cellsOf(s.data, l.Span, s.cells)
		for n, cell := range s.cells[:min(len(s.cells), t.width)] {
			text := s.data[cell.Start:cell.End]
			sizes[n] += len(text) + 1
			if bytes.Contains(text, []byte("](")) && bytes.Contains(text, []byte(".md")) {
				links[n]++
			}
		}
	}
	if t.at[specColumn] < 0 {
		t.at[specColumn] = s.largest(t, links)
	}
	if t.at[titleColumn] < 0 {
		t.at[titleColumn] = s.largest(t, sizes)
	}
}

// largest returns the free column with the largest value above 0, -1 for none.
func (s *scan) largest(t *table, values []int) int {
	best := -1
	for n, v := range values {
		if v > 0 && !slices.Contains(t.at[:], n) && (best < 0 || v > values[best]) {
			best = n
		}
	}
	return best
}
