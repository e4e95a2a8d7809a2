package bot_test

import (
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addRemakes adds what people read about tasks that are taken out of a branch.
func addRemakes(t *testing.T, all topics) {
	t.Helper()
	one := func(w ledger.ProofWord) ledger.Proof { return ledger.Proof{Word: w} }
	d := proved(one(ledger.Proved), changed(""), one(ledger.Tested), one(ledger.Unproved), one(ledger.TestedNew))
	for intent, line := range map[string]string{
		"cards": "/each", "card, the first": "/each 1", "card, checks changed": "/each 2", "card, the last": "/each 5", "card of nothing": "/each 9",
		"revert of nothing": "/revert", "keep of nothing": "/keep", "redo of nothing": "/redo", "unknown task": "/revert 12",
		"keep these": "/keep 1-3", "redo": "/redo 4 with the table", "revert": "/revert 2", "keep all, as it is": "/keep all",
	} {
		d := proved(one(ledger.Proved), changed(""), one(ledger.Tested), one(ledger.Unproved), one(ledger.TestedNew))
		all.add(t, "remake", intent, line, d.say(t, line), 38)
		for _, q := range d.Night.State.Project.Questions {
			if q.Kind != ledger.AskRemake {
				continue
			}
			all.add(t, "remake", intent+", asked", "", bot.Ask(d.Night.State, q, d.Now), 38)
		}
	}
	for n, intent := range map[int]string{1: "card, guided", 2: "card, guided twice", 4: "card, guided often"} {
		d := proved(one(ledger.Proved))
		for k := range n {
			text := []string{"Wrap the existing code, don't replace it", "Plain text mails, no HTML", "x\x1b[2J", "y"}[k]
			d.Night.State.Project.Guidance.Items = append(d.Night.State.Project.Guidance.Items, guidance.Item{
				ID: fmt.Sprintf("g%d", k+1), Text: text, State: guidance.Addressed, Bound: ledger.FoldID("Task 1"),
			})
		}
		all.add(t, "remake", intent, "/each", d.say(t, "/each"), 38)
	}
	var many []ledger.Proof
	for range 19 {
		many = append(many, one(ledger.Proved))
	}
	for intent, line := range map[string]string{"cards, many": "/each", "cards, next page": "/each p2", "cards, past the end": "/each p9"} {
		all.add(t, "remake", intent, line, proved(many...).say(t, line), 38)
	}
	all.add(t, "remake", "a single card", "/each", proved(one(ledger.Proved)).say(t, "/each"), 38)
	s := d.Night.State
	b := ledger.BranchRemade{Branch: "nightporter/shop/r1.1", From: "nightporter/shop/r1", Tip: "c9", Tree: "t9", Wish: ledger.RemakeWish{Drop: []string{"Task 2", "Task 3", "Task 4"}}}
	after := loop.Apply(s, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: ledger.RemakeAsked{Wish: b.Wish}})
	after = loop.Apply(after, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: b})
	all.add(t, "remake", "made", "", bot.Remade(s, after, b, d.Now), 38)
	b.Foreign = &ledger.ForeignCommits{}
	all.add(t, "remake", "made, somebody added commits", "", bot.Remade(s, after, b, d.Now), 38)
	verified := ledger.Verified{Kind: ledger.KindFinal, OK: true, Tree: "c9"}
	green := loop.Apply(after, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: verified})
	all.add(t, "remake", "green", "", bot.RemadeVerified(green, b.Wish, true, nil, d.Now), 38)
	pushed := stands(proved(one(ledger.Proved), one(ledger.Tested)), &ledger.RequestStanding{Base: "main", Mergeable: ledger.MergeableClean, Passed: 2})
	pushed.Night.State.Project.Requests.Branches[0].Stale = "c0ffee"
	all.add(t, "remake", "green, its request is behind", "", bot.RemadeVerified(pushed.Night.State, b.Wish, true, nil, d.Now), 38)
	pushed.Night.State.Project.Requests.Branches[0].Stale = ""
	all.add(t, "remake", "its request is green", "", bot.RemadeStands(pushed.Night.State, d.Now), 38)
	drop := ledger.Question{ID: "q7", Kind: ledger.AskRemake, Run: "r1", Title: "r1", Tasks: []string{"Task 2"}, Asked: d.Now, Expires: d.Now.Add(600e9), Remake: &ledger.RemakeWish{Drop: []string{"Task 2"}}}
	all.add(t, "remake", "asked of a branch that was pushed", "", bot.Ask(pushed.Night.State, drop, d.Now), 38)
	pushed.Night.State.Project.Requests.Branches[0].Seen.Pending = 1
	all.add(t, "remake", "its request is checked", "", bot.RemadeStands(pushed.Night.State, d.Now), 38)
	merged := stands(proved(one(ledger.Proved), one(ledger.Tested)), &ledger.RequestStanding{State: ledger.RequestMerged, Base: "main", Passed: 2})
	merged.Night.State.Project.Requests.Branches[0].Request.State = ledger.RequestMerged
	all.add(t, "remake", "its request is merged", "", bot.RemadeStands(merged.Night.State, d.Now), 38)
	red := []ledger.Result{{Run: "npm test", Tail: "ok 1\nTestTotal: want 3, got 2\n", Exit: 1}}
	all.add(t, "remake", "red", "", bot.RemadeVerified(after, b.Wish, false, red, d.Now), 38)
	all.add(t, "remake", "not verified", "", bot.NotRemade(after, after, ledger.RemakeEnded{Made: true, Why: "its verification could not be started: the disk is full"}, d.Now), 38)
	all.add(t, "remake", "not made", "", bot.NotRemade(after, after, ledger.RemakeEnded{Why: "branch nightporter/shop/r1 is gone", Remedy: "bring it back: git -C /srv/shop fetch /state/shop.git nightporter/shop/r1:nightporter/shop/r1"}, d.Now), 38)
	q := ledger.Question{ID: "q9", Kind: ledger.AskRemake, Title: "r1", Tasks: []string{"Task 2", "Task 4"}, Asked: d.Now, Expires: d.Now.Add(600e9), Remake: &ledger.RemakeWish{Drop: []string{"Task 2", "Task 4"}},
		NeededBy: []ledger.RemakeNeed{{Task: "Task 4", On: []string{"Task 2"}, Files: []string{"services/checkout/internal/order/refund.go"}}}}
	all.add(t, "remake", "needed by another", "", bot.Ask(s, q, d.Now), 38)
}
