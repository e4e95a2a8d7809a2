package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// A person takes single tasks out of the branch, brings them back, or has one done
// again (docs/spec 9.7). The branch is made again from its commits, as another one;
// the one before stays. The tasks that it lacks are skipped, so that nothing does
// them again by itself. A branch that was pushed is never another one: commits on
// top take the changes back.
//
// It takes its turn when nothing is in hand: while a run works, after the task in
// hand; once the run has ended, at once. Until its tip has passed verification,
// nothing says that it may be merged.

// MadeCommit is a commit of a run's branch, as it was first made.
type MadeCommit struct {
	Task     string        `json:"task,omitempty"` // id as written; "" = somebody else's commits
	Commit   string        `json:"commit"`
	Since    string        `json:"since,omitempty"` // of somebody else's: all after it up to Commit
	Out      bool          `json:"out,omitempty"`   // the branch does not have it any more
	Replaced bool          `json:"replaced,omitempty"`
	Proof    *ledger.Proof `json:"proof,omitempty"` // what the task's "done" was worth before it was left out
	ProvedIn string        `json:"proved_in,omitempty"`
}

// Remake is a branch that is being made again.
type Remake struct {
	Wish   ledger.RemakeWish `json:"wish"`
	By     string            `json:"by"`
	Stage  RemakeStage       `json:"stage"`
	Branch string            `json:"branch,omitempty"` // set with RemakeMaking
	Tip    string            `json:"tip,omitempty"`    // set with RemakeChecking
}

// RemakeStage says what a Remake waits for.
type RemakeStage string

// Stages, in their order.
const (
	RemakeWaits    RemakeStage = "waits"    // for its turn
	RemakeMaking   RemakeStage = "making"   // its effect is under way
	RemakeChecking RemakeStage = "checking" // its tip is verified
)

// pushed reports whether a branch has left this machine, or is about to.
func (p Project) pushed(branch string) bool {
	return slices.ContainsFunc(p.Requests.Branches, func(b request.Branch) bool {
		return b.Name == branch && (b.Pushed != "" || b.Pushing != "")
	})
}

// onBranch reports whether the run's branch has a commit of the task.
func (r *Run) onBranch(task string) bool {
	return r != nil && slices.ContainsFunc(r.Made, func(m MadeCommit) bool { return !m.Out && ledger.SameID(m.Task, task) })
}

// leftOut reports whether the run's branch had a commit of the task that can come
// back.
func (r *Run) leftOut(task string) bool {
	return r != nil && slices.ContainsFunc(r.Made, func(m MadeCommit) bool { return m.Out && !m.Replaced && ledger.SameID(m.Task, task) })
}

// Kept returns the tasks that the run's branch has commits of, in the order of the
// branch. A part counts as its task.
func (p Project) Kept() []string {
	return p.tasksWith(func(m MadeCommit) bool { return !m.Out })
}

// LeftOut returns the tasks that were taken out of the run's branch and can come
// back, in the order of the branch.
func (p Project) LeftOut() []string {
	return p.tasksWith(func(m MadeCommit) bool { return m.Out && !m.Replaced })
}

