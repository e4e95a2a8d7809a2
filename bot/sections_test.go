package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// divided is a night in which #1 was divided into three sections: c needs b.
func divided() *service {
	d := newService("shop")
	set := d.Settings()
	set.Parallel, set.Pattern.Name, set.Pattern.Routes[0].Each = 3, "ultrawork", ledger.EachSection
	d.Cost = 0.25
	section := func(id, title, needs string) string {
		return `{"id":"` + id + `","title":"` + title + `","tasks":["it answers"],"files":["api/` + id + `.go"],"steps":["write it"],"depends_on":[` + needs + `]}`
	}
	d.Acts["Task 1 planner"] = []scenario.Act{{Type: "plan.complete", Took: 9 * time.Minute, Cost: 0.2, Data: `{"summary":"three endpoints","sections":[` +
		section("a", "The orders and all of their baskets", "") + "," + section("b", "Prices", "") + "," + section("c", "Carriers", `"b"`) + `]}`}}
	d.Acts["Task 1/a builder"] = []scenario.Act{scenario.Success("builder", 30*time.Minute, 0.3)}
	d.Acts["Task 1/b builder"] = []scenario.Act{scenario.Success("builder", 10*time.Minute, 0.3)}
	d.Acts["Task 1/c builder"] = []scenario.Act{scenario.Success("builder", 15*time.Minute, 0.3)}
	one := scenario.Task(1, "Move the orders to the new API")
	one.Scope = "`api/`"
	d.Start(set, d.Base("r1"), one)
	return d
}

// TestBlockedSection checks that a section that is stuck says which task waits for it.
func TestBlockedSection(t *testing.T) {
	d := divided()
	d.Acts["Task 1/a builder"] = []scenario.Act{{Type: ledger.EventBlocked, Took: 7 * time.Minute, Data: `{"reason":"the plan says two things","tried":"by line","needs":"a decision"}`}}
	d.Until(nil)
	d.says(t, "q1", `
■ shop #1/a blocked, 1 attempt (q1)
The orders and all of their baskets · 23:26
┃ the plan says two things
Tried: by line
Needs: a decision
Stays blocked; #1 waits for it.
q1 retry · q1 skip · q1 guide WORDS · /why 1/a`)
	d.says(t, "/evidence 1", `
● shop #1 evidence: 2 of 3 built
✓ begun (commit) 23:10
✓ given to claude (claim) 23:10
✓ divided into 3 sections 23:19
■ #1/a blocked 23:26
✓ #1/b built 23:29: 1 file +10 −2
✓ #1/c built 23:44: 1 file +10 −2
✓ Chain whole to entry 9041 (commit 3f2c1d0)
/evidence 1/a · /evidence 1/b · /evidence 1/c`)
}

