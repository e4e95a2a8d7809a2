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

// TestPictured: the question of a manual verification has its picture, any other none.
func TestPictured(t *testing.T) {
	is := ledger.Compare(ledger.Shot{Tree: "c0", Picture: &ledger.Picture{Hash: "a"}}, ledger.Shot{Tree: "t1", Picture: &ledger.Picture{Hash: "b"}})
	n := notify.New(notify.Options{Pictured: func(p ledger.Pictured) []byte { return []byte(p.Start.Picture.Hash + p.Result.Picture.Hash) }})
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
		if err := json.Unmarshal(out[0].Body, &m); err != nil || string(m.Picture) != c.want {
			t.Errorf("picture %q, %v; want %q", m.Picture, err, c.want)
		}
	}
}