func (p Project) tasksWith(such func(MadeCommit) bool) (ids []string) {
	if p.Run == nil {
		return nil
	}
	for _, m := range p.Run.Made {
		if m.Task == "" || !such(m) {
			continue
		}
		if id := p.wholeOf(m.Task); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// wholeOf returns the id of the task that has the given one as a part, or the id
// itself.
func (p Project) wholeOf(id string) string {
	if n := p.index(id); n >= 0 {
		if of := p.Tasks.At(n).Task.Parent; of != "" {
			return of
		}
	}
	return id
}

// commitsOf returns the tasks, in the ledger's sense, that have the commits of a
// task: itself and its parts.
func (p Project) commitsOf(id string) []string {
	ids := []string{id}
	for _, m := range p.Run.Made {
		if m.Task != "" && !ledger.SameID(m.Task, id) && ledger.SameID(p.wholeOf(m.Task), id) && !slices.Contains(ids, m.Task) {
			ids = append(ids, m.Task)
		}
	}
	return ids
}

// revertTasks asks whether tasks are to be taken out of the branch.
func (d *decision) revertTasks(ids []string) {
	var drop []string
	for _, id := range ids {
		t, ok := d.onBranch(id)
		if !ok {
			return
		}
		drop = append(drop, t.Task.ID)
	}
	d.askRemake(ledger.RemakeWish{Drop: drop}, nil)
}

// keepTasks asks for a branch that has the given tasks and no others. Without tasks,
// it has all that were ever on it.
func (d *decision) keepTasks(ids []string) {
	if !d.canRemake() {
		return
	}
	has, out := d.Project.Kept(), d.Project.LeftOut()
	want := slices.Concat(has, out)
	if len(ids) > 0 {
		want = nil
	}
	for _, id := range ids {
		t, ok := d.Project.Find(id)
		if !ok {
			d.noTask(id)
			return
		}
		whole := d.Project.wholeOf(t.Task.ID)
		if !slices.Contains(has, whole) && !slices.Contains(out, whole) {
			d.notOnBranch(t)
			return
		}
		want = append(want, whole)
	}
	var wish ledger.RemakeWish
	for _, id := range has {
		if !slices.Contains(want, id) {
			wish.Drop = append(wish.Drop, id)
		}
	}
	for _, id := range out {
		if slices.Contains(want, id) {
			wish.Back = append(wish.Back, id)
		}
	}
	switch {
	case len(wish.Drop)+len(wish.Back) == 0:
		d.answer = ledger.Answer{OK: true, Code: ledger.CodeSame, Text: fmt.Sprintf("%s has exactly these already", d.run().branchName())}
	case len(wish.Drop) == 0:
		d.remake(wish)
	default:
		d.askRemake(wish, nil)
	}
}

// redoTask has a task done again, with a person's words. One that the branch has is
// taken out first.
func (d *decision) redoTask(b RedoTask) {
	t, ok := d.Project.Find(b.Task)
	if !ok {
		d.noTask(b.Task)
		return
	}
	if words := strings.TrimSpace(b.Words); words != "" {
		if code, why := checkGuidance(words); why != "" {
			d.refuse(code, "%s", why)
			return
		}
	}
	if whole := d.Project.wholeOf(t.Task.ID); d.run().onBranch(t.Task.ID) || whole == t.Task.ID && len(d.Project.partsOn(t)) > 0 {
		if t, ok = d.onBranch(b.Task); !ok {
			return
		}
		wish := ledger.RemakeWish{Drop: []string{t.Task.ID}, Redo: t.Task.ID, Words: strings.TrimSpace(b.Words)}
		if needs := d.carriers(wish.Drop); len(needs) > 0 {
			d.askRemake(wish, nil)
			return
		}
		d.remake(wish)
		return
	}
	if t.Status == ledger.Active {
		d.refuse(ledger.CodeActive, "%s is at work; /guidance #%s reaches its next session", ledger.ShortID(t.Task.ID), strings.TrimPrefix(ledger.ShortID(t.Task.ID), "#"))
		return
	}
	d.doAgain(t.Task.ID, b.Words)
}

// partsOn returns the parts of a task that the branch has.
func (p Project) partsOn(t TaskState) (on []string) {
	for _, id := range t.Parts {
		if p.Run.onBranch(id) {
			on = append(on, id)
		}
	}
	return on
}

// doAgain makes a task ready, with a person's words for its next session.
func (d *decision) doAgain(id, words string) {
	d.retryTask(id)
	if words = strings.TrimSpace(words); words == "" || !d.answer.OK {
		return
	}
	said := d.answer
	if d.queueGuidance(words, guidance.Address{Task: id}); d.answer.OK {
		said.Text += "; your words go with it"
		d.answer = said
	}
}

// canRemake refuses a command about the branch while there is none, or one is being
// made.
func (d *decision) canRemake() bool {
	switch r := d.run(); {
	case r != nil && r.Upkeep != nil:
		d.refuse(ledger.CodeBusy, "%s looks after PR %d; try again when it has ended, or stop it: /stop", r.ID, r.Upkeep.Number)
	case r == nil || r.Base.Branch == "" || len(r.Made) == 0:
		d.refuse(ledger.CodeNothing, "%s has no commits of a run to take out or keep", d.in.Project)
	case r.Remake != nil && r.Remake.Stage != RemakeChecking:
		d.refuse(ledger.CodeBusy, "%s is being made again already, for %s; try again in a moment", r.branchName(), r.Remake.By)
	default:
		return true
	}
	return false
}

// branchName returns the last part of the branch's name, for people: r14.1.
func (r *Run) branchName() string { return BranchName(r.Base.Branch) }

// BranchName returns the last part of the name of a run's branch, for people: r14.1.
func BranchName(branch string) string { return branch[strings.LastIndexByte(branch, '/')+1:] }

// onBranch returns a task that the branch has, or refuses the command and says why
// it cannot be taken out.
func (d *decision) onBranch(id string) (TaskState, bool) {
	if !d.canRemake() {
		return TaskState{}, false
	}
	t, ok := d.Project.Find(id)
	switch {
	case !ok:
		d.noTask(id)
	case t.Status == ledger.Active:
		d.refuse(ledger.CodeActive, "%s is at work; /stop now first, or wait until it is done", ledger.ShortID(t.Task.ID))
	case d.Project.wholeOf(t.Task.ID) != t.Task.ID:
		whole := ledger.ShortID(d.Project.wholeOf(t.Task.ID))
		d.refuse(ledger.CodeNoTask, "%s is a part of %s, which is taken out as a whole: /revert %s", ledger.ShortID(t.Task.ID), whole, strings.TrimPrefix(whole, "#"))
	case d.run().onBranch(t.Task.ID) || len(d.Project.partsOn(t)) > 0:
		return t, true
	default:
		d.notOnBranch(t)
	}
	return TaskState{}, false
}

// notOnBranch refuses a command about a task that the branch has no commit of.
func (d *decision) notOnBranch(t TaskState) {
	id, r := ledger.ShortID(t.Task.ID), d.run()
	switch {
	case r.leftOut(t.Task.ID):
		d.refuse(ledger.CodeSame, "%s is out of %s already; /keep all brings it back", id, r.branchName())
	case t.Status == ledger.Done && t.Commit != "":
		d.refuse(ledger.CodeOver, "%s was committed by an earlier run, and %s builds on it. By hand: git revert %.12s", id, r.branchName(), t.Commit)
	case t.Status == ledger.Done:
		d.refuse(ledger.CodeNothing, "%s has no commit: there is nothing to take out", id)
	default:
		d.refuse(ledger.CodeNotReady, "%s is %s: it has no commit on %s", id, t.Status, r.branchName())
	}
}

// carriers returns the tasks on the branch that depend on given ones, directly or
// not.
func (d *decision) carriers(ids []string) (need []string) {
	have := d.Project.Kept()
	for found := true; found; {
		found = false
		for _, u := range d.Project.Tasks.All() {
			if !slices.Contains(have, u.Task.ID) || slices.Contains(ids, u.Task.ID) || slices.Contains(need, u.Task.ID) {
				continue
			}
			for _, dep := range u.Task.DependsOn {
				if on, ok := d.Project.Find(dep); ok && (slices.Contains(ids, on.Task.ID) || slices.Contains(need, on.Task.ID)) {
					need, found = append(need, u.Task.ID), true
					break
				}
			}
		}
	}
	return need
}

// askRemake asks whether work is to be taken out of the branch. It names the tasks
// that go along: those that depend on it, and those that do not apply without it.
func (d *decision) askRemake(wish ledger.RemakeWish, needs []ledger.RemakeNeed) {
	r := d.run()
	for _, id := range d.carriers(wish.Drop) {
		t, _ := d.task(id)
		var on []string
		for _, dep := range t.Task.DependsOn {
			if o, ok := d.Project.Find(dep); ok && holds(wish.Drop, o.Task.ID) {
				on = append(on, o.Task.ID)
			}
		}
		needs = append(needs, ledger.RemakeNeed{Task: id, On: on})
		wish.Drop = append(slices.Clip(wish.Drop), id)
	}
	for _, q := range d.Project.Questions {
		if q.Kind == ledger.AskRemake {
			d.withdraw(q, "another one was asked for")
		}
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskRemake, Run: r.ID, Tasks: wish.Drop, Title: r.branchName(), By: d.by(),
		Text: d.remakeText(wish), Remake: &wish, NeededBy: needs, Asked: d.in.Time, Expires: d.in.Time.Add(offerTime),
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("%s? %s drop · %s cancel", q.Text, q.ID, q.ID)}
}

// remakeText says what a wish does: "take #5 out of r14".
func (d *decision) remakeText(wish ledger.RemakeWish) string {
	text := fmt.Sprintf("take %s out of %s", joinFew(shortIDs(wish.Drop)), d.run().branchName())
	if wish.Redo != "" {
		text = fmt.Sprintf("do %s again, on a branch without it", ledger.ShortID(wish.Redo))
	}
	if len(wish.Drop) == 0 {
		text = fmt.Sprintf("bring %s back to %s", joinFew(shortIDs(wish.Back)), d.run().branchName())
	} else if len(wish.Back) > 0 {
		text += fmt.Sprintf(" and bring %s back", joinFew(shortIDs(wish.Back)))
	}
	return text
}

func applyRemake(d *decision, a answerGiven) {
	switch {
	case a.choice == "cancel":
		d.say("nothing was changed")
	case a.q.Run != d.run().ID:
		d.refuse(ledger.CodeTooLate, "another run has begun since; ask again")
	case !d.canRemake():
	default:
		wish := *a.q.Remake
		wish.Drop = slices.DeleteFunc(slices.Clone(wish.Drop), func(id string) bool {
			t, ok := d.task(id)
			return !ok || !d.run().onBranch(id) && len(d.Project.partsOn(t)) == 0
		})
		d.remake(wish)
	}
}

// remake records a wish, and carries it out if it has its turn.
func (d *decision) remake(wish ledger.RemakeWish) {
	if !d.canRemake() {
		return
	}
	if r := d.run(); r.Remake != nil { // the check of the branch before: its tip is no branch's any more
		d.cutRemakeCheck("the branch is made again")
	}
	d.add(scope{}, ledger.RemakeAsked{Wish: wish, By: d.by()})
	d.say("%s: begun", d.remakeText(wish))
	if !d.remakeTurn() {
		after := "what is in hand"
		if t, ok := d.Project.inHand(); ok {
			after = doing(t)
		}
		d.say("%s, after %s", d.remakeText(wish), after)
		return
	}
	d.makeBranch()
}

// remakeTurn reports whether a wish that waits can be carried out: nothing else
// moves the branch or stands on its tip.
func (d *decision) remakeTurn() bool {
	r := d.run()
	if r == nil || r.Remake == nil || r.Remake.Stage != RemakeWaits || d.Project.busy() || d.Project.stuck() {
		return false
	}
	if r.Over() {
		return true
	}
	_, inHand := d.Project.inHand()
	working := r.State == ledger.RunRunning && inHand
	return r.State != ledger.RunPlanning && r.Finishing == nil && r.Checks == nil && r.Batch == nil && !working
}

// makeBranch begins to make the branch again.
func (d *decision) makeBranch() {
	request := d.remakeRequest(d.Project.pushed(d.run().Base.Branch))
	d.add(scope{}, ledger.RemakeBegun{Branch: request.Branch, From: request.From})
	d.effect(d.uniqueKey(request.Branch), ledger.EffectRemake{Remake: request})
}

// remakeRequest returns what carries out the wish: another branch with the commits
// that stay or, of a branch that was pushed, commits on top.
func (d *decision) remakeRequest(pushed bool) ledger.RemakeBranch {
	r := d.run()
	from, wish := r.Base.Branch, r.Remake.Wish
	request := ledger.RemakeBranch{
		Run: r.ID, Branch: fmt.Sprintf("%s.%d", r.firstBranch(), r.Remakes+1), From: from, Tip: r.Tip, Base: r.Base.Commit,
		Author: r.Base.Author, Committer: r.Base.Committer, Time: d.local(d.in.Time),
	}
	drop := d.Project.allOf(wish.Drop)
	back := d.Project.allOf(wish.Back)
	if pushed {
		request.Branch, request.Base = from, r.Tip
		for _, m := range slices.Backward(r.Made) {
			if !m.Out && holds(drop, m.Task) {
				t, _ := d.task(m.Task)
				request.Steps = append(request.Steps, ledger.RemakeStep{Task: m.Task, Commit: m.Commit, Undo: true, Subject: "revert: " + t.Task.ID + " - " + t.Task.Title})
			}
		}
		for _, m := range r.Made {
			if m.Out && !m.Replaced && holds(back, m.Task) {
				request.Steps = append(request.Steps, ledger.RemakeStep{Task: m.Task, Commit: m.Commit})
			}
		}
	} else {
		for _, m := range r.Made {
			out := m.Out && (m.Replaced || !holds(back, m.Task)) || holds(drop, m.Task)
			request.Steps = append(request.Steps, ledger.RemakeStep{Task: m.Task, Commit: m.Commit, Since: m.Since, Drop: out})
		}
	}
	return request
}

// allOf returns the given tasks and their parts on the branch.
func (p Project) allOf(ids []string) (all []string) {
	for _, id := range ids {
		all = append(all, p.commitsOf(id)...)
	}
	return all
}

func holds(ids []string, id string) bool {
	return id != "" && slices.ContainsFunc(ids, func(o string) bool { return ledger.SameID(o, id) })
}

// firstBranch returns the branch that the run began with: nightporter/shop/r14.
func (r *Run) firstBranch() string {
	return r.Base.Branch[:strings.LastIndexByte(r.Base.Branch, '/')+1] + r.ID
}

// remakeFinished records the branch that was made, or why there is none.
func (d *decision) remakeFinished(b RemakeFinished) {
	r := d.run()
	if r == nil || r.Remake == nil || r.Remake.Stage != RemakeMaking || r.Remake.Branch != b.Branch {
		return
	}
	m, from := *r.Remake, r.Base.Branch
	switch {
	case b.Made.Refused != nil:
		d.add(scope{}, ledger.RemakeEnded{Why: b.Made.Refused.Text, Remedy: b.Made.Refused.Remedy})
		return
	case len(b.Made.Needs) > 0:
		d.needed(m, b.Made.Needs)
		return
	}
	d.add(scope{}, ledger.BranchRemade{
		Branch: b.Branch, From: from, Tip: b.Made.Tip, Tree: b.Made.Tree, Wish: m.Wish, Commits: b.Made.Commits, Foreign: b.Made.Foreign,
	})
	for _, id := range m.Wish.Back {
		t, ok := d.task(id)
		switch {
		case !ok || t.Status != ledger.Skipped:
		case d.wasDone(t):
			d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Done, Why: "brought back", By: m.By})
			d.mark(id, ledger.MarkDone)
		default: // only some of its parts were
			d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "brought back", By: m.By})
		}
	}
	for _, id := range m.Wish.Drop {
		t, ok := d.task(id)
		if !ok || t.Status == ledger.Withdrawn {
			continue
		}
		d.closeQuestions(id, "revert")
		if t.Status != ledger.Done {
			d.dropParts(t, "its task was reverted")
		}
		d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Skipped, Why: "reverted", By: m.By})
		d.expireGuidance(id, "its task was reverted")
		if id != m.Wish.Redo {
			d.mark(id, ledger.MarkOpen)
		}
	}
	if m.Wish.Redo != "" {
		d.as(m.By, func() { d.doAgain(m.Wish.Redo, m.Wish.Words) })
	}
	d.checkRemade()
}

