package guidance

import (
	"slices"
	"time"
)

// Queue holds the items of one project in the order in which they were given.
// The zero value is an empty queue.
type Queue struct {
	Items []Item `json:"items,omitempty"`
}

// Binding lists the ids of items in a session's prompt. The session has to
// report on Bound items; Shown items are for information.
type Binding struct {
	Bound []string `json:"bound,omitempty"`
	Shown []string `json:"shown,omitempty"`
}

// Get returns an item by its id, or false for an unknown id.
func (q Queue) Get(id string) (Item, bool) {
	for _, i := range q.Items {
		if i.ID == id {
			return i, true
		}
	}
	return Item{}, false
}

// Plan returns the items for the prompt of the target's session, in order.
// Items bound to its task come first and are always included. New items follow
// while the total stays within MaxTokens. The first one that does not fit stays
// queued, and so do all later ones: a person may rely on the order. Sticky items
// get the room that is left, so that what was said once never waits for what is
// said every time.
func (q Queue) Plan(t Target) Binding {
	has := make([]bool, len(q.Items))
	q.choose(t, has)
	var b Binding
	for _, held := range []bool{true, false} {
		for n, i := range q.Items {
			if has[n] && i.held() == held {
				binds, shows := i.reaches(t)
				b.add(i.ID, binds, shows)
			}
		}
	}
	return b
}

// held reports whether a task has the item in force, so that every session of the
// task gets it.
func (i Item) held() bool { return i.Bound != "" && !i.Sticky }

// choose sets has for the items of the target's session.
func (q Queue) choose(t Target, has []bool) {
	tokens := 0
	fits := func(n int) bool {
		if binds, shows := q.Items[n].reaches(t); !binds && !shows {
			return true
		}
		if tokens+q.Items[n].tokens() > MaxTokens && !q.Items[n].held() {
			return false
		}
		tokens += q.Items[n].tokens()
		has[n] = true
		return true
	}
	for n, i := range q.Items {
		if i.held() {
			fits(n)
		}
	}
	for _, sticky := range []bool{false, true} {
		for n, i := range q.Items {
			if i.held() || i.Sticky != sticky {
				continue
			}
			if !fits(n) {
				break
			}
		}
	}
}

// Before returns the ids of the items that leave no room for an item in the
// target's session, or nil if it fits or the session is not for it.
func (q Queue) Before(id string, t Target) []string {
	has := make([]bool, len(q.Items))
	q.choose(t, has)
	var ids []string
	for n, i := range q.Items {
		if i.ID == id {
			if binds, shows := i.reaches(t); has[n] || !binds && !shows {
				return nil
			}
		} else if has[n] {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// StickyBefore returns the ids of the sticky items that leave no room for another
// one, or nil if it fits: those that one session can have together with it. The
// item may be in the queue already, with another text.
func (q Queue) StickyBefore(item Item) []string {
	tokens := item.tokens()
	var ids []string
	for _, i := range q.Items {
		if i.ID != item.ID && i.Sticky && !i.Over() && i.meets(item) {
			ids = append(ids, i.ID)
			tokens += i.tokens()
		}
	}
	if tokens <= MaxSticky {
		return nil
	}
	return ids
}

func (b *Binding) add(id string, binds, shows bool) {
	switch {
	case binds:
		b.Bound = append(b.Bound, id)
	case shows:
		b.Shown = append(b.Shown, id)
	}
}

// Add returns the queue with an item appended in state Queued. The caller has
// given it a new ID.
func (q Queue) Add(i Item) Queue {
	i.State = Queued
	return Queue{Items: append(slices.Clip(q.Items), i)}
}

// Bind returns the queue after the target's session was planned with b.
func (q Queue) Bind(t Target, b Binding) Queue {
	return q.edit(func(i *Item) {
		switch {
		case slices.Contains(b.Bound, i.ID):
			// A report to an earlier session of the task stays valid until this
			// one reports. Only open items become Injected.
			if i.State == Queued || i.State == Injected {
				i.State = Injected
			}
			i.Session = t.Session
			if !i.Sticky {
				if i.Bound == "" {
					i.Bound, i.Source = t.holds(*i), t.Source
				}
			}
		case slices.Contains(b.Shown, i.ID):
			// Sticky items are shown every night; older sessions are forgotten.
			i.Shown = append(i.Shown[max(len(i.Shown)-maxShown+1, 0):], t.Session)
		}
	})
}

// Owed returns which of the bound items the session's event has to report on:
// those without a report.
func (q Queue) Owed(bound []string) []string {
	var ids []string
	for _, id := range bound {
		if i, ok := q.Get(id); ok && i.State == Injected {
			ids = append(ids, id)
		}
	}
	return ids
}

// Report returns the queue after a session has reported on an item. It does
// nothing for an unknown id or an item that is over.
func (q Queue) Report(id string, s State, note string, at time.Time) Queue {
	return q.edit(func(i *Item) {
		if i.ID != id || i.Over() {
			return
		}
		i.State, i.Note, i.Reported = s, note, at
	})
}

// Judge returns the queue after a read-only session's verdict on an item. If
// the item is not followed although it was Addressed or NotReported, a session
// has to report on it again.
func (q Queue) Judge(id string, j Judged) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id && !i.Over() {
			i.Judged = &j
			if !j.Followed && (i.State == Addressed || i.State == NotReported) {
				i.State = Injected
			}
		}
	})
}

