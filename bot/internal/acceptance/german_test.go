package acceptance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestGerman: an evening in German, without a slash: looks, answers, a thumb, guidance
// that was none, and a stop that is pressed once.
func TestGerman(t *testing.T) {
	for _, platform := range []func(*testing.T) phone{newTelegram, newSlack} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(tuesday.Add(-time.Minute)))
			p := platform(t)
			tasks := ledger.Snapshot{Name: "checkout", Path: plan().Path}
			for n, title := range []string{"Adressformular", "Erstattungen", "Bestellmails"} {
				tasks.Tasks = append(tasks.Tasks, scenario.Task(n+1, title))
			}
			s := newSessions(tasks, map[string][]act{
				"1 builder": {
					{till: "22:50", cost: 0.12, says: "question.asked", data: map[string]any{
						"text": "Darf eine Adresse ein Postfach sein?", "options": []string{"Ja, nur für Briefe", "Nein"}, "choice": "Nein"}},
					builder("23:15", 0.50, "kein Postfach"),
				},
				"2 builder": {stuck("23:00", 0.45)},
			})
			w := openNight(t, p, s, nil, single, len(tasks.Tasks))
			w.until(tuesday)
			w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
			for _, d := range []struct {
				at string
				do func() error
			}{
				{"22:40", say(p, "shop: leg los")},
				{"22:41", pressing(p, "? Start shop?", "Start")},
				{"22:45", say(p, "Wie läuft's?")},
				{"22:51", func() error { return p.reply("Mira", "? shop #1 asks", "Nimm B") }},
				{"22:52", say(p, "danke dir 👍")},
				{"23:01", func() error { return p.react("Mira", "■ shop #2") }},
				{"23:02", say(p, "weiter")},
				{"23:03", say(p, "shop: Stopp, keine Floats mehr benutzen")},
				{"23:04", pressing(p, "○ g13", "Not guidance")},
				{"23:05", func() error { return p.reply("Mira", "■ shop #2", "versuch's nochmal") }},
				{"23:06", pressing(p, "? Retry #2?", "Retry")},
				{"23:07", say(p, "Stopp nach dieser Aufgabe")},
				{"23:08", pressing(p, "? Stop shop?", "Stop")},
				{"23:09", say(p, "Gute Nacht")},
			} {
				w.until(at(d.at))
				if err := d.do(); err != nil {
					t.Errorf("%s: %v", d.at, err)
				}
				synctest.Wait()
			}
			w.until(at("23:20"))
			golden.Compare(t, p.name()+"-german.txt", settled(p.transcript("Mira")))
		})
	}
}

// single are settings with one session a task.
func single() ledger.Settings {
	set := settings()
	set.Pattern = ledger.Pattern{Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}}
	return set
}

func say(p phone, line string) func() error {
	return func() error { p.say("Mira", line); return nil }
}

func pressing(p phone, first, label string) func() error {
	return func() error { return p.press("Mira", first, label) }
}
