package acceptance

import (
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// The night of docs/spec 20: what happens outside of nightporter, and when.

var berlin = zone("Europe/Berlin")

func zone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

// clock returns the bubble's time in the users' zone.
func clock() time.Time { return time.Now().In(berlin) }

// at returns a clock time of the night; times before noon are on Friday.
func at(text string) time.Time {
	t, err := time.ParseInLocation("15:04:05", text, berlin)
	if err != nil {
		if t, err = time.ParseInLocation("15:04", text, berlin); err != nil {
			panic(err)
		}
	}
	day := 19
	if t.Hour() < 12 {
		day = 20
	}
	return time.Date(2026, 11, day, t.Hour(), t.Minute(), t.Second(), 0, berlin)
}

// The ledger's times have the machine's zone, and its hash is in the pictures.
func init() { time.Local = time.UTC }

// tuesday is when the three users were paired.
var tuesday = time.Date(2026, 11, 17, 21, 5, 0, 0, berlin)

// plan is the source of project checkout, with its twelve tasks.
func plan() ledger.Snapshot {
	titles := []string{
		"Extract price rules", "Price list of the shop", "Tax per country", "Address form", "Sum the basket", "Payment adapter",
		"Move orders to the new API", "Refund flow", "Order emails", "Retry failed payments", "Admin order list", "Check the pay page on a phone",
	}
	needs := map[int][]string{10: {"Task 6", "Task 8"}, 12: {"Task 6", "Task 7"}}
	s := ledger.Snapshot{Name: "checkout", Path: ".agents/plans/in-progress/checkout.md"}
	for n, title := range titles {
		s.Tasks = append(s.Tasks, scenario.Task(n+1, title, needs[n+1]...))
	}
	s.Tasks[11].Mark = ledger.MarkManualVerify
	s.Tasks[11].Acceptance = []string{"Open /pay: no sideways scroll", "Test card: the receipt appears", "Back: the cart is still full"}
	return s
}

// settings are those of the project shop. Budget and push are not implemented
// yet.
func settings() ledger.Settings {
	set := scenario.New("shop", clock()).Settings()
	writer := set.Hats["builder"]
	writer.Name, writer.Emits, writer.WriteAllowed = "writer", []string{"docs.complete"}, []string{"docs/**"}
	set.Hats["writer"] = writer
	set.Stays, set.Others, set.Timezone = true, []string{"codex"}, "Europe/Berlin"
	set.Source.Path = plan().Path
	return set
}

func told(items ...map[string]any) map[string]any { return map[string]any{"guidance": items} }

func with(data map[string]any, more map[string]any) map[string]any {
	for k, v := range more {
		data[k] = v
	}
	return data
}

func planner(till string, cost float64) act {
	return act{till: till, cost: cost, says: "plan.complete", data: map[string]any{"summary": "planned", "steps": []string{"one"}}}
}

func builder(till string, cost float64, summary string, more ...map[string]any) act {
	a := act{till: till, cost: cost, says: "build.complete", data: map[string]any{"summary": summary, "files_modified": []string{"order/adapter.go"}}}
	a.files = []ledger.FileChange{{Path: "order/adapter.go", Added: 71, Removed: 3}}
	for _, m := range more {
		with(a.data, m)
	}
	return a
}

func reviewer(till string, cost float64, more ...map[string]any) act {
	a := act{till: till, cost: cost, says: "review.verdict", data: map[string]any{"summary": "fine", "issues": []any{}}}
	for _, m := range more {
		with(a.data, m)
	}
	return a
}

func objects(till string, cost float64, what string) act {
	return reviewer(till, cost, map[string]any{"summary": "one issue", "issues": []any{map[string]any{"severity": "major", "file": "price/rules.go", "text": what}}})
}

func fixer(till string, cost float64) act {
	a := builder(till, cost, "mended")
	a.says = "fix.complete"
	return a
}

// red makes a session's work fail verification.
func red(a act) act {
	a.red = "--- FAIL: TestRefundPartial: want 1200, got 1000"
	return a
}

func stuck(till string, cost float64) act {
	return act{till: till, cost: cost, says: ledger.EventBlocked, data: map[string]any{
		"reason": `TestRefundPartial: want 1200, got 1000. The plan says "refund the order" and "refund the line"; can't tell which.`,
		"tried":  "by line → TestRefundOrder fails; by order → TestRefundPartial fails",
		"needs":  "which of the two the plan means",
	}}
}

// sticky is the report of every writing session about g13.
var sticky = map[string]any{"id": "g13", "done": true, "note": "none added"}

// script returns the behaviour of the 39 sessions.
func script() map[string][]act {
	fine := told(sticky)
	return map[string][]act{
		"1 planner": {planner("23:14:11", 0.14)},
		"1 builder": {builder("23:27:40", 0.52, "price rules in a package of their own",
			told(sticky, map[string]any{"id": "g15", "set_aside": true, "note": "No pkg/money in this repository. Used internal/price"}))},
		"1 reviewer": {reviewer("23:34", 0.26)},
		"2 planner":  {planner("23:39", 0.14)},
		"2 builder":  {builder("23:54", 0.55, "the price list reads the rules", fine)},
		"2 reviewer": {reviewer("00:00:30", 0.28)},
		"3 planner":  {planner("00:04:30", 0.15)},
		"3 builder":  {builder("00:16", 0.60, "tax by country", fine)},
		"3 reviewer": {objects("00:23", 0.25, "rounding"), reviewer("00:33", 0.20)},
		"3 fixer":    {saying(fixer("00:27", 0.28), fine)},
		"4 planner": {
			{till: "00:36", cost: 0.12, says: "question.asked", data: map[string]any{
				"text": "May an address be a PO box? The carriers differ.", "options": []string{"Yes, letters only", "No"}, "choice": "No"}},
			planner("01:04", 0.13),
		},
		"4 builder":  {builder("01:16", 0.50, "an address may be no PO box", fine)},
		"4 reviewer": {reviewer("01:21", 0.25)},
		"5 planner":  {planner("00:40", 0.13)},
		"5 builder":  {builder("00:54", 0.42, "the basket sums in cents", fine)},
		"5 reviewer": {reviewer("00:59", 0.21)},
		"6 planner":  {planner("01:24", 0.12)},
		"6 builder":  {builder("01:38", 0.50, "an adapter in front of the payment API", fine)},
		"6 reviewer": {reviewer("01:46", 0.36)},
		"7 planner":  {planner("01:50", 0.31)},
		"7 builder": {builder("02:19", 0.98, "orders go through an adapter",
			told(sticky, map[string]any{"id": "g17", "done": true, "note": "Kept legacy/orders.go, added order/adapter.go around it"}))},
		"7 reviewer": {reviewer("02:27", 0.18, told(map[string]any{"id": "g17", "done": true}))},
		"8 planner":  {planner("02:31", 0.18), planner("02:55", 0.18)},
		"8 builder": {
			red(builder("02:38", 0.30, "refunds by line", fine)), red(builder("02:45", 0.25, "refunds by order", fine)),
			red(builder("02:52", 0.25, "refunds by line again", fine)), stuck("03:06", 0.45),
		},
		"9 planner": {{till: "03:12", limit: "04:10"}, planner("04:14", 0.14)},
		"9 builder": {builder("04:33", 0.56, "order mails in plain text",
			told(sticky, map[string]any{"id": "g16", "done": true, "note": "text/plain only"}))},
		"9 reviewer":  {reviewer("04:41", 0.28, told(map[string]any{"id": "g16", "done": true}))},
		"11 planner":  {planner("04:46", 0.25)},
		"11 builder":  {builder("05:31", 1.84, "a list of orders for the admin", fine)},
		"11 reviewer": {objects("05:42", 0.56, "the list loads every order"), reviewer("06:11", 0.35)},
		"11 fixer":    {saying(fixer("06:00", 0.45), fine)},
	}
}

// saying adds fields to a session's event.
func saying(a act, more map[string]any) act {
	with(a.data, more)
	return a
}

// before returns the entries from before the story: ids already used, and the
// idle project blog. Bug waves are not implemented yet, so its run r13 was over
// a plan.
func before() []ledger.Record {
	n := scenario.New("blog", time.Date(2026, 11, 19, 21, 40, 0, 0, berlin))
	n.State.Project.Name = "blog"
	n.Cost = 0.70
	set := n.Settings()
	set.Stays, set.Timezone = true, "Europe/Berlin"
	set.Source.Path = ".agents/plans/in-progress/search.md"
	issued := func(kind string, last int) {
		n.Entry(ledger.Entry{Stream: ledger.SharedStream, Time: n.Now, Actor: "daemon", Body: ledger.IDIssued{Kind: kind, N: last}})
	}
	issued("r", 12)
	n.Proof = map[string]ledger.Proof{"Task 1": {Word: ledger.Proved}}
	n.Start(set, n.Base("r13"), scenario.Task(1, "Hide drafts when logged out"))
	n.Until(nil)
	issued("g", 12)
	issued("q", 1)
	return n.All()
}
