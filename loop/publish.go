package loop

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// What happens to a branch after its commits (docs/spec 9.4): its verified tip is
// pushed, at the run's end or after each task, and a request asks for its merge. A
// run's end waits for both, as long as nothing fails: whoever reads that the run has
// ended can open the request. What fails is tried again beside whatever runs then.

// verifyTip begins the verification of a tip that is to be pushed while the run goes
// on. It reports whether that is under way.
func (d *decision) verifyTip() bool {
	r := d.run()
	if r.Settings.Push != ledger.PushTask || !d.publishes() || !d.unverified() {
		return false
	}
	d.add(scope{}, newCheck(r.Settings, ledger.KindFinal, r.Tip, false, verifyCommands(r.Settings, ledger.KindFinal, nil)))
	d.nextCheck(scope{}, true)
	return true
}

// publishes reports whether the run's branch is to be pushed, once its tip is
// verified.
func (d *decision) publishes() bool {
	r := d.run()
	made := r.Commits > 0 || len(d.Project.leftovers()) > 0
	if u := r.Base.Upkeep; u != nil {
		made = r.Tip != u.Head
	}
	return r.Settings.Pushes() && made && r.Scripted == 0 && !r.Check
}

// pushable reports whether the tip of the run's branch can be pushed now: nothing
// fails on it, as far as anything verifies it.
func (d *decision) pushable() bool {
	r := d.run()
	if _, red := d.Project.RedTip(); red || !d.publishes() || d.unverified() {
		return false
	}
	return r.Settings.Push == ledger.PushTask || r.Finishing != nil || r.Over()
}

// publish pushes the tip of the run's branch, and opens its request or writes that
// anew, one at a time. It reports whether one of them is under way and does not
// fail.
func (d *decision) publish() bool {
	r := d.run()
	switch {
	case d.apart():
		return d.publishApart()
	case d.stacks():
		return d.publishStack()
	}
	of := r.requestOf()
	b := d.Project.Requests.Branch(of)
	if d.pushable() {
		if begun, effect, ok := b.Push(r.Base.Branch, cmp.Or(b.Source, d.Project.Source), r.Tip, r.containsOfBase()); ok {
			d.add(scope{}, begun)
			effect.Once = r.Upkeep != nil
			d.effect(request.PushKey(of, r.Tip), effect)
		} else if r.Upkeep == nil && b.Pushed == r.Tip && (b.Written != b.Pushed || r.Finishing != nil || r.Over()) {
			d.ask(r.ID) // while the run goes on, once for each push
		}
	}
	kind, key, busy := d.Project.Requests.Branch(of).UnderWay()
	_, fails := d.Project.FailingEffect(kind, key)
	return busy && !fails
}

// requestOf returns the run whose request asks for the merge of the run's branch: its
// own, or the one that it keeps green.
func (r *Run) requestOf() string {
	if r.Upkeep != nil {
		return r.Upkeep.Run
	}
	return r.ID
}

// containsOfBase returns a commit of the request's base that the run's branch contains,
// as far as that is known.
func (r *Run) containsOfBase() string {
	u := r.Base.Upkeep
	switch {
	case u == nil:
		return r.Base.Head
	case u.Contained || r.merged():
		return u.Into
	}
	return ""
}

// publishRemade pushes a branch that was made again after its run, once its tip is
// verified, and fixes whose lift ended while a run that looks after something was in the
// run's place.
func (d *decision) publishRemade() {
	r := d.run()
	if r == nil || !r.idle() || d.Project.busy() || d.in.Idle {
		return
	}
	if was := d.Project.Requests.Last(r.ID).Pushed; was != r.Tip && (was != "" || r.Remakes > 0) || slices.ContainsFunc(d.Project.Unpushed(), func(l Leftover) bool { return !d.Project.gaveUp(l) }) {
		d.publish()
	}
}

// ask opens the request of a run's branch, or writes its text anew if that says
// something else by now.
func (d *decision) ask(run string) {
	b := d.Project.Requests.Branch(run)
	if begun, effect, ok := b.Ask(request.Draft(d.factsOf(b)), d.headName(run)); ok {
		d.add(scope{}, begun)
		d.effect(request.RequestKey(run, begun.N), effect)
	}
}

