package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// host is a DaemonService with scripted people and projects.
type host struct {
	*service
	configured []string
	asked      []bot.RunFlags
	offer      error
}

func (h *host) Shared() loop.Shared      { return h.Night.State.Shared }
func (h *host) Configured() []string     { return h.configured }
func (h *host) QuietHours() ledger.Hours { return "23:00-07:00" }

func (h *host) Offer(_ context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	h.asked = append(h.asked, f)
	set := scenario.New(project, h.Now).Settings()
	set.Profile, set.MaxTasks, set.OnBlocked = "review", 5, ledger.OnBlockedStop
	set.Until = time.Date(2026, 11, 20, 7, 0, 0, 0, h.Now.Location())
	set.Only = f.Only
	return loop.OfferRun{Settings: set, MaxSessions: 1, Tasks: 12, First: "Task 1"}, h.offer
}

func (h *host) say(t *testing.T, line string) bot.Message {
	t.Helper()
	h.inputs = nil
	m, err := bot.Handle(t.Context(), h, bot.Request{Key: "k", Actor: "telegram:48213377", Name: "Mira", Text: line, Time: h.Now})
	if err != nil && h.err == nil && h.offer == nil {
		t.Errorf("%s: %v", line, err)
	}
	return m
}

func stays(d *service) *host {
	h := &host{service: d, configured: []string{"shop"}}
	for _, p := range []ledger.Person{{ID: "telegram:48213377", Name: "Mira", Role: ledger.RoleAdmin}, {ID: "telegram:5", Name: "Ana", Role: ledger.RoleSteer}, {ID: "telegram:6", Name: "Ana", Role: ledger.RoleView}} {
		p.Since = evening
		h.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: evening, Body: ledger.PersonPaired{Person: p}})
	}
	return h
}

func fresh() *service {
	d := &service{Night: scenario.New("shop", evening), names: []string{"shop"}}
	d.Night.State.Project.Name = "shop"
	return d
}

// TestHost compares the replies that only a daemon gives with one golden file
// each.
func TestHost(t *testing.T) {
	texts := map[string]bot.Message{}
	work := stays(atWork())
	for name, line := range map[string]string{
		"run": "/run", "cost": "/cost", "projects": "/projects", "whoami": "/whoami", "people": "/people", "unpair": "/unpair", "unpair-ana": "/unpair Ana",
		"unpair-nobody": "/unpair 99", "start": "/start", "pair": "/pair X", "status": "/status", "help-run": "/help run",
	} {
		texts["host-work-"+name] = work.say(t, line)
	}
	for _, q := range []struct{ name, line string }{{"quiet", "/quiet"}, {"quiet-set", "/quiet 22:00-06:30"}, {"quiet-wrong", "/quiet 22-6"}, {"quiet-off", "/quiet off"}, {"quiet-default", "/quiet default"}} {
		texts["host-"+q.name] = work.say(t, q.line)
	}
	texts["alone-quiet"] = fresh().say(t, "/quiet")
	over := stays(over())
	texts["host-over-status"] = over.say(t, "/status")
	texts["host-over-run"] = over.say(t, "/run only 5")
	texts["host-over-q"] = over.say(t, "q4")
	if diff := cmp.Diff([]bot.RunFlags{{Only: "5"}}, over.asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	paused := stays(atWork())
	paused.say(t, "/pause")
	texts["host-paused-run"] = paused.say(t, "/run")
	none := stays(fresh())
	none.names = nil // configured, and never run
	texts["host-new-status"] = none.say(t, "/status")
	texts["host-new-cost"] = none.say(t, "/cost")
	none.configured = []string{"shop", "blog", "zoo"}
	texts["host-three-status"] = none.say(t, "/status")
	texts["host-three-run"] = none.say(t, "/run")
	none.configured = nil
	texts["host-none-projects"] = none.say(t, "/projects")
	broken := stays(fresh())
	broken.offer = &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "/srv/shop is not a git repository", Remedy: "git init"}, {File: "nightporter.toml", Line: 9, Text: "no time zone"}}}
	texts["host-broken-run"] = broken.say(t, "/run")
	broken.offer = errors.New("the disk sings")
	texts["host-fault-run"] = broken.say(t, "/run")
	texts["alone-run"] = fresh().say(t, "/run")
	texts["alone-whoami"] = fresh().say(t, "/whoami")
	texts["alone-people"] = fresh().say(t, "/people")

	still := stays(atWork())
	still.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: still.Now, Body: ledger.AgentUnusable{Agent: "claude", LoggedOut: true, Text: "Invalid API key · Please run /login"}})
	still.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: still.Now, Body: ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitAgent, Agent: "claude", Until: still.Now.Add(15 * time.Minute), Text: "claude: Invalid API key"}})
	texts["host-standstill-status"] = still.say(t, "/status")
	for name, m := range texts {
		checkForm(t, name, m)
		text := "▸ " + m.Key + "\n" + m.Text(38) + "\n"
		for _, b := range m.Buttons {
			text += "[" + b.Label + "] "
		}
		golden(t, name, []byte(strings.TrimRight(text, " ")+"\n"))
	}
}

