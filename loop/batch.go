package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A batch lays the changes of its tasks one on top of the other, in the order of the
// source. The result of each is a tree of the chain, and the commits get exactly
// these trees. What is committed is the longest beginning of the chain, a prefix,
// that passed as a whole. If the chain fails, the prefixes are bisected for the
// first change that fails on top of the others, and its task goes back to the hat
// that wrote it (docs/spec 2.3).

// TaskBatch is a batch under way. Commits of its tasks follow its last check.
type TaskBatch struct {
	ID      string             `json:"id"`
	Onto    string             `json:"onto"`              // branch tip that the chain begins on
	Links   []ledger.BatchLink `json:"links"`             // in the order of their commits
	Chained bool               `json:"chained,omitempty"` // the trees of Links are those of the chain
	Checked []ledger.Verified  `json:"checked,omitempty"` // the last result for each tree of the chain
	AtTip   *ledger.Verified   `json:"at_tip,omitempty"`  // result of the red commands on Onto
	Excused bool               `json:"excused,omitempty"` // what fails on Onto, too, was exempted
	Made    int                `json:"made,omitempty"`    // number of leading Links that are committed
}

// beginBatch begins the next batch, if there is one.
func (d *decision) beginBatch() bool {
	r := d.run()
	tasks, _ := d.nextBatch()
	if len(tasks) == 0 {
		return false
	}
	if r.State == ledger.RunWaiting {
		d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
	}
	begun := ledger.BatchBegun{ID: fmt.Sprintf("%s-b%d", r.ID, r.Batches+1), Onto: r.Tip}
	effect := ledger.EffectChain{Batch: begun.ID, Onto: r.Tip}
	for _, t := range tasks {
		w := t.Attempt
		begun.Links = append(begun.Links, ledger.BatchLink{Task: t.Task.ID, Attempt: w.N, Tree: w.Tree})
		effect.Merges = append(effect.Merges, ledger.ChainLink{
			Task: t.Task.ID, Attempt: w.N, Proof: w.Facts,
			Merge: ledger.MergeTree{Run: r.ID, Base: w.Base, Tree: w.Tree, Onto: r.Tip, Proof: d.proofRequest(*t)},
		})
	}
	d.add(scope{}, begun)
	if len(begun.Links) > 1 {
		d.effect(begun.ID, effect)
		return true
	}
	d.add(scope{}, ledger.BatchChained{Links: begun.Links})
	d.stepBatch()
	return true
}

// chainMade records the chain of a batch.
func (d *decision) chainMade(b ChainMade) {
	if r := d.run(); !r.Over() && r.Batch != nil && r.Batch.ID == b.Batch && !r.Batch.Chained {
		d.add(scope{}, ledger.BatchChained{Links: b.Links, Left: b.Left})
	}
}

// stepBatch plans the next check or commit of the batch under way, or ends it. It
// decides by the state alone, so a batch goes on after a crash or a pause where it
// was.
func (d *decision) stepBatch() {
	r := d.run()
	if r.StopNow && r.Batch.Made == 0 {
		d.cutCheck()
		return
	}
	b := r.Batch
	if id := d.gone(b); id != "" {
		d.endBatch(ledger.ShortID(id) + " is not part of it any more")
		return
	}
	green, red := b.bounds()
	switch {
	case green == 0 && red > len(b.Links):
		d.checkPrefix(len(b.Links))
	case red-green > 1:
		d.checkPrefix((green + red) / 2)
	case red == 1 && b.AtTip == nil:
		d.checkTip()
	case red == 1 && !b.Excused && d.tipBroke():
	case b.Made < green:
		d.commitLink(green)
	default:
		d.tipVerified(green)
		if red > len(b.Links) {
			d.endBatch("")
			return
		}
		d.sendBack(red)
	}
}

