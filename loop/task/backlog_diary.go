package task

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// diaryTitle begins a new diary.
const diaryTitle = "# Autopilot Progress\n"

// diaryEntry returns the lines that a diary gets about p, in the form of the scripts
// that write such diaries, or nil if it has them. whole adds what else p says, for a
// task without a spec.
func diaryEntry(old []byte, p ledger.Progress, whole bool, zone *time.Location) []byte {
	key := progressKey(p.Key)
	iteration := 1
	for line := range bytes.Lines(old) {
		line = bytes.TrimSpace(line)
		if p.Key != "" && string(line) == key {
			return nil
		}
		if bytes.HasPrefix(bytes.TrimLeft(line, "#"), []byte(" Iteration ")) && line[0] == '#' {
			iteration++
		}
	}
	var b strings.Builder
	switch {
	case len(old) == 0:
		b.WriteString(diaryTitle + "\n")
	case !bytes.HasSuffix(old, []byte("\n")):
		b.WriteString("\n\n")
	default:
		b.WriteString("\n")
	}
	if p.Task == "" {
		fmt.Fprintf(&b, "=== %s ===\n%s\n", strings.TrimSpace(oneLine(p.Text)), localTime(p.Time, zone))
	} else {
		fmt.Fprintf(&b, "## Iteration %d: %s\n", iteration, oneLine(p.Task))
		fmt.Fprintf(&b, "Status: %s\n", diaryStatus(p.Status))
		switch diaryStatus(p.Status) {
		case "blocked":
			fmt.Fprintf(&b, "=== BLOCKED: %s ===\nHuman intervention required.\n", oneLine(p.Task))
		case "manual_verify":
			fmt.Fprintf(&b, "=== WARNING: %s waits for a person ===\nMay need manual review.\n", oneLine(p.Task))
		}
		fmt.Fprintf(&b, "Completed: %s\n", localTime(p.Time, zone))
		if whole {
			entryDetails(&b, p)
		}
	}
	if p.Key != "" {
		b.WriteString(key + "\n")
	}
	text := b.String()
	if first, _, ok := bytes.Cut(old, []byte("\n")); ok && bytes.HasSuffix(first, []byte("\r")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}

// diaryStatus returns the backlog's word for a progress entry's status.
func diaryStatus(status string) string {
	switch status {
	case "completed":
		return "done"
	case "manual verify":
		return "manual_verify"
	}
	return oneLine(status)
}

// specEntry returns an entry of a spec's log.
func specEntry(p ledger.Progress, zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s: %s\n\n", localTime(p.Time, zone), diaryStatus(p.Status))
	entryDetails(&b, p)
	if p.Key != "" {
		b.WriteString("\n" + progressKey(p.Key))
	}
	return strings.TrimRight(b.String(), "\n")
}

// entryDetails writes what an entry says beside task, time and status.
func entryDetails(b *strings.Builder, p ledger.Progress) {
	item := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "- %s: %s\n", name, value)
		}
	}
	if p.Attempt > 0 {
		item("Attempt", fmt.Sprint(p.Attempt))
	}
	item("Commit", oneLine(p.Commit))
	item("Proof", oneLine(p.Proof))
	item("Result", oneLine(p.Text))
	for _, c := range p.Changes {
		item("Changed", oneLine(c))
	}
	for _, c := range p.Commands {
		sign := "✗"
		if c.OK {
			sign = "✓"
		}
		item("Ran", sign+" "+codeSpan(c.Run))
	}
	item("Learnings", oneLine(p.Learnings))
	item("Blockers", oneLine(p.Blockers))
	item("Next", oneLine(p.Next))
}
