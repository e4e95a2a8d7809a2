package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// untilRequest lets everything succeed until a branch has a request. By chance alone few
// nights come so far.
func (w *world) untilRequest() {
	w.kind = true
	for range 500 {
		if len(w.s.Project.Requests.Open()) > 0 || w.s.Project.Run.Over() {
			break
		}
		if len(w.todo) == 0 {
			w.pass()
		}
		w.outside()
	}
	w.kind = false
}

// forge lets somebody do something about requests: the daemon looks at one, a person
// asks for a merge.
func (w *world) forge() {
	all := w.s.Project.Requests.Branches
	if len(all) == 0 {
		return
	}
	b := all[w.draw(len(all), "request")]
	for _, q := range w.s.Project.Questions {
		if q.Kind == ledger.AskMerge && w.draw(2, "confirm") == 0 {
			w.person(AnswerQuestion{Question: q.ID, Choice: pick(w, "merge", "merge", "cancel")})
			return
		}
	}
	if w.draw(3, "merge") == 0 {
		number := 0
		if b.Request != nil && w.draw(2, "number") == 0 {
			number = b.Request.Number
		}
		w.person(MergeRequest{Number: number})
		return
	}
	if b.Request == nil {
		return
	}
	w.look(b)
}

// look plays a look at a request. A second one that shows the same leaves no trace.
func (w *world) look(b request.Branch) {
	r := w.remote.requests[b.Name]
	if r.Number == 0 {
		return
	}
	if r.State == ledger.RequestOpen && !w.kind {
		switch w.draw(20, "a person") {
		case 0:
			r.State = ledger.RequestClosed
		case 1:
			r.State, r.MergeCommit = ledger.RequestMerged, "m1"
		}
		w.remote.requests[b.Name] = r
	}
	r.HeadCommit = w.remote.branches[b.Name]
	if w.draw(8, "somebody pushes") == 0 {
		r.HeadCommit = w.key("h")
		w.remote.branches[b.Name] = r.HeadCommit
	}
	r.BaseCommit = pick(w, "c0", "c0", "base", "base2", "")
	r.Mergeable = pick(w, ledger.MergeableClean, ledger.MergeableClean, ledger.MergeableUnknown, ledger.MergeableBehind, ledger.MergeableConflict, ledger.MergeableBlocked)
	v := ledger.RequestView{Request: r, Tag: "t", Writers: w.draw(6, "strangers") > 0}
	for range w.draw(4, "checks") {
		v.Checks = append(v.Checks, ledger.ForgeCheck{Name: "lint", State: pick(w, ledger.CheckPassed, ledger.CheckPassed, ledger.CheckPending, ledger.CheckFailed, ledger.CheckNeutral)})
	}
	v.Comments = w.comment(r)
	news := b.NewsOf(v)
	in := RequestLooked{Run: b.Run, Now: b.StandingOf(v), Tag: v.Tag, Comments: &news}
	if w.draw(8, "failure") == 0 {
		in.Now = b.FailedLook(ledger.ForgeError{Failure: pick(w, ledger.ForgeAway, ledger.ForgeLogin), Text: "no"})
	}
	w.do(in, "")
	if seen := w.s.Project.Requests.Branch(b.Run).Seen; seen != nil && !seen.ChecksDue.IsZero() && seen.ChecksDue.Sub(w.now) < time.Second {
		return // a moment later checks are waited for no longer
	}
	if d := w.do(in, ""); len(d.Entries)+len(d.Effects) > 0 {
		w.t.Fatalf("the same look a second time gives %s", mustJSON(w.t, d.Entries))
	}
}

// merge carries out a merge. It fails for one that nobody confirmed with that head.
func (w *world) merge(e ledger.Effect, b ledger.EffectMergeRequest) {
	asked := map[string]ledger.MergeAsked{}
	confirmed := false
	for _, l := range w.entries {
		switch x := l.Body.(type) {
		case ledger.QuestionAsked:
			if x.Question.Kind == ledger.AskMerge {
				asked[x.Question.ID] = *x.Question.Merge
			}
		case ledger.QuestionAnswered:
			confirmed = confirmed || x.Choice == "merge" && asked[x.ID] == b.Merge
		}
	}
	if !confirmed {
		w.t.Fatalf("request %d is merged at %s, and nobody confirmed that\n%s", b.Merge.Number, b.Merge.HeadCommit, w.dump())
	}
	of := w.s.Project.Requests.Branch(b.Run)
	r := w.remote.requests[of.Name]
	in := RequestMerged{Run: b.Run, Head: b.Merge.HeadCommit, Method: ledger.MergeCommit}
	switch {
	case r.State == ledger.RequestMerged:
	case r.State == ledger.RequestClosed, w.remote.branches[of.Name] != b.Merge.HeadCommit:
		in.Failure = &ledger.ForgeError{Failure: ledger.ForgeMoved, Text: "it is another one"}
	case w.draw(5, "refused") == 0:
		in.Failure = &ledger.ForgeError{Failure: ledger.ForgeProtected, Text: "a review is missing"}
	case w.draw(5, "queue") > 0:
		r.State, r.MergeCommit = ledger.RequestMerged, "m2"
		w.remote.requests[of.Name] = r
	}
	in.Request = r
	if !w.kind && w.draw(4, "crash in merge") == 0 {
		w.s = w.folded // it is merged, and the result is lost
		return
	}
	w.remove(e)
	w.deliver(in, "merge")
}

// merging checks that each merge under way has somebody who carries it out.
func (w *world) merging() {
	for _, b := range w.s.Project.Requests.Branches {
		if b.Merging != "" && !slices.ContainsFunc(w.todo, func(e ledger.Effect) bool { return e.Key == request.MergeKey(b.Run, b.Merges) }) {
			w.t.Fatalf("the request of %s is being merged, and nobody does it\n%s", b.Run, w.dump())
		}
	}
}
