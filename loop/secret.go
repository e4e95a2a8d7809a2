package loop

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// secretFound handles a capture that adds what looks like a secret
// (docs/spec 9.6). The first time in an attempt the session is repeated from its
// input tree; after that a person decides, and the task waits with the tree.
func (d *decision) secretFound(t TaskState, found []ledger.SecretFound) {
	w := t.Attempt
	if w.Leaks < 2 {
		d.redo(t, ledger.Redo{Why: ledger.RedoSecret, Failed: true, Tree: w.Tree, Note: secretNote(found)})
		return
	}
	d.holdTask(t, ledger.Question{
		Kind: ledger.AskSecret, Hat: w.Hat, Secrets: found, Text: fmt.Sprintf("Is it a secret? The %s wrote it again.", w.Hat),
	})
}

// secretNote tells the next session what was found. Nobody but the session that
// wrote it has seen the value.
func secretNote(found []ledger.SecretFound) string {
	return fmt.Sprintf("What the session before wrote looks like a secret, and all that it changed was undone: %s. Do the work again without the value: read it from the environment or from a file that is not committed, and use a value in tests that nobody can take for a real one.", joinFew(secretPlaces(found)))
}

func secretPlaces(found []ledger.SecretFound) []string {
	var list []string
	for _, f := range found {
		list = append(list, f.String())
	}
	return list
}

func applySecret(d *decision, a answerGiven) {
	t, ok := d.task(a.q.Task)
	if !ok {
		return
	}
	about := scope{task: a.q.Task, session: a.q.Session}
	harmless := a.choice == "harmless"
	if harmless {
		d.add(about, ledger.SecretsCleared{Found: a.q.Secrets})
	}
	if t.Status != ledger.Waiting || t.Question != a.q.ID || t.Attempt == nil {
		return
	}
	w := t.Attempt
	if harmless && w.Session == a.q.Session && w.Captured != nil && w.Event != nil {
		// The tree waits to be verified; claim resumes the attempt there.
		d.changed(about, w.Captured.Files, w.Captured.More)
		d.add(about, ledger.ChecksBegun{Kind: ledger.KindVerify, Tree: w.Captured.Tree})
		d.add(about, ledger.StageSet{Stage: ledger.StageHeld})
	} else {
		d.add(about, ledger.Redo{Why: ledger.RedoSecret, Tree: w.Tree, Note: secretNote(a.q.Secrets)})
	}
	d.setTask(a.q.Task, ledger.Ready, "answered")
	d.goOn()
}

// changed records the evidence that a session changed files: these, and more that
// an entry has left out.
func (d *decision) changed(about scope, files []ledger.FileChange, more int) {
	ev := ledger.Evidence{Kind: "fix-applied", FilesChanged: len(files) + more}
	for _, f := range files {
		ev.LinesAdded += max(f.Added, 0)
		ev.LinesRemoved += max(f.Removed, 0)
	}
	d.add(about, ev)
}
