package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// remote is what random nights push to.
type remote struct {
	branches map[string]string         // commits, by branch
	requests map[string]ledger.Request // by branch; the open or the last one
	made     int
	said     map[int][]ledger.RequestComment // by number of the request
	comments int
	wrote    map[string]int // replies, by key
}

// outgoing reports whether an effect is about the remote.
func (w *world) outgoing(e ledger.Effect) bool {
	switch e.Body.(type) {
	case ledger.EffectLift, ledger.EffectPush, ledger.EffectRequest, ledger.EffectMergeRequest, ledger.EffectReply:
		return true
	}
	return false
}

// push carries out a push. It fails for a commit that nobody made, that was red, or
// that somebody verifies still. One of a stack may have been red, if that is said and
// a later one passed.
func (w *world) push(e ledger.Effect, b ledger.EffectPush) {
	if w.remote.branches == nil {
		w.remote.branches, w.remote.requests = map[string]string{}, map[string]ledger.Request{}
	}
	var up ledger.Base
	of := w.s.Project.Requests.Branch(b.Run)
	made, verified := false, len(w.settings.Verify) == 0
	for _, l := range w.entries {
		switch x := l.Body.(type) {
		case ledger.TaskCommitted:
			made = made || x.Commit == b.Push.Commit
		case ledger.BranchRemade:
			made = made || x.Tip == b.Push.Commit
		case ledger.PreflightDone: // others' commits, and a merge of the base
			made = made || b.Once && x.Base.Upkeep != nil && x.Base.Commit == b.Push.Commit
			up = x.Base
		case ledger.TipFound: // somebody's commit on the branch, which the next commit is on
			made = made || x.Commit == b.Push.Commit
		case ledger.Verified:
			if x.Tree == b.Push.Commit && (x.Kind == ledger.KindFinal || x.Kind == ledger.KindBaseline) {
				verified = x.OK && len(redResults(x.Results)) == 0
			}
			if x.Kind == ledger.KindBaseline && x.Tree == treeOf(b.Push.Commit) { // another run's start, with the commands that found it red
				verified = x.OK && len(redResults(x.Results)) == 0
			}
			if x.Kind == ledger.KindBaseline && b.Once && up.Upkeep != nil && x.Tree == up.Tree && up.Commit == b.Push.Commit {
				verified = x.OK && len(redResults(x.Results)) == 0
			}
			if l := len(x.Results); x.Kind == ledger.KindBatch && x.OK && l > 0 {
				verified = verified || w.s.Project.Green[w.s.Project.Source] == b.Push.Commit
			}
		}
	}
	switch {
	case of.Lift != nil && (of.Lift.Made != of.Lift.Commit || of.Lift.Tip != of.Lift.Made):
		made, verified = w.liftedGreen(*of.Lift, b.Push.Commit)
		verified = verified || len(w.settings.Verify) == 0
	case of.Of != "":
		if of.Red != w.redAsTip(b.Push.Commit) {
			w.t.Fatalf("%s is pushed, and its request says %q of what failed on it\n%s", b.Push.Commit, of.Red, w.dump())
		}
		made, verified = w.underGreen(b.Push.Commit)
		verified = verified || len(w.settings.Verify) == 0
	}
	if !made || !verified {
		w.t.Fatalf("%s is pushed: committed %v, verified %v\n%s", b.Push.Commit, made, verified, w.dump())
	}
	if at := w.remote.branches[b.Push.Branch]; b.Once && !w.kind && at != b.Push.Commit && w.draw(5, "others push") == 0 {
		w.remote.branches[b.Push.Branch] = w.key("h")
		w.remove(e)
		w.do(EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: "somebody else pushed commits"}, w.key("moved"))
		return
	}
	w.remote.branches[b.Push.Branch] = b.Push.Commit
	if !w.kind && w.draw(4, "crash in push") == 0 {
		w.s = w.folded // the remote has it, and the result is lost
		return
	}
	w.remove(e)
	w.deliver(PushFinished{Run: b.Run, Push: b.Push, Forge: pick(w, ledger.ForgeGitHub, ledger.ForgeGitHub, ledger.ForgePlain)}, "push")
}

// lifts carries out a lift: on the base, which moves, on a branch of the run, or not at
// all.
func (w *world) lifts(e ledger.Effect, b ledger.EffectLift) {
	if !w.kind && w.draw(8, "remote away") == 0 {
		w.do(EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: "connection refused", Fault: ledger.FaultForge}, w.key("away"))
		return
	}
	if !w.kind && w.draw(10, "no lift") == 0 {
		w.remove(e)
		w.do(EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: "git failed"}, w.key("lift"))
		return
	}
	if w.draw(3, "the base moves") == 0 {
		w.main = w.key("m")
	}
	var like ledger.Lifted
	if l := len(b.Lift.Over); l > 0 && w.draw(3, "over") == 0 {
		like.On, like.Files = b.Lift.Over[w.draw(l, "over which")].ID, []string{"a.go"}
	}
	if b.Lift.Onto == "" && w.draw(6, "conflict") == 0 {
		like = ledger.Lifted{Why: "it conflicts"}
	}
	lifted := w.lift(b.Lift, like)
	if !w.kind && w.draw(4, "crash in lift") == 0 {
		w.s = w.folded
		return
	}
	w.remove(e)
	w.deliver(LiftFinished{Run: b.Run, N: b.N, Lifted: lifted}, "lifted")
}

