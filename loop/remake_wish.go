package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

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
	has, out := d.Project.Kept(), slices.DeleteFunc(d.Project.LeftOut(), d.atWork)
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
		if d.run().leftOut(t.Task.ID) && d.atWork(whole) {
			d.refuseAtWork(t)
			return
		}
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
	if b.Words = strings.TrimSpace(b.Words); b.Words == "" && len(d.in.Files) > 0 {
		b.Words = WordsOfPicture
	}
	if b.Words != "" {
		if code, why := checkGuidance(b.Words); why != "" {
			d.refuse(code, "%s", why)
			return
		}
	}
	if d.Project.onBranch(t.Task.ID) {
		if t, ok = d.onBranch(b.Task); !ok {
			return
		}
		wish := ledger.RemakeWish{Drop: []string{t.Task.ID}, Redo: t.Task.ID, Words: b.Words}
		if len(d.in.Files) > 0 || d.in.Album != "" {
			wish.Files = d.nextID("f")
			d.attach(scope{}, wish.Files)
		}
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
	d.doAgain(t.Task.ID, b.Words, "")
}

// doAgain makes a task ready, with a person's words for its next session, and the files
// that were attached with them.
func (d *decision) doAgain(id, words, files string) {
	d.retryTask(id)
	if words = strings.TrimSpace(words); words == "" || !d.answer.OK {
		return
	}
	said := d.answer
	if d.queueGuidance(words, guidance.Address{Task: id}); d.answer.OK {
		d.hand(files, d.answer.ID)
		said.Text += "; your words go with it"
		d.answer = said
	}
}

// canRemake refuses a command about the branch while there is none, or one is being
// made.
func (d *decision) canRemake() bool {
	switch r := d.run(); {
	case r.Aside():
		d.refuse(ledger.CodeBusy, "%s %s; try again when it has ended, or stop it: /stop", r.ID, r.asideDoes())
	case r == nil || r.Base.Branch == "" || len(r.Made) == 0:
		d.refuse(ledger.CodeNothing, "%s has no commits of a run to take out or keep", d.in.Project)
	case d.Project.Requests.Branch(r.ID).IsMerged():
		b := d.Project.Requests.Branch(r.ID).Request
		d.refuse(ledger.CodeOver, "PR %d is merged into %s, which no branch of ours changes any more. Take it back there: git revert, or a task that does it", b.Number, b.Base)
	case r.Remake != nil && r.Remake.Stage != RemakeChecking:
		d.refuse(ledger.CodeBusy, "%s is being made again already, for %s; try again in a moment", r.branchName(), r.Remake.By)
	default:
		return true
	}
	return false
}

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
		d.refuseAtWork(t)
	case d.Project.wholeOf(t.Task.ID) != t.Task.ID:
		whole := ledger.ShortID(d.Project.wholeOf(t.Task.ID))
		d.refuse(ledger.CodeNoTask, "%s is a part of %s, which is taken out as a whole: /revert %s", ledger.ShortID(t.Task.ID), whole, strings.TrimPrefix(whole, "#"))
	case d.Project.onBranch(t.Task.ID):
		return t, true
	default:
		d.notOnBranch(t)
	}
	return TaskState{}, false
}

// atWork reports whether a task is being done, such as again, as a whole or in parts:
// its commits of before cannot come back beside that.
func (d *decision) atWork(id string) bool {
	t, ok := d.task(id)
	switch {
	case !ok, t.Status == ledger.Done, t.Status == ledger.Skipped, t.Status == ledger.Withdrawn:
		return false
	}
	return t.Status == ledger.Active || len(t.Parts) > 0
}

func (d *decision) refuseAtWork(t TaskState) {
	if whole, ok := d.task(d.Project.wholeOf(t.Task.ID)); ok && len(whole.Parts) > 0 {
		id := ledger.ShortID(whole.Task.ID)
		d.refuse(ledger.CodeActive, "%s is being done in parts; /skip %s first, or wait until it is done", id, strings.TrimPrefix(id, "#"))
		return
	}
	d.refuse(ledger.CodeActive, "%s is at work; /stop now first, or wait until it is done", ledger.ShortID(t.Task.ID))
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
	d.withdrawRemakes("another one was asked for")
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskRemake, Run: r.ID, Tasks: wish.Drop, Title: r.branchName(), By: d.by(),
		Text: d.remakeText(wish), Remake: &wish, NeededBy: needs, Asked: d.in.Time, Expires: d.in.Time.Add(offerTime),
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("%s? %s drop · %s cancel", q.Text, q.ID, q.ID)}
}

// withdrawRemakes closes the questions that confirm a wish. They are about the branch
// of the last run.
func (d *decision) withdrawRemakes(why string) {
	for _, q := range d.Project.Questions {
		if q.Kind == ledger.AskRemake {
			d.withdraw(q, why)
		}
	}
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
			_, ok := d.task(id)
			return !ok || !d.Project.onBranch(id)
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
	d.withdrawMerges(d.run().ID, "its branch is made again")
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
