package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// receipt is a guidance item's receipt that joins those before it.
func receipt(chat, id, state, more string) ledger.Outgoing {
	m := bot.Message{Key: "guidance." + state, Project: "shop", Lines: []bot.Line{{Text: "○ " + id + " " + state}, {Kind: bot.Quote, Text: "words of " + id}, {Text: more}}}
	if state == "queued" {
		m.Buttons = []bot.Button{{Label: "Drop", Command: "/drop " + id}}
	}
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return ledger.Outgoing{Chat: "telegram:" + chat, Key: id, Class: ledger.ClassReply, Silent: true, Joins: "receipts", ReplyTo: "for " + id, Body: body}
}

func settledReceipt(chat, id, state, more string) ledger.Outgoing {
	m := receipt(chat, id, state, more)
	m.Edit, m.Joins, m.ReplyTo = true, "", ""
	return m
}

// standing returns the texts that a chat shows now.
func (w *fixture) standing(chat string) []string {
	var out []string
	for _, m := range w.platform.messages("telegram:" + chat) {
		text := m.text
		if n := len(m.edits); n > 0 {
			text = m.edits[n-1]
		}
		if !m.gone {
			out = append(out, text)
		}
	}
	return out
}

const next = "To the next session."

// TestBurst checks that the receipts of a burst share a message, which shows what
// becomes of each; that it takes five at the most, and none after a while.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		w.commit(receipt("48", "g14", "queued", next))
		w.advance(3 * time.Second)
		w.commit(receipt("48", "g15", "queued", next), receipt("48", "g16", "queued", next))
		w.advance(5 * time.Second)
		want := []string{"○ g14–g16: 3 queued\n○ g14 queued\n┃ words of g14\n○ g15 queued\n┃ words of g15\n○ g16 queued\n┃ words of g16\nTo the next session.\n/drop g14 · /drop g15 · /drop g16"}
		if got := w.standing("48"); !slices.Equal(got, want) {
			t.Fatalf("the chat shows %q, want %q", got, want)
		}
		w.commit(settledReceipt("48", "g15", "setaside", "Not used again."))
		w.advance(5 * time.Second)
		want = []string{"○ g14–g16: 2 queued, 1 set aside\n○ g14 queued\n┃ words of g14\nTo the next session.\n○ g15 setaside\n┃ words of g15\nNot used again.\n○ g16 queued\n┃ words of g16\nTo the next session.\n/drop g14 · /drop g16"}
		if got := w.standing("48"); !slices.Equal(got, want) {
			t.Fatalf("the chat shows %q, want %q", got, want)
		}
		w.restart()
		w.advance(time.Minute)
		w.commit(receipt("48", "g17", "queued", next))
		w.advance(5 * time.Second)
		for n := range 6 {
			w.commit(receipt("48", fmt.Sprintf("g%d", 20+n), "queued", next))
		}
		w.advance(30 * time.Second)
		var firsts []string
		for _, text := range w.standing("48") {
			first, _, _ := strings.Cut(text, "\n")
			firsts = append(firsts, first)
		}
		if want := []string{"○ g14–g16: 2 queued, 1 set aside", "○ g17 g20–g23: 5 queued", "○ g24 g25: 2 queued"}; !slices.Equal(firsts, want) {
			t.Errorf("the chat shows %q, want %q", firsts, want)
		}
	})
}

// TestBurstThatGrowsTooLong checks that a receipt whose outcome does not fit beside the
// others gets a message of its own, and leaves theirs.
func TestBurstThatGrowsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		w.commit(receipt("48", "g14", "queued", next), receipt("48", "g15", "queued", next))
		w.advance(5 * time.Second)
		w.commit(settledReceipt("48", "g15", "addressed", strings.Repeat("long ", 700)))
		w.advance(10 * time.Second)
		got := w.standing("48")
		if len(got) != 2 || got[0] != "○ g14 queued\n┃ words of g14\nTo the next session.\n/drop g14" || !strings.HasPrefix(got[1], "○ g15 addressed\n") {
			t.Fatalf("the chat shows %.200q", got)
		}
		w.commit(settledReceipt("48", "g15", "addressed", "short"), settledReceipt("48", "g14", "dropped", "No session gets it."))
		w.advance(10 * time.Second)
		if got := w.standing("48"); len(got) != 2 || !strings.HasSuffix(got[1], "short") || !strings.HasPrefix(got[0], "○ g14 dropped") {
			t.Errorf("the chat shows %.200q", got)
		}
	})
}

// TestBurstWithFaults checks that a receipt that cannot be added stands alone, and that
// none is lost.
func TestBurstWithFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fail error
		want []string
	}{
		"the message is gone": {&bot.SendError{Reason: bot.ErrMessageGone, Text: "gone"}, []string{"○ g14 queued", "○ g15 queued"}},
		"refused":             {&bot.SendError{Reason: bot.ErrRejected, Text: "no"}, []string{"○ g14 queued", "○ g15 queued"}},
		"unclear":             {errUnclear, []string{"○ g14 g15: 2 queued"}},
		"offline":             {errOffline, []string{"○ g14 g15: 2 queued"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				w.start()
				w.commit(receipt("48", "g14", "queued", next))
				w.advance(2 * time.Second)
				failed := false
				w.platform.setScript(func(_ context.Context, kind, _, _ string) (bool, error) {
					if kind == "edit" && !failed {
						failed = true
						return false, c.fail
					}
					return true, nil
				})
				w.commit(receipt("48", "g15", "queued", next))
				w.waitDrained(time.Hour)
				var firsts []string
				for _, text := range w.standing("48") {
					first, _, _ := strings.Cut(text, "\n")
					firsts = append(firsts, first)
				}
				if !slices.Equal(firsts, c.want) {
					t.Errorf("the chat shows %q, want %q", firsts, c.want)
				}
			})
		})
	}
}

// TestBurstWithACrash checks that a receipt whose adding a crash left in doubt comes
// again, marked, as a message of its own.
func TestBurstWithACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		w.commit(receipt("48", "g14", "queued", next))
		w.advance(2 * time.Second)
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			w.outbox.dead.Store(true)
			return true, nil
		})
		w.commit(receipt("48", "g15", "queued", next))
		w.advance(2 * time.Second)
		w.platform.setScript(nil)
		w.restart()
		w.waitDrained(time.Minute)
		got := w.standing("48")
		if len(got) != 2 || !strings.HasPrefix(got[1], "↻ ○ g15 queued\nSent again: ") {
			t.Errorf("the chat shows %q", got)
		}
		w.commit(settledReceipt("48", "g14", "addressed", "done"))
		w.advance(3 * time.Second)
		if got := w.standing("48"); got[0] != "○ g14 addressed\n┃ words of g14\ndone" {
			t.Errorf("the first is %q", got[0])
		}
	})
}
