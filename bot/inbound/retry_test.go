package inbound_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRetryOfDoneTask checks that /retry of a done task asks back, alone and among
// others.
func TestRetryOfDoneTask(t *testing.T) {
	w := newFixture(t)
	done, blocked := "", ""
	for _, x := range w.state().Project.Tasks.All() {
		switch x.Status {
		case ledger.Done:
			done = strings.TrimPrefix(ledger.ShortID(x.Task.ID), "#")
		case ledger.Blocked:
			blocked = strings.TrimPrefix(ledger.ShortID(x.Task.ID), "#")
		}
	}
	if done == "" || blocked == "" {
		t.Fatal("the night has no such tasks")
	}
	status := func(id string) ledger.Status {
		x, _ := bot.FindTask(w.state(), id)
		return x.Status
	}
	for _, line := range []string{"/retry " + done, "/retry " + blocked + " " + done} {
		w.private(mira, line)
		if m := w.newest(mira).m; m.Key != "cmd.again" || status(done) != ledger.Done || status(blocked) != ledger.Blocked {
			t.Errorf("%s: %s", line, m.Text(0))
		}
	}
	w.press(mira, mira, w.newest(mira), "Do it again")
	if status(done) == ledger.Done || status(blocked) == ledger.Blocked {
		t.Errorf("after the press: %s", w.transcript(mira))
	}
}
