package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

func lines(texts ...string) bot.Message {
	var m bot.Message
	for _, text := range texts {
		m.Lines = append(m.Lines, bot.Line{Text: text})
	}
	return m
}

// rest marks the second line as the rest of the first.
func rest(m bot.Message) bot.Message {
	m.Lines[1].Rest = true
	return m
}

func TestAnnotate(t *testing.T) {
	for _, c := range []struct {
		name  string
		again bool
		in    bot.Message
		add   []string
		want  bot.Message
	}{
		{"fits", true, lines("■ shop #8 blocked, 2 attempts (q5)", "Refund flow"), []string{"why"},
			lines("↻ ■ shop #8 blocked, 2 attempts (q5)", "why", "Refund flow")},
		{"its id survives", true, lines("■ shop-of-mine #8 blocked twice (q15)", "Refund flow"), []string{"why"},
			lines("↻ q15 again", "■ shop-of-mine #8 blocked twice (q15)", "why", "Refund flow")},
		{"goes on below", true, lines("● bookshop 11/12 · #12 builder · 01:58"), []string{"why"},
			rest(lines("↻ ● bookshop 11/12 · #12 builder", "01:58", "why"))},
		{"went on below", true, rest(lines("✗ shop has no task 5", "(it has #1–#3)", "more")), []string{"why"},
			lines("↻ ✗ shop has no task 5 (it has #1–#3)", "why", "more")},
		{"went on within a word", true, rest(lines("✗ internal/checkout/adapters/payment_…", "…provider_test.go fails", "more")), []string{"why"},
			rest(lines("↻ ✗ internal/checkout/adapters/paymen…", "…t_provider_test.go fails", "why", "more"))},
		{"was cut before", true, lines("✗ shop not started: the plan's line…", "✗ shop not started: the plan's line 41 is wrong", "more"), []string{"why"},
			rest(lines("↻ ✗ shop not started: the plan's line", "41 is wrong", "why", "more"))},
		{"was cut before and is cut again", true, lines("✗ shop not started: the plan's 41st…", "✗ shop not started: the plan's 41st line is wrong"), []string{"why"},
			rest(lines("↻ ✗ shop not started: the plan's 41st", "line is wrong", "why"))},
		{"has the sign", true, lines("↻ g16 handed on · 03:12"), []string{"why"}, lines("↻ g16 handed on · 03:12", "why")},
		{"only a line", false, lines("? one (q1)", "body"), []string{"why"}, lines("? one (q1)", "why", "body")},
		{"two lines", true, lines("? one (q1)", "body"), []string{"a", "b"}, lines("↻ ? one (q1)", "a", "b", "body")},
		{"nothing", false, lines("? one (q1)"), nil, lines("? one (q1)")},
		{"no lines", true, lines(), []string{"why"}, lines()},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := lines()
			before.Lines = append(before.Lines, c.in.Lines...)
			got := annotate(c.in, c.again, c.add...)
			if diff := cmp.Diff(c.want.Lines, got.Lines); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if w := bot.Width(got.First()); w > bot.FirstWidth {
				t.Errorf("the first line has %d columns: %q", w, got.First())
			}
			if diff := cmp.Diff(before.Lines, c.in.Lines); diff != "" {
				t.Errorf("the message itself was changed:\n%s", diff)
			}
		})
	}
}

func TestOutageMessage(t *testing.T) {
	now := time.Date(2026, 11, 20, 3, 40, 0, 0, time.UTC)
	ask := func(key string) ledger.QueuedMessage {
		return ledger.QueuedMessage{Outgoing: ledger.Outgoing{Class: ledger.ClassAsk, Key: key}}
	}
	notice := ledger.QueuedMessage{Outgoing: ledger.Outgoing{Class: ledger.ClassNotice}}
	edit := ledger.QueuedMessage{Outgoing: ledger.Outgoing{Class: ledger.ClassReply, Key: "g1", Edit: true}}
	for _, c := range []struct {
		name    string
		o       outage
		kept    []ledger.QueuedMessage
		dropped int
		want    string
	}{
		{"as the sheet has it", outage{now.Add(-50 * time.Minute), now, true}, []ledger.QueuedMessage{ask("q5")}, 3,
			"! Telegram out of reach 02:50–03:40\nWork went on. 1 question follows with its time (q5); what is over is left out. The rest is in /status."},
		{"nothing follows", outage{now.Add(-50 * time.Minute), now, true}, []ledger.QueuedMessage{edit}, 1,
			"! Telegram out of reach 02:50–03:40\nWork went on. What is over is left out. The rest is in /status."},
		{"many", outage{now.Add(-50 * time.Minute), now, true}, []ledger.QueuedMessage{ask("q5"), notice, ask("q6"), ask("q7"), edit, ask("q8")}, 0,
			"! Telegram out of reach 02:50–03:40\nWork went on. 4 questions follow with their times (q5 q6 q7 …), and 1 message. The rest is in /status."},
		{"since the day before", outage{now.Add(-29 * time.Hour), now, true}, []ledger.QueuedMessage{notice}, 0,
			"! Telegram away Wed 22:40–03:40\nWork went on. 1 message follows. The rest is in /status."},
		{"nightporter was not there", outage{now.Add(-50 * time.Minute), now, false}, []ledger.QueuedMessage{ask("")}, 0,
			"! Sent late: held up since 02:50\n1 question follows with its time. The rest is in /status."},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := outageMessage("Telegram", c.o, c.kept, c.dropped, now)
			if diff := cmp.Diff(c.want, m.Text(0)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if bot.Width(m.First()) > bot.FirstWidth || m.Key != "late.telegram" {
				t.Errorf("key %q, first line %q", m.Key, m.First())
			}
		})
	}
}