// TestSections checks what is read about a task while its sections are built, and at
// its end.
func TestSections(t *testing.T) {
	d := divided()
	d.until(25 * time.Minute)
	d.says(t, "/status", `
● shop 0/1 · #1/a #1/c · 23:44
#1/a builder 25 min · The orders and…
#1/c merge · Carriers
last event 23:44
left 1 · blocked 0 · needs you 0
r1 34 min · $0.80
/log · /pause · /stop`)
	d.says(t, "/task 1", `
○ shop #1 in parts, 1 of 3 built
Move the orders to the new API
Scope: api/
1 attempt
● #1/a builder · The orders and all of…
✓ #1/b built · Prices
● #1/c merge · Carriers
/skip 1`)
	d.says(t, "/log 1", `
shop #1: 3 sessions, 34 min
1 of 3 sections built, 2 at work
23:19 planner  plan.complete
23:19 plan     parts #1/a #1/b #1/c; built apart, committed as one
23:29 #1/b builder  build.complete
23:29 #1/b ✓ built  merged into #1
23:44 #1/c builder  build.complete
/log 1 tail · /log 1 file`)
	d.says(t, "/evidence 1", `
● shop #1 evidence: 1 of 3 built
✓ begun (commit) 23:10
✓ given to claude (claim) 23:10
✓ divided into 3 sections 23:19
● #1/a builder since 23:19
✓ #1/b built 23:29: 1 file +10 −2
● #1/c merge
✓ Chain whole to entry 9041 (commit 3f2c1d0)
/evidence 1/a · /evidence 1/b · /evidence 1/c`)
	d.says(t, "/evidence 1/b", `
✓ shop #1/b evidence: merged
✓ begun (commit) 23:19
✓ given to claude (claim) 23:19
✓ changed 1 file +10 −2
✓ result: pass (submit) 23:29
✓ merged into #1, which is verified as a whole
✓ Chain whole to entry 9041 (commit 3f2c1d0)
/evidence 1`)
	d.Until(nil)
	d.says(t, "/log 1", `
shop #1: 5 sessions, 40 min
1 h 05 of sessions, several at a time
23:19 planner  plan.complete
23:19 plan     parts #1/a #1/b #1/c; built apart, committed as one
23:29 #1/b builder  build.complete
23:29 #1/b ✓ built  merged into #1
23:44 #1/c builder  build.complete
23:44 #1/c ✓ built  merged into #1
23:49 #1/a builder  build.complete
23:49 #1/a ✓ built  merged into #1
23:50 verify   ✓ go test 38 s
23:51 reviewer no issues
23:51 ✓ done   3b26821 · tested
/log 1 tail · /log 1 file`)
	d.says(t, "/evidence 1", `
✓ shop #1 evidence: passed
✓ begun (commit) 23:10
✓ given to claude (claim) 23:10
✓ divided into 3 sections 23:19
✓ #1/a built 23:49: 1 file +10 −2
✓ #1/b built 23:29: 1 file +10 −2
✓ #1/c built 23:44: 1 file +10 −2
✓ begun (commit) 23:49
✓ given to claude (claim) 23:49
✓ build: go test, exit 0
✓ review 0 issues
✓ result: pass (submit) 23:51 3b26821
✓ proof: tested
✓ Chain whole to entry 9041 (commit 3f2c1d0)
/evidence 1/a · /evidence 1/b · /evidence 1/c`)
}

// TestMendedSections checks that sections that a task was sent back to stand apart from
// those of its plan.
func TestMendedSections(t *testing.T) {
	var records []ledger.Record
	at := evening
	add := func(task, session string, body ledger.Body) {
		at = at.Add(time.Minute)
		r, err := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: at, Run: "r1", Task: task, Attempt: "a1", Session: session, Body: body}.Record()
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	built := func(part string) {
		add("Task 1/"+part, "r1-2", ledger.Evidence{Kind: "fix-applied", FilesChanged: 1, LinesAdded: 2, LinesRemoved: 1})
		add("Task 1", "r1-2", ledger.PartMerged{Part: "Task 1/" + part})
		add("Task 1/"+part, "", ledger.TaskSet{From: ledger.Active, To: ledger.Done})
	}
	add("Task 1", "", ledger.Commitment{TaskID: "Task 1"})
	add("Task 1", "r1-1", ledger.PartsMade{Whole: true, Parts: []ledger.Task{{ID: "Task 1/a", Joins: true}, {ID: "Task 1/b", Joins: true}}})
	add("Task 1", "", ledger.AttemptEnded{Outcome: ledger.OutcomeParked})
	built("a")
	built("b")
	add("Task 1", "", ledger.Commitment{TaskID: "Task 1", Resume: true})
	add("Task 1", "r1-4", ledger.Evidence{Kind: "build", Command: "go test"})
	add("Task 1", "r1-5", ledger.PartsMade{Whole: true, Parts: []ledger.Task{{ID: "Task 1/b.2", Joins: true, Hat: "fixer"}}})
	add("Task 1", "", ledger.AttemptEnded{Outcome: ledger.OutcomeParked})
	add("Task 1/b.2", "", ledger.TaskSet{From: ledger.Ready, To: ledger.Active})
	add("Task 1/b.2", "r1-6", ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "fixer"})
	want := strings.TrimSpace(`
● shop #1 evidence: 0 of 1 mended
✓ begun (commit) 23:11
✓ divided into 2 sections 23:12
✓ #1/a built 23:16: 1 file +2 −1
✓ #1/b built 23:19: 1 file +2 −1
✓ begun (commit) 23:20
✓ build: go test, exit 0
↻ sent back to 1 section 23:22
● #1/b.2 fixer since 23:25`)
	m := bot.Evidence(records, bot.ChainCheck{Recomputed: true, Whole: true, End: 20}, evening.Location())
	if got := m.Text(0); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := bot.Log("shop", "Task 1", records, at).Text(0); !strings.Contains(got, "\n0 of 1 section mended, 1 at work\n") || strings.Contains(got, "parked") {
		t.Error(got)
	}
}