// wasDone reports whether a task that was taken out had been done: by a commit of its
// own, or by all of its parts.
func (d *decision) wasDone(t TaskState) bool {
	own := slices.ContainsFunc(d.run().Made, func(m MadeCommit) bool { return !m.Replaced && ledger.SameID(m.Task, t.Task.ID) })
	return own || len(t.Parts) > 0 && !slices.ContainsFunc(t.Parts, func(id string) bool {
		p, ok := d.task(id)
		return !ok || p.Status != ledger.Done
	})
}

// needed asks about commits that do not apply without what was to be left out.
func (d *decision) needed(m Remake, needs []ledger.RemakeNeed) {
	wish := m.Wish
	for _, n := range needs {
		if n.Task == "" {
			d.add(scope{}, ledger.RemakeEnded{Why: fmt.Sprintf("commits that somebody else added need %s (%s)", joinFew(shortIDs(n.On)), joinFew(n.Files)), Remedy: "take it back by hand: git revert COMMIT", Needs: needs})
			return
		}
		if id := d.Project.wholeOf(n.Task); !holds(wish.Drop, id) {
			wish.Drop = append(slices.Clip(wish.Drop), id)
		}
	}
	wish.Back = slices.DeleteFunc(slices.Clone(wish.Back), func(id string) bool { return holds(wish.Drop, id) })
	d.add(scope{}, ledger.RemakeEnded{Why: "other tasks need it", Needs: needs})
	d.as(m.By, func() { d.askRemake(wish, needs) })
}

