package notify_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

var (
	zone    = time.FixedZone("CET", 3600)
	evening = time.Date(2026, 11, 19, 23, 10, 0, 0, zone)
)

const (
	mira = "telegram:48213377"
	ana  = "telegram:5"
	ben  = "telegram:7"
)

// chat is one chat as its reader sees it: messages, with the edits applied.
type chat struct {
	shown []*shown
	log   []string // pushes and edits in the order of their arrival
}

type shown struct {
	key    string
	m      bot.Message
	silent bool
	class  ledger.MessageClass
}

// fixture is a scripted night whose messages are delivered to phones.
type fixture struct {
	*scenario.Night
	t     *testing.T
	chats map[string]*chat
	n     *notify.Notifier
	off   bool // compose nothing
	prose int  // sentences that compose has changed
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	p := &fixture{Night: scenario.New("shop", evening), t: t, chats: map[string]*chat{}}
	p.Cost, p.State.Project.Name = 0.25, "shop"
	p.n = notify.New(notify.Options{ChatsWith: p.where, Zone: func() *time.Location { return zone }})
	p.Decided = func(before loop.State, d loop.Decision, in loop.Input) {
		if !p.off {
			p.compose(before, d, in)
		}
	}
	for id, role := range map[string]ledger.Role{mira: ledger.RoleAdmin, ana: ledger.RoleSteer, ben: ledger.RoleView} {
		name := map[string]string{mira: "Mira", ana: "Ana", ben: "Ben"}[id]
		p.Entry(scenario.Person(id, name, role, evening))
		p.chats[id] = &chat{}
	}
	return p
}

func (p *fixture) where(key string) []string {
	var found []string
	for address, ph := range p.chats {
		if slices.ContainsFunc(ph.shown, func(s *shown) bool { return s.key == key && key != "" }) {
			found = append(found, address)
		}
	}
	slices.Sort(found)
	return found
}

// deliver delivers messages at once, as a platform does.
func (p *fixture) deliver(msgs []ledger.Outgoing) {
	for _, o := range msgs {
		var m bot.Message
		if err := json.Unmarshal(o.Body, &m); err != nil {
			p.t.Fatal(err)
		}
		check := messagelint.Check
		if !o.Edit && (o.Class == ledger.ClassAsk || o.Class == ledger.ClassNotice) {
			check = messagelint.Pushed
		}
		check(p.t, "told", m)
		ph, ok := p.chats[o.Chat]
		if !ok {
			p.t.Fatalf("a message for %q, whom nobody let in", o.Chat)
		}
		if o.Edit {
			if n := lastWith(ph.shown, o.Key); n >= 0 {
				ph.shown[n].m = m
				ph.log = append(ph.log, "edit "+o.Key+" "+m.First())
				continue
			}
		}
		ph.shown = append(ph.shown, &shown{key: o.Key, m: m, silent: o.Silent, class: o.Class})
		sound := "sound"
		if o.Silent {
			sound = "silent"
		}
		ph.log = append(ph.log, "push "+string(o.Class)+" "+sound+" "+m.First())
	}
}

func lastWith(all []*shown, key string) int {
	for n := len(all) - 1; n >= 0; n-- {
		if key != "" && all[n].key == key {
			return n
		}
	}
	return -1
}

// guide adds guidance and sends the receipt to its sender.
func (p *fixture) guide(who, name, text string) string {
	a := p.Do(loop.Input{Key: "tg:" + text, Actor: who, Name: name, Body: loop.Guide{Text: text}})
	if !a.OK {
		p.t.Fatalf("%s: %s", text, a.Text)
	}
	i, _ := p.State.Project.Guidance.Get(a.ID)
	m := bot.Queued(p.State, i, loop.Forecast(p.State, i), p.Now, time.Time{})
	body, _ := json.Marshal(m)
	p.deliver([]ledger.Outgoing{{Chat: who, Key: a.ID, Class: ledger.ClassReply, Silent: true, Body: body}})
	return a.ID
}

// transcript returns the chat as a phone shows it at the end.
func (ph *chat) transcript() string {
	return ph.render(func(m bot.Message) bot.Message { return m })
}

// outline is the transcript with headlines of statuses.
func (ph *chat) outline() string { return ph.render(chattest.Headline) }

func (ph *chat) render(show func(bot.Message) bot.Message) string {
	var b strings.Builder
	for _, s := range ph.shown {
		m := show(s.m)
		fmt.Fprintf(&b, "▸ %s\n%s\n", m.Key, chattest.Screen(m))
	}
	return b.String()
}

const (
	blocked   = `{"reason":"TestRefundPartial: want 1200, got 1000. The plan says two things","tried":"by line, by order","needs":"which of them"}`
	asksAgent = `{"text":"May an address be a PO box? The carriers differ.","options":["Yes, letters only","No"],"choice":"No"}`
	asksOpen  = `{"text":"Which currency comes first?","options":["Euro","Pound"]}`
)

