package bot_test

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStopped checks the text about a run that no process works on, for each
// state in which it can be left.
func TestStopped(t *testing.T) {
	over, fresh := over(), &service{Night: scenario.New("shop", evening)}
	fresh.Night.State.Project.Name = "shop"
	for name, d := range map[string]*service{"over": over, "new": fresh} {
		if got, want := bot.Stopped(d.Night.State, d.Now).Text(80), bot.Status(d.Night.State, d.Now).Text(80); got != want {
			t.Errorf("%s: a run that has ended is told as by Status:\n%s", name, got)
		}
	}
	left := map[string]func(d *service){
		"work":   func(*service) {},
		"verify": func(d *service) { d.Until(func() bool { return bot.Doing(d.Night.State) == "#4 verify" }) },
		"waits":  func(d *service) { d.Until(func() bool { return d.Night.State.Project.Run.State == ledger.RunWaiting }) },
		"cut": func(d *service) {
			d.Night.Do(loop.Input{Key: "s", Body: loop.Stop{Now: true, Signal: "SIGINT"}})
			d.Until(func() bool { return loop.Settled(d.Night.State) })
		},
		"paused": func(d *service) {
			d.say(t, "/pause now")
			d.Until(func() bool { return d.Night.State.Project.Run.State == ledger.RunPaused })
		},
		"limit": func(d *service) {
			d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: ledger.RunStateSet{
				State: ledger.RunWaiting, Wait: ledger.WaitLimit, Until: time.Date(2027, 1, 1, 0, 0, 0, 0, evening.Location()), Text: "claude: usage limit"}})
		},
		"long": func(d *service) { d.Night.State.Project.Name = "a-project-with-a-name-like-this" },
	}
	for name, leave := range left {
		d := atWork()
		d.Night.State.Project.Run.Settings.Operator = "--state /srv/np"
		leave(d)
		m := bot.Stopped(d.Night.State, d.Now.Add(10*time.Minute))
		checkForm(t, name, m)
		if last, want := m.Lines[len(m.Lines)-1].Text, "Go on with: "+d.Night.State.Project.Run.Settings.ResumeCommand(); last != want || len(m.Buttons) > 0 {
			t.Errorf("%s ends with %q and %v, want %q: nobody is there for a command", name, last, m.Buttons, want)
		}
		golden(t, "stopped-"+name, []byte(m.Text(78)+"\n"))
	}
	planned := &service{Night: scenario.New("shop", evening)}
	planned.Night.Do(loop.Input{Key: "run", Body: loop.StartRun{Settings: planned.Settings()}})
	golden(t, "stopped-planned", []byte(bot.Stopped(planned.Night.State, planned.Now).Text(78)+"\n"))
}

// TestIfNobody checks what the status of a waiting run says about a question
// that nobody answers.
func TestIfNobody(t *testing.T) {
	d := atWork()
	d.Until(func() bool { return d.Night.State.Project.Run.State == ledger.RunWaiting })
	q := &d.Night.State.Project.Questions[1]
	for choice, want := range map[string]string{
		"No":      "No answer by 23:46: #3 goes on with q2 b.",
		"neither": "No answer by 23:46: #3 goes on with neither.",
		"":        "No answer by 23:46: #3 waits, and the run ends if nothing else can run.",
	} {
		q.Choice = choice
		m := bot.Status(d.Night.State, d.Now)
		if got := m.Lines[len(m.Lines)-1].Text; got != want {
			t.Errorf("choice %q: %q, want %q", choice, got, want)
		}
	}
}
