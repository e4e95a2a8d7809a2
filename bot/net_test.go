package bot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
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
	got := bot.ReachOf([]ledger.Record{
		record(ledger.HostUse{Host: "a.example", Port: 443, Conns: 1, Sent: 1500}, ledger.HostUse{Host: "b.example", Port: 443, Conns: 1, Refused: "not named"}),
		record(ledger.HostUse{Host: "a.example", Port: 443, Conns: 2, Sent: 11_000}),
	}).Hosts
	if len(got) != 2 || got[0].Conns != 3 {
		t.Fatalf("%+v", got)
	}
	for n, want := range []string{"a.example  12 kB sent", "b.example  refused"} {
		if text := bot.HostUseText(got[n]); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// TestOpenIsUnknown: nobody sees which hosts sessions with an open network reach, and
// no view calls that none.
func TestOpenIsUnknown(t *testing.T) {
	night := func(networks ...ledger.NetworkMode) []ledger.Record {
		var all []ledger.Record
		keep := func(session string, b ledger.Body) {
			body, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, ledger.Record{Session: session, Type: b.EntryType(), V: 1, Body: body})
		}
		for n, mode := range networks {
			session := fmt.Sprint("r14-", n+1)
			keep(session, ledger.SessionPlanned{Kind: ledger.KindAgent, Network: mode})
			x := ledger.Exit{Session: session, Reason: ledger.ExitSelf}
			if mode == ledger.NetworkNone {
				x.Hosts = []ledger.HostUse{{Host: "a.example", Port: 443, Conns: 1}}
			}
			if n == 3 {
				x.NotBegun = true
			}
			keep(session, ledger.SessionEnded{Exit: x})
		}
		return all
	}
	s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14"}}}
	task := loop.TaskState{Task: ledger.Task{ID: "Task 7"}, Status: ledger.Done, Attempts: 1}
	for name, c := range map[string]struct {
		records       []ledger.Record
		net, task     string
		evidence, not string
	}{
		"mixed":  {night(ledger.NetworkNone, "", ledger.NetworkOpen, ""), "Hosts of r14: unknown for 2 sessions with an open network.", "Reached a.example; unknown for 2 sessions with an open network", "Hosts unknown for 2 sessions with an open network.", "0 host"},
		"open":   {night("", ""), "Hosts of r14: unknown for 2 sessions with an open network.", "", "", "0 host"},
		"closed": {night(ledger.NetworkNone, ledger.NetworkPorts), "a.example", "Reached a.example", "a.example", "unknown"},
	} {
		reach := bot.ReachOf(c.records)
		net := bot.Net{Project: "shop", Run: "r14", Used: reach.Hosts, Unknown: reach.Unknown}.Message(evening).Text(0)
		of := bot.Task(s, task, bot.HistoryOf(c.records), evening).Text(0)
		proof := bot.Evidence(append([]ledger.Record{{Type: ledger.Commitment{}.EntryType(), V: 1, Attempt: "a1", Task: "Task 7", Body: []byte("{}")}}, c.records...), bot.ChainCheck{}, time.UTC).Text(0)
		for what, text := range map[string][2]string{"/net": {net, c.net}, "/task": {of, c.task}, "/evidence": {proof, c.evidence}} {
			if !strings.Contains(text[0], text[1]) || strings.Contains(text[0], c.not) {
				t.Errorf("%s, %s: want %q, not %q\n%s", name, what, text[1], c.not, text[0])
			}
		}
	}
}

// TestMarked: /net counts what sessions made of strangers' text and offers to clear it;
// /task says why the network of such a task is closed, whatever closed it.
func TestMarked(t *testing.T) {
	now := time.Date(2026, 11, 20, 7, 40, 0, 0, time.UTC)
	s := loop.State{Project: loop.Project{Name: "shop", Source: "plan:p.md", Run: &loop.Run{ID: "r14"}}}
	show := func() bot.Message {
		n, err := bot.NetOf(t.Context(), noRecords{}, s)
		if err != nil {
			t.Fatal(err)
		}
		return n.Message(now)
	}
	if m := show(); strings.Contains(m.Text(0), "marked") {
		t.Errorf("nothing is marked:\n%s", m.Text(0))
	}
	s.Project.Taints = []loop.Taint{
		{Of: loop.TaintMemory, Texts: 2, From: []string{"B37", "B40"}}, {Of: loop.TaintPlan, Texts: 1, From: []string{"B41"}},
		{Of: loop.TaintText, ID: "plan:p.md task 8", Texts: 1, From: []string{"B42"}}, {Of: loop.TaintWork, ID: "plan:p.md task 9", Texts: 1, From: []string{"Task 9"}},
		{Of: loop.TaintProgress, Texts: 1, From: []string{"B43"}},
	}
	m := show()
	messagelint.Check(t, "net", m)
	for _, want := range []string{"3 notes and 2 tasks marked: made after reading strangers' text, in B37, B40, B41 and 2 more.", "/net clear"} {
		if !strings.Contains(m.Text(0), want) {
			t.Errorf("it lacks %q:\n%s", want, m.Text(0))
		}
	}
	if n := len(m.Buttons); n == 0 || m.Buttons[n-1].Command != "/net clear" {
		t.Errorf("buttons %+v", m.Buttons)
	}
	if c, err := bot.Parse("/net clear"); err != nil || bot.RequiredRole(c) != ledger.RoleAdmin {
		t.Errorf("%+v, %v", c, err)
	}
	for id, want := range map[string]string{
		"Task 7": "", "Task 8": "Its network is closed: it was made after reading strangers' text, in B42. Once you have looked: /net clear",
		"Task 9": "Its network is closed: its sessions read what strangers' text had led to. Once you have looked: /net clear",
	} {
		m := bot.Task(s, loop.TaskState{Task: ledger.Task{ID: id, Title: "Refund"}, Status: ledger.Ready}, bot.TaskHistory{}, now)
		messagelint.Check(t, id, m)
		text := m.Text(0)
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, want) || want == "" && strings.Contains(text, "strangers") {
			t.Errorf("%s:\n%s", id, text)
		}
	}
}

// noRecords is a service of a project without records.
type noRecords struct{ bot.Service }

func (noRecords) RunRecords(context.Context, string, string, ...string) ([]ledger.Record, error) {
	return nil, nil
}