// liftedGreen reports whether a commit was lifted, and whether the one with its task's
// change passed on its own tree, or was the run's own.
func (w *world) liftedGreen(l request.Lift, commit string) (made, green bool) {
	if green = l.Made == l.Commit; green {
		_, green = w.underGreen(l.Commit)
	}
	for _, e := range w.entries {
		switch x := e.Body.(type) {
		case ledger.LiftEnded:
			made = made || x.Tip == commit
		case ledger.Verified:
			green = green || x.Kind == ledger.KindLift && x.OK && x.Tree == l.Made
		}
	}
	return made, green
}

// redAsTip returns the command that failed when a commit was last verified as the tip
// of a branch, "" for none.
func (w *world) redAsTip(commit string) (failed string) {
	for _, l := range w.entries {
		if x, ok := l.Body.(ledger.Verified); ok && x.Kind == ledger.KindFinal && x.Tree == commit {
			failed = ""
			if red := redResults(x.Results); len(red) > 0 {
				failed = red[0].Run
			}
		}
	}
	return failed
}

// underGreen reports whether somebody made a commit, and whether it or one that was
// made later passed as the tip of a branch.
func (w *world) underGreen(commit string) (made, green bool) {
	var after []string
	for _, l := range w.entries {
		var now []string
		switch x := l.Body.(type) {
		case ledger.TaskCommitted:
			now = append(now, x.Commit)
		case ledger.TipFound:
			now = append(now, x.Commit)
		case ledger.BranchRemade:
			for _, c := range x.Commits {
				now = append(now, c.Commit)
			}
			now = append(now, x.Tip)
		case ledger.Verified:
			green = green || x.OK && slices.Contains(after, x.Tree)
		}
		if made = made || slices.Contains(now, commit); made {
			after = append(after, now...)
		}
	}
	return made, green || slices.Contains(after, w.s.Project.Green[w.s.Project.Source])
}

// request carries out the request of a branch: the open one is found, else one is
// made. People merge and close them.
func (w *world) request(e ledger.Effect, b ledger.EffectRequest) {
	branch := b.Draft.Head
	if w.remote.branches[branch] == "" {
		w.t.Fatalf("a request for %s, which was not pushed", branch)
	}
	r, there := w.remote.requests[branch]
	if !w.kind && there && r.State == ledger.RequestOpen && w.draw(6, "a person") == 0 {
		r.State = pick(w, ledger.RequestClosed, ledger.RequestMerged)
		w.remote.requests[branch] = r
	}
	if base := b.Draft.Base; strings.HasPrefix(base, "nightporter/") && w.remote.branches[base] == "" {
		w.t.Fatalf("a request for %s stands on %s, which was not pushed", branch, base)
	}
	if there && b.Draft.Number == 0 && w.s.Project.Requests.Branch(b.Run).Request != nil {
		w.t.Fatalf("a second request for %s", branch)
	}
	if !there {
		w.remote.made++
		r = ledger.Request{Number: w.remote.made, URL: "https://forge.test/1", State: ledger.RequestOpen, Head: branch, Base: "main"}
		if b.Draft.Base != "" {
			r.Base = b.Draft.Base
		}
		w.remote.requests[branch] = r
	} else if b.Draft.Was != "" && b.Draft.Was == r.Base && r.State == ledger.RequestOpen {
		r.Base = b.Draft.Base
		w.remote.requests[branch] = r
	}
	if !w.kind && w.draw(4, "crash in request") == 0 {
		w.s = w.folded
		return
	}
	w.remove(e)
	w.deliver(RequestFinished{Run: b.Run, Print: b.Print, Request: r}, "request")
}

// sent checks that what the last run was to push is there, with its request.
func (w *world) sent() {
	d := &decision{State: w.s, in: w.last}
	r := w.s.Project.Run
	for _, b := range w.s.Project.Requests.Branches {
		if kind, key, busy := b.UnderWay(); busy && !slices.ContainsFunc(w.todo, func(e ledger.Effect) bool { return e.Body.EffectKind() == kind && e.Key == key }) {
			w.t.Fatalf("%s %s is under way, and nobody does it\n%s", kind, key, w.dump())
		}
	}
	if r.Ended == nil || r.Ended.Reason != ledger.ReasonDone || !d.pushable() {
		return
	}
	if d.apart() {
		w.sentApart(d)
		return
	}
	b := w.s.Project.Requests.Last(r.ID)
	if d.stacks() && len(d.stack()) == 0 { // all was taken out
		return
	}
	if b.Pushed != r.Tip && b.Upkeep.Fetched != r.Tip && !slices.ContainsFunc(w.entries, func(e ledger.Entry) bool {
		x, ok := e.Body.(ledger.EffectFailed)
		return ok && x.Kind == "push" && x.Fault == ""
	}) {
		w.t.Fatalf("%s ended, and its tip %s is not pushed: %s\n%s", r.ID, r.Tip, b.Pushed, w.dump())
	}
}

// sentApart checks that each task of an ended run has its branch on the remote.
func (w *world) sentApart(d *decision) {
	gaveUp := slices.ContainsFunc(w.entries, func(e ledger.Entry) bool {
		x, ok := e.Body.(ledger.EffectFailed)
		return ok && (x.Kind == "push" || x.Kind == "lift")
	})
	for m, b := range d.Project.fixBranches() {
		b = w.s.Project.Requests.Branch(b.Run)
		if m.Out || m.Empty || gaveUp {
			continue
		}
		if b.Lift == nil || b.Pushed == "" || b.Pushed != b.Lift.Tip {
			w.t.Fatalf("%s ended, and the branch of %s is not pushed: %+v\n%s", w.s.Project.Run.ID, m.Task, b, w.dump())
		}
	}
}
