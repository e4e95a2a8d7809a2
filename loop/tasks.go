package loop

import (
	"encoding/json"
	"iter"
	"math/bits"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TaskList is the tasks of one source in document order. It is immutable: a
// change returns a new list that shares all unchanged parts with the old one.
// So a published state keeps its value, and no decision copies a whole plan.
// The zero value is the empty list. Its JSON is an array.
//
// The list also indexes what decisions look up after every input: the position
// of an id, and the sets of tasks that are ready, active, blocked and so on.
// Changing a task costs as much in a plan of 2,000 tasks as in one of 20,
// unless other tasks depend on it.
type TaskList struct {
	tasks List[*TaskState]
	ids   *taskIDs // shared by all lists with the same ids and dependencies
	in    [taskSets]bitset
	open  phases // tasks that hold higher phases
	phase int    // the lowest of them; 0 = none
}

// taskSet names a set of tasks that the list indexes. Membership depends on the
// task alone, except in setUnsettled, which also depends on the tasks that it
// needs and on the phases before its own.
type taskSet int

const (
	setReady     taskSet = iota // status ready
	setActive                   // status active
	setBlocked                  // status blocked
	setAttempt                  // has an attempt, under way or parked
	setAsks                     // has an open question
	setGone                     // its line is gone from the source, and it is neither done nor at rest
	setDoubted                  // the source lacks something of it, which is not believed yet
	setToCheck                  // ready, but its source wants a person to look once its dependencies are done
	setCounted                  // counts in the progress of the plan: not a part, not withdrawn, prepares no others
	setDone                     // counts, and is done
	setRepeats                  // is done, and comes back
	setUnsettled                // its status contradicts its dependencies or parts
	taskSets
)

// kept is the membership of one task in the sets, as replace compares it before
// and after a change.
type kept struct {
	in    [setUnsettled]bool
	done  bool // tasks that depend on it may start
	over  bool // for a part: its task waits for it no more
	phase int  // whose end it holds up; 0 = none
}

func (t *TaskState) kept() (k kept) {
	k.in[setReady] = t.Status == ledger.Ready
	k.in[setActive] = t.Status == ledger.Active
	k.in[setBlocked] = t.Status == ledger.Blocked
	k.in[setAttempt] = t.Attempt != nil
	k.in[setAsks] = t.Question != ""
	gone := t.Task.Mark == markGone && !isPart(t.Task)
	k.in[setGone] = gone && t.Status != ledger.Withdrawn && t.Status != ledger.Done
	k.in[setDoubted] = !gone && !t.Doubted.IsZero()
	k.in[setToCheck] = t.Status == ledger.Ready && len(t.Task.DependsOn) > 0 && t.wish() == ledger.MarkManualVerify
	k.in[setCounted] = t.Status != ledger.Withdrawn && t.Task.Parent == "" && !t.Task.Prepares()
	k.done, k.over = t.satisfies(), t.partOver()
	k.in[setDone] = k.in[setCounted] && t.Status == ledger.Done
	k.in[setRepeats] = k.in[setDone] && t.Task.Repeat != nil
	k.phase = t.phase()
	return k
}

// Open reports whether a task is neither done nor skipped nor at rest.
func (l TaskList) Open() bool {
	for _, t := range l.All() {
		if t.Status != ledger.Withdrawn && t.Status != ledger.Done && t.Status != ledger.Skipped {
			return true
		}
	}
	return false
}

// Gone reports whether a task that is neither done nor at rest has no line in the
// source any more.
func (l TaskList) Gone() bool {
	for range l.of(setGone) {
		return true
	}
	return false
}

// NewTaskList returns a list of copies of the given tasks.
func NewTaskList(tasks ...TaskState) TaskList {
	all := make([]*TaskState, len(tasks))
	for n := range tasks {
		t := tasks[n]
		all[n] = &t
	}
	return newTaskList(all, nil)
}

// newTaskList returns a list that owns tasks: the caller must not change them
// afterwards. known supplies ids that are folded already, to save the work; it
// may be nil.
func newTaskList(tasks []*TaskState, known *taskIDs) TaskList {
	l := TaskList{tasks: ListOf(tasks...)}
	if len(tasks) == 0 {
		return l
	}
	l.ids = newTaskIDs(tasks, known)
	for s := range l.in {
		l.in[s] = newBitset(len(tasks))
	}
	l.open = countPhases(tasks)
	l.phase = l.open.lowest()
	for n, t := range tasks {
		for s, in := range t.kept().in {
			if in {
				l.in[s].set(n)
			}
		}
		if l.unsettled(n, t) {
			l.in[setUnsettled].set(n)
		}
	}
	return l
}

// Len returns the number of tasks.
func (l TaskList) Len() int { return l.tasks.Len() }

// At returns the task at position n. The caller must not change it.
func (l TaskList) At(n int) *TaskState { return l.tasks.At(n) }

// All iterates over the tasks in document order. The caller must not change
// them.
func (l TaskList) All() iter.Seq2[int, *TaskState] { return l.tasks.All() }

// Slice returns copies of the tasks, in document order.
func (l TaskList) Slice() []TaskState {
	out := make([]TaskState, 0, l.Len())
	for _, t := range l.All() {
		out = append(out, *t)
	}
	return out
}

// With returns the list with t at position n. Its id, parent and dependencies
// must equal those of the task that it replaces, because the index of ids stays
// the same.
func (l TaskList) With(n int, t TaskState) TaskList { return l.with(n, &t) }

// with is With without the copy: the caller must not change t afterwards.
func (l TaskList) with(n int, t *TaskState) TaskList { return l.replace(n, l.tasks.At(n).kept(), t) }

// replace puts t at position n and updates the sets. was is the set membership
// of the task that t replaces. t may be that same task, changed in place, if no
// other list shares it.
func (l TaskList) replace(n int, was kept, t *TaskState) TaskList {
	if l.tasks.At(n) != t {
		l.tasks = l.tasks.With(n, t)
	}
	is := t.kept()
	for s := range setUnsettled {
		if was.in[s] != is.in[s] {
			l.in[s] = l.in[s].with(n, is.in[s])
		}
	}
	l.settle(n)
	l.settlePhases(was.phase, is.phase)
	if was.done != is.done || was.over != is.over {
		for _, m := range l.ids.neededBy[n] {
			l.settle(int(m))
		}
	}
	return l
}

// without returns the list without the tasks for which gone returns true.
func (l TaskList) without(gone func(*TaskState) bool) TaskList {
	kept := slices.DeleteFunc(l.tasks.Slice(), gone)
	if len(kept) == l.Len() {
		return l
	}
	return newTaskList(kept, l.ids)
}

// settlePhases counts a task that held the phase was and now holds the phase is. If
// other phases may begin after that, or no longer, it updates setUnsettled for their
// tasks.
func (l *TaskList) settlePhases(was, is int) {
	if was == is {
		return
	}
	l.open = l.open.count(was, -1).count(is, 1)
	before := l.phase
	if l.phase = l.open.lowest(); l.phase == before {
		return
	}
	for n, t := range l.All() {
		if t.Task.Phase > 0 {
			l.settle(n)
		}
	}
}

// settle updates setUnsettled for the task at position n.
func (l *TaskList) settle(n int) {
	if is := l.unsettled(n, l.tasks.At(n)); is != l.in[setUnsettled].has(n) {
		l.in[setUnsettled] = l.in[setUnsettled].with(n, is)
	}
}

// unsettled reports whether the status of the task at position n contradicts
// its dependencies, its phase or its parts. decision.settleReady and decision.settleParts
// correct such a status.
func (l TaskList) unsettled(n int, t *TaskState) bool {
	switch {
	case t.Status == ledger.Pending && len(t.Parts) > 0:
		return l.openPart(t) == ""
	case t.Status == ledger.Pending:
		return l.missing(n, t) == "" && l.earlier(t) == 0 && !t.Untaken()
	case t.Status == ledger.Ready && t.Attempt != nil && t.Attempt.Merged != nil && t.Attempt.Merged.Whole:
		return l.openPart(t) != "" // a person wants a part after all that was skipped
	case t.Status == ledger.Ready && t.Attempt == nil:
		return l.missing(n, t) != "" || l.earlier(t) != 0 || t.Untaken()
	}
	return false
}

// missing returns the id of an unfinished task that the task at position n
// needs: a dependency or, before an attempt, one of its parts. It returns "" if
// there is none.
func (l TaskList) missing(n int, t *TaskState) string {
	for k, at := range l.ids.needs[n] {
		if at < 0 || !l.tasks.At(int(at)).satisfies() {
			return t.Task.DependsOn[k]
		}
	}
	if t.Attempt == nil {
		return l.openPart(t)
	}
	return ""
}

// openPart returns the id of an unfinished part of the task, or "". Without a part that
// a person skipped, the rest of a task that is reviewed as a whole goes on.
func (l TaskList) openPart(t *TaskState) string {
	for _, id := range t.Parts {
		if n := l.index(id); n >= 0 {
			if !l.tasks.At(n).partOver() {
				return id
			}
		}
	}
	return ""
}

// partOver reports whether the task that t is a part of waits for it no more.
func (t *TaskState) partOver() bool {
	return t.Status == ledger.Done || t.Task.Joins && t.Status == ledger.Skipped
}

// of iterates over the tasks of a set in document order.
func (l TaskList) of(s taskSet) iter.Seq2[int, *TaskState] {
	return func(yield func(int, *TaskState) bool) {
		for n := range l.in[s].all() {
			if !yield(n, l.tasks.At(n)) {
				return
			}
		}
	}
}

// ofEither iterates over the tasks that are in set a or in set b, in document
// order.
func (l TaskList) ofEither(a, b taskSet) iter.Seq2[int, *TaskState] {
	return func(yield func(int, *TaskState) bool) {
		for n := range l.in[a].or(l.in[b]).all() {
			if !yield(n, l.tasks.At(n)) {
				return
			}
		}
	}
}

// contains reports whether such returns true for any task.
func (l TaskList) contains(such func(*TaskState) bool) bool {
	for _, t := range l.All() {
		if such(t) {
			return true
		}
	}
	return false
}

// count returns how many tasks are in a set.
func (l TaskList) count(s taskSet) int { return l.in[s].count() }

// index returns the position of the task with this id, or -1.
func (l TaskList) index(id string) int {
	if id == "" || l.ids == nil {
		return -1
	}
	return l.ids.at(id)
}

// find returns the position of the task with this id, or -1. It also takes the
// short forms "#5" and "5".
func (l TaskList) find(id string) int {
	if l.ids == nil {
		return -1
	}
	return l.ids.find(id)
}

// IsZero reports whether the list is empty. encoding/json calls it for
// omitzero.
func (l TaskList) IsZero() bool { return l.Len() == 0 }

// MarshalJSON encodes the list as an array of its tasks.
func (l TaskList) MarshalJSON() ([]byte, error) { return l.tasks.MarshalJSON() }

// UnmarshalJSON decodes an array of tasks. A null element becomes an empty
// task.
func (l *TaskList) UnmarshalJSON(data []byte) error {
	var tasks []TaskState
	if err := json.Unmarshal(data, &tasks); err != nil {
		return err
	}
	*l = NewTaskList(tasks...)
	return nil
}

// bitset is a set of positions. Only set changes it in place; all other methods
// leave it as it is.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(n int) { b[n/64] |= 1 << (n % 64) }

func (b bitset) has(n int) bool { return b[n/64]&(1<<(n%64)) != 0 }

// with returns a copy of the set that has position n if in is true, and lacks
// it otherwise.
func (b bitset) with(n int, in bool) bitset {
	out := make(bitset, len(b))
	copy(out, b)
	if in {
		out[n/64] |= 1 << (n % 64)
	} else {
		out[n/64] &^= 1 << (n % 64)
	}
	return out
}

func (b bitset) or(o bitset) bitset {
	out := make(bitset, len(b))
	for n := range b {
		out[n] = b[n] | o[n]
	}
	return out
}

func (b bitset) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// countTo returns how many positions up to and including n are in the set.
func (b bitset) countTo(n int) int {
	return b[:n/64].count() + bits.OnesCount64(b[n/64]<<(63-n%64))
}

// all iterates over the positions in ascending order.
func (b bitset) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(k*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
