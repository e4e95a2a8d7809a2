package hatcli

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/api"
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
	reply, err := h.call(api.PathTask, api.TaskQuery{})
	if err != nil {
		return err
	}
	if asJSON {
		return h.json(orEmpty(reply.Tasks))
	}
	if len(reply.Tasks) == 0 {
		printLine(h.stdout, "There are no tasks.")
	}
	var id, status int
	for _, t := range reply.Tasks {
		id, status = max(id, utf8.RuneCountInString(t.ID)), max(status, utf8.RuneCountInString(t.Status))
	}
	for _, t := range reply.Tasks {
		mark := " "
		if t.Current {
			mark = "▸"
		}
		printLine(h.stdout, mark+" "+pad(t.ID, id)+"  "+pad(t.Status, status)+"  "+t.Title)
	}
	return nil
}

func (h *hat) taskShow(id string, asJSON bool) error {
	if id == "" {
		if id = h.getenv(api.EnvTask); id == "" {
			return usageError{"task show: this session has no task of its own; name one", helpTask}
		}
	}
	reply, err := h.call(api.PathTask, api.TaskQuery{ID: id})
	if err != nil {
		return err
	}
	if reply.Task == nil {
		return fmt.Errorf("%w: it holds no task", api.ErrAnswer)
	}
	t := *reply.Task
	if asJSON {
		return h.json(t)
	}
	printLine(h.stdout, t.ID+": "+t.Title)
	printLine(h.stdout, "Status: "+t.Status)
	if t.Scope != "" {
		printLine(h.stdout, "Scope: "+t.Scope)
	}
	if len(t.DependsOn) > 0 {
		printLine(h.stdout, "Depends on: "+strings.Join(t.DependsOn, ", "))
	}
	if len(t.Acceptance) > 0 {
		printLine(h.stdout, "Acceptance:\n- "+strings.Join(t.Acceptance, "\n- "))
	}
	if t.Body != "" {
		printLine(h.stdout, "\n"+t.Body)
	}
	return nil
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
	reply, err := h.call(api.PathGuidance, api.Empty{})
	if err != nil {
		return err
	}
	if f.set["--json"] {
		return h.json(orEmpty(reply.Guidance))
	}
	if len(reply.Guidance) == 0 {
		printLine(h.stdout, "There is no guidance.")
	}
	bound := false
	for _, g := range reply.Guidance {
		kind := "for information"
		if g.Bound {
			kind, bound = "for you", true
		}
		printLine(h.stdout, g.ID+" ("+kind+"): "+g.Text)
	}
	if bound {
		printLine(h.stdout, "Your event has to say what you did with each that is for you, in its field \"guidance\".")
	}
	return nil
}

// note implements hat note: it stores a text for later sessions.
func (h *hat) note(args []string) error {
	f, err := parse(args, nil, nil, helpNote)
	if err != nil {
		return h.printHelp(err, helpNote)
	}
	if f.text() == "" {
		return usageError{"note: the text is missing", helpNote}
	}
	return h.printText(api.PathNote, api.Note{Text: f.text()})
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
		return h.printText(api.PathMemory, api.Note{})
	case "add":
		if f.text() == "" {
			return usageError{"memory add: the text is missing", helpMemory}
		}
		return h.printText(api.PathMemory, api.Note{Kind: kind, Text: f.text()})
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

// printText sends a request and prints the reply's text.
func (h *hat) printText(path string, body any) error {
	reply, err := h.call(path, body)
	if err != nil {
		return err
	}
	text := reply.Text
	if text == "" {
		text = "Done."
	}
	printLine(h.stdout, text)
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

// pad pads s with spaces to n characters.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}
