package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// a night of a few tasks, begun with these settings.
func (n *fixture) begin(tasks int, change func(*ledger.Settings)) {
	set := n.Settings()
	set.Stays = true
	if change != nil {
		change(&set)
	}
	var all []ledger.Task
	for i := range tasks {
		all = append(all, scenario.Task(i+1, titles[i]))
	}
	n.Start(set, n.Base("r1"), all...)
}

func (n *fixture) does(what string, acts ...scenario.Act) { n.Acts[what] = acts }

func (n *fixture) mira(body loop.InputBody) {
	n.t.Helper()
	if a := n.Do(loop.Input{Key: fmt.Sprintf("tg:%d", len(n.All())), Actor: "telegram:48213377", Name: "Mira", Body: body}); !a.OK {
		n.t.Fatalf("%T: %s", body, a.Text)
	}
}

func (n *fixture) commits(count int) func() bool {
	return func() bool { return n.State.Project.Run.Commits == count }
}

var (
	blockedAct = scenario.Act{Took: 9 * time.Minute, Cost: 0.3, Type: ledger.EventBlocked, Data: `{"reason":"the plan says two things","tried":"both","needs":"a decision"}`}
	silentAct  = scenario.Act{Took: 3 * time.Minute, Cost: 0.1}
	limitAct   = scenario.Act{Took: 2 * time.Minute, Exit: &ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Failure: ledger.FailureLimit, Text: "usage limit reached", Until: time.Date(2026, 11, 20, 9, 10, 0, 0, berlin), CostUSD: 0.1, Tokens: -1, Boundary: 3}}
	logoutAct  = scenario.Act{Took: time.Second, Exit: &ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Failure: ledger.FailureAuth, Text: "Please run claude login", Tokens: -1, Boundary: 3}}
)

func redAct(text string) scenario.Act {
	a := scenario.Success("builder", 9*time.Minute, 0.35)
	a.Red = text
	return a
}

