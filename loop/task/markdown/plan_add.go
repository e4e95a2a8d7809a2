package markdown

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Add implements form.Adder. New tasks stand behind the last one, with its bullet,
// indent and line ends, and get the next whole numbers.
func (p Plan) Add(file string, data []byte, tasks []ledger.Task) (grown []byte, ids []string, err error) {
	scan := scanPlan(filepath.Base(file), data)
	before := scan.read()
	if err := scan.err(); err != nil {
		return nil, nil, err
	}
	known := make([]string, 0, len(before)+len(tasks))
	next := 1
	for _, t := range before {
		known = append(known, ledger.FoldID(t.ID))
		next = max(next, number(t.ID)+1)
	}
	named := slices.Clone(tasks)
	for n := range named {
		t := &named[n]
		if t.ID == "" {
			t.ID = "Task " + strconv.Itoa(next)
		}
		next = max(next, number(t.ID)+1)
		if !wholeID.MatchString(t.ID) {
			return nil, nil, form.InputError(file, fmt.Sprintf("%q is no id of a plan's task", t.ID), "Name it Task N, or leave the id out")
		}
		if slices.Contains(known, ledger.FoldID(t.ID)) {
			return nil, nil, form.InputError(file, t.ID+" is there already", "Leave the id out: the next free one is taken")
		}
		known = append(known, ledger.FoldID(t.ID))
		ids = append(ids, t.ID)
	}
	for _, t := range named {
		for _, need := range t.DependsOn {
			if !slices.Contains(known, ledger.FoldID(need)) {
				return nil, nil, form.InputError(file, fmt.Sprintf("%s depends on %s, which is not there", t.ID, need), "Name a task of the plan")
			}
		}
	}
	for _, plain := range []bool{false, true} {
		grown = scan.with(named, plain)
		if after, err := p.Parse(file, grown); err == nil && readsBack(before, after.Tasks, named) {
			return grown, ids, nil
		}
	}
	return nil, nil, form.InputError(file, "the new task does not read back as it was written", "Write it in plain words, or into the file yourself")
}

var (
	wholeID = regexp.MustCompile(`^(?i:task)[ \t]+[0-9]+(?:\.[0-9]+)*[A-Za-z]?$`)
	digits  = regexp.MustCompile(`[0-9]+`)
)

// number returns the whole number in an id: 5 for "Task 5b".
func number(id string) int {
	n, err := strconv.Atoi(digits.FindString(id))
	if err != nil {
		return 0 // more digits than a number has
	}
	return n
}

// with returns the text with tasks behind its last one, apart from it by a blank line if
// it stands so. plain leaves out of their
// words what has a meaning in a plan.
func (p *plan) with(tasks []ledger.Task, plain bool) []byte {
	eol, indent, bullet, at, gap := "\n", "", "-", len(p.data), false
	if bytes.Contains(p.data, []byte("\r\n")) {
		eol = "\r\n"
	}
	if n := len(p.tasks); n > 0 {
		last := p.tasks[n-1]
		line := p.lineText(last.line)
		bullet = strings.TrimLeft(line, " \t")
		indent, bullet = line[:len(line)-len(bullet)], bullet[:1]
		end := last.end - 1
		for end > last.line && strings.TrimSpace(p.lineText(end)) == "" {
			end--
		}
		at = p.lines[end].End
		gap = n > 1 && strings.TrimSpace(p.lineText(last.line-1)) == ""
	} else {
		at = len(bytes.TrimRight(p.data, " \t\r\n"))
	}
	var b strings.Builder
	for n, t := range tasks {
		if n == 0 && len(p.tasks) == 0 && at > 0 {
			b.WriteString(eol)
		}
		if n > 0 || at > 0 {
			b.WriteString(eol)
		}
		if gap {
			b.WriteString(eol)
		}
		b.WriteString(strings.Join(taskLines(indent, bullet, t, plain), eol))
	}
	if at == len(p.data) { // the text ends without a line end, or is empty
		b.WriteString(eol)
	}
	return form.Apply(p.data, []form.Edit{{Span: form.Span{Start: at, End: at}, Text: b.String()}})
}

func (p *plan) lineText(line int) string {
	return string(p.data[p.lines[line].Start:p.lines[line].End])
}

// taskLines returns the lines of a task.
func taskLines(indent, bullet string, t ledger.Task, plain bool) []string {
	word := func(s string) string {
		s = text.OneLine(s)
		if plain {
			s = text.OneLine(plainly.Replace(s))
		}
		return s
	}
	lines := []string{indent + bullet + " [ ] **" + t.ID + ": " + word(t.Title) + "**"}
	field := func(name, value string) {
		if value != "" {
			lines = append(lines, indent+"  "+bullet+" "+name+": "+value)
		}
	}
	field("Scope", text.OneLine(t.Scope))
	field("Depends on", strings.Join(t.DependsOn, ", "))
	switch {
	case t.Priority > 4:
		field("Priority", strconv.Itoa(t.Priority))
	case t.Priority > 0:
		field("Priority", "P"+strconv.Itoa(4-t.Priority))
	}
	if t.Complexity > 0 {
		field("Complexity", strconv.Itoa(t.Complexity))
	}
	if len(t.Acceptance) > 0 {
		lines = append(lines, indent+"  "+bullet+" Acceptance:")
		for _, a := range t.Acceptance {
			lines = append(lines, indent+"    "+bullet+" "+word(a))
		}
	}
	notes := t.Body
	if notes == "" {
		notes = t.Notes
	}
	if plain {
		notes = word(notes)
	}
	for n, line := range strings.Split(strings.TrimSpace(notes), "\n") {
		switch line = strings.TrimRight(line, " \t\r"); {
		case n == 0:
			field("Notes", line)
		case line == "":
			lines = append(lines, "")
		default:
			lines = append(lines, indent+"    "+line)
		}
	}
	return lines
}

// plainly takes out of a person's words what has a meaning in a plan.
var plainly = strings.NewReplacer("**", "", "__", "", "`", "'", "~~~", "", "<!--", "", "-->", "", "(", "", ")", "", "[", "", "]", "")

// readsBack reports whether a plan reads as before and has the added tasks behind
// that.
func readsBack(before, after, added []ledger.Task) bool {
	if len(after) != len(before)+len(added) {
		return false
	}
	for n, t := range before {
		if !ledger.SameID(t.ID, after[n].ID) || t.Title != after[n].Title || t.Body != after[n].Body || t.Mark != after[n].Mark {
			return false
		}
	}
	for n, t := range added {
		now := after[len(before)+n]
		if !ledger.SameID(now.ID, t.ID) || ledger.TitleKey(now.Title) != ledger.TitleKey(t.Title) || now.Mark != ledger.MarkOpen ||
			len(now.DependsOn) != len(t.DependsOn) || len(now.Acceptance) != len(t.Acceptance) || t.Scope == "" && now.Scope != "" {
			return false
		}
	}
	return true
}
