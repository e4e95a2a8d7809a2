package hatcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/internal/api"
)

// sessionEnded is printed after the session's event is committed.
const sessionEnded = "This session has ended with it. Stop now: no further commands, edits or messages."

// emit sends the session's one event.
func (h *hat) emit(args []string) error {
	f, err := parse(args, []string{"--data"}, nil, helpEmit)
	if err != nil {
		return h.printHelp(err, helpEmit)
	}
	switch len(f.words) {
	case 0:
		return usageError{"emit: which event?", helpEmit}
	case 1:
	default:
		return usageError{fmt.Sprintf("emit: one event at a time, and its fields go after --data; left over is %s", f.words[1]), helpEmit}
	}
	value, given, err := f.single("--data", helpEmit)
	if err != nil {
		return err
	}
	if !given {
		value = "{}"
	}
	data, err := h.data(value, helpEmit)
	if err != nil {
		return err
	}
	return h.send(api.Emit{Type: f.words[0], Data: data})
}

// question is the payload of question.asked.
type question struct {
	Text    string   `json:"text"`
	Options []string `json:"options"`
	Choice  string   `json:"choice,omitempty"`
}

// ask ends the session with a question.
func (h *hat) ask(args []string) error {
	f, err := parse(args, []string{"--option", "--choice"}, nil, helpAsk)
	if err != nil {
		return h.printHelp(err, helpAsk)
	}
	q := question{Text: f.text(), Options: append([]string{}, f.values["--option"]...)} // [], not null
	if q.Text == "" {
		return usageError{"ask: what is the question?", helpAsk}
	}
	if slices.Contains(q.Options, "") {
		return usageError{"ask: an --option is empty", helpAsk}
	}
	if q.Choice, _, err = f.single("--choice", helpAsk); err != nil {
		return err
	}
	if q.Choice != "" && len(q.Options) > 0 && !slices.Contains(q.Options, q.Choice) {
		return usageError{fmt.Sprintf("ask: --choice %q is none of the options", q.Choice), helpAsk}
	}
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return h.send(api.Emit{Type: "question.asked", Data: data})
}

// send sends an event and prints that the session has ended.
func (h *hat) send(e api.Emit) error {
	reply, err := h.call(api.PathEmit, e)
	if err != nil {
		return err
	}
	printLine(h.stdout, "Accepted "+e.Type+": "+reply.Receipt)
	if reply.Text != "" {
		printLine(h.stdout, reply.Text)
	}
	printLine(h.stdout, sessionEnded)
	return nil
}

// printHelp prints the usage of a command if err is a request for it.
func (h *hat) printHelp(err error, help string) error {
	if errors.Is(err, helpWanted) {
		printLine(h.stdout, help)
		return nil
	}
	return err
}
