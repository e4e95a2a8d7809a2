package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestJoinReceipts: receipts that share a message keep what each says, say once what
// all say, and their buttons name the item.
func TestJoinReceipts(t *testing.T) {
	now := time.Date(2026, 11, 20, 1, 47, 0, 0, time.UTC)
	s := newService("shop").Night.State
	item := func(id, text string) guidance.Item { return guidance.Item{ID: id, Text: text, Task: "Task 7", At: now} }
	forecast := ledger.Forecast{Task: "Task 7", Hat: "builder"}
	reported := item("g9", "Use pkg/money")
	reported.State, reported.Note = guidance.SetAside, "Not in this repository"
	parts := []bot.Joined{
		{ID: "g9", Message: bot.Reported(s, reported, "builder", now)},
		{ID: "g10", Message: bot.Gone(s, item("g10", "Mention the env vars"), "no writer session in r14", now)},
		{ID: "g11", Message: bot.Queued(s, item("g11", "Keep the old names"), forecast, now, time.Time{})},
		{ID: "g12", Message: bot.QueuedWords(s, item("g12", "No new dependencies"), forecast, now, time.Time{})},
		{ID: "g13", Message: bot.QueuedWords(s, item("g13", "Plain text only"), forecast, now, time.Time{})},
	}
	m, fits := bot.JoinReceipts(parts)
	messagelint.Check(t, "joined", m)
	want := strings.TrimSpace(`
○ 3 queued, 1 set aside, 1 expired
– g9 set aside · 01:47
┃ #7 Use pkg/money
#7 builder:
┃ Not in this repository
Not used again unless you resend it.
– g10 expired · 01:47
┃ #7 Mention the env vars
No writer session in r14. Gone unless you keep it.
○ g11 queued · 01:47
┃ #7 Keep the old names
○ g12 queued as guidance · 01:47
┃ #7 No new dependencies
○ g13 queued as guidance · 01:47
┃ #7 Plain text only
To the next session of #7 builder.
/guidance NEW WORDS · g10 keep · /drop g11 · /drop g12 · /drop g13 · g13 not guidance`)
	if got := m.Text(0); got != want || !fits {
		t.Errorf("%v:\n%s\nwant\n%s", fits, got, want)
	}
	var labels []string
	for _, b := range m.Buttons {
		labels = append(labels, b.Label)
	}
	if got, want := strings.Join(labels, ", "), "Resend…, Keep g10, Drop g11, Drop g12, Drop g13, Not guidance"; got != want {
		t.Errorf("labels %s, want %s", got, want)
	}
	parts[0].Lines = append(parts[0].Lines, bot.Line{Text: strings.Repeat("long ", 700)})
	if _, fits := bot.JoinReceipts(parts); fits {
		t.Error("3,500 characters fit")
	}
}

// TestJoinedChanged checks that guidance which was edited counts as what it is: queued.
func TestJoinedChanged(t *testing.T) {
	now := time.Date(2026, 11, 20, 1, 47, 0, 0, time.UTC)
	s := newService("shop").Night.State
	item := func(id string) guidance.Item { return guidance.Item{ID: id, Text: "Wrap it", At: now} }
	m, _ := bot.JoinReceipts([]bot.Joined{
		{ID: "g9", Message: bot.Changed(s, item("g9"), now)},
		{ID: "g10", Message: bot.Queued(s, item("g10"), ledger.Forecast{Hat: "builder"}, now, time.Time{})},
	})
	if m.First() != "○ g9 g10: 2 queued" {
		t.Error(m.First())
	}
}
