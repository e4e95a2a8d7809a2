package models

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Hat is the content of a session's prompt.
type Hat struct {
	Name         string            // builder, reviewer, …
	Task         string            // id as in the plan: "Task 5"
	Title        string            // of the task
	Event        string            // the hat's own event, the first of Events
	Events       []string          // all events that may end the session
	OwedGuidance []string          // ids of guidance that the event must report on
	Parts        map[string]string // the prompt's sections, by title
}

const howToEnd = "## How to end"

var (
	roleLine = regexp.MustCompile(`(?i)you are the ([a-z-]+)`)
	emitLine = regexp.MustCompile(`(?m)^\s*hat emit (\S+)`)
	owedID   = regexp.MustCompile(`\{"id":"(g[0-9]+)"`)
)

// Hat parses the conversation's prompt. Missing parts are empty.
func (r Request) Hat() Hat { return ReadHat(r.Prompt()) }

// ReadHat parses a prompt that nightporter composed.
func ReadHat(prompt string) Hat {
	h := Hat{Parts: map[string]string{}}
	title := ""
	for _, line := range strings.Split(strings.ReplaceAll(prompt, "\r\n", "\n"), "\n") {
		if t, ok := strings.CutPrefix(line, "## "); ok {
			title = t
			continue
		}
		h.Parts[title] += line + "\n"
	}
	for t, text := range h.Parts {
		h.Parts[t] = strings.TrimSpace(text)
	}
	if m := roleLine.FindStringSubmatch(h.Parts["Role"]); m != nil {
		h.Name = m[1]
	}
	line, _, _ := strings.Cut(h.Parts["Task"], "\n")
	h.Task, h.Title, _ = strings.Cut(line, ": ")
	end := h.Parts["How to end"]
	for _, m := range emitLine.FindAllStringSubmatch(end, -1) {
		if !slices.Contains(h.Events, m[1]) {
			h.Events = append(h.Events, m[1])
		}
	}
	if len(h.Events) > 0 {
		h.Event = h.Events[0]
	}
	for _, m := range owedID.FindAllStringSubmatch(end, -1) {
		if !slices.Contains(h.OwedGuidance, m[1]) {
			h.OwedGuidance = append(h.OwedGuidance, m[1])
		}
	}
	return h
}

// Emit returns the shell command that sends the hat's own event. Unless data has
// reports on guidance, owed guidance is reported as done.
func (h Hat) Emit(data map[string]any) Tool {
	if _, has := data["guidance"]; !has && len(h.OwedGuidance) > 0 {
		with := map[string]any{}
		for k, v := range data {
			with[k] = v
		}
		var reports []any
		for _, id := range h.OwedGuidance {
			reports = append(reports, map[string]any{"id": id, "done": true, "note": "heeded"})
		}
		with["guidance"] = reports
		data = with
	}
	return Emit(h.Event, data)
}