// gone returns the task of a link that is not committed and whose attempt has left
// the queue: a person skipped, edited or removed the task. It returns "" if there is
// none.
func (d *decision) gone(b *TaskBatch) string {
	for _, link := range b.Links[b.Made:] {
		t, ok := d.task(link.Task)
		if !ok || !t.Queued() || t.Attempt.N != link.Attempt || t.Attempt.Base != b.Onto || t.wish() != ledger.MarkOpen {
			return link.Task
		}
	}
	return ""
}

// result returns the last result for the prefix of n links, nil if it was not
// verified.
func (b *TaskBatch) result(n int) *ledger.Verified {
	at := slices.IndexFunc(b.Checked, func(v ledger.Verified) bool { return v.Tree == b.Links[n-1].Tree })
	if at < 0 {
		return nil
	}
	return &b.Checked[at]
}

// bounds returns the length of the longest prefix that passed, 0 if none did, and
// that of the shortest longer one that failed, or one more than all links.
func (b *TaskBatch) bounds() (green, red int) {
	red = len(b.Links) + 1
	for n := len(b.Links); n > 0; n-- {
		switch v := b.result(n); {
		case v == nil:
		case v.OK:
			return n, red
		default:
			red = n
		}
	}
	return 0, red
}

// length returns the number of links of the prefix with this tree.
func (b *TaskBatch) length(tree string) int {
	return 1 + slices.IndexFunc(b.Links, func(l ledger.BatchLink) bool { return l.Tree == tree })
}

// Tasks returns the ids of the tasks in the prefix with this tree, as written; of all
// tasks for the tree of no prefix.
func (b *TaskBatch) Tasks(tree string) (ids []string) {
	n := b.length(tree)
	if n == 0 {
		n = len(b.Links)
	}
	for _, link := range b.Links[:n] {
		ids = append(ids, link.Task)
	}
	return ids
}

// checkPrefix verifies the first n links as one, by all commands.
func (d *decision) checkPrefix(n int) {
	s := d.run().Settings
	d.add(scope{}, newCheck(s, ledger.KindBatch, d.run().Batch.Links[n-1].Tree, false, verifyCommands(s, ledger.KindBatch, nil)))
	d.nextCheck(scope{}, true)
}

// judgeBatch judges the results for a tree of the chain. Only what is exempt for each
// task in it may fail: for another one it can be a new failure.
func (d *decision) judgeBatch(v ledger.Verified) ledger.Verified {
	r := d.run()
	results := v.Results
	v.Results, v.OK = judge(results, exemptFor(r, ""))
	if r.Batch == nil {
		return v
	}
	for _, task := range r.Batch.Tasks(v.Tree) {
		if v.Results, v.OK = judge(results, exemptFor(r, task)); !v.OK {
			break
		}
	}
	return v
}

// checkTip runs the commands that fail with the first link alone on the tip under
// it. They may fail there, too: final commands may never have run before.
func (d *decision) checkTip() {
	s, v := d.run().Settings, d.run().Batch.result(1)
	var red []ledger.Command
	for _, c := range verifyCommands(s, ledger.KindBatch, nil) {
		if slices.ContainsFunc(v.Results, func(res ledger.Result) bool { return res.Run == c.Run && !res.OK && !res.Advisory }) {
			red = append(red, c)
		}
	}
	d.add(scope{}, newCheck(s, ledger.KindRecheck, d.run().Batch.Onto, false, red))
	d.nextCheck(scope{}, true)
}

// tipBroke acts on what fails on the tip under the batch, as on a recheck: it is
// the fault of no task in it (docs/spec 2.3). tipBroke reports whether there was
// anything to act on.
func (d *decision) tipBroke() bool {
	r := d.run()
	b, now := r.Batch, *r.Batch.AtTip
	var broke []ledger.Exemption
	for _, link := range b.Links {
		broke = append(broke, brokenSince(now, exemptFor(r, link.Task), link.Task)...)
	}
	if len(broke) == 0 {
		return false
	}
	text := "fails on the branch without the batch, too: " + firstRed(now)
	if r.Settings.Profile != "overnight" {
		d.endBatch(text)
		d.finish(ledger.RunEnded{Reason: ledger.ReasonBaseline, Text: text})
		return true
	}
	d.add(scope{}, ledger.BaselineBroke{Commands: commandsOf(broke), Text: text, Exempt: broke})
	for _, v := range b.Checked {
		d.add(scope{}, d.judgeBatch(v))
	}
	return true
}

