package inbound_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCut stops nightporter after each commit of an input, and the platform
// delivers the input again to the next process. Ledger and chat must end as
// without the stop (docs/spec 6.7).
func TestCut(t *testing.T) {
	died := errors.New("kill -9")
	cuts := 0
	for _, c := range []struct {
		line  string
		press string // a button of q1's message to press instead of a typed text
		photo bool
	}{
		{line: "Wrap it", photo: true}, {photo: true}, {line: "/add Zoom on a tap", photo: true}, {line: "q1 guide By line", photo: true}, {line: "/status", photo: true}, {line: "/frob", photo: true}, {line: "/now Keep names", photo: true},
		{line: "/guidance Wrap it"}, {line: "Wrap it"}, {line: "/skip 3 4 6"}, {line: "/retry 2 3"}, {line: "q1 retry"}, {line: "q1 guide By line"}, {line: "q1 skip"},
		{line: "/pause"}, {line: "/pause now"}, {line: "/stop now"}, {line: "/now"}, {line: "/now Keep names"}, {line: "/status"}, {line: "/drop g9"}, {line: "/run"},
		{line: "/unpair 7"}, {line: "/frob"}, {press: "Retry"}, {press: "Skip"}, {press: "Guide…"},
	} {
		play := func(after int) (got []string, commits int) {
			w := newFixture(t)
			w.showQuestion("q1")
			w.update++
			in := bot.Inbound{
				Key: "telegram:1:" + strconv.Itoa(w.update), Cursor: &ledger.Cursor{Name: "telegram:1", Value: strconv.Itoa(w.update + 1)},
				Actor: mira, Name: "Mira", Chat: mira, Private: true, Sent: w.now, Message: "900", Text: c.line,
			}
			if c.photo {
				w.photo(&in, "p1", "1")
			}
			if c.press != "" {
				q := w.newestWithKey(mira, "q1")
				in.Message, in.PressID, in.Text = q.id, "p", ""
				for n, b := range q.m.Buttons {
					if b.Label == c.press {
						in.Press = w.data(q.m, n)
					}
				}
			}
			w.crash = func() error {
				if commits++; commits == after {
					return died
				}
				return nil
			}
			err := w.r.Receive(t.Context(), in)
			if (err != nil) != (after > 0) {
				t.Fatalf("%+v, cut after %d: %v", c, after, err)
			}
			w.crash = nil
			w = w.reopened()
			if _, read, _ := w.store.Cursor(t.Context(), "telegram:1"); !read {
				w.redeliver(in) // the platform repeats an unconfirmed input
			}
			w.redeliver(in)
			for _, kind := range []string{"guidance.queued", "question.asked", "question.answered", "task.set", "run.state", "session.cut", "session.planned", "person.removed", "run.planned", "files.attached", "tasks.asked"} {
				got = append(got, fmt.Sprintf("%s %d", kind, w.entries(kind)))
			}
			for _, who := range []string{mira, ana, ben} {
				got = append(got, w.transcript(who))
			}
			return append(got, w.kept()...), commits
		}
		want, commits := play(0)
		for n := range commits {
			cuts++
			got, _ := play(n + 1)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%+v, cut after commit %d of %d (-whole +cut):\n%s", c, n+1, commits, diff)
			}
		}
	}
	if cuts < 20 {
		t.Errorf("only %d cuts", cuts)
	}
}