// published goes on after a push or a request was made, or failed. A run that only
// waited for it ends.
func (d *decision) published(run string) {
	r := d.run()
	if of := d.Project.Requests.Branch(run).Of; of != "" && !slices.Contains(d.Project.publishedRuns(), of) {
		d.askStack(of)
		return
	} else if of == "" && r.requestOf() != run { // the push of an earlier run succeeded late
		d.ask(run)
		return
	}
	d.goOnPublishing()
}

// goOnPublishing begins what comes next of a run's pushes and requests. A run that only
// waited for them ends.
func (d *decision) goOnPublishing() {
	waits := d.publish()
	if r := d.run(); r.Finishing != nil && r.Checks == nil && r.Batch == nil && !r.Over() && !waits {
		d.finished(*r.Finishing)
	}
}

// unpublished ends a run that waited for a push or a request, once that fails: it is
// tried again, or given up, without the run.
func (d *decision) unpublished(b EffectBroken) {
	switch b.Kind {
	case ledger.EffectLift{}.EffectKind(), ledger.EffectPush{}.EffectKind(), ledger.EffectRequest{}.EffectKind():
	default:
		return
	}
	if r := d.run(); !r.Over() && r.Finishing != nil && r.Checks == nil && r.Batch == nil && !(d.apart() && d.Project.publishing()) {
		d.finished(*r.Finishing)
	}
}

// pushFinished records a push.
func (d *decision) pushFinished(b PushFinished) {
	if of := d.Project.Requests.Branch(b.Run); of.Pushing == "" || of.Pushing != b.Push.Commit {
		return
	}
	d.add(scope{}, ledger.BranchPushed{Run: b.Run, Branch: b.Push.Branch, Commit: b.Push.Commit, Forge: b.Forge})
	d.published(b.Run)
}

// requestFinished records what a forge says of a run's request, and adds it to the
// evidence of the tasks that it has commits of.
func (d *decision) requestFinished(b RequestFinished) {
	of := d.Project.Requests.Branch(b.Run)
	if of.Asking == "" || of.Asking != b.Print {
		return
	}
	var tasks []string
	for _, t := range d.doneOn(of) {
		tasks = append(tasks, t.ID)
	}
	if of.Of != "" {
		tasks = []string{of.Task}
	}
	if of.Request == nil || of.Request.Number != b.Request.Number {
		of.Tasks = nil
		d.add(scope{}, ledger.RequestOpened{Run: b.Run, Request: b.Request, Print: b.Print, Tasks: tasks})
	} else {
		d.add(scope{}, ledger.RequestEdited{Run: b.Run, Request: b.Request, Print: b.Print, Tasks: tasks})
	}
	for _, id := range tasks {
		if _, known := d.task(id); known && !slices.Contains(of.Tasks, id) {
			d.add(scope{task: id}, ledger.Evidence{Kind: "pr", URL: b.Request.URL, Number: b.Request.Number})
		}
	}
	if b := d.Project.Requests.Branch(b.Run); b.Of == "" && d.run().requestOf() != b.Run && b.Written == b.Pushed {
		return // a text made now would lack what only its run knew; one of a single task has nothing of that
	}
	d.published(b.Run)
}

// tasksOf returns the tasks of a source, which may be another than that of the last
// run.
func (p Project) tasksOf(source string) TaskList {
	if source == "" || source == p.Source {
		return p.Tasks
	}
	return p.Shelf[source]
}

