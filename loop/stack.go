package loop

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// With one request a task (docs/spec 9.4), each commit of a task gets a branch of its
// own on the remote, and its request stands on the one before. The run's own branch
// is not pushed then: the topmost of the stack has all its commits. Nothing is pushed
// before the run's tip is verified; commits that are no task's, such as those that
// take a change back, go with the task before them. A commit that failed as the tip has
// its branch all the same, because those above it stand on it, and says what failed.

// stacks reports whether the run has a request for each of its tasks. What it began
// with holds, whatever the settings say after a restart.
func (d *decision) stacks() bool { return d.Project.stacks(d.run()) }

func (p Project) stacks(r *Run) bool {
	all := p.Requests
	own := all.Branch(r.ID)
	return r.Upkeep == nil && (len(all.Stack(r.ID)) > 0 || r.Settings.Requests.PerTask && own.Pushed == "" && own.Pushing == "")
}

// level is one branch of a stack, with the commit that it is to have.
type level struct {
	request.Branch
	commit string
}

// stack returns what the run's stack is to be, the lowest first. Branches that the
// remote has keep their place, and their commits but for the topmost.
func (d *decision) stack() (all []level) {
	r := d.run()
	for _, b := range d.Project.Requests.Stack(r.ID) {
		all = append(all, level{b, b.Pushed})
	}
	begun := len(all)
	for m, b := range d.Project.taskBranches() {
		b.Red = m.Red
		b.Joint = r.Settings.Queue == ledger.QueueBatch || m.Now != "" && m.Now != m.Commit
		if at := slices.IndexFunc(all[:begun], func(l level) bool { return l.Run == b.Run }); at >= 0 {
			if all[at].commit == "" { // its push is under way, or broke
				all[at].commit = m.tip()
			}
			continue
		}
		if m.Out || m.Empty {
			continue
		}
		if b.On = d.runBefore().Run; len(all) > 0 {
			b.On = all[len(all)-1].Run
		}
		all = append(all, level{b, m.tip()})
	}
	if len(all) > 0 {
		all[len(all)-1].commit, all[len(all)-1].Joint, all[len(all)-1].Red = r.Tip, false, ""
	}
	return all
}

// taskBranches returns the tasks' commits that the last run made, in their order, each
// with the branch that it has or is to have on the remote, as it begins.
func (p Project) taskBranches() iter.Seq2[MadeCommit, request.Branch] {
	return func(yield func(MadeCommit, request.Branch) bool) {
		r, times := p.Run, map[string]int{}
		for _, m := range r.Made {
			if m.Task == "" {
				continue
			}
			name := request.Slug(m.Task)
			if times[name]++; times[name] > 1 { // it is done again, or another id is written like it
				name = fmt.Sprintf("%s-%d", name, times[name])
			}
			b := request.Branch{Run: r.ID + "-" + name, Name: r.firstBranch() + "-" + name, Of: r.ID, Task: m.Task}
			if t, ok := p.inSource(r.Settings.Source.String(), m.Task); ok && t.Task.Report != nil { // its id says nothing
				b.Name += "-" + request.Slug(t.Task.Title)
			}
			if !yield(m, b) {
				return
			}
		}
	}
}

// runBefore returns the last branch of the run that this one goes on from, if its
// request is open.
func (d *decision) runBefore() request.Branch {
	if b := d.branchBefore(); b.IsOpen() {
		return b
	}
	return request.Branch{}
}

// branchBefore is runBefore, whatever became of the branch's request.
func (d *decision) branchBefore() request.Branch {
	from := d.run().Base.From
	if from == "" {
		return request.Branch{}
	}
	run, _, _ := strings.Cut(BranchName(from), ".") // r13.2 is a branch of r13
	return d.Project.Requests.Last(run)
}

// publishStack is publish for a run with a request for each task.
func (d *decision) publishStack() bool {
	r := d.run()
	if _, busy := d.Project.Requests.Busy(r.ID); !busy && d.pushable() {
		for _, l := range d.stack() {
			if begun, effect, ok := l.Push(l.Name, d.Project.Source, l.commit, ""); ok {
				d.add(scope{}, begun)
				d.effect(request.PushKey(l.Run, l.commit), effect)
				break
			}
		}
	}
	d.askStack(r.ID)
	b, busy := d.Project.Requests.Busy(r.ID)
	kind, key, _ := b.UnderWay()
	_, fails := d.Project.FailingEffect(kind, key)
	return busy && !fails
}

// askStack opens the next request of a run's stack, or writes the next one anew whose
// text says something else by now: one at a time, and those that are missing first.
func (d *decision) askStack(run string) {
	if _, busy := d.Project.Requests.Busy(run); busy || run == "" {
		return
	}
	all := d.Project.Requests.Stack(run)
	for _, missing := range []bool{true, false} {
		for _, b := range all {
			if (b.Request == nil) != missing {
				continue
			}
			draft := request.Draft(d.factsOf(b))
			if b.Request != nil && draft.Base != "" && d.Project.Requests.StoodOnMerged(b) {
				draft.Was = b.Request.Base
			}
			if begun, effect, ok := b.Ask(draft, d.headName(run)); ok {
				d.add(scope{}, begun)
				d.effect(request.RequestKey(b.Run, begun.N), effect)
				return
			}
		}
	}
}

