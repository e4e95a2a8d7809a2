package notify_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestPictured: the question of a manual verification has what its picture shows, any other nothing.
func TestPictured(t *testing.T) {
	is := ledger.Compare(ledger.Shot{Tree: "c0", Picture: &ledger.Picture{Hash: "a"}}, ledger.Shot{Tree: "t1", Picture: &ledger.Picture{Hash: "b"}})
	n := notify.New(notify.Options{})
	for _, c := range []struct {
		is   *ledger.Pictured
		want string
	}{{&is, "ab"}, {nil, ""}} {
		q := ledger.Question{ID: "q3", Kind: ledger.AskManual, Task: "Task 5", Title: "Pay page", Text: "Open it", Pictured: c.is}
		before := loop.State{
			Shared:  loop.Shared{State: people.State{People: []ledger.Person{{ID: mira, Role: ledger.RoleAdmin}}}},
			Project: loop.Project{Name: "shop"},
		}
		after := before
		after.Project.Questions = []ledger.Question{q}
		e := ledger.Entry{Stream: ledger.ProjectStream("shop"), Task: "Task 5", Time: time.Now(), Body: ledger.QuestionAsked{Question: q}}
		out := n.Compose(before, loop.Decision{Entries: []ledger.Entry{e}, State: after, After: []loop.State{after}}, loop.Input{})
		if len(out) != 1 {
			t.Fatalf("%d messages", len(out))
		}
		var m bot.Message
		if err := json.Unmarshal(out[0].Body, &m); err != nil {
			t.Fatal(err)
		}
		got := ""
		if d := m.Drawing; d != nil && d.Pictured.Task == "Task 5" {
			got = d.Pictured.Start.Picture.Hash + d.Pictured.Result.Picture.Hash
		}
		if got != c.want || len(m.Picture) > 0 {
			t.Errorf("it shows %q, want %q", got, c.want)
		}
	}
}
