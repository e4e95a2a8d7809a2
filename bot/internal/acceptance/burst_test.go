package acceptance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestBurst: guidance that is sent within seconds has one receipt, in which each can be
// dropped, edited and followed, and a reply to it asks which is meant.
func TestBurst(t *testing.T) {
	for _, platform := range []func(*testing.T) phone{newTelegram, newSlack} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(tuesday.Add(-time.Minute)))
			p := platform(t)
			tasks := ledger.Snapshot{Name: "checkout", Path: plan().Path, Tasks: []ledger.Task{scenario.Task(1, "Extract price rules"), scenario.Task(2, "Order emails")}}
			s := newSessions(tasks, map[string][]act{
				"1 builder": {builder("23:27", 0.52, "price rules in a package of their own")},
				"2 builder": {builder("23:40", 0.48, "text/plain only", told(
					map[string]any{"id": "g13", "set_aside": true, "note": "No pkg/money in this repository"},
					map[string]any{"id": "g14", "done": true, "note": "text/plain only"}))},
			})
			w := openNight(t, p, s, nil, single, len(tasks.Tasks))
			w.until(tuesday)
			w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
			for _, d := range []struct {
				at string
				do func() error
			}{
				{"23:09", say(p, "/run shop")},
				{"23:10", pressing(p, "? Start shop?", "Start")},
				{"23:11", say(p, "shop: Use pkg/money everywhere")},
				{"23:11:04", say(p, "shop: #2 Plain text mails, no HTML")},
				{"23:11:05", say(p, "shop: @writer Mention the env vars")},
				{"23:11:40", func() error {
					return p.edit("Mira", "shop: #2 Plain text mails, no HTML", "shop: #2 Plain text mails and no images")
				}},
				{"23:11:50", func() error { return p.reply("Mira", "○ g13–g15", "drop") }},
				{"23:12", pressing(p, "○ g13–g15", "Drop g15")},
			} {
				w.until(at(d.at))
				if err := d.do(); err != nil {
					t.Errorf("%s: %v", d.at, err)
				}
				synctest.Wait()
			}
			w.until(at("23:45"))
			golden.Compare(t, p.name()+"-burst.txt", settled(p.transcript("Mira")))
		})
	}
}

// TestBurstInGroup: in a group, the receipts of each person's burst share a message below
// their own words, also where two people write at once.
func TestBurstInGroup(t *testing.T) {
	for _, platform := range []func(*testing.T) phone{newTelegramGroup, newSlackChannel} {
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
			w.press("Mira", "? Start shop?", "Start")
			for _, d := range []struct{ at, who, line string }{
				{"23:11", "Mira", "Use pkg/money everywhere"},
				{"23:11:03", "Ana", "All names stay as they are"},
				{"23:11:07", "Mira", "Plain text mails, no HTML"},
				{"23:11:12", "Ana", "Mention the env vars"},
			} {
				w.until(at(d.at))
				p.say(d.who, d.line)
			}
			w.until(at("23:12"))
			if err := p.press("Ana", "○ g14 g16", "Drop g16"); err != nil {
				t.Errorf("%v:\n%s", err, p.transcript("Mira"))
			}
			w.until(at("23:12:30"))
			if err := p.reply("Mira", "○ g13 g15", "drop"); err != nil { // asks which
				t.Error(err)
			}
			w.until(at("23:30"))
			golden.Compare(t, p.name()+"-burst-group.txt", settled(p.transcript("Mira")))
		})
	}
}
