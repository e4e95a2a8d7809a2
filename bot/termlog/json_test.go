package termlog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/termlog"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

func newPipe() (io.Reader, io.Closer) { return io.Pipe() }

func contextWith(t *testing.T) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(t.Context())
}

// TestJSON checks that each entry is one object on one line, whatever it
// contains.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	j := termlog.NewJSON(&out)
	n := scenario.New("shop", evening)
	count := 0
	n.See = func(before, after loop.State, e ledger.Entry) { count++; j.Entry(before, after, e) }
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, nasty))
	n.Until(nil)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != count {
		t.Fatalf("%d lines for %d entries", len(lines), count)
	}
	types := map[string]int{}
	for _, line := range lines {
		var o struct {
			Time, Type, Run, Task, Session string
			Body                           map[string]any
		}
		d := json.NewDecoder(strings.NewReader(line))
		if err := d.Decode(&o); err != nil {
			t.Fatalf("%v in %.200s", err, line)
		}
		if o.Time == "" || o.Type == "" || o.Body == nil {
			t.Errorf("time, type or body is missing: %.200s", line)
		}
		types[o.Type]++
	}
	for _, want := range []string{"run.started", "session.planned", "event.accepted", "tree.verified", "task.committed", "run.ended"} {
		if types[want] == 0 {
			t.Errorf("no %s among %v", want, types)
		}
	}
}
