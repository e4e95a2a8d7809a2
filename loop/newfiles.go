package loop

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// askNewFiles asks whether the very many new files that a session made belong to
// its work (docs/spec 9.6). The task waits with the tree that has everything else.
// Most often an ignore rule was forgotten, so without an answer they are left out.
func (d *decision) askNewFiles(t TaskState, found []ledger.NewFiles) {
	d.holdTask(t, ledger.Question{
		Kind: ledger.AskNewFiles, Hat: t.Attempt.Hat, TooMany: found, Expires: d.in.Time.Add(d.run().Settings.QuestionTimeout.D()),
		Text: fmt.Sprintf("Are those in %s work, or was an ignore rule forgotten?", joinFew(foldersOf(found))),
	})
}

func foldersOf(found []ledger.NewFiles) []string {
	var folders []string
	for _, n := range found {
		folders = append(folders, n.Path)
	}
	return folders
}

func applyNewFiles(d *decision, a answerGiven) {
	d.settleNewFiles(a.q, a.choice == "take", d.by())
	d.goOn()
}

func (d *decision) expireNewFiles(q ledger.Question) {
	d.add(scope{task: q.Task}, ledger.QuestionExpired{ID: q.ID, Choice: "ignore", Then: "left out"})
	d.settleNewFiles(q, false, "nobody answered in time")
}

// settleNewFiles carries out the decision about new files. If they are left out,
// the attempt continues with the tree without them, unless nothing else changed. If
// they are taken, the session has to make them again: they are in no tree.
func (d *decision) settleNewFiles(q ledger.Question, take bool, by string) {
	t, ok := d.task(q.Task)
	if !ok {
		return
	}
	folders := foldersOf(q.TooMany)
	about := scope{task: q.Task, session: q.Session}
	d.add(about, ledger.NewFilesSettled{Paths: folders, LeftOut: !take})
	words := fmt.Sprintf("The new files in %s are no part of the work (%s). If tools fill the folder, add it to .gitignore.", joinFew(folders), by)
	if take {
		words = fmt.Sprintf("The new files in %s are part of the work (%s).", joinFew(folders), by)
	}
	d.add(scope{task: q.Task}, ledger.TaskWords{Text: words})
	if t.Status != ledger.Waiting || t.Question != q.ID || t.Attempt == nil {
		return
	}
	w := t.Attempt
	if c := w.Captured; !take && w.Session == q.Session && w.Event != nil && c != nil && c.Tree != w.Tree {
		// The tree waits to be verified; claim resumes the attempt there.
		d.changed(about, c.Files, c.More)
		d.add(about, ledger.ChecksBegun{Kind: ledger.KindVerify, Tree: c.Tree})
		d.add(about, ledger.StageSet{Stage: ledger.StageHeld})
	} else {
		d.add(about, ledger.Redo{Why: ledger.RedoNewFiles, Tree: w.Tree, Note: "The session before made very many new files, and what it changed was undone. " + newFilesNote(folders, take)})
	}
	d.setTask(q.Task, ledger.Ready, "answered")
}

// newFilesNote tells the next session what a person decided.
func newFilesNote(folders []string, take bool) string {
	if take {
		return fmt.Sprintf("The owner takes them over: do the work again, with the new files in %s.", joinFew(folders))
	}
	return fmt.Sprintf("Do the work again. What lies in %s is not committed: add it to .gitignore, or make fewer files.", strings.Join(fewOf(folders), ", "))
}
