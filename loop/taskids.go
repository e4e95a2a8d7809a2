package loop

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// taskIDs indexes the ids of a list of tasks, and which task depends on which.
// It is rebuilt only when tasks are added or removed or change their
// dependencies.
type taskIDs struct {
	keys     []string         // folded ids, by position
	byID     map[string]int32 // first position of an id, both folded and as written
	needs    [][]int32        // positions of the tasks that a task depends on, by position; -1 = no such task
	neededBy [][]int32        // positions of the tasks that depend on a task or have it as a part, by position
	tails    map[string]tail  // positions, by the last words of ids
}

// tail holds the positions of the first two tasks whose ids end in the same
// words: "5" is a tail of "API 5". A second one makes the tail ambiguous.
type tail struct{ first, second int32 } // -1 = none

func newTaskIDs(tasks []*TaskState, known *taskIDs) *taskIDs {
	ids := &taskIDs{
		keys: make([]string, len(tasks)), byID: make(map[string]int32, 2*len(tasks)),
		needs: make([][]int32, len(tasks)), neededBy: make([][]int32, len(tasks)),
	}
	for n, t := range tasks {
		key := known.fold(t.Task.ID)
		ids.keys[n] = key
		if _, twice := ids.byID[key]; !twice {
			ids.byID[key] = int32(n)
		}
		ids.byID[t.Task.ID] = ids.byID[key]
	}
	ids.tails = ids.makeTails()
	for n, t := range tasks {
		for _, id := range t.Task.DependsOn {
			at := ids.find(id)
			ids.needs[n] = append(ids.needs[n], int32(at))
			ids.need(at, n)
		}
		for _, id := range t.Parts {
			ids.need(ids.at(id), n)
		}
	}
	return ids
}

// need records that the status of the task at position n depends on the task at
// position on.
func (ids *taskIDs) need(on, n int) {
	if on >= 0 {
		ids.neededBy[on] = append(ids.neededBy[on], int32(n))
	}
}

// fold is ledger.FoldID with a look-up first. ids may be nil.
func (ids *taskIDs) fold(id string) string {
	if ids != nil {
		if n, ok := ids.byID[id]; ok {
			return ids.keys[n]
		}
	}
	return ledger.FoldID(id)
}

// at returns the position of the task with this id, or -1.
func (ids *taskIDs) at(id string) int {
	if n, ok := ids.byID[id]; ok {
		return int(n)
	}
	if n, ok := ids.byID[ledger.FoldID(id)]; ok {
		return int(n)
	}
	return -1
}

// find is at, and also takes short ids: "#5" or "5" for "Task 5", or the last
// words of an id. Words that end several ids are ambiguous and give -1, unless
// they are also a full id ("5" or "Task 5") that stands no later than the
// second of them.
func (ids *taskIDs) find(id string) int {
	if id != "" {
		if n := ids.at(id); n >= 0 {
			return n
		}
	}
	want := ledger.FoldID(id)
	if len(want) > 0 && want[0] == '#' {
		want = want[1:]
	}
	full := int32(-1)
	for _, key := range []string{"task " + want, want} {
		// byID has ids as written too: "task " is no key, and must not be found as one.
		if n, ok := ids.byID[key]; ok && ids.keys[n] == key && (full < 0 || n < full) {
			full = n
		}
	}
	ends, ok := ids.tails[want]
	switch {
	case full >= 0 && (!ok || ends.second < 0 || full <= ends.second):
		return int(full)
	case ok && ends.second < 0:
		return int(ends.first)
	}
	return -1
}

func (ids *taskIDs) makeTails() map[string]tail {
	tails := map[string]tail{}
	for n, key := range ids.keys {
		for k := 1; k < len(key); k++ {
			if wordChar(key[k-1]) {
				continue
			}
			if t, ok := tails[key[k:]]; !ok {
				tails[key[k:]] = tail{int32(n), -1}
			} else if t.second < 0 {
				tails[key[k:]] = tail{t.first, int32(n)}
			}
		}
	}
	return tails
}

func wordChar(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }
