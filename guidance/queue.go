package guidance

import (
	"slices"
	"time"
)

// Queue holds the items of one project in the order in which they came.
type Queue struct {
	Items []Item `json:"items,omitempty"`
}

// Binding is what planning one session means for the queue: Bound items have
// to be reported on by its event, Shown ones are there for information.
type Binding struct {
	Bound []string `json:"bound,omitempty"`
	Shown []string `json:"shown,omitempty"`
}

// Get returns an item by its id.
func (q Queue) Get(id string) (Item, bool) {
	for _, i := range q.Items {
		if i.ID == id {
			return i, true
		}
	}
	return Item{}, false
}

// Plan decides which items go with the target, in order. Items that were
// bound to its task before come first and always go along; new ones go while
// they fit into MaxTokens. What does not fit stays queued, and so does all
// that came after it, because order is part of what a person said.
func (q Queue) Plan(t Target) Binding {
	var b Binding
	tokens := 0
	for _, i := range q.Items { // held for this task already
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

// Add returns the queue with one more item.
func (q Queue) Add(i Item) Queue {
	i.State = Queued
	return Queue{Items: append(slices.Clip(q.Items), i)}
}

// Bind returns the queue after a session was planned with b.
func (q Queue) Bind(t Target, b Binding) Queue {
	return q.edit(func(i *Item) {
		switch {
		case slices.Contains(b.Bound, i.ID):
			// A report of an earlier session of the same task stands until
			// this one says otherwise; only what is open is injected (again).
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
			// A sticky item is shown every night; only the last ones are of use.
			i.Shown = append(i.Shown[max(len(i.Shown)-maxShown+1, 0):], t.Session)
		}
	})
}

// Owed returns which of the bound items a session's event has to report on:
// those nobody has reported on yet.
func (q Queue) Owed(bound []string) []string {
	var ids []string
	for _, id := range bound {
		if i, ok := q.Get(id); ok && i.State == Injected {
			ids = append(ids, id)
		}
	}
	return ids
}

// Report returns the queue after a session said, at a time, what it did with an
// item.
func (q Queue) Report(id string, s State, note string, at time.Time) Queue {
	return q.edit(func(i *Item) {
		if i.ID != id || i.Over() {
			return
		}
		i.State, i.Note, i.Reported = s, note, at
	})
}

// Judge returns the queue after a session that only reads said whether an
// item that it was shown is followed. What was reported as done and is not has
// to be reported on again.
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

// Reopen returns the queue with the items of a task open again: a new attempt
// starts from another tree, so what an earlier one did with them is gone.
//
// Of a part's attempt, parent is the task that it is a part of: what holds for
// the whole is asked again as well.
func (q Queue) Reopen(task, parent string) Queue {
	return q.edit(func(i *Item) {
		if (i.Bound == task || parent != "" && i.Bound == parent) && !i.Over() {
			i.State, i.Note = Injected, ""
		}
	})
}

// Rest returns the queue after a sticky item's session ended: it waits for
// the next one.
func (q Queue) Rest(session string) Queue {
	return q.edit(func(i *Item) {
		if i.Sticky && i.Session == session && !i.Over() {
			i.State = Queued
		}
	})
}

// Drop, Change and Expire end or edit one item.
func (q Queue) Drop(id string) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id {
			i.State = Dropped
		}
	})
}

// Change replaces the words of an item that is still queued.
func (q Queue) Change(id, text string) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id && i.State == Queued {
			i.Text = text
		}
	})
}

// Expire ends an item with the reason.
func (q Queue) Expire(id, why string) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id && !i.Over() {
			i.State, i.Note = Expired, why
		}
	})
}

// Keep queues an expired item again, with its lifetime counted anew.
func (q Queue) Keep(id string, now time.Time) Queue {
	return q.edit(func(i *Item) {
		if i.ID == id && i.State == Expired {
			i.State, i.Note, i.At, i.Bound, i.Session = Queued, "", now, "", ""
		}
	})
}

// Due returns the items whose lifetime is over: queued ones that no session
// took. What a session has keeps until its task ends.
func (q Queue) Due(now time.Time) []string {
	var ids []string
	for _, i := range q.Items {
		if i.State == Queued && !i.Sticky && !now.Before(i.At.Add(Lifetime)) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// NextDue returns when Due will next have something, or the zero time.
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

// Release returns the queue after a task ended: its items no longer hold, and
// keep the state in which it left them.
func (q Queue) Release(task string) Queue {
	return q.edit(func(i *Item) {
		if i.Bound == task && !i.Open() {
			i.Bound = "-"
		}
	})
}

// Waiting returns the items that are queued, sticky ones included.
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
