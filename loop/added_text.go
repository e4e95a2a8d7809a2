package loop

import (
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// ReadTasks reads a person's text as tasks. The first line is the title, or its first
// sentence where the line is longer than MaxTitle characters; all that is left is
// the body. Lines that all begin with "- " or "* " are a task each.
func ReadTasks(text string) []ledger.Task {
	var tasks []ledger.Task
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		item, ok := strings.CutPrefix(strings.Replace(line, "* ", "- ", 1), "- ")
		switch {
		case line == "":
		case !ok:
			return []ledger.Task{readTask(text)}
		default:
			tasks = append(tasks, readTask(strings.TrimPrefix(item, "[ ] ")))
		}
	}
	return tasks
}

// ReadReport reads a person's text as a bug report. All of it is its text, but for a
// severity in front: "high: The total is NaN".
func ReadReport(text string) ledger.Task {
	text = strings.TrimSpace(text)
	r := &ledger.Report{Untitled: true}
	if word, rest, ok := strings.Cut(text, ":"); ok && ledger.ReportPriority(word) > 0 && strings.TrimSpace(rest) != "" {
		r.Severity, text = strings.ToLower(strings.TrimSpace(word)), strings.TrimSpace(rest)
	}
	return ledger.Task{Title: readTask(text).Title, Body: text, Report: r}
}

// readTask reads a person's text as one task.
func readTask(text string) ledger.Task {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line, rest = strings.Join(strings.Fields(line), " "), strings.TrimSpace(rest)
	if utf8.RuneCountInString(line) <= MaxTitle {
		return ledger.Task{Title: strings.TrimSuffix(line, "."), Body: rest}
	}
	head := string([]rune(line)[:MaxTitle])
	for _, end := range []string{". ", "! ", "? ", ": ", "; "} {
		if n := strings.Index(head, end); n > 0 {
			title := strings.TrimRight(line[:n+1], ".:;")
			return ledger.Task{Title: title, Body: strings.TrimSpace(line[n+1:] + "\n" + rest)}
		}
	}
	// No sentence ends in time: the title is the beginning, and the body has it whole.
	if n := strings.LastIndex(head, " "); n > 0 {
		head = head[:n]
	} else {
		head = string([]rune(head)[:MaxTitle-1])
	}
	return ledger.Task{Title: head + "…", Body: strings.TrimSpace(line + "\n" + rest)}
}
