package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// lookAfter plays the preflight of a run that keeps a request green.
func (w *world) lookAfter(b ledger.Begin) Preflighted {
	p := Preflighted{Run: b.Run}
	of, ok := w.s.Project.Requests.Keeper(b.Run)
	if !ok { // it was ended meanwhile
		return p
	}
	r := w.remote.requests[of.Name]
	head, into := w.remote.branches[of.Name], of.Seen.BaseCommit
	r.HeadCommit, r.BaseCommit = head, into
	v := ledger.RequestView{Request: r, Writers: true, Tag: "u"}
	if !w.kind {
		switch w.draw(12, "request") {
		case 0:
			v.Writers = false
		case 1:
			v.Request.State = pick(w, ledger.RequestClosed, ledger.RequestMerged)
			w.remote.requests[of.Name] = v.Request
		case 2:
			p.Problems = []ledger.Diagnostic{{Text: "the token is wrong"}}
			return p
		case 3:
			v.Request.HeadCommit = w.key("h")
		}
		if w.draw(3, "check") > 0 {
			v.Checks = []ledger.ForgeCheck{{Name: "lint", State: ledger.CheckFailed, Log: "boom"}}
		}
	}
	p.Request = &v
	if !v.Writers || v.Request.State != ledger.RequestOpen {
		return p
	}
	commit, u := head, &ledger.BaseUpkeep{Head: head, Into: into}
	if b.Upkeep.Merge {
		switch {
		case !w.kind && w.draw(4, "conflict") == 0:
			u.Conflicts, u.Tree = []string{"a.go"}, w.tree()
		case w.draw(4, "contained") == 0:
			u.Contained = true
		default:
			commit, u.Contained = w.key("m"), true
		}
	}
	p.Base = ledger.Base{Commit: commit, Tree: "tree-" + commit, Head: into, HeadName: "main", Branch: of.Name, From: of.Name, Author: "Mira <mira@example.org>", Upkeep: u}
	return p
}

// bounded checks that no more is done by itself for a request than its bounds allow:
// the rounds since a person started a run, and the time between two merges.
func (w *world) bounded() {
	rounds, merged := map[string]int{}, map[string]ledger.Entry{}
	kept := map[string]ledger.Upkeep{}
	for _, e := range w.entries {
		switch b := e.Body.(type) {
		case ledger.RunPlanned:
			if b.Upkeep == nil {
				if e.Actor != "daemon" {
					clear(rounds)
				}
				break
			}
			kept[b.Run] = *b.Upkeep
		case ledger.PreflightDone:
			u, ok := kept[e.Run]
			if !ok {
				break
			}
			switch u.Reason {
			case ledger.UpkeepChecks, ledger.UpkeepComments:
				if rounds[u.Run]++; rounds[u.Run] > 3 {
					w.t.Fatalf("round %d for the request of %s\n%s", rounds[u.Run], u.Run, w.dump())
				}
			case ledger.UpkeepBase:
				if was, ok := merged[u.Run]; ok && e.Time.Sub(was.Time) < 10*time.Minute {
					w.t.Fatalf("the base of %s is merged again after %s\n%s", u.Run, e.Time.Sub(was.Time), w.dump())
				}
				merged[u.Run] = e
			}
		case ledger.RunEnded:
			if u, ok := kept[e.Run]; ok && b.Reason == ledger.ReasonReplaced && u.Reason != ledger.UpkeepBase {
				rounds[u.Run]-- // what cut it short comes first, and the rest after it
			}
		case ledger.TaskCommitted:
			if _, ok := kept[e.Run]; ok && !slices.Contains([]string{request.ChecksTaskID, request.MergeTaskID, request.CommentsTaskID, RepairTaskID}, e.Task) {
				w.t.Fatalf("%s is worked on in %s, which keeps a request green\n%s", e.Task, e.Run, w.dump())
			}
		}
	}
}
