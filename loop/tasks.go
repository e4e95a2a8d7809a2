package loop

import (
	"encoding/json"
	"iter"
	"math/bits"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TaskList is the tasks of one source in document order. It is immutable: a
// change returns another list, which shares with the first all that did not
// change, so that a published state stays as it is and nothing copies a plan.
// The zero value is the empty list; its JSON is an array.
//
// Beside the tasks it keeps what decisions ask for after every input: where an
// id stands, and which tasks are ready, in hand, blocked and so on. Changing a
// task costs as much for a plan of 2,000 tasks as for one of 20, except where
// other tasks depend on it.
type TaskList struct {
	tasks List[*TaskState]
	ids   *taskIDs // shared by all lists with the same ids and dependencies
	in    [taskSets]bitset
}

// taskSet is a set of tasks that the list keeps. Each is a function of the
// task alone, except for unsettled, which also looks at what it depends on.
type taskSet int

const (
	setReady     taskSet = iota // status ready
	setActive                   // status active
	setBlocked                  // status blocked
	setAttempt                  // has an attempt, in hand or parked
	setAsks                     // an open question goes with it
	setToCheck                  // ready, and its source asks a person to look at it once its dependencies are done
	setCounted                  // counts in a plan's progress: no part, not withdrawn
	setDone                     // counts, and is done
	setUnsettled                // its status does not follow from its dependencies or parts any more
	taskSets
)

// kept is what a list keeps for one task.
type kept struct {
	in   [setUnsettled]bool
	done bool // satisfies what depends on it
}

func (t *TaskState) kept() (k kept) {
	k.in[setReady] = t.Status == ledger.Ready
	k.in[setActive] = t.Status == ledger.Active
	k.in[setBlocked] = t.Status == ledger.Blocked
	k.in[setAttempt] = t.Attempt != nil
	k.in[setAsks] = t.Question != ""
	k.in[setToCheck] = t.Status == ledger.Ready && len(t.Task.DependsOn) > 0 && t.wish() == ledger.MarkManualVerify
	k.in[setCounted] = t.Status != ledger.Withdrawn && t.Task.Parent == ""
	k.done = t.Status == ledger.Done
	k.in[setDone] = k.in[setCounted] && k.done
	return k
}

// NewTaskList returns the list of the given tasks. They are copied.
func NewTaskList(tasks ...TaskState) TaskList {
	all := make([]*TaskState, len(tasks))
	for n := range tasks {
		t := tasks[n]
		all[n] = &t
	}
	return newTaskList(all, nil)
}

// newTaskList returns the list of tasks that nobody writes to any more. known,
// which may be nil, has the folded form of most of their ids.
func newTaskList(tasks []*TaskState, known *taskIDs) TaskList {
	l := TaskList{tasks: ListOf(tasks...)}
	if len(tasks) == 0 {
		return l
	}
	l.ids = newTaskIDs(tasks, known)
	for s := range l.in {
		l.in[s] = newBitset(len(tasks))
	}
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

// At returns the task at a position. Nobody may write to it.
func (l TaskList) At(n int) *TaskState { return l.tasks.At(n) }

// All iterates over the tasks in document order. Nobody may write to them.
func (l TaskList) All() iter.Seq2[int, *TaskState] { return l.tasks.All() }

// Slice returns copies of the tasks, in document order.
func (l TaskList) Slice() []TaskState {
	out := make([]TaskState, 0, l.Len())
	for _, t := range l.All() {
		out = append(out, *t)
	}
	return out
}

// With returns the list with another task at a position. Its id, parent and
// dependencies must be those of the task that it replaces.
func (l TaskList) With(n int, t TaskState) TaskList { return l.with(n, &t) }

// WithAgent is With for a task that nobody writes to any more.
func (l TaskList) with(n int, t *TaskState) TaskList { return l.replace(n, l.tasks.At(n).kept(), t) }

// replace puts t where a task stood for which the list kept was. It may be the
// same one, changed, where nobody else has the list.
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
	if was.done != is.done {
		for _, m := range l.ids.neededBy[n] {
			l.settle(int(m))
		}
	}
	return l
}

// without returns the list without some tasks.
func (l TaskList) without(gone func(*TaskState) bool) TaskList {
	kept := slices.DeleteFunc(l.tasks.Slice(), gone)
	if len(kept) == l.Len() {
		return l
	}
	return newTaskList(kept, l.ids)
}

// settle looks again whether the task at a position is unsettled.
func (l *TaskList) settle(n int) {
	if is := l.unsettled(n, l.tasks.At(n)); is != l.in[setUnsettled].has(n) {
		l.in[setUnsettled] = l.in[setUnsettled].with(n, is)
	}
}

// unsettled reports whether the status of the task at position n is not what
// its dependencies and parts make of it: see decision.settleReady and
// settleParts, which set it right.
func (l TaskList) unsettled(n int, t *TaskState) bool {
	switch {
	case t.Status == ledger.Pending && len(t.Parts) > 0:
		return l.openPart(t) == ""
	case t.Status == ledger.Pending:
		return l.missing(n, t) == ""
	case t.Status == ledger.Ready && t.Attempt == nil:
		return l.missing(n, t) != ""
	}
	return false
}

// missing returns the id of a task that the task at position n depends on and
// that is not done, "" where there is none.
func (l TaskList) missing(n int, t *TaskState) string {
	for k, at := range l.ids.needs[n] {
		if at < 0 || l.tasks.At(int(at)).Status != ledger.Done {
			return t.Task.DependsOn[k]
		}
	}
	if t.Attempt == nil {
		return l.openPart(t)
	}
	return ""
}

// openPart returns the id of a part of the task that is not done, "" where
// there is none.
func (l TaskList) openPart(t *TaskState) string {
	for _, id := range t.Parts {
		if n := l.index(id); n >= 0 && l.tasks.At(n).Status != ledger.Done {
			return id
		}
	}
	return ""
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

// ofEither iterates over the tasks of one or the other set, in document order.
func (l TaskList) ofEither(a, b taskSet) iter.Seq2[int, *TaskState] {
	return func(yield func(int, *TaskState) bool) {
		for n := range l.in[a].or(l.in[b]).all() {
			if !yield(n, l.tasks.At(n)) {
				return
			}
		}
	}
}

// contains reports whether a task is such a one.
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

// index returns the position of the task with an id, -1 where there is none.
func (l TaskList) index(id string) int {
	if id == "" || l.ids == nil {
		return -1
	}
	return l.ids.at(id)
}

// find returns the position of the task with an id, also in its short form
// "#5" or "5"; -1 where there is none.
func (l TaskList) find(id string) int {
	if l.ids == nil {
		return -1
	}
	return l.ids.find(id)
}

// IsZero reports whether the list is empty, for encoding/json.
func (l TaskList) IsZero() bool { return l.Len() == 0 }

// MarshalJSON encodes the list as an array of its tasks.
func (l TaskList) MarshalJSON() ([]byte, error) { return l.tasks.MarshalJSON() }

// UnmarshalJSON decodes an array of tasks. A null in it is an empty task.
func (l *TaskList) UnmarshalJSON(data []byte) error {
	var tasks []TaskState
	if err := json.Unmarshal(data, &tasks); err != nil {
		return err
	}
	*l = NewTaskList(tasks...)
	return nil
}

// bitset is a set of positions. Everything but set leaves it as it is.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(n int) { b[n/64] |= 1 << (n % 64) }

func (b bitset) has(n int) bool { return b[n/64]&(1<<(n%64)) != 0 }

// WithAgent returns the set with or without a position.
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

// countTo counts the positions up to n.
func (b bitset) countTo(n int) int {
	return b[:n/64].count() + bits.OnesCount64(b[n/64]<<(63-n%64))
}

// all iterates over the positions in order.
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
