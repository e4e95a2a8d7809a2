package operator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestVersions checks which states of a task a diff shows: what is at work, then
// every commit, and what was given up only where there is nothing else or where
// somebody asks for it.
func TestVersions(t *testing.T) {
	type entry struct {
		attempt string
		body    ledger.Body
	}
	begin := func(a, base string) entry { return entry{a, ledger.Commitment{Base: base}} }
	taken := func(a, tree string) entry {
		return entry{a, ledger.TakenOver{Taken: ledger.Capture{Tree: tree, Proof: &ledger.ProofFacts{Changes: []ledger.CheckChange{{Path: "check.sh"}}}}}}
	}
	kept := func(a, tree string) entry { return entry{a, ledger.TreeKept{Tree: tree}} }
	commit := func(a, parent, hash string) entry {
		return entry{a, ledger.TaskCommitted{Parent: parent, Commit: hash}}
	}
	atWork := loop.TaskState{Status: ledger.Active, Attempt: &loop.Attempt{}}
	for _, c := range []struct {
		name    string
		entries []entry
		task    loop.TaskState
		attempt int
		want    string
	}{
		{"never begun", nil, loop.TaskState{}, 0, ""},
		{"begun", []entry{begin("a1", "b")}, atWork, 0, ""},
		{"at work", []entry{begin("a1", "b"), taken("a1", "t1"), taken("a1", "t2")}, atWork, 0, "b..t2 a1 at work check.sh"},
		{"goes on after it was parked", []entry{begin("a1", "b"), taken("a1", "t1"), {"a1", ledger.Commitment{Base: "b", Resume: true}}}, atWork, 0, "b..t1 a1 at work check.sh"},
		{"committed", []entry{begin("a1", "b"), taken("a1", "t1"), commit("a1", "p", "c")}, loop.TaskState{Status: ledger.Done}, 0, "p..c a1 commit check.sh"},
		{"failed once, committed", []entry{begin("a1", "b"), taken("a1", "t1"), begin("a2", "b2"), taken("a2", "t2"), commit("a2", "p", "c")}, loop.TaskState{Status: ledger.Done}, 0, "p..c a2 commit check.sh"},
		{"its first attempt", []entry{begin("a1", "b"), taken("a1", "t1"), begin("a2", "b2"), taken("a2", "t2"), commit("a2", "p", "c")}, loop.TaskState{Status: ledger.Done}, 1, "b..t1 a1 check.sh"},
		{"failed", []entry{begin("a1", "b"), taken("a1", "t1"), begin("a2", "b2")}, loop.TaskState{Status: ledger.Blocked}, 0, "b..t1 a1 check.sh"},
		{"cut off", []entry{begin("a1", "b"), kept("a1", "t1"), kept("a1", "t2")}, loop.TaskState{Status: ledger.Ready}, 0, "b..t1 a1"},
		{"redone", []entry{begin("a1", "b"), commit("a1", "p", "c"), begin("a2", "c"), commit("a2", "p2", "c2")}, loop.TaskState{Status: ledger.Done}, 0, "p2..c2 a2 commit, p..c a1 commit"},
		{"at work again", []entry{begin("a1", "b"), commit("a1", "p", "c"), begin("a2", "c"), kept("a2", "t2")}, atWork, 0, "c..t2 a2 at work, p..c a1 commit"},
		{"no such attempt", []entry{begin("a1", "b"), taken("a1", "t1")}, atWork, 7, ""},
	} {
		var records []ledger.Record
		for _, e := range c.entries {
			r, err := ledger.Entry{Stream: "project/shop", Task: "task 1", Attempt: e.attempt, Body: e.body}.Record()
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		all, err := readVersions(records)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range chooseVersions(all, c.task, c.attempt) {
			text := fmt.Sprintf("%s..%s a%d", v.from, v.to, v.attempt)
			if v.atWork {
				text += " at work"
			}
			if v.commit != "" {
				text += " commit"
			}
			got = append(got, strings.TrimSpace(text+" "+strings.Join(v.checks, " ")))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, strings.Join(got, ", "), c.want)
		}
	}
}

// TestTips: a run that merged the base of a request shows what that brought, although it
// committed nothing after that.
func TestTips(t *testing.T) {
	for want, entries := range map[string][]ledger.Body{
		"c0..c1":   {ledger.PreflightDone{Base: ledger.Base{Commit: "c0"}}, ledger.TaskCommitted{Commit: "c1"}},
		"head..m1": {ledger.PreflightDone{Base: ledger.Base{Commit: "m1", Upkeep: &ledger.BaseUpkeep{Head: "head", Contained: true}}}},
		"..":       nil,
	} {
		var records []ledger.Record
		for _, body := range entries {
			r, err := ledger.Entry{Stream: "project/shop", Run: "r2", Body: body}.Record()
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		if from, to, err := readTips(records); err != nil || from+".."+to != want {
			t.Errorf("%s..%s, %v, want %s", from, to, err, want)
		}
	}
}
