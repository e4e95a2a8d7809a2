package acceptance

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStartIsTwoMessages: a chat that asks for a run and confirms it has two messages
// when the first session begins: what became of the confirmation, and the live status.
// Other chats have the announcement and the live status. So has a group in which the run
// was asked for, where the message that it is asked in private becomes the announcement.
func TestStartIsTwoMessages(t *testing.T) {
	for name, platform := range map[string]func(*testing.T) phone{"telegram": newTelegram, "telegram group": newTelegramGroup, "slack": newSlack, "slack channel": newSlackChannel} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(tuesday.Add(-time.Minute)))
				p := platform(t)
				tasks := ledger.Snapshot{Name: "checkout", Path: plan().Path, Tasks: []ledger.Task{scenario.Task(1, "Extract price rules")}}
				s := newSessions(tasks, map[string][]act{"1 builder": {builder("23:27", 0.52, "price rules in a package of their own")}})
				w := openNight(t, p, s, nil, single, len(tasks.Tasks))
				w.until(tuesday)
				w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
				w.pair("Ana", ledger.RoleSteer, "H3RT-9KWZ")
				w.until(at("23:09"))
				p.say("Mira", "/run shop")
				w.until(at("23:10"))
				before := strings.Count(p.transcript("Mira"), "\n── ")
				w.press("Mira", "? Start shop?", "Start")
				w.until(at("23:10").Add(30 * time.Second))
				if n := strings.Count(p.transcript("Mira"), "\n── ") - before; n != 1 {
					t.Errorf("the press brought %d messages, want the live status alone:\n%s", n, p.transcript("Mira"))
				}
				for _, who := range []string{"Mira", "Ana"} {
					var firsts []string
					for _, m := range p.shows(who) {
						if !m.mine && !m.at.Before(at("23:09")) {
							firsts = append(firsts, m.first)
						}
					}
					if want := []string{"● shop r14 started, 1 task", "● shop 0/1 · #1 builder · 23:10"}; !slices.Equal(firsts, want) {
						t.Errorf("%s sees %q, want %q", who, firsts, want)
					}
				}
				w.until(at("23:30")) // the session ends
			})
		})
	}
}