// as decides in the name of a person whose command is carried out only now.
func (d *decision) as(name string, do func()) {
	in := d.in
	d.in.Name = name
	do()
	d.in = in
}

// checkRemade begins the check of a branch that was made again. A run that is about
// to start verifies the commit that it begins on.
func (d *decision) checkRemade() {
	r := d.run()
	if r.Remake == nil || r.Remake.Stage != RemakeChecking || d.in.Idle {
		return
	}
	cmds := verifyCommands(r.Settings, ledger.KindFinal, nil)
	switch {
	case d.Project.Green[d.Project.Source] == r.Tip:
		d.add(scope{}, ledger.RemakeEnded{Why: "its tip was verified before", Made: true, Green: true})
		return
	case len(cmds) == 0:
		d.add(scope{}, ledger.RemakeEnded{Why: "nothing is configured that could verify it", Made: true})
		return
	}
	d.add(scope{}, newCheck(r.Settings, ledger.KindFinal, r.Tip, false, cmds))
	d.nextCheck(scope{}, true)
}

// cutRemakeCheck ends the check of a branch that was made again, without a result.
func (d *decision) cutRemakeCheck(why string) {
	d.add(scope{}, ledger.RemakeEnded{Why: why, Made: true})
	d.cutAll(why)
}

// stepRemake goes on with a branch that is being made again, when nothing else is
// under way. It reports whether there was anything to do.
func (d *decision) stepRemake() bool {
	r := d.run()
	switch {
	case r == nil || r.Remake == nil:
	case d.remakeTurn():
		d.makeBranch()
		return true
	case r.Over() && r.Remake.Stage == RemakeChecking && !d.Project.busy():
		if r.Checks == nil {
			d.checkRemade()
		} else {
			d.nextCheck(scope{}, true)
		}
		return true
	}
	return false
}

