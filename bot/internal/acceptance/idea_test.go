package acceptance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// growingPlan is a plan that takes tasks, with the next ids.
type growingPlan struct {
	mu    sync.Mutex
	tasks []ledger.Task
}

// growingSource is a source whose plan it is.
type growingSource struct {
	engine.Source
	plan *growingPlan
}

func (s *growingSource) Read(context.Context) (ledger.Snapshot, error) { return s.plan.read(), nil }

func (p *growingPlan) read() ledger.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ledger.Snapshot{Name: "checkout", Path: plan().Path, Tasks: slices.Clone(p.tasks)}
}

func (p *growingPlan) AddOnce(_ context.Context, a ledger.AddTasks) (added ledger.AddedTasks, err error) {
	p.mu.Lock()
	for n, t := range a.Tasks {
		t.ID, t.Mark = fmt.Sprintf("Task %d", len(p.tasks)+1), ledger.MarkOpen
		if a.Needs != nil {
			for _, on := range a.Needs[n] {
				t.DependsOn = append(t.DependsOn, added.IDs[on])
			}
		}
		p.tasks, added.IDs = append(p.tasks, t), append(added.IDs, t.ID)
	}
	p.mu.Unlock()
	added.Text, added.Snapshot = "added", p.read()
	return added, nil
}

func (p *growingPlan) RemoveAdded(context.Context, ledger.RemoveTasks) error { return nil }

// ideaSettings are those of the shop, with the pattern that plans ideas.
func ideaSettings() ledger.Settings {
	set := settings()
	drafter := set.Hats["planner"]
	drafter.Name, drafter.Emits = "drafter", []string{ledger.EventDraft}
	set.Hats["drafter"] = drafter
	set.Roles = map[string]ledger.Pattern{loop.DraftPattern: {Name: loop.DraftPattern, Start: "drafter", Routes: []ledger.Route{{From: "drafter", On: ledger.EventDraft, To: ledger.Converged}}}}
	set.Pattern = ledger.Pattern{Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}}
	return set
}

func drafted(title, body string, needs ...string) map[string]any {
	return map[string]any{
		"id": title[:1], "title": title, "body": body, "scope": []string{"order/"},
		"acceptance": []string{"go test ./order passes"}, "depends_on": needs,
	}
}

// TestIdea: a sentence at 22:40 is a running plan at 22:45, and a digest at 07:30.
func TestIdea(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(tuesday.Add(-time.Minute)))
		tasks := []map[string]any{
			drafted("An order can be repeated", "Copies the lines of an order into a new basket"),
			drafted("Button on the list of orders", "Repeats the order that it stands beside", "A"),
			drafted("Say in the mail how it is done", "One sentence at its end", "A"),
		}
		p := newTelegram(t)
		source := &growingPlan{}
		for n, title := range []string{"Extract price rules", "Refund flow"} {
			done := scenario.Task(n+1, title)
			done.Mark = ledger.MarkDone
			source.tasks = append(source.tasks, done)
		}
		s := newSessions(ledger.Snapshot{}, map[string][]act{
			"Idea i1 drafter": {
				{till: "22:41:40", cost: 0.21, says: "question.asked", data: map[string]any{
					"text": "May an order be repeated that was paid with a voucher?", "options": []string{"Yes", "No"}, "choice": "No"}},
				{till: "22:43:50", cost: 0.34, says: ledger.EventDraft, data: map[string]any{"summary": "A customer repeats an old order with one press; vouchers are left out.", "tasks": tasks}},
			},
			"3 builder": {builder("22:58", 0.52, "an order becomes a basket")},
			"4 builder": {builder("23:20", 0.61, "a button on the list")},
			"5 builder": {builder("23:31", 0.18, "a sentence in the mail")},
		})
		s.adds = source
		w := openNight(t, p, s, source, ideaSettings, 3)
		w.until(tuesday)
		w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
		for _, d := range []struct {
			at string
			do func()
		}{
			{"22:40", func() { w.phone.say("Mira", "shop: /idea Let people order the same again with one press") }},
			{"22:42", func() { w.press("Mira", "? shop", "B") }},
			{"22:45", func() { w.press("Mira", "? shop", "Start tonight") }},
			{"07:30", func() { w.digest(at("07:30")) }},
		} {
			w.until(at(d.at))
			d.do()
		}
		w.until(at("07:31"))
		golden.Compare(t, "telegram-idea.txt", settled(p.transcript("Mira")))
	})
}
