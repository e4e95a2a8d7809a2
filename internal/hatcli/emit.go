package hatcli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/internal/verb"
)

// emit sends the session's one event.
func (h *hat) emit(args []string) error {
	f, err := parse(args, []string{"--data"}, nil, helpEmit)
	if err != nil {
		return h.printHelp(err, helpEmit)
	}
	if len(f.words) > 1 {
		return usageError{fmt.Sprintf("emit: one event at a time, and its fields go after --data; left over is %s", f.words[1]), helpEmit}
	}
	value, given, err := f.single("--data", helpEmit)
	if err != nil {
		return err
	}
	var data json.RawMessage
	if given {
		if data, err = h.data(value, helpEmit); err != nil {
			return err
		}
	}
	text, err := h.client.Emit(h.ctx, f.text(), data)
	return h.print(text, withHelp(err, helpEmit))
}

// ask ends the session with a question.
func (h *hat) ask(args []string) error {
	f, err := parse(args, []string{"--option", "--choice"}, nil, helpAsk)
	if err != nil {
		return h.printHelp(err, helpAsk)
	}
	q := verb.Question{Text: f.text(), Options: f.values["--option"]}
	if q.Choice, _, err = f.single("--choice", helpAsk); err != nil {
		return err
	}
	text, err := h.client.Ask(h.ctx, q)
	return h.print(text, withHelp(err, helpAsk))
}

// printHelp prints the usage of a command if err is a request for it.
func (h *hat) printHelp(err error, help string) error {
	if errors.Is(err, helpWanted) {
		printLine(h.stdout, help)
		return nil
	}
	return err
}
