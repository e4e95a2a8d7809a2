package markdown

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Add implements form.Adder. New tasks stand behind the last one, with its bullet,
// indent and line ends, and get the next whole numbers.
func (p Plan) Add(file string, data []byte, tasks []ledger.Task) ([]byte, []string, error) {
	return addTo(p, file, data, tasks, func(data []byte, t ledger.Task) ([]byte, int, error) {
		scan := newPlan(file, data).scan()
		ids := make([]string, 0, len(scan.tasks))
		for n := range scan.tasks {
			ids = append(ids, scan.tasks[n].id)
		}
		if t.ID == "" {
			t.ID = nextWhole("Task", ids)
		} else if !wholeID.MatchString(t.ID) {
			return nil, 0, form.InputError(file, fmt.Sprintf("%q is no id of a plan's task", t.ID), "Name it Task N, or leave the id out")
		}
		n := len(scan.tasks)
		if n == 0 {
			grown, line := scan.insert(len(scan.lines), len(scan.lines) > 0, taskLines("", "-", t))
			return grown, line, nil
		}
		last := scan.tasks[n-1]
		indent, bullet := scan.bulletOf(last.line)
		gap := n > 1 && scan.blankLine(last.line-1)
		grown, line := scan.insert(last.end, gap, taskLines(indent, bullet, t))
		return grown, line, nil
	})
}

// wholeID matches the ids of a plan's tasks.
var wholeID = regexp.MustCompile(`^(?i:task)[ \t]+[0-9]+(?:\.[0-9]+)*[A-Za-z]?$`)

// taskLines returns the lines of a task.
func taskLines(indent, bullet string, t ledger.Task) []string {
	lines := []string{indent + bullet + " [ ] **" + t.ID + ": " + text.OneLine(t.Title) + "**"}
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
			lines = append(lines, indent+"    "+bullet+" "+text.OneLine(a))
		}
	}
	notes := t.Body
	if notes == "" {
		notes = t.Notes
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