// TestNight compares a whole night, as three people see it on their phones,
// with golden files.
func TestNight(t *testing.T) {
	p := newFixture(t)
	p.Type = func(line string) { p.guide(mira, "Mira", line) }
	p.Acts["Task 2 planner"] = []scenario.Act{{Type: "task.blocked", Data: blocked, Took: time.Minute, Cost: 0.1}}
	p.Acts["Task 3 planner"] = []scenario.Act{{Type: "question.asked", Data: asksAgent, Took: time.Minute, Cost: 0.1}}
	p.Acts["Task 7 planner"] = []scenario.Act{{Type: "question.asked", Data: asksOpen, Took: time.Minute, Cost: 0.1}}
	p.Acts["Task 4 planner"] = []scenario.Act{{Type: "plan.complete", Data: `{"summary":"planned","steps":["one"]}`, Took: 9 * time.Minute, Cost: 0.2, Typed: []string{"Wrap the existing code, don't replace it", "@fixer Keep it small"}}}
	files := []ledger.FileChange{{Path: "order/adapter.go", Added: 71}}
	p.Acts["Task 4 builder"] = []scenario.Act{
		{Took: 8 * time.Minute, Exit: &ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Turns: 3, Tokens: -1, CostUSD: 0.3, Failure: ledger.FailureLimit, Text: "You've hit your session limit · resets 4:10am (Europe/Berlin)", Until: time.Date(2026, 11, 20, 4, 10, 0, 0, zone)}},
		{Type: "build.complete", Data: `{"summary":"adapter around it","files_modified":["order/adapter.go"],"guidance":[{"id":"g1","done":true,"note":"Kept legacy/orders.go, added order/adapter.go around it"}]}`, Took: 20 * time.Minute, Cost: 0.9, Files: files},
	}
	p.Acts["Task 4 reviewer"] = []scenario.Act{{Type: "review.verdict", Data: `{"summary":"fine","issues":[],"guidance":[{"id":"g1","done":true}]}`, Took: 5 * time.Minute, Cost: 0.2}}
	look := scenario.Task(5, "Check the pay page on a phone")
	look.Mark, look.Acceptance = ledger.MarkManualVerify, []string{"Open /pay: no sideways scroll", "Test card: the receipt appears"}
	set := p.Settings()
	set.Stays = true
	p.Do(loop.Input{Key: "tg:run", Actor: mira, Name: "Mira", Body: loop.OfferRun{Settings: set, MaxSessions: 1, Tasks: 7, First: "Task 1"}})
	p.Do(loop.Input{Key: "tg:yes", Actor: mira, Name: "Mira", Body: loop.AnswerQuestion{Question: "q1", Choice: "start"}})
	base := p.Base("r1")
	base.Dirty = []string{"notes.txt"}
	p.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Run: "r1", Base: base, Snapshot: ledger.Snapshot{Name: "checkout", Path: set.Source.Path, Tasks: []ledger.Task{
		scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow"), scenario.Task(3, "Address form"), scenario.Task(4, "Move orders to the new API"),
		look, scenario.Task(6, "Retry failed payments", "Task 2"), scenario.Task(7, "Currencies")}}}})
	p.Until(func() bool {
		return p.State.Project.Run.State == ledger.RunWaiting && p.State.Project.Run.Wait == ledger.WaitQuestion
	})
	p.Do(loop.Input{Key: "tg:pass", Actor: ana, Name: "Ana", Body: loop.AnswerQuestion{Question: loopQuestion(p, ledger.AskManual), Choice: "pass"}})
	p.Until(nil)
	p.Now = p.Now.Add(time.Hour)
	p.Do(loop.Input{Key: "tg:guide", Actor: mira, Name: "Mira", Body: loop.AnswerQuestion{Question: loopQuestion(p, ledger.AskBlocked), Choice: "guide", Words: "Refund by line"}})

	golden.Compare(t, "night.txt", p.chats[mira].outline())
	golden.Compare(t, "night-log.txt", strings.Join(p.chats[mira].log, "\n")+"\n")
	for _, id := range []string{ana, ben} {
		for _, s := range p.chats[id].shown {
			if s.key == "q1" || s.key == "g1" {
				t.Errorf("%s sees %s, which is not theirs: %s", id, s.key, s.m.First())
			}
			for _, b := range s.m.Buttons {
				if c, _ := bot.Parse(b.Command); id == ben && bot.RequiredRole(c) != ledger.RoleView {
					t.Errorf("Ben may only look and gets the button %q on %s", b.Label, s.m.First())
				}
			}
		}
	}
	pushes, sounds, live := 0, 0, 0
	for _, s := range p.chats[ana].shown {
		if s.key == bot.LiveKey("shop") {
			live++
			continue
		}
		if pushes++; !s.silent {
			sounds++
		}
	}
	// r1 started, q2 blocked, q3 asks, limit, q4 manual, q5 asks, r1 ended.
	if pushes != 9 || sounds != 7 || live != 1 { // without quiet hours, so that two questions are said once more
		t.Errorf("%d pushes with %d sounds and %d live messages, want 9 with 7 and 1:\n%s", pushes, sounds, live, strings.Join(p.chats[ana].log, "\n"))
	}
}

func loopQuestion(p *fixture, kind ledger.QuestionKind) string {
	for _, q := range p.State.Project.Questions {
		if q.Kind == kind {
			return q.ID
		}
	}
	p.t.Fatalf("no question of kind %s is open", kind)
	return ""
}

// TestSpokenNow: who sent a recording below /now is asked, and nobody else.
func TestSpokenNow(t *testing.T) {
	p := newFixture(t)
	p.AtWork(p.Settings())
	asked := len(p.chats[ana].shown)
	p.Do(loop.Input{Key: "heard", Body: loop.Transcribed{
		Of:   ledger.EffectTranscribe{ID: "v1", Actor: mira, Name: "Mira", Spoken: ledger.Spoken{Command: ledger.SpokenNow, Words: "As said:"}},
		Text: "Keep the old names",
	}})
	q := p.chats[mira].shown[len(p.chats[mira].shown)-1]
	if q.m.Key != "ask.now" || !strings.Contains(chattest.Screen(q.m), "┃ As said:\n┃ Keep the old names") {
		t.Errorf("Mira sees %s:\n%s", q.m.Key, chattest.Screen(q.m))
	}
	if n := len(p.chats[ana].shown); n != asked {
		t.Errorf("Ana sees %q", p.chats[ana].shown[n-1].m.First())
	}
}