// remakeOf returns the branch of the run that is being made again; nil for none.
func remakeOf(r *Run) *Remake {
	if r == nil {
		return nil
	}
	return r.Remake
}

// idle reports whether the run has ended and nothing is made of it any more.
func (r *Run) idle() bool { return r.Over() && (r == nil || r.Remake == nil) }

// applyRemake folds an entry about a branch that is made again into the run.
func (r *Run) applyRemake(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.TaskCommitted:
		made := slices.Clone(r.Made)
		for n := range made {
			if ledger.SameID(made[n].Task, e.Task) && made[n].Out {
				made[n].Replaced = true
			}
		}
		r.Made = append(made, MadeCommit{Task: e.Task, Commit: b.Commit})
	case ledger.TipFound:
		r.Made = append(slices.Clip(r.Made), MadeCommit{Commit: b.Commit, Since: r.Tip})
	case ledger.RemakeAsked:
		r.Remake = &Remake{Wish: b.Wish, By: b.By, Stage: RemakeWaits}
	case ledger.RemakeBegun:
		if r.Remake != nil {
			n := *r.Remake
			n.Stage, n.Branch = RemakeMaking, b.Branch
			r.Remake = &n
		}
	case ledger.RemakeEnded:
		if r.Remake = nil; b.Made {
			r.Checks = nil
		}
	case ledger.Verified:
		if r.Remake != nil && r.Remake.Stage == RemakeChecking && e.Task == "" && b.Kind == ledger.KindFinal && b.Tree == r.Remake.Tip {
			r.Remake = nil
		}
	}
}