// headName returns the branch that a run began on, "" if that is unknown.
func (d *decision) headName(run string) string {
	if r := d.run(); slices.Contains(d.Project.publishedRuns(), run) && r.Base.HeadName != "detached" {
		return r.Base.HeadName
	}
	return ""
}

// restack goes on with a stack after somebody merged one of its requests: the next
// one gets its base, and all that name it are written anew. A closed one changes
// nothing: a person is told.
func (d *decision) restack(b request.Branch) {
	runs := []string{b.Of}
	for _, above := range d.Project.Requests.Branches { // the stack of the next run may stand on it
		if above.On == b.Run && !slices.Contains(runs, above.Of) {
			runs = append(runs, above.Of)
		}
	}
	for _, run := range runs {
		d.askStack(run)
	}
}

// stackFacts adds what the request of one task says. It uses nothing of the run that
// a later run lacks: a request is written anew when one below it is merged, which may
// be days after.
func (d *decision) stackFacts(f *request.Facts, b request.Branch) {
	p, r := d.Project, d.run()
	f.Run = b.Of
	atWork := r.ID == b.Of && !r.Over() && r.Finishing == nil
	all := p.Requests.Stack(b.Of)
	at := slices.IndexFunc(all, func(o request.Branch) bool { return o.Run == b.Run })
	place := &request.Place{N: at + 1, Joint: b.Joint, Red: b.Red}
	if !atWork {
		place.Of = len(all)
		if r.ID == b.Of {
			place.Of = max(place.Of, len(d.stack()))
		}
	}
	if atWork || at < len(all)-1 {
		f.Left = nil
	}
	if base := p.Requests.BaseOf(b); base != "" {
		f.Base = base
	}
	if on, ok := p.Requests.Carrier(b); ok && on.Request.State != ledger.RequestMerged {
		place.On = on.Request
	}
	for _, o := range all[at+1:] {
		if place.Next == nil && o.IsOpen() {
			place.Next = o.Request
		}
		if ledger.SameID(o.Task, b.Task) && o.Request != nil {
			place.Again = o.Request
		}
	}
	top := all[len(all)-1]
	for _, o := range all {
		t, ok := p.inSource(b.Source, o.Task)
		switch {
		case !ok || t.Status != ledger.Skipped:
		case b.Run == top.Run:
			place.Back = append(place.Back, o.Task)
		case b.Run == o.Run:
			place.Out = top.Request
		}
	}
	if b.Lift != nil {
		place = &request.Place{N: place.N, On: place.On, Again: place.Again, Joint: b.Joint, Red: b.Red, Apart: p.apartFacts(b)}
		f.Left = nil
	}
	f.Stack, f.Done = place, nil
	t, ok := p.inSource(b.Source, b.Task)
	if !ok {
		t.Task = ledger.Task{ID: b.Task}
	}
	f.Subject = subject(t.Task)
	done := request.Task{ID: b.Task, Title: t.Task.Title, Commit: b.Pushed}
	if proof := p.TaskProof(t); ok && proof != nil && t.Status == ledger.Done && place.Again == nil {
		if done.Proof = proof.Text(); !proof.Sure() {
			f.Looks = append(f.Looks, ledger.ShortID(t.Task.ID)+" "+t.Task.Title+": "+done.Proof)
		}
	}
	if ok && t.Status == ledger.Done && place.Again == nil {
		done.Shown = t.shown()
	}
	f.Done = []request.Task{done}
	for _, i := range p.Guidance.Items {
		if i.Task != "" && i.Task == ledger.FoldID(b.Task) && (i.Source == "" || i.Source == b.Source) && i.State != guidance.Dropped {
			f.Guidance = append(f.Guidance, guidanceOf(i))
		}
	}
}

// apartFacts returns what the request of a task says that has a branch of its own.
func (p Project) apartFacts(b request.Branch) *request.Apart {
	a := &request.Apart{Files: b.Lift.Files, Began: b.Lift.Why != "" && b.On == "" && len(b.With) == 0, Why: b.Lift.Why, Back: b.TakenBack()}
	if on, ok := p.Requests.Carrier(b); ok && on.Of == b.Of {
		a.OnTask = on.Task
	}
	for _, id := range b.With {
		o := request.Other{Task: id}
		for _, of := range p.Requests.Stack(b.Of) {
			if of.Task == id {
				o.Request = of.Request
			}
		}
		a.With = append(a.With, o)
	}
	for _, o := range p.Requests.Above(b) {
		a.Above = append(a.Above, request.Other{Task: o.Task, Request: o.Request})
	}
	return a
}

// inSource returns a task of a source, which may be another than that of the last run.
func (p Project) inSource(source, id string) (TaskState, bool) {
	tasks := p.tasksOf(source)
	n := tasks.index(id)
	if n < 0 {
		return TaskState{}, false
	}
	return *tasks.At(n), true
}
