package bot_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAskHost: the first line names who wants what, and keeps the end of a long name,
// which says whose it is; the whole name follows. Only admins get [Always].
func TestAskHost(t *testing.T) {
	now := time.Date(2026, 11, 20, 2, 10, 0, 0, time.UTC)
	s := loop.State{Project: loop.Project{Name: "shop"}}
	ask := func(host string) bot.Message {
		return bot.Ask(s, ledger.Question{
			ID: "q5", Kind: ledger.AskHost, Task: "Task 7", Title: "Pay by card", Hat: "builder", Text: "builder wants " + host + ":443",
			Host: &ledger.HostRequest{Host: host, Port: 443, Program: "npm"}, Asked: now,
		}, now)
	}
	m := ask("cdn.example.org")
	if got, want := m.First(), "? builder wants cdn.example.org (q5)"; got != want {
		t.Errorf("first line %q, want %q", got, want)
	}
	long := strings.Repeat("a", 60) + ".xn--mller-kva.example"
	if m := ask(long); !strings.HasSuffix(m.First(), "ller-kva.example (q5)") || bot.Width(m.First()) > bot.FirstWidth || !strings.Contains(m.Text(0), long) {
		t.Errorf("a long name:\n%s", m.Text(0))
	}
	labels := func(r ledger.Role) (out []string) {
		for _, b := range m.For(r).Buttons {
			out = append(out, b.Label)
		}
		return out
	}
	if got := strings.Join(labels(ledger.RoleSteer), " "); got != "Once This run No" {
		t.Errorf("who steers has %q", got)
	}
	if got := strings.Join(labels(ledger.RoleAdmin), " "); got != "Once This run Always No" {
		t.Errorf("an admin has %q", got)
	}
}

// TestHostsAreAddedUp: what several sessions did with a host is one line.
func TestHostsAreAddedUp(t *testing.T) {
	record := func(uses ...ledger.HostUse) ledger.Record {
		body, err := json.Marshal(ledger.SessionEnded{Exit: ledger.Exit{Hosts: uses}})
		if err != nil {
			t.Fatal(err)
		}
		return ledger.Record{Type: ledger.SessionEnded{}.EntryType(), Body: body}
	}
	got := bot.HostsOf([]ledger.Record{
		record(ledger.HostUse{Host: "a.example", Port: 443, Conns: 1, Sent: 1500}, ledger.HostUse{Host: "b.example", Port: 443, Conns: 1, Refused: "not named"}),
		record(ledger.HostUse{Host: "a.example", Port: 443, Conns: 2, Sent: 11_000}),
	})
	if len(got) != 2 || got[0].Conns != 3 {
		t.Fatalf("%+v", got)
	}
	for n, want := range []string{"a.example  12 kB sent", "b.example  refused"} {
		if text := bot.HostUseText(got[n]); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