// remade folds a branch that was made again into the project.
func (p Project) remade(b ledger.BranchRemade) Project {
	if p.Run == nil {
		return p
	}
	r := *p.Run
	r.Made = slices.Clone(r.Made)
	if b.Foreign != nil {
		r.Made = append(r.Made, MadeCommit{Commit: b.Foreign.Tip, Since: b.Foreign.Since})
	}
	drop, back := p.allOf(b.Wish.Drop), p.allOf(b.Wish.Back)
	for n := range r.Made {
		m := &r.Made[n]
		at := p.index(m.Task)
		switch {
		case at < 0:
		case !m.Out && holds(drop, m.Task):
			m.Out = true
			t := *p.Tasks.At(at)
			m.Proof, m.ProvedIn = t.Proof, t.ProvedIn
			t.Proof, t.ProvedIn = nil, ""
			t.Lifted = t.Task.Mark // the tick in the source, until it is taken off
			p.Tasks = p.Tasks.with(at, &t)
		case m.Out && !m.Replaced && holds(back, m.Task):
			m.Out = false
			t := *p.Tasks.At(at)
			t.Proof, t.ProvedIn, t.Commit = m.Proof, m.ProvedIn, m.Commit
			p.Tasks = p.Tasks.with(at, &t)
		}
	}
	for _, c := range b.Commits {
		if at := p.index(c.Task); at >= 0 && c.Commit != "" && !c.Undo {
			t := *p.Tasks.At(at)
			t.Commit = c.Commit
			p.Tasks = p.Tasks.with(at, &t)
		}
	}
	if b.Branch != b.From {
		r.Remakes++
	}
	if r.Remake != nil {
		n := *r.Remake
		n.Stage, n.Tip = RemakeChecking, b.Tip
		r.Remake = &n
	}
	r.Base.Branch, r.Tip, r.TipTree, r.TipTests = b.Branch, b.Tip, b.Tree, nil
	p.Run = &r
	p.Branches = with(p.Branches, p.Source, Tip{Branch: b.Branch, Commit: b.Tip})
	return p
}