// commitLink begins the commit of the next link. The first green links were
// verified as one.
func (d *decision) commitLink(green int) {
	r := d.run()
	b := r.Batch
	link := b.Links[b.Made]
	d.setTask(link.Task, ledger.Active, "")
	t, _ := d.task(link.Task)
	if b.Made > 0 {
		d.add(scope{task: link.Task, session: t.Attempt.Session}, ledger.TreeMerged{Onto: r.Tip, Tree: link.Tree, Batch: b.ID})
		t, _ = d.task(link.Task)
	}
	d.evidence(link.Task, *b.result(green))
	var others []string
	for n, l := range b.Links[:green] {
		if n != b.Made {
			others = append(others, strings.Join(strings.Fields(l.Task), " "))
		}
	}
	d.commit(t, others)
}

// tipVerified records that the tip is verified, after the commits of the first
// green links: the last of them has the tree that passed. The final check has
// nothing to add to that.
func (d *decision) tipVerified(green int) {
	r := d.run()
	if green == 0 || r.TipTree != r.Batch.Links[green-1].Tree {
		return
	}
	v := *r.Batch.result(green)
	v.Kind, v.Tree, v.Batch = ledger.KindFinal, r.Tip, r.Batch.ID
	v.Results, v.OK = judge(v.Results, exemptFor(r, ""))
	d.add(scope{}, v)
	d.setExempt(narrowed(d.run().Exempt, v.Results, func(ledger.Exemption) bool { return true }))
}

// sendBack ends the batch. The task of the last link of the prefix of n links,
// which fails and passes without that link, goes back to the hat that wrote last,
// with its change on top of those before it.
func (d *decision) sendBack(n int) {
	r := d.run()
	b, e := r.Batch, r.Finishing
	link, v := b.Links[n-1], *b.result(n)
	d.add(scope{}, ledger.BatchEnded{})
	d.setTask(link.Task, ledger.Active, "")
	t, _ := d.task(link.Task)
	w := t.Attempt
	about := scope{task: link.Task, session: w.Session}
	if n > 1 {
		d.add(about, ledger.TreeMerged{Onto: r.Tip, Tree: link.Tree, Proof: link.Proof})
	}
	d.evidence(link.Task, v)
	v.Batch = b.ID
	d.add(about, v)
	d.add(about, ledger.Routed{From: w.Hat, To: writerHat(r.upcoming(), t), Tree: link.Tree, Round: w.Rounds, Why: "failed in a batch"})
	note := "Verification failed: " + firstRed(v)
	if n > 1 {
		var before []string
		for _, l := range b.Links[:n-1] {
			before = append(before, l.Task)
		}
		note = fmt.Sprintf("Together with %s, which the branch has by now, verification fails: %s", joinFew(before), firstRed(v))
	}
	t, _ = d.task(link.Task)
	d.redo(t, ledger.Redo{Why: ledger.RedoRed, Tree: link.Tree, Note: note})
	if e != nil {
		d.park(string(e.Reason))
		d.finalCheck(*e)
	}
}

// writerHat returns the hat that changed files last in the task's attempt, or the
// first hat of the pattern.
func writerHat(s ledger.Settings, t TaskState) string {
	w := t.Attempt
	for n := len(w.History) - 1; n >= 0; n-- {
		if step := w.History[n]; step.changes() && hasHats(s, step.Hat) {
			return step.Hat
		}
	}
	return firstHat(s, t.Task, false)
}

// endBatch ends the batch. What was not committed stays in the queue.
func (d *decision) endBatch(why string) {
	d.add(scope{}, ledger.BatchEnded{Why: why})
	if e := d.run().Finishing; e != nil {
		d.finalCheck(*e)
	}
}