// factsOf returns what the request of a branch is written from.
func (d *decision) factsOf(b request.Branch) request.Facts {
	p, r := d.Project, d.run()
	f := request.Facts{
		Run: b.Run, Project: p.Name, Branch: b.Name, Tip: b.Pushed, Plan: planName(b.Source),
		Base: r.Settings.Base, Request: r.Settings.Requests,
		Done: d.doneOn(b), Left: leftOf(p.tasksOf(b.Source)),
	}
	for _, c := range r.Settings.Setup {
		if c.Run != ledger.ProposedSetup {
			f.Setup = append(f.Setup, c.Run)
		}
	}
	for _, c := range r.Settings.Verify {
		f.Verify = append(f.Verify, c.Run)
	}
	if b.Of != "" {
		d.stackFacts(&f, b)
		return f
	}
	if r.ID != b.Run {
		return f
	}
	f.AtWork = !r.Over() && r.Finishing == nil
	if r.Final != nil && r.FinalTip == b.Pushed {
		f.Results = r.Final.Results
	}
	if len(f.Done) == 1 && r.Commits == 1 {
		if t, ok := d.task(f.Done[0].ID); ok {
			f.Subject = subject(t.Task)
		}
	}
	for _, t := range p.Unsure() {
		f.Looks = append(f.Looks, ledger.ShortID(t.Task.ID)+" "+t.Task.Title+": "+p.TaskProof(t).Text())
	}
	for _, i := range p.Guidance.Items {
		if !i.At.Before(r.Planned) && i.State != guidance.Dropped {
			f.Guidance = append(f.Guidance, guidanceOf(i))
		}
	}
	if from := r.Base.From; from != "" {
		if before := d.branchBefore(); before.Request != nil && !before.IsMerged() && (before.Name == from || before.Of != "") {
			f.Before = append(f.Before, *before.Request)
		}
	}
	return f
}

// doneOn returns the tasks that a run's branch has commits of.
func (d *decision) doneOn(b request.Branch) []request.Task {
	var done []request.Task
	for _, t := range d.Project.tasksOf(b.Source).All() {
		if t.Status != ledger.Done || t.Task.Parent != "" || !d.Project.provedIn(*t, b.Run) {
			continue
		}
		of := request.Task{ID: t.Task.ID, Title: t.Task.Title, Commit: t.Commit}
		if proof := d.Project.TaskProof(*t); proof != nil {
			of.Proof = proof.Text()
		}
		of.Shown = t.shown()
		done = append(done, of)
	}
	return done
}

// shown returns what the request of the task says of its last attempt.
func (t *TaskState) shown() *request.Evidence {
	if t.Chain == nil {
		return nil
	}
	e := &request.Evidence{Cause: t.Chain.Cause, Repro: t.Chain.Repro, Attempts: t.Attempts, Sessions: t.Chain.Sessions, Worked: time.Duration(t.Chain.WorkedMs) * time.Millisecond}
	e.Criteria = t.Chain.Criteria
	if r := t.Chain.Review; r != nil {
		e.Review = &request.Review{By: r.Type, Rounds: r.Rounds, Issues: r.Issues, Looks: r.Looks}
		if kind, _ := t.review(); kind == r.Type {
			e.Review.Kind = kind
		}
	}
	return e
}

// leftOf returns the tasks of a list that are not done; of reports, those that were
// tried.
func leftOf(list TaskList) []request.Task {
	var left []request.Task
	for _, t := range list.All() {
		if t.Status == ledger.Done || t.Status == ledger.Withdrawn || t.Task.Parent != "" {
			continue
		}
		if t.Task.Report != nil && t.Attempts == 0 { // an inbox is no plan, and may have thousands
			continue
		}
		left = append(left, request.Task{ID: t.Task.ID, Title: t.Task.Title, Status: statusWord(t.Status), Why: t.Why})
	}
	return left
}

// statusWord returns a status that is not done, for people.
func statusWord(s ledger.Status) string {
	switch s {
	case ledger.Pending, ledger.Ready, ledger.Active:
		return "to do"
	case ledger.Waiting:
		return "waits for an answer"
	case ledger.ManualVerify:
		return "a person has to look at it"
	}
	return string(s)
}

func guidanceOf(i guidance.Item) request.Guidance {
	g := request.Guidance{ID: i.ID, Text: i.Text, By: i.By, State: i.State.Word(), Note: i.Note}
	if j := i.Judged; j != nil {
		g.State += ", and a reviewer says that it is followed"
		if !j.Followed {
			g.State = i.State.Word() + ", and a reviewer says that it is not followed"
		}
	}
	return g
}

// planName returns the name of a source, for people: "checkout".
func planName(source string) string {
	_, path, _ := strings.Cut(source, ":")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if n := strings.LastIndexByte(name, '.'); n > 0 {
		name = name[:n]
	}
	return name
}
