package hatcli

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/verb"
)

// task implements hat task: it lists and shows tasks; taskAdd adds them.
func (h *hat) task(args []string) error {
	if len(args) == 0 {
		return usageError{"task: list, show or add?", helpTask}
	}
	if args[0] == "add" {
		return h.taskAdd(args[1:])
	}
	f, err := parse(args[1:], nil, []string{"--json"}, helpTask)
	if args[0] == "-h" || args[0] == "--help" {
		err = helpWanted
	}
	if err != nil {
		return h.printHelp(err, helpTask)
	}
	switch args[0] {
	case "list":
		if len(f.words) > 0 {
			return usageError{"task list: takes only --json", helpTask}
		}
		return h.taskList(f.set["--json"])
	case "show":
		return h.taskShow(f.text(), f.set["--json"])
	}
	return usageError{fmt.Sprintf("task: there is no %q; it is list, show or add", args[0]), helpTask}
}

func (h *hat) taskList(asJSON bool) error {
	tasks, err := h.client.Tasks(h.ctx)
	if err == nil && asJSON {
		return h.json(orEmpty(tasks))
	}
	return h.print(verb.TaskList(tasks), err)
}

func (h *hat) taskShow(id string, asJSON bool) error {
	task, err := h.client.FindTask(h.ctx, id)
	if err == nil && asJSON {
		return h.json(task)
	}
	return h.print(verb.TaskText(task), withHelp(err, helpTask))
}

// guidance implements hat guidance: it prints the directives for this session.
func (h *hat) guidance(args []string) error {
	f, err := parse(args, nil, []string{"--json"}, helpGuidance)
	if err != nil {
		return h.printHelp(err, helpGuidance)
	}
	if len(f.words) > 0 {
		return usageError{"guidance: takes only --json", helpGuidance}
	}
	list, err := h.client.Guidance(h.ctx)
	if err == nil && f.set["--json"] {
		return h.json(orEmpty(list))
	}
	return h.print(verb.GuidanceText(list), err)
}

// note implements hat note: it stores a text for later sessions.
func (h *hat) note(args []string) error {
	f, err := parse(args, nil, nil, helpNote)
	if err != nil {
		return h.printHelp(err, helpNote)
	}
	text, err := h.client.Note(h.ctx, f.text())
	return h.print(text, withHelp(err, helpNote))
}

// memory implements hat memory: it adds to the project's memory, or lists it.
func (h *hat) memory(args []string) error {
	if len(args) == 0 {
		return usageError{"memory: add or list?", helpMemory}
	}
	f, err := parse(args[1:], []string{"--kind"}, nil, helpMemory)
	if args[0] == "-h" || args[0] == "--help" {
		err = helpWanted
	}
	if err != nil {
		return h.printHelp(err, helpMemory)
	}
	kind, given, err := f.single("--kind", helpMemory)
	if err != nil {
		return err
	}
	switch args[0] {
	case "list":
		if given || len(f.words) > 0 {
			return usageError{"memory list: takes nothing", helpMemory}
		}
		return h.print(h.client.Memory(h.ctx))
	case "add":
		text, err := h.client.Remember(h.ctx, kind, f.text())
		return h.print(text, withHelp(err, helpMemory))
	}
	return usageError{fmt.Sprintf("memory: there is no %q; it is add or list", args[0]), helpMemory}
}

// version implements hat version. It needs no session.
func (h *hat) version(args []string) error {
	if len(args) > 0 {
		return usageError{"version: takes nothing", ""}
	}
	release := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		release = info.Main.Version
	}
	printLine(h.stdout, fmt.Sprintf("hat %s, api %d", release, api.Version))
	return nil
}

// json prints v as JSON.
func (h *hat) json(v any) error {
	e := json.NewEncoder(h.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// orEmpty returns an empty list for nil, so that JSON has [] and not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
