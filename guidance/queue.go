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
// while the total stays within MaxTokens. The first item that does not fit
// stays queued, and so do all later ones: a person may rely on the order.
func (q Queue) Plan(t Target) Binding {
	var b Binding
	tokens := 0
	for _, i := range q.Items { // already bound to a task
		if i.Bound == "" || i.Sticky {
			continue
		}
		binds, shows := i.reaches(t)
		if binds || shows {
			tokens += i.tokens()
		}
		b.add(i.ID, binds, shows)
	}
	for _, i := range q.Items {
		if i.Bound != "" && !i.Sticky {
			continue
		}
		binds, shows := i.reaches(t)
		if !binds && !shows {
			continue
		}
		if tokens += i.tokens(); tokens > MaxTokens {
			break
		}
		b.add(i.ID, binds, shows)
	}
	return b
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
					i.Bound = t.holds(*i)
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
func (q Queue) Reopen(task, parent string) Queue {
	return q.edit(func(i *Item) {
		if (i.Bound == task || parent != "" && i.Bound == parent) && !i.Over() {
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
			i.State, i.Note, i.At, i.Bound, i.Session = Queued, "", now, "", ""
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
// than Lifetime. Bound items stay until their task ends.
func (q Queue) Due(now time.Time) []string {
	var ids []string
	for _, i := range q.Items {
		if i.State == Queued && !i.Sticky && !now.Before(i.At.Add(Lifetime)) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// NextDue returns the earliest time at which Due returns an item; zero for
// none.
func (q Queue) NextDue() time.Time {
	var next time.Time
	for _, i := range q.Items {
		if i.State != Queued || i.Sticky {
			continue
		}
		if at := i.At.Add(Lifetime); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// Release returns the queue after a task ended. Its items keep their state and
// are no longer bound to it.
func (q Queue) Release(task string) Queue {
	return q.edit(func(i *Item) {
		if i.Bound == task && !i.Open() {
			i.Bound = "-"
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
