package loop

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// taskIDs says where ids stand in a list of tasks, and which tasks depend on
// which. It is made anew only where tasks come, go or change their
// dependencies.
type taskIDs struct {
	keys     []string         // folded, by position
	byID     map[string]int32 // first position, by the folded id and by the id as written
	needs    [][]int32        // positions of what a task depends on, by position; -1 = no such task
	neededBy [][]int32        // positions of tasks that depend on one, or have it as a part
	tails    map[string]tail  // by the last words of ids
}

// tail says which tasks' ids end in a word or words: "5" is the tail of "API 5".
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

// need notes that the task at position n looks at the one at position on.
func (ids *taskIDs) need(on, n int) {
	if on >= 0 {
		ids.neededBy[on] = append(ids.neededBy[on], int32(n))
	}
}

// fold is FoldID, without the work where the id is known.
func (ids *taskIDs) fold(id string) string {
	if ids != nil {
		if n, ok := ids.byID[id]; ok {
			return ids.keys[n]
		}
	}
	return ledger.FoldID(id)
}

// at returns the position of the task with an id, -1 where there is none.
func (ids *taskIDs) at(id string) int {
	if n, ok := ids.byID[id]; ok {
		return int(n)
	}
	if n, ok := ids.byID[ledger.FoldID(id)]; ok {
		return int(n)
	}
	return -1
}

// find is at for ids that may also be short: "#5" or "5" for "Task 5", or the
// last words of one id alone. Of ids that end alike none is meant, unless one
// is named in full before the second of them comes.
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
		if n, ok := ids.byID[key]; ok && (full < 0 || n < full) {
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
