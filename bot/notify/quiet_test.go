package notify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestReminder checks that the people who may answer are reminded, unless their
// chat has quiet hours now, even if the question is urgent. Nobody is reminded
// shortly before the question expires.
func TestReminder(t *testing.T) {
	night := time.Date(2026, 11, 20, 3, 6, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		at     time.Time
		left   time.Duration
		urgent []string
		want   map[string]bool
	}{
		{"by day", night.Add(9 * time.Hour), 10 * time.Minute, nil, map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"at night", night, 10 * time.Minute, nil, map[string]bool{"telegram:2": true}},
		{"at night, urgent", night, 10 * time.Minute, []string{Question}, map[string]bool{"telegram:2": true}},
		{"five minutes before its end", night.Add(9 * time.Hour), 5 * time.Minute, nil, map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"later", night.Add(9 * time.Hour), 5*time.Minute - time.Second, nil, map[string]bool{}},
		{"settled meanwhile", night.Add(9 * time.Hour), 0, nil, map[string]bool{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := ledger.Question{ID: "q3", Kind: ledger.AskAgent, Run: "r14", Task: "Task 4", Text: "PO boxes?", Asked: c.at.Add(c.left - 30*time.Minute), Expires: c.at.Add(c.left), Remind: c.at}
			s := loop.State{
				Shared: loop.Shared{
					State: people.State{
						People: []ledger.Person{{ID: "telegram:1", Name: "Mira", Role: ledger.RoleAdmin}, {ID: "telegram:2", Name: "Ana", Role: ledger.RoleSteer}, {ID: "telegram:3", Name: "Ben", Role: ledger.RoleView}},
						Quiet:  map[string]ledger.Hours{"telegram:2": ledger.QuietOff},
					},
				},
				Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14", Settings: ledger.Settings{Project: "shop", QuestionThen: ledger.ThenAbort}}},
			}
			if c.left > 0 {
				s.Project.Questions = []ledger.Question{q}
			}
			n := New(Options{Quiet: func() ledger.Hours { return "23:00-07:00" }, Urgent: func() []string { return c.urgent }})
			e := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: c.at, Run: "r14", Task: "Task 4", Body: ledger.ReminderDue{ID: "q3"}}
			got := map[string]bool{}
			for _, m := range n.Compose(s, loop.Decided(s, e), loop.Input{Time: c.at, Project: "shop", Actor: "daemon"}) {
				got[m.Chat] = !m.Silent
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQuietHours checks that only urgent messages make a sound in quiet hours,
// and that a standstill is urgent only if no other project works (docs/spec
// 25).
func TestQuietHours(t *testing.T) {
	night := time.Date(2026, 11, 20, 3, 6, 0, 0, time.UTC)
	run := &loop.Run{ID: "r14", State: ledger.RunWaiting, Settings: ledger.Settings{Project: "shop"}}
	state := loop.State{
		Shared: loop.Shared{
			State: people.State{
				People: []ledger.Person{{ID: "telegram:1", Name: "Mira", Role: ledger.RoleAdmin}, {ID: "telegram:2", Name: "Ana", Role: ledger.RoleSteer}},
				Quiet:  map[string]ledger.Hours{"telegram:2": ledger.QuietOff},
			},
			Agents: map[string]loop.AgentHold{"claude": {Unusable: true, Text: "Please run /login"}},
		},
		Project: loop.Project{Name: "shop", Run: run},
	}
	blocked := ledger.QuestionAsked{Question: ledger.Question{ID: "q5", Kind: ledger.AskBlocked, Run: "r14", Text: "no key", Asked: night}}
	ends := ledger.RunEnded{Reason: ledger.ReasonNothing, Exit: 1}
	stands := ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitAgent, Text: "claude: Please run /login"}
	for _, c := range []struct {
		name   string
		at     time.Time
		urgent []string
		busy   bool // another project has a session in flight
		body   ledger.Body
		want   map[string]bool // chat → rings
	}{
		{"blocked by day", night.Add(9 * time.Hour), nil, false, blocked, map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"blocked at night", night, nil, false, blocked, map[string]bool{"telegram:1": false, "telegram:2": true}},
		{"blocked at night, wanted", night, []string{Blocked}, false, blocked, map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"ended by day", night.Add(9 * time.Hour), nil, false, ends, map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"ended at night", night, nil, false, ends, map[string]bool{"telegram:1": false, "telegram:2": true}},
		{"ended at night, wanted", night, []string{Ended}, false, ends, map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"standstill at night", night, nil, false, stands, map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"standstill at night, another project goes on", night, nil, true, stands, map[string]bool{"telegram:1": false, "telegram:2": true}},
		{"standstill at night, not wanted", night, []string{Ended}, false, stands, map[string]bool{"telegram:1": false, "telegram:2": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Quiet: func() ledger.Hours { return "23:00-07:00" }}
			if c.urgent != nil {
				o.Urgent = func() []string { return c.urgent }
			}
			s := state
			if c.busy {
				s.Shared.Leases = []ledger.LeaseGranted{{Session: "r13-4", Project: "blog"}}
			}
			e := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: c.at, Run: "r14", Body: c.body}
			got := map[string]bool{}
			for _, m := range New(o).Compose(s, loop.Decided(s, e), loop.Input{Time: c.at, Project: "shop", Actor: "daemon"}) {
				if m.Class != ledger.ClassChatter {
					got[m.Chat] = !m.Silent
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRetold checks that another outlook makes no sound, and that nothing is sent to a chat
// that has quiet hours.
func TestRetold(t *testing.T) {
	night := time.Date(2026, 11, 20, 3, 6, 0, 0, time.UTC)
	said := ledger.Outlook{Total: 12, Done: 9, Low: 7, High: 11, USDLow: -1, USDHigh: -1, Basis: "project"}
	s := loop.State{
		Shared: loop.Shared{State: people.State{
			People: []ledger.Person{{ID: "telegram:1", Name: "Mira", Role: ledger.RoleAdmin}, {ID: "telegram:2", Name: "Ana", Role: ledger.RoleSteer}},
			Quiet:  map[string]ledger.Hours{"telegram:2": ledger.QuietOff},
		}},
		Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14", Said: &said, Settings: ledger.Settings{Project: "shop"}}},
	}
	for _, c := range []struct {
		name string
		at   time.Time
		want map[string]bool // chat → silent
	}{
		{"by day", night.Add(9 * time.Hour), map[string]bool{"telegram:1": true, "telegram:2": true}},
		{"at night", night, map[string]bool{"telegram:2": true}},
	} {
		n := New(Options{Quiet: func() ledger.Hours { return "23:00-07:00" }, Urgent: Kinds})
		e := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: c.at, Run: "r14", Body: ledger.OutlookChanged{Outlook: ledger.Outlook{Total: 12, Done: 5, Low: 4, High: 6}}}
		got := map[string]bool{}
		for _, m := range n.Compose(s, loop.Decided(s, e), loop.Input{Time: c.at, Project: "shop", Actor: "daemon"}) {
			got[m.Chat] = m.Silent
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: silent (-want +got):\n%s", c.name, diff)
		}
	}
}
