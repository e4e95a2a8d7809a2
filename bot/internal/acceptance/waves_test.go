package acceptance

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/ledger"
)

// inbox are bug reports: one that says nothing, two that say the same, and four to fix.
func inbox() ledger.Snapshot {
	s := ledger.Snapshot{Name: "bugs", Path: "bugs.json"}
	for _, r := range []struct {
		id, body, page string
		priority       int
	}{
		{"B1", "I clicked Pay on the cart page and saw NaN instead of the total.", "/cart", 4},
		{"B2", "asdf asdf", "", 4},
		{"B3", "The button on the login page says Sing in instead of Sign in.", "/login", 2},
		{"B4", "I clicked Pay on the cart page and saw NaN instead of the total.", "/cart", 1},
		{"B5", "I saved my profile and saw the error TypeError: user.name is undefined.", "/profile", 3},
		{"B6", "I opened the invoice list and the date column shows 1970 instead of the date of the invoice.", "/invoices", 2},
	} {
		s.Tasks = append(s.Tasks, ledger.Task{
			ID: r.id, Title: r.body, Body: r.body, Mark: ledger.MarkOpen, Priority: r.priority,
			Report: &ledger.Report{Untitled: true, Page: r.page, Created: tuesday.Add(-48 * time.Hour)},
		})
	}
	return s
}

// TestWaves: a night on an inbox, two waves, each with its picture, and a digest.
func TestWaves(t *testing.T) {
	for _, platform := range []func(*testing.T) phone{newTelegram, newSlack} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(tuesday.Add(-time.Minute)))
			p := platform(t)
			s := newSessions(inbox(), map[string][]act{
				"B1 builder": {builder("22:50", 0.40, "a total of nothing is 0")},
				"B3 builder": {builder("23:30", 0.20, "Sign in")},
				"B5 builder": {stuck("23:00", 0.45)},
				"B6 builder": {builder("23:50", -1, "the date of the invoice")},
			})
			inWaves := func() ledger.Settings {
				set := single()
				set.Source, set.Batch, set.MaxWaves = ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json"}, 2, 5
				return set
			}
			w := openNight(t, p, s, nil, inWaves, len(inbox().Tasks))
			w.until(tuesday)
			w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
			status := ""
			for _, d := range []struct {
				at string
				do func() error
			}{
				{"22:40", say(p, "/run shop")},
				{"22:41", pressing(p, "? Start shop?", "Start")},
				{"22:55", say(p, "/status shop")},
				{"22:55:30", func() error { status += w.shown("Mira", "● shop") + "\n"; return nil }},
				{"23:20", say(p, "/status shop")},
				{"23:20:30", func() error { status += w.shown("Mira", "● shop") + "\n"; return nil }},
				{"23:25", pressing(p, "✓ shop wave 1", "Waves")},
				{"23:55", say(p, "/status shop")},
				{"07:30", func() error { w.digest(at("07:30")); return nil }},
			} {
				w.until(at(d.at))
				if err := d.do(); err != nil {
					t.Errorf("%s: %v", d.at, err)
				}
				synctest.Wait()
			}
			w.until(at("07:31"))
			golden.Compare(t, p.name()+"-waves.txt", settled("════ status\n"+status+"════ Mira\n"+p.transcript("Mira")))
			if p.name() == "telegram" && !bytes.HasPrefix(p.picture("Mira"), []byte("\x89PNG")) {
				t.Error("no picture was sent")
			}
		})
	}
}
