package loop

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A task of somebody whose word alone starts no session waits until a person takes it
// (docs/spec 3.6). It is pending until then, so it holds up nothing, and no stranger can
// end a run by it. What a person took is the text that they could read: with another
// one, the task waits again.

// Untaken reports whether the task waits for a person to take it.
func (t *TaskState) Untaken() bool {
	return t.Task.Author != "" && t.Taken == "" && t.Task.Parent == "" && t.Status != ledger.Done && t.Status != ledger.Skipped && t.Status != ledger.Withdrawn
}

// take lets an untaken task be worked on: next, if a run is under way.
func (d *decision) take(t TaskState) {
	d.add(scope{task: t.Task.ID}, ledger.TaskNext{})
	if d.run().Over() {
		d.say("%s is taken; the next run works on it", ledger.ShortID(t.Task.ID))
		return
	}
	d.say("%s is taken, and next", ledger.ShortID(t.Task.ID))
}

// TextID identifies the task's text by the first characters of its hash: who takes the
// task says with it what they read.
func (t *TaskState) TextID() string { return hashText(&t.Task)[:8] }

// hashText identifies the text of a task, so that nobody can write another one with the
// same hash.
func hashText(t *ledger.Task) string {
	sum := sha256.Sum256([]byte(t.Title + "\x00" + t.Body))
	return hex.EncodeToString(sum[:16])
}
