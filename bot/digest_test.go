package bot_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSpan checks where each span begins, also in a night in which the clocks
// change.
func TestSpan(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 25, 9, 0, 0, 0, berlin) // the clocks went back at 3:00
	sent := ledger.DigestSent{From: now.Add(-26 * time.Hour), To: now.Add(-2 * time.Hour)}
	for _, c := range []struct {
		span string
		last ledger.DigestSent
		want string
	}{
		{"", sent, "2026-10-24T08:00:00+02:00"},
		{"last", sent, "2026-10-24T08:00:00+02:00"},
		{"all", sent, "2026-10-24T08:00:00+02:00"},
		{"", ledger.DigestSent{}, "2026-10-24T09:00:00+02:00"},
		{"", ledger.DigestSent{From: now.Add(time.Hour)}, "2026-10-24T09:00:00+02:00"}, // the system clock was set back
		{"today", sent, "2026-10-25T00:00:00+02:00"},
		{"7d", sent, "2026-10-18T09:00:00+02:00"},
	} {
		got := bot.DigestQuery{Span: c.span, Now: now}.From(c.last).In(berlin).Format(time.RFC3339)
		if got != c.want {
			t.Errorf("%q begins at %s, want %s", c.span, got, c.want)
		}
	}
	for word, want := range map[string]bool{"today": true, "7d": true, "99D": true, "0d": false, "100d": false, "shop": false, "": false, "d": false} {
		if bot.IsSpan(word) != want {
			t.Errorf("%q is a span: %t", word, !want)
		}
	}
}

// looker is a host that can make digests.
type looker struct {
	*host
	asked []bot.DigestQuery
}

func (l *looker) Digest(_ context.Context, project string, q bot.DigestQuery) (bot.Message, error) {
	l.asked = append(l.asked, q)
	return bot.Message{Key: "digest", Lines: []bot.Line{{Text: "✓ " + project}}, Picture: []byte("png")}, nil
}

// TestDigestAsked checks that people get the digest of their role, and that a
// service without digests names the command that makes one.
func TestDigestAsked(t *testing.T) {
	n := scenario.New("shop", evening)
	n.State.Project.Name = "shop"
	n.State.Shared.People = []ledger.Person{{ID: "telegram:1", Name: "Mira", Role: ledger.RoleAdmin}, {ID: "telegram:2", Name: "Ben", Role: ledger.RoleView}}
	h := &host{service: &service{Night: n, names: []string{"shop"}}}
	l := &looker{host: h}
	for _, actor := range []string{"telegram:1", "telegram:2", "console"} {
		m, err := bot.Handle(t.Context(), l, bot.Request{Actor: actor, Project: "shop", Text: "/digest 7d", Time: evening})
		if err != nil || len(m.Picture) == 0 || m.Project != "shop" {
			t.Errorf("%s: %+v, %v", actor, m, err)
		}
	}
	want := []bot.DigestQuery{{Span: "7d", Admin: true, Now: evening}, {Span: "7d", Now: evening}, {Span: "7d", Admin: true, Now: evening}}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m, err := bot.Handle(t.Context(), h, bot.Request{Actor: "console", Project: "shop", Text: "/digest", Time: evening})
	if err != nil || m.Key != "digest.elsewhere" {
		t.Errorf("%+v, %v", m, err)
	}
	if c, err := bot.Parse("/digest all"); err != nil || bot.RequiredRole(c) != ledger.RoleView {
		t.Errorf("%+v, %v", c, err)
	}
}

// A terminal shows no picture: it prints the picture's Alt text.
func TestPictureInWords(t *testing.T) {
	m := bot.Message{
		Lines: []bot.Line{{Text: "? shop 9/12 done"}}, Buttons: []bot.Button{{Label: "Diff", Command: "/diff"}},
		Picture: []byte("\x89PNG"), Alt: "Night of shop,\x1b[2J 9 of 12 tasks done.",
	}
	if got, want := m.Text(20), "? shop 9/12 done\n/diff\n\nNight of shop, 9 of\n12 tasks done."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
