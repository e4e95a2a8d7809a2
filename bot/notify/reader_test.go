package notify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

const (
	sam    = "slack:U0SAM"
	thread = "telegram:-1001234567890/42"
)

// threadedNight returns a run of a project with a thread on Telegram and none on
// Slack, where one person is paired.
func threadedNight(t *testing.T, o notify.Options) *fixture {
	t.Helper()
	p := runningNight(t, true)
	p.Entry(scenario.Person(sam, "Sam", ledger.RoleSteer, p.Now))
	p.chats[sam], p.chats[thread] = &chat{}, &chat{}
	o.ChatsWith, o.Zone = p.where, func() *time.Location { return zone }
	o.Group = func(chat string) bool { return chat == thread }
	o.Threads = func(project string) []string {
		if project == "shop" {
			return []string{thread}
		}
		return nil
	}
	p.n = notify.New(o)
	return p
}

// logs returns the messages that each chat got, without buttons and text below.
func (p *fixture) logs() map[string]string {
	out := map[string]string{}
	for chat, ph := range p.chats {
		if len(ph.log) > 0 {
			out[chat] = strings.Join(ph.log, "\n")
		}
	}
	return out
}

// TestThread checks that a project's news goes once to its thread, and to the
// private chats of people on other platforms. A question that confirms a
// command goes only to the command's sender. Edits follow the message.
func TestThread(t *testing.T) {
	p := threadedNight(t, notify.Options{})
	q := ledger.Question{ID: "q9", Kind: ledger.AskBlocked, Run: "r1", Task: "Task 2", Title: "Refund flow", Text: "two things", Asked: p.Now}
	p.project(ledger.QuestionAsked{Question: q})
	if m := p.chats[thread].shown[0].m; len(m.Buttons) == 0 || len(m.Buttons) != len(p.chats[sam].shown[0].m.Buttons) {
		t.Errorf("a thread's buttons are everybody's, who presses is looked at then: %+v", m.Buttons)
	}
	p.Do(loop.Input{Key: "now", Actor: ana, Name: "Ana", Body: loop.Now{Text: "Keep the names"}})
	p.project(ledger.QuestionAnswered{ID: "q9", Choice: "skip", By: "Mira"})
	// The entry comes twice and leads to one message.
	p.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: p.Now, Body: ledger.AgentUnusable{Agent: "claude", LoggedOut: true, Text: "log in"}})
	p.project(ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitAgent, Agent: "claude", Text: "claude: log in", Until: p.Now})
	p.project(ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitAgent, Agent: "claude", Text: "claude: log in", Until: p.Now})
	want := map[string]string{ana: "push ask silent ? Stop #2 builder, rerun? (q1)"}
	want[thread] = strings.Join([]string{
		"push ask sound ■ shop #2 blocked (q9)",
		"edit q9 ✓ q9 Skip, by Mira 23:15",
		"push notice sound ! shop stands still: claude logged out",
		"edit standstill/1.5/r1 ! shop stands still: claude logged out",
	}, "\n")
	want[sam] = want[thread]
	if diff := cmp.Diff(want, p.logs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestThreadMissing checks that people who do not read the thread are told in
// their private chats.
func TestThreadMissing(t *testing.T) {
	p := threadedNight(t, notify.Options{
		Reads: func(chat, person string) bool { return chat == thread && person != ben },
		Digests: func(string, ledger.Person) []bot.Message {
			return []bot.Message{{Key: bot.KeyDigest, Project: "shop", Lines: []bot.Line{{Text: "✓ shop 1/1 done"}, {Text: "Nothing runs."}}}}
		},
	})
	p.project(ledger.InputPoisoned{Kind: "x"})
	p.Do(loop.Input{Idle: true, Body: people.DigestDue{Day: "2026-11-20", At: p.Now}})
	got := p.logs()
	if got[ben] == "" || got[ben] != got[thread] || got[ben] != got[sam] || len(got) != 3 {
		t.Errorf("%v", got)
	}
}

// TestThreadSounds checks that the thread's own quiet hours apply, and that the
// result of a person's own command makes a sound only if others read the thread
// too.
func TestThreadSounds(t *testing.T) {
	quiet := func() ledger.Hours { return "23:00-07:00" }
	ended := ledger.RunEnded{Reason: ledger.ReasonStopped, By: mira, Done: 1, Total: 3}
	for name, c := range map[string]struct {
		own  ledger.Hours // of the thread's chat
		only bool         // Mira is the only person on Telegram
		body ledger.Body
		want string
	}{
		"night":                 {"", false, ledger.InputPoisoned{Kind: "x"}, "silent"},
		"its own hours":         {ledger.QuietOff, false, ledger.InputPoisoned{Kind: "x"}, "sound"},
		"stopped by one of us":  {ledger.QuietOff, false, ended, "sound"},
		"stopped by themselves": {ledger.QuietOff, true, ended, "silent"},
		"stopped at night":      {"", false, ended, "silent"},
	} {
		t.Run(name, func(t *testing.T) {
			p := threadedNight(t, notify.Options{Quiet: quiet})
			if c.own != "" {
				p.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: p.Now, Body: ledger.QuietSet{Chat: thread, Hours: c.own}})
			}
			if c.only {
				for _, id := range []string{ana, ben} {
					p.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: p.Now, Body: ledger.PersonRemoved{ID: id}})
				}
			}
			p.project(c.body)
			if got := p.logs()[thread]; !strings.HasPrefix(got, "push notice "+c.want) || strings.Contains(got, "\n") {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestThreadDigest checks that a project's digest goes to the chats that get
// its news, with content that everybody may read, and that the first one in a
// chat makes a sound.
func TestThreadDigest(t *testing.T) {
	message := func(project, text string) bot.Message {
		return bot.Message{Key: bot.KeyDigest, Project: project, Lines: []bot.Line{{Text: "✓ " + project + " " + text}, {Text: "Nothing runs."}}}
	}
	p := threadedNight(t, notify.Options{Digests: func(_ string, who ledger.Person) []bot.Message {
		text := "for all"
		if who.Role == ledger.RoleAdmin {
			text = "for admins"
		}
		return []bot.Message{message("blog", text), message("shop", text)}
	}})
	p.Do(loop.Input{Idle: true, Body: people.DigestDue{Day: "2026-11-20", At: p.Now}})
	want := map[string]string{
		thread: "push notice sound ✓ shop for all",
		mira:   "push notice sound ✓ blog for admins",
		ana:    "push notice sound ✓ blog for all",
		ben:    "push notice sound ✓ blog for all",
		sam:    "push notice sound ✓ blog for all\npush notice silent ✓ shop for all",
	}
	if diff := cmp.Diff(want, p.logs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQuestionElsewhere: the message that tells the thread that Mira is asked in private
// says what became of the question.
func TestQuestionElsewhere(t *testing.T) {
	for end, want := range map[string]string{
		"answered": "✓ q9 Cancel, by Mira 23:15",
		"expired":  "– q9 unanswered: not started",
	} {
		p := threadedNight(t, notify.Options{})
		q := ledger.Question{ID: "q9", Kind: ledger.AskStart, Title: "checkout.md", Asked: p.Now}
		p.project(ledger.QuestionAsked{Question: q})
		p.chats[thread].shown = append(p.chats[thread].shown, &shown{key: bot.ElsewhereKey("q9"), m: bot.Message{Lines: []bot.Line{{Text: "? q9 asks you in private"}}}})
		if end == "answered" {
			p.project(ledger.QuestionAnswered{ID: "q9", Choice: "cancel", By: "Mira"})
		} else {
			p.project(ledger.QuestionExpired{ID: "q9", Then: "nothing was done"})
		}
		last := p.chats[thread].shown[len(p.chats[thread].shown)-1].m
		if last.First() != want || len(last.Buttons) > 0 {
			t.Errorf("%s: the thread says %q with %v, want %q", end, last.First(), last.Buttons, want)
		}
	}
}
