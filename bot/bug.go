package bot

import (
	"context"
	"errors"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addReport answers /bug: it writes a bug report into the project's inbox. The inbox need
// not be what a run works on.
func addReport(ctx context.Context, d dispatch) (Message, error) {
	text := strings.TrimSpace(d.c.Words)
	if text == "" {
		m := refusal("bug.words", SignAsk+" What is wrong in "+d.project+"?")
		m.add("Type /bug and what you did, what you saw, and what you expected. How bad it is may stand in front: /bug high: the total is empty.")
		return m, nil
	}
	add := loop.AddTasks{Tasks: []ledger.Task{loop.ReadReport(text)}}
	if r := d.s.Project.Run; r.Over() || r.Aside() || r.Base.Commit == "" || !r.InWaves() {
		reader, ok := d.service.(SourceReader)
		if !ok {
			return noSource(d.project), nil
		}
		read, err := reader.ReadInbox(ctx, d.project)
		var input *ledger.InputError
		if errors.As(err, &input) {
			return notAdded(d.project, input.Diagnostics, "/bug", text), nil
		}
		if err != nil {
			return Message{}, err
		}
		add.Repo, add.Source, add.Known = read.Repo, read.Source, read.Tasks
	}
	return d.added(ctx, "", add)
}

// isReport reports whether an addition is a bug report.
func isReport(tasks []ledger.Task) bool { return len(tasks) == 1 && tasks[0].Report != nil }
