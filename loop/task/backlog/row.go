package backlog

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Row is a row of a table that lists tasks.
type Row struct {
	Line      int // 1-based
	ID        string
	Title     string
	Status    Status
	Priority  int      // as ledger.Task has it
	Link      string   // address of its spec as written, without a fragment; "" for none
	Prose     string   // what stands in the spec's place and is no link
	DependsOn []string // ids

	word form.Span // of its status
}

// maxID limits an id's length. A longer text is prose in the wrong column.
const maxID = 64

// looksLikeID matches ids as tables of specs have them: TECH-069a.
var looksLikeID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*-[0-9]+[A-Za-z0-9.-]*$`)

// text returns the text of a column in the line in hand.
func (s *scan) text(t *table, c column) string {
	if n := t.at[c]; n >= 0 && n < len(s.cells) {
		return cellText(s.data, s.cells[n])
	}
	return ""
}

// readKey reads the id and the status in a line of a table. ok is false for a line
// without an id, and for one with mistakes, which are reported.
func (s *scan) readKey(t *table, l tableLine) (r Row, ok bool) {
	s.cells = cellsOf(s.data, l.Span, s.cells)
	text := func(c column) string { return s.text(t, c) }
	r = Row{Line: l.n, ID: plainText(text(idColumn))}
	if isNothing(r.ID) {
		if _, _, has := s.status(t); has {
			s.findings.Warn(l.n, "has a status and no id: it is no task", "Give it an id")
		}
		return r, false
	}
	bad := func(text, remedy string) (Row, bool) {
		s.findings.Error(l.n, text, remedy)
		return r, false
	}
	switch {
	case len(r.ID) > maxID || strings.ContainsFunc(r.ID, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }):
		return bad(fmt.Sprintf("id %q: expected one word like TECH-069", clip(r.ID, 40)), "Write the id without spaces")
	case len(s.cells) > t.width && s.hasText(s.cells[t.width:]):
		return bad(fmt.Sprintf("%s has %d cells where the header in line %d has %d", r.ID, len(s.cells), t.header, t.width), `Write a pipe that is text as \|`)
	case len(s.cells) <= t.at[statusColumn]:
		return bad(fmt.Sprintf("%s has %d cells and none for its status: the header in line %d has %d", r.ID, len(s.cells), t.header, t.width), "Write all cells of the row")
	}
	if r.Status, r.word, ok = s.status(t); !ok {
		if word := text(statusColumn); isNothing(word) {
			return bad(r.ID+" has no status: "+expectedStatus, "Write one, for example queued")
		}
		return bad(fmt.Sprintf("%s has the status %q: %s", r.ID, clip(text(statusColumn), 40), expectedStatus), "Write one of them; a remark may follow it")
	}
	return r, true
}

// readRest reads the other columns of a row, whose line is in hand.
func (s *scan) readRest(t *table, r *Row) {
	readSpecCell(r, s.text(t, specColumn))
	if r.Title = oneLine(plainText(s.text(t, titleColumn))); r.Title == "" {
		r.Title = r.ID
	}
	priority, ok := s.text(t, priorityColumn), false
	if r.Priority, ok = priorityOf(plainText(priority)); !ok {
		s.findings.Warn(r.Line, fmt.Sprintf("%s has the priority %q, which says nothing here", r.ID, clip(priority, 40)), "Write P0 to P3, critical, high, medium, low, a number or stars")
	}
	if on := s.text(t, dependsColumn); on != "" {
		r.DependsOn = idsIn(on, r.ID)
	}
}

// status returns the status in the cells of the line in hand.
func (s *scan) status(t *table) (Status, form.Span, bool) {
	if n := t.at[statusColumn]; n < len(s.cells) {
		return findStatus(s.data, s.cells[n])
	}
	return "", form.Span{}, false
}

func (s *scan) hasText(cells []form.Span) bool {
	for _, c := range cells {
		if c.End > c.Start {
			return true
		}
	}
	return false
}

// readSpecCell reads the cell that names a row's spec: a link, or its path alone.
func readSpecCell(r *Row, cell string) {
	address, prose := "", ""
	if at, ok := linkIn(cell); ok {
		address = at
	} else if plain := plainText(cell); strings.HasSuffix(plain, ".md") && !strings.ContainsAny(plain, " \t") {
		address = plain
	} else if !isNothing(plain) && !strings.EqualFold(strings.Trim(plain, "[]"), r.ID) {
		prose = plain
	}
	if address == "" {
		r.Prose = prose
		return
	}
	address, _, _ = strings.Cut(address, "#")
	if strings.Contains(address, "://") || address == "" {
		r.Prose = cell
		return
	}
	if strings.Contains(address, "%") {
		if plain, err := url.PathUnescape(address); err == nil {
			address = plain
		}
	}
	r.Link = strings.ReplaceAll(address, `\`, "/")
}

// priorityOf ranks a priority's words, or the stars of an impact; ok is false for a
// text that says neither.
func priorityOf(text string) (n int, ok bool) {
	if isNothing(text) {
		return 0, true
	}
	if stars := strings.Count(text, "⭐") + strings.Count(text, "★"); stars > 0 {
		return min(stars-1, 4), true
	}
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimLeftFunc(text, func(c rune) bool { return !isWordRune(c) })), " ")
	word = strings.TrimRightFunc(word, func(c rune) bool { return !isWordRune(c) })
	switch word {
	case "p0", "critical":
		return 4, true
	case "p1", "high":
		return 3, true
	case "p2", "medium":
		return 2, true
	case "p3", "low":
		return 1, true
	case "p4", "p5":
		return 0, true
	}
	n, err := strconv.Atoi(word)
	return n, err == nil && n >= 0 && n <= 1000
}

var idWord = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*-[0-9]+[A-Za-z0-9]*`)

// idsIn returns the ids in a text, but for own, each once.
func idsIn(text, own string) []string {
	var ids []string
	seen := map[string]bool{ledger.FoldID(own): true}
	for _, id := range idWord.FindAllString(text, -1) {
		if key := ledger.FoldID(id); !seen[key] {
			seen[key] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// Names reports whether the name of a spec's file names the row, or no id at all.
func (r Row) Names(file string) bool {
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	if len(base) >= len(r.ID) && strings.EqualFold(base[:len(r.ID)], r.ID) {
		return len(base) == len(r.ID) || !isWordRune(rune(base[len(r.ID)]))
	}
	return IDOf(base) == ""
}

// Task returns the row as a task. spec is nil for a row without one.
func (r Row) Task(spec *Spec) ledger.Task {
	t := ledger.Task{ID: r.ID, Title: r.Title, Body: r.Prose, Priority: r.Priority, DependsOn: r.DependsOn, Mark: r.Status.mark(), Line: r.Line}
	if spec == nil {
		return t
	}
	t.Body, t.Scope, t.Acceptance, t.Material = spec.body(), spec.Scope, spec.Acceptance, []string{spec.Path}
	if t.Priority == 0 {
		t.Priority = spec.Priority
	}
	for _, id := range idsIn(spec.depends, r.ID) {
		if !containsID(t.DependsOn, id) {
			t.DependsOn = append(t.DependsOn, id)
		}
	}
	return t
}

func containsID(ids []string, id string) bool {
	for _, known := range ids {
		if ledger.SameID(known, id) {
			return true
		}
	}
	return false
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// IDOf returns the id that a spec's file is named after, "" for none.
func IDOf(file string) string {
	base := path.Base(file)
	if id := idWord.FindString(base); id != "" && strings.HasPrefix(base, id) {
		return id
	}
	return ""
}