// TestFaultIsTold checks that the sender of a command that met a fault reads that
// it failed, also if the command needs no project.
func TestFaultIsTold(t *testing.T) {
	for _, line := range []string{"/quiet 22:00-06:30", "/unpair 5", "/runs", "/pause"} {
		h := stays(atWork())
		h.err = errors.New("the disk is full")
		m := h.say(t, line)
		verb, _, _ := strings.Cut(line, " ")
		if m.Key != "fault" || !m.Refused || !strings.HasPrefix(m.First(), "✗ "+verb+" failed") {
			t.Errorf("%s: %+v", line, m)
		}
		checkForm(t, line, m)
	}
}

// TestConfirmations checks the questions that confirm a command, and the
// replies to their answers.
func TestConfirmations(t *testing.T) {
	h := stays(over())
	h.say(t, "/run")
	for line, want := range map[string]loop.AnswerQuestion{
		"q4 start": {Question: "q4", Choice: "start"}, "q4 c": {Question: "q4", Choice: "cancel"}, "/approve q4": {Question: "q4", Choice: "start"}, "/reject q4": {Question: "q4", Choice: "cancel"},
	} {
		h := stays(over())
		h.say(t, "/run")
		h.say(t, line)
		if len(h.inputs) != 1 || h.inputs[0].Body != loop.InputBody(want) {
			t.Errorf("%s: %+v, want %+v", line, h.inputs, want)
		}
	}
	q := ledger.Question{ID: "q9", Kind: ledger.AskLate, Do: ledger.DeferStop, Text: "/stop", By: "Mira", Sent: evening.Add(-3 * time.Hour), Asked: evening, Expires: evening.Add(30 * time.Minute)}
	m := bot.Ask(h.Night.State, q, evening)
	checkForm(t, "late", m)
	if got := m.First(); got != "? /stop from 20:10: still do it? (q9)" {
		t.Errorf("%q", got)
	}
	if labels := []string{m.Buttons[0].Label, m.Buttons[1].Label}; !slices.Equal(labels, []string{"Keep going", "Stop"}) {
		t.Errorf("%v", labels)
	}
}

