package acceptance

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// longQuestion has about 1,500 characters: more than a screen, less than a message.
var longQuestion = func() string {
	var b strings.Builder
	b.WriteString("Which rounding do refunds need? ")
	for _, line := range []string{
		"order/refund.go rounds each line half up, order/total.go rounds the sum half to even, and the two differ by a cent in 41 of the 12,000 orders of testdata/orders.csv. ",
		"docs/money.md says \"half up\" for prices and is silent about refunds. ",
		"The payment provider rounds the sum half to even and refuses a refund that is higher than what it took, so half up on each line is refused for 23 of the 41 orders. ",
		"If the sum is rounded instead, the printed lines no longer add up to the printed sum, and accounting asked in 2024 that they always do (docs/decisions/0012). ",
		"A third way is to round each line half up and to give the difference to the largest line: the lines add up, the provider takes it, and a customer may see a cent more or less on one line than on the invoice. ",
		"The change touches order/refund.go, order/total.go and the two templates of the mail; TestRefundPartial and TestRefundOrder expect the first way today, TestProviderLimit the second. ",
		"What is chosen holds for orders that are refunded from now on; refunds that are out keep their amounts. ",
	} {
		b.WriteString(line)
	}
	const end = "Which of the three?"
	return b.String() + end
}()

// redWith makes a session's work fail verification with an output.
func redWith(a act, output string) act {
	a.red = output
	return a
}

// badNight is how four tasks go wrong: one is red until it is blocked, one asks at
// length, one meets the usage limit, and the sessions of one report nothing.
func badNight() (ledger.Snapshot, map[string][]act) {
	tasks := ledger.Snapshot{Name: "checkout", Path: plan().Path}
	for n, title := range []string{"Steuer je Land", "Erstattungen", "Bestellmails", "Adressformular"} {
		tasks.Tasks = append(tasks.Tasks, scenario.Task(n+1, title))
	}
	const tax = "=== RUN   TestTaxAustria\n    tax_test.go:41: Vienna: got 19 %, want 20 %\n--- FAIL: TestTaxAustria (0.00s)\nFAIL\nFAIL\tshop/tax\t0.412s\nFAIL"
	red := func(till string) act { return redWith(builder(till, 0.31, "rates by country"), tax) }
	return tasks, map[string][]act{
		"1 builder": {red("22:50"), red("22:56"), red("23:02"), red("23:08"), red("23:14"), red("23:20"), builder("02:05", 0.44, "Austria has its own rate", told(map[string]any{"id": "g13", "done": true, "note": "20 % for Austria, from docs/steuer.md"}))},
		"2 builder": {
			{till: "23:30", cost: 0.12, says: "question.asked", data: map[string]any{
				"text":    longQuestion,
				"options": []string{"Round each line half up", "Round the sum half to even", "Round each line, and give the difference to the largest one"}}},
			builder("02:20", 0.50, "the largest line takes the difference"),
		},
		"3 builder": {{till: "23:40", cost: 0.05, limit: "01:10"}, builder("01:30", 0.40, "mails in plain text")},
		"4 builder": {
			{till: "02:24", cost: 0.20}, {till: "02:28", cost: 0.20}, {till: "02:32", cost: 0.20},
			{till: "02:36", cost: 0.20}, {till: "02:40", cost: 0.20}, {till: "02:44", cost: 0.20},
		},
	}
}

// TestBadNight: a night in which little goes right, told on a phone to somebody who
// writes German without a slash.
func TestBadNight(t *testing.T) {
	for _, platform := range []func(*testing.T) phone{newTelegram, newSlack} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(tuesday.Add(-time.Minute)))
			p := platform(t)
			tasks, acts := badNight()
			single := func() ledger.Settings {
				set := settings()
				set.Pattern = ledger.Pattern{Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}}
				return set
			}
			w := openNight(t, p, newSessions(tasks, acts), nil, single, len(tasks.Tasks))
			w.until(tuesday)
			w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
			for _, d := range []struct {
				at string
				do func() error
			}{
				{"22:40", say(p, "shop: leg los")},
				{"22:41", pressing(p, "? Start shop?", "Start")},
				{"23:25", pressing(p, "■ shop #1", "Why")},
				{"23:32", say(p, "Was machst du gerade?")},
				{"23:33", func() error { return p.reply("Mira", "? shop #2 asks", "ok") }},
				{"23:34", func() error { return p.reply("Mira", "? shop #2 asks", "Nimm C") }},
				{"23:45", say(p, "Wie läuft's?")},
				{"23:46", func() error { return p.reply("Mira", "■ shop #1", "Österreich hat 20 %, siehe docs/steuer.md") }},
				{"23:47", pressing(p, "○ g13", "Retry #1")},
				{"03:00", say(p, "Warum ist #4 gescheitert?")},
				{"03:01", say(p, "Überspring das")},
				{"07:30", func() error { w.digest(at("07:30")); return nil }},
			} {
				w.until(at(d.at))
				if err := d.do(); err != nil {
					t.Errorf("%s: %v", d.at, err)
				}
				synctest.Wait()
			}
			w.until(at("07:31"))
			golden.Compare(t, p.name()+"-bad.txt", settled(p.transcript("Mira")))
		})
	}
}