// Reopen returns the queue with the items of a task Injected again: a new
// attempt starts from another tree, which lacks an earlier attempt's work for
// them. For an attempt of a part, parent is the whole task, whose items are
// reopened too; otherwise it is "".
func (q Queue) Reopen(source, task, parent string) Queue {
	return q.edit(func(i *Item) {
		if !i.elsewhere(source) && (i.Bound == task || parent != "" && i.Bound == parent) && !i.Over() {
			i.State, i.Note = Injected, ""
		}
	})
}

// EndSession returns the queue after a session ended: its sticky items wait for the
// next session.
func (q Queue) EndSession(session string) Queue {
	return q.edit(func(i *Item) {
		if i.Sticky && i.Session == session && !i.Over() {
			i.State = Queued
		}
	})
}

// Drop returns the queue with an item dropped.
func (q Queue) Drop(id string) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id {
			i.State = Dropped
		}
	})
}

// Change returns the queue with a new text for an item, if it is still Queued.
func (q Queue) Change(id, text string) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id && i.State == Queued {
			i.Text = text
		}
	})
}

// Expire returns the queue with an item expired for the reason why.
func (q Queue) Expire(id, why string) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id && !i.Over() {
			i.State, i.Note = Expired, why
		}
	})
}

// Keep returns the queue with an expired item queued again. Its lifetime starts
// anew.
func (q Queue) Keep(id string, now time.Time) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id && i.State == Expired {
			i.State, i.Note, i.At, i.Since, i.Bound, i.Session = Queued, "", now, time.Time{}, "", ""
		}
	})
}

// Forget returns the queue without the items for which over returns true.
func (q Queue) Forget(over func(Item) bool) Queue {
	if !slices.ContainsFunc(q.Items, over) {
		return q
	}
	return Queue{Items: slices.DeleteFunc(slices.Clone(q.Items), over)}
}

// Due returns the ids of items that have expired by now: Queued items older
// than Lifetime. Bound items stay until their task ends, and so does an item for
// which rests returns true: it waits for its source or its task.
func (q Queue) Due(now time.Time, rests func(Item) bool) []string {
	var ids []string
	for _, i := range q.Items {
		if i.State == Queued && !i.Sticky && !now.Before(i.waits().Add(Lifetime)) && !rests(i) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// NextDue returns the earliest time at which Due returns an item; zero for
// none.
func (q Queue) NextDue(rests func(Item) bool) time.Time {
	var next time.Time
	for _, i := range q.Items {
		if i.State != Queued || i.Sticky {
			continue
		}
		if at := i.waits().Add(Lifetime); (next.IsZero() || at.Before(next)) && !rests(i) {
			next = at
		}
	}
	return next
}

// Release returns the queue after a task ended. Its items keep their state and
// are no longer bound to it.
func (q Queue) Release(source, task string) Queue {
	return q.edit(func(i *Item) {
		if !i.elsewhere(source) && i.Bound == task && !i.Open() {
			i.Bound = "-"
		}
	})
}

// Wake returns the queue after the rest of a source's items ended, or only of
// those of one task. Their lifetime starts anew.
func (q Queue) Wake(source, task string, now time.Time) Queue {
	return q.edit(func(i *Item) {
		if i.State == Queued && i.Source == source && source != "" && (task == "" || i.Task == task || i.Bound == task) {
			i.Since = now
		}
	})
}

// WakeBranch is Wake for the items that a run's branch is commented with: a run works
// on it again.
func (q Queue) WakeBranch(run string, now time.Time) Queue {
	return q.edit(func(i *Item) {
		if i.State == Queued && i.Origin != nil && i.Origin.branch() == run {
			i.Since = now
		}
	})
}

// Waiting returns the Queued items, sticky ones included.
func (q Queue) Waiting() []Item {
	var out []Item
	for _, i := range q.Items {
		if i.State == Queued {
			out = append(out, i)
		}
	}
	return out
}

func (q Queue) edit(f func(*Item)) Queue {
	if len(q.Items) == 0 {
		return q
	}
	items := make([]Item, len(q.Items))
	for n, i := range q.Items {
		items[n] = i.clone()
		f(&items[n])
	}
	return Queue{Items: items}
}
