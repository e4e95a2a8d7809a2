package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

var evening = time.Date(2026, 11, 19, 23, 10, 0, 0, time.FixedZone("CET", 3600))

// service is the Service of a scripted night with more hats than the shipped
// ones.
type service struct{ *scenario.Service }

// newService returns the service of projects that have had no run.
func newService(names ...string) *service {
	n := scenario.New("shop", evening)
	n.State.Project.Name = "shop"
	return &service{&scenario.Service{Night: n, Names: names}}
}

// Do answers that a plan is made anew without a decision: what comes of it is not
// shown here.
func (d *service) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	if b, is := in.Body.(loop.RedoPlan); is && d.Err == nil {
		d.Inputs = append(d.Inputs, in)
		return ledger.Answer{OK: true, Text: ledger.ShortID(b.Task) + " is planned anew"}, nil
	}
	return d.Service.Do(ctx, in)
}

func (d *service) Hats(_ context.Context, project, pattern string) (bot.HatSet, error) {
	return hatSet(project, pattern), d.Err
}

func (d *service) say(t *testing.T, line string) bot.Message {
	t.Helper()
	d.Inputs = nil
	m, err := bot.Handle(t.Context(), d, bot.Request{Key: "k", Actor: "telegram:1", Name: "Mira", Text: line, Time: d.Now})
	if err != nil && d.Err == nil {
		t.Errorf("%s: %v", line, err)
	}
	return m
}

// atWork is a night in which one task is done, one blocked, one asks, and a
// builder is at work.
func atWork() *service {
	d := newService("shop")
	d.AtWork(d.Settings())
	d.Patch = patch
	return d
}

// over is the same night at its end.
func over() *service {
	d := atWork()
	d.Until(nil)
	return d
}

const patch = `diff --git a/order/adapter.go b/order/adapter.go
new file mode 100644
--- /dev/null
+++ b/order/adapter.go
@@ -0,0 +1,2 @@
+package order
+	// adapter
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
diff --git a/order/service.go b/order/service.go
--- a/order/service.go
+++ b/order/service.go
@@ -9 +9 @@
--- a comment of SQL
+++ another
`

// host is the DaemonService above a scripted night.
type host struct {
	*service
	configured []string
	asked      []bot.RunFlags
	offer      error
	idle       bool // whether the run that is offered could begin nothing
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
	return loop.OfferRun{Settings: set, MaxSessions: 1, Tasks: 12, First: "Task 1", Idle: h.idle}, h.offer
}

func (h *host) say(t *testing.T, line string) bot.Message {
	t.Helper()
	h.Inputs = nil
	m, err := bot.Handle(t.Context(), h, bot.Request{Key: "k", Actor: "telegram:48213377", Name: "Mira", Text: line, Time: h.Now})
	if err != nil && h.Err == nil && h.offer == nil {
		t.Errorf("%s: %v", line, err)
	}
	return m
}

// daemon returns the host of a service, with three paired people.
func daemon(d *service) *host {
	d.Entry(scenario.Person("telegram:48213377", "Mira", ledger.RoleAdmin, evening))
	d.Entry(scenario.Person("telegram:5", "Ana", ledger.RoleSteer, evening))
	d.Entry(scenario.Person("telegram:6", "Ana", ledger.RoleView, evening))
	return &host{service: d, configured: []string{"shop"}}
}

// topics are messages by topic and by the intent of their case. Each topic has
// one golden file.
type topics map[string]map[string]string

// add checks the form of a message and adds it, with the line that asked for it
// and in lines of width columns.
func (all topics) add(t *testing.T, topic, intent, line string, m bot.Message, width int) {
	t.Helper()
	checkForm(t, topic+": "+intent, m)
	if _, twice := all[topic][intent]; twice {
		t.Errorf("%s: two cases %q", topic, intent)
	}
	text := ""
	if line != "" {
		text = "> " + line + "\n"
	}
	text += "▸ " + m.Key + "\n" + m.Text(width) + "\n"
	for _, b := range m.Buttons {
		text += "[" + b.Label + "] "
	}
	if all[topic] == nil {
		all[topic] = map[string]string{}
	}
	all[topic][intent] = strings.TrimRight(text, " ")
}

func (all topics) compare(t *testing.T) {
	t.Helper()
	for topic, cases := range all {
		golden.Sections(t, topic, cases)
	}
}

// checkForm checks what holds for every message, whatever it says.
func checkForm(t *testing.T, name string, m bot.Message) {
	t.Helper()
	messagelint.Check(t, name, m)
}