// TestNeeds checks that every command has an explicit role.
func TestNeeds(t *testing.T) {
	want := map[ledger.Role]string{
		ledger.RoleView:  "status queue tasks task log diff evidence projects cost whoami pair start help plan hats",
		ledger.RoleSteer: "guidance pause resume stop now drop answer approve reject skip retry next run keep words",
		ledger.RoleAdmin: "people unpair",
	}
	seen := map[bot.Verb]bool{}
	for role, verbs := range want {
		for v := range strings.FieldsSeq(verbs) {
			seen[bot.Verb(v)] = true
			if got := bot.RequiredRole(bot.Command{Verb: bot.Verb(v), Words: "x"}); got != role {
				t.Errorf("%s needs %s, want %s", v, got, role)
			}
		}
	}
	for _, word := range []string{"/status", "/guidance", "/pause", "/resume", "/stop", "/now", "/queue", "/drop", "/answer", "/approve", "/reject", "/tasks", "/task", "/skip", "/retry", "/next", "/log", "/diff", "/evidence", "/run", "/projects", "/cost", "/whoami", "/people", "/unpair", "/pair", "/start", "/help", "/plan", "/hats"} {
		c, err := bot.Parse(word)
		if err != nil || !seen[c.Verb] {
			t.Errorf("%s: %v, %v", word, c.Verb, err)
		}
	}
	if got := bot.RequiredRole(bot.Command{Verb: bot.VerbPlan, Redo: true}); got != ledger.RoleSteer {
		t.Errorf("/plan redo needs %s", got)
	}
	if bot.RequiredRole(bot.Command{Verb: "new thing"}) == ledger.RoleView {
		t.Error("a command that nobody thought of may be used by everybody")
	}
	m := bot.Message{Buttons: []bot.Button{{Label: "Log", Command: "/log"}, {Label: "Stop", Command: "/stop"}, {Label: "People", Command: "/people"}}}
	for role, n := range map[ledger.Role]int{ledger.RoleView: 1, ledger.RoleSteer: 2, ledger.RoleAdmin: 3, "": 0} {
		if got := len(m.For(role).Buttons); got != n {
			t.Errorf("%q gets %d buttons, want %d", role, got, n)
		}
	}
	if len(m.Buttons) != 3 {
		t.Error("the message itself lost buttons")
	}
	for role, want := range map[ledger.Role]string{
		ledger.RoleView:  "status tasks queue cost digest quiet help",
		ledger.RoleSteer: "status guidance pause resume tasks queue now stop cost digest quiet help",
		ledger.RoleAdmin: "status guidance pause resume tasks queue now stop cost digest quiet help",
		"":               "",
	} {
		var names []string
		for _, i := range bot.Menu(role) {
			if _, err := bot.Parse("/" + i.Command); err != nil || i.Help == "" {
				t.Errorf("menu: %+v %v", i, err)
			}
			names = append(names, i.Command)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("menu of %q: %s, want %s", role, got, want)
		}
	}
}

// TestSpent checks the shares of a run's cost, and that an unknown cost is
// never shown as zero.
func TestSpent(t *testing.T) {
	s := loop.Apply(loop.State{Project: loop.Project{Name: "shop"}}, ledger.Entry{Stream: "project/shop", Body: ledger.RunPlanned{Run: "r1", Settings: ledger.Settings{Project: "shop"}}})
	add := func(session, task, hat string, usd float64, tokens int64) {
		for _, b := range []ledger.Body{ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: hat}, ledger.SessionEnded{Kind: ledger.KindAgent, Exit: ledger.Exit{CostUSD: usd, Tokens: tokens}}} {
			s = loop.Apply(s, ledger.Entry{Stream: "project/shop", Task: task, Session: session, Body: b})
		}
	}
	add("r1-1", "Task 1", "builder", 7.3, 9_000_000)
	before := s
	add("r1-2", "Task 1", "reviewer", 3.02, 800_000)
	add("r1-3", "Task 2", "builder", -1, -1)
	add("r1-4", "Task 3", "writer", -1, 0)
	if got := bot.Spent(before).Text(0); got != "$7.30 · shop r1\nbuilder $7.30\nMost: #1 $7.30\n9.0 M tokens" {
		t.Errorf("what was folded before is now\n%s", got)
	}
	m := bot.Spent(s)
	want := "$10.32 + unknown (2 sessions) · shop r1\n$10.32 + unknown (2 sessions) · shop r1\nbuilder $7.30 + unknown · reviewer $3.02 · writer unknown\nMost: #1 $10.32 · #2 unknown\n9.8 M tokens"
	if got := m.Text(0); got != strings.TrimPrefix(want, "$10.32 + unknown (2 sessions) · shop r1\n") {
		t.Errorf("got\n%s", got)
	}
}