// TestSentences holds the two sentences that a digest begins with, in all kinds of
// nights. Each night is written as it would be told to somebody who asks how it went.
func TestSentences(t *testing.T) {
	cases := map[string]string{}
	for name, play := range map[string]func(n *fixture){
		"01 all done":         func(n *fixture) { n.begin(4, nil); n.Until(nil) },
		"02 the only task":    func(n *fixture) { n.begin(1, nil); n.Until(nil) },
		"03 both tasks":       func(n *fixture) { n.begin(2, nil); n.Until(nil) },
		"04 no commands":      func(n *fixture) { n.begin(3, func(s *ledger.Settings) { s.Verify = nil }); n.Until(nil) },
		"05 unproved":         func(n *fixture) { n.Proof = words(); n.begin(7, nil); n.Until(nil) },
		"06 red tip":          func(n *fixture) { n.Tip = "--- FAIL: TestAll"; n.begin(3, nil); n.Until(nil) },
		"07 red at the start": func(n *fixture) { n.partlyRed(); n.Until(nil) },
		"08 blocked by the agent": func(n *fixture) {
			n.does("Task 2 builder", blockedAct, blockedAct, blockedAct)
			n.begin(4, nil)
			n.Until(nil)
		},
		"09 blocked by its checks": func(n *fixture) {
			n.does("Task 2 builder", slices.Repeat([]scenario.Act{redAct("--- FAIL: TestTax")}, 9)...)
			n.begin(4, nil)
			n.Until(nil)
		},
		"10 nothing done": func(n *fixture) {
			for i := range 3 {
				n.does(fmt.Sprintf("Task %d builder", i+1), slices.Repeat([]scenario.Act{silentAct}, 9)...)
			}
			n.begin(5, nil)
			n.Until(nil)
		},
		"11 manual check left": func(n *fixture) {
			set := n.Settings()
			last := scenario.Task(2, "Pay page on a phone")
			last.Mark = ledger.MarkManualVerify
			n.Start(set, n.Base("r1"), scenario.Task(1, "Pay page"), last)
			n.Until(nil)
		},
		"12 limit": func(n *fixture) {
			n.does("Task 3 planner", limitAct)
			n.begin(4, nil)
			n.Until(func() bool { return n.State.Project.Run.Wait == ledger.WaitLimit })
		},
		"13 logged out": func(n *fixture) {
			n.does("Task 2 builder", blockedAct, blockedAct, blockedAct)
			n.does("Task 4 planner", slices.Repeat([]scenario.Act{logoutAct}, 60)...)
			n.begin(5, nil)
			n.Until(func() bool { return n.State.Project.Run.Wait == ledger.WaitAgent })
		},
		"14 host off": func(n *fixture) {
			n.begin(6, nil)
			n.Until(n.commits(2))
			from := n.Now
			n.Now = n.Now.Add(3 * time.Hour)
			n.Do(loop.Input{Body: people.CameBack{Off: from}, Idle: true})
			n.Until(n.commits(3))
		},
		"15 at work": func(n *fixture) { n.begin(3, nil); n.Until(n.commits(2)) },
		"16 first session": func(n *fixture) {
			n.begin(3, nil)
			n.Until(func() bool { return n.State.Project.Run.Agents == 1 })
		},
		"17 stopped by Mira": func(n *fixture) {
			n.Entry(scenario.Person("telegram:48213377", "Mira", ledger.RoleAdmin, evening))
			n.begin(4, nil)
			n.Until(n.commits(2))
			n.mira(loop.Stop{Now: true})
			n.Until(nil)
		},
		"18 paused": func(n *fixture) {
			n.begin(4, nil)
			n.Until(n.commits(1))
			n.mira(loop.Pause{Now: true})
			n.Until(func() bool { return n.State.Project.Run.State == ledger.RunPaused })
		},
		"19 time over": func(n *fixture) {
			n.begin(8, func(s *ledger.Settings) { s.Until = evening.Add(10 * time.Minute) })
			n.Until(nil)
		},
		"20 unknown cost": func(n *fixture) { n.Cost = -1; n.begin(2, nil); n.Until(nil) },
		"21 two runs": func(n *fixture) {
			n.Entry(scenario.Person("telegram:48213377", "Mira", ledger.RoleAdmin, evening))
			n.does("Task 2 builder", blockedAct)
			n.begin(3, nil)
			n.Until(nil)
			n.again(3)
			n.Until(nil)
		},
		"22 could not start": func(n *fixture) {
			set := n.Settings()
			n.Do(loop.Input{Key: "run", Actor: "console", Body: loop.StartRun{Settings: set, MaxSessions: 1}})
			n.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{
				Problems: []ledger.Diagnostic{{Text: "the agent claude is not on PATH"}},
				Snapshot: ledger.Snapshot{Name: "checkout", Path: set.Source.Path, Tasks: []ledger.Task{scenario.Task(1, "Sum the basket"), scenario.Task(2, "Cards")}},
			}})
		},
		"23 a question, and others go on": func(n *fixture) {
			n.does("Task 1 planner", scenario.Act{Took: 3 * time.Minute, Cost: 0.1, Type: ledger.EventQuestion, Data: `{"text":"May an address be a PO box?","options":["yes","no"]}`})
			n.begin(3, nil)
			n.Until(n.commits(1))
		},
		"24 scripted": func(n *fixture) {
			n.begin(2, func(s *ledger.Settings) { s.Agent, s.ScriptedMarks = ledger.ScriptedAgent, ledger.ScriptedWithheld })
			n.Until(nil)
		},
		"25 blocked, and the run stops": func(n *fixture) {
			n.does("Task 2 builder", blockedAct, blockedAct, blockedAct)
			n.begin(4, func(s *ledger.Settings) { s.OnBlocked = ledger.OnBlockedStop })
			n.Until(nil)
		},
		"26 three kinds of needs": func(n *fixture) { _, night := exampleNight(t); *n = *night },
	} {
		n := newFixture(t)
		play(n)
		f := n.facts(morning)
		m := report.Text(f)
		checkForm(t, m)
		checkOnce(t, m)
		checkOnce(t, report.FullText(f))
		cases[name] = m.First() + "\n" + m.Lines[1].Text + "\n… " + m.Lines[len(m.Lines)-1].Text
		if n := strings.Count(m.Lines[1].Text, ". "); n > 1 || !strings.HasSuffix(m.Lines[1].Text, ".") {
			t.Errorf("%s: these are not two sentences: %s", name, m.Lines[1].Text)
		}
	}
	golden.Sections(t, "sentences", cases)
}

// checkOnce checks that a digest says nothing twice.
func checkOnce(t *testing.T, m bot.Message) {
	t.Helper()
	seen := map[string]bool{}
	for _, l := range m.Lines {
		if seen[l.Text] {
			t.Errorf("it says twice: %s", l.Text)
		}
		seen[l.Text] = true
	}
}

// partlyRed begins a night in which a check fails on the start commit, too.
func (n *fixture) partlyRed() {
	red := redAct("--- FAIL: TestClock")
	n.does("Task 2 builder", slices.Repeat([]scenario.Act{red}, 4)...)
	n.Tip = red.Red
	n.begin(2, nil)
	n.Until(n.commits(2))
	n.Tip = ""
}

// again starts a second run in which a blocked task is tried again.
func (n *fixture) again(tasks int) {
	n.mira(loop.RetryTask{Task: "Task 2"})
	var all []ledger.Task
	for i := range tasks {
		x := scenario.Task(i+1, titles[i])
		if s, _ := n.State.Project.Find(x.ID); s.Status == ledger.Done {
			x.Mark = ledger.MarkDone
		}
		all = append(all, x)
	}
	b := n.Base("r2")
	n.Do(loop.Input{Key: "preflight 2", Body: loop.Preflighted{Base: b, Snapshot: ledger.Snapshot{Name: "checkout", Path: n.State.Project.Run.Settings.Source.Path, Tasks: all}}})
}
