package guidance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)

// at is the time of all reports.
var at = time.Date(2026, 11, 20, 2, 19, 0, 0, time.UTC)

func queue(items ...Item) Queue {
	var q Queue
	for n, i := range items {
		i.ID, i.At = fmt.Sprintf("g%d", n+1), start
		if i.Text == "" {
			i.Text = "be brief"
		}
		q = q.Add(i)
	}
	return q
}

func writes(session, task string) Target {
	return Target{Session: session, Hat: "builder", Task: task, Writes: true}
}

// TestLife follows a directive through its states: it is owed until a session
// reports on it, and bound until its task ends.
func TestLife(t *testing.T) {
	q := queue(Item{}, Item{Sticky: true})
	one := writes("r1-2", "task 1")
	b := q.Plan(one)
	if diff := cmp.Diff(Binding{Bound: []string{"g1", "g2"}}, b); diff != "" {
		t.Fatal(diff)
	}
	q = q.Bind(one, b)
	if diff := cmp.Diff([]string{"g1", "g2"}, q.Owed(b.Bound)); diff != "" {
		t.Error(diff)
	}
	q = q.Report("g1", Addressed, "done", at).Report("g2", SetAside, "no", at).EndSession("r1-2")
	two := writes("r1-4", "task 1")
	b = q.Plan(two)
	q = q.Bind(two, b)
	if diff := cmp.Diff([]string{"g1", "g2"}, b.Bound); diff != "" {
		t.Error("the next session of the task: ", diff)
	}
	if diff := cmp.Diff([]string{"g2"}, q.Owed(b.Bound)); diff != "" {
		t.Error("a report stands, a sticky one is owed by every session: ", diff)
	}
	q = q.Reopen("", "task 1", "")
	if diff := cmp.Diff([]string{"g1", "g2"}, q.Owed(b.Bound)); diff != "" {
		t.Error("a new attempt owes all again: ", diff)
	}
	q = q.Report("g1", Addressed, "again", at).EndSession("r1-4").Release("", "task 1")
	if b := q.Plan(writes("r1-6", "task 2")); !slices.Equal(b.Bound, []string{"g2"}) {
		t.Errorf("the next task has %v", b.Bound)
	}
	if i, _ := q.Get("g1"); i.State != Addressed || i.Note != "again" {
		t.Errorf("what became of it is kept: %+v", i)
	}
}

// TestPlanLimit plans more guidance than MaxTokens: the item that does not fit
// stays queued, and so do all later items.
func TestPlanLimit(t *testing.T) {
	long := strings.Repeat("x", MaxText)
	var items []Item
	for range 14 {
		items = append(items, Item{Text: long})
	}
	q := queue(append(items, Item{Text: "short"}, Item{Text: "for another", Hat: "writer"})...)
	b := q.Plan(writes("r1-2", "task 1"))
	if len(b.Bound) != 13 || b.Bound[12] != "g13" {
		t.Fatalf("bound %v", b.Bound)
	}
	q = q.Bind(writes("r1-2", "task 1"), b)
	if b := q.Plan(writes("r1-3", "task 1")); len(b.Bound) != 13 {
		t.Errorf("the session that replaces it has %v", b.Bound)
	}
	if b := q.Plan(writes("r1-3", "task 2")); !slices.Equal(b.Bound, []string{"g14", "g15"}) {
		t.Errorf("the next task has %v", b.Bound)
	}
}

func TestEnds(t *testing.T) {
	q := queue(Item{}, Item{Sticky: true}, Item{})
	if next := q.NextDue(never); !next.Equal(start.Add(Lifetime)) {
		t.Errorf("next due %s", next)
	}
	q = q.Bind(writes("r1-2", "task 1"), Binding{Bound: []string{"g1"}})
	if due := q.Due(start.Add(Lifetime-1), never); due != nil {
		t.Errorf("due too early: %v", due)
	}
	if due := q.Due(start.Add(Lifetime), never); !slices.Equal(due, []string{"g3"}) {
		t.Errorf("due: %v; what a session has keeps, and sticky ones too", due)
	}
	q = q.Expire("g3", "72 hours").Report("g3", Addressed, "late", at)
	if i, _ := q.Get("g3"); i.State != Expired || i.Note != "72 hours" {
		t.Errorf("what is over stays so: %+v", i)
	}
	q = q.Keep("g3", start.Add(Lifetime))
	if i, _ := q.Get("g3"); i.State != Queued || !i.At.Equal(start.Add(Lifetime)) || i.Note != "" {
		t.Errorf("kept: %+v", i)
	}
	q = q.Drop("g1").Expire("g1", "x").Change("g1", "other").EndSession("r1-2")
	if i, _ := q.Get("g1"); i.State != Dropped || i.Text != "be brief" {
		t.Errorf("dropped: %+v", i)
	}
	if q = q.Change("g3", "other"); q.Items[2].Text != "other" {
		t.Error("a queued one can be changed")
	}
	if got := len(q.Waiting()); got != 2 {
		t.Errorf("%d wait", got)
	}
}

// TestQueueLaws applies random changes: no directive is lost, doubled,
// reordered or revived, no change touches an older queue, and every plan keeps
// to its limits.
func TestQueueLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var q Queue
		now := start
		encode := func(q Queue) string {
			b, err := json.Marshal(q)
			if err != nil {
				rt.Fatal(err)
			}
			return string(b)
		}
		for n := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			before, old := encode(q), q
			id := fmt.Sprintf("g%d", rapid.IntRange(1, len(q.Items)+1).Draw(rt, "id"))
			task := rapid.SampledFrom([]string{"task 1", "task 2"}).Draw(rt, "task")
			target := Target{Session: fmt.Sprintf("r1-%d", n), Task: task, Hat: rapid.SampledFrom([]string{"builder", "reviewer"}).Draw(rt, "hat")}
			target.Writes = target.Hat == "builder"
			added := 0
			switch rapid.IntRange(0, 10).Draw(rt, "step") {
			case 0, 1, 2:
				q = q.Add(Item{
					ID: fmt.Sprintf("g%d", len(q.Items)+1), At: now, Text: strings.Repeat("x", rapid.IntRange(1, MaxText).Draw(rt, "length")),
					Sticky: rapid.Bool().Draw(rt, "sticky"), Hat: rapid.SampledFrom([]string{"", "reviewer"}).Draw(rt, "to"), Task: rapid.SampledFrom([]string{"", "task 1"}).Draw(rt, "of"),
				})
				added = 1
			case 3, 4, 5:
				b := q.Plan(target)
				size := 0
				for _, id := range slices.Concat(b.Bound, b.Shown) {
					i, ok := q.Get(id)
					if !ok || i.Over() {
						rt.Fatalf("%s is planned, and it is %q", id, i.State)
					}
					if i.Task != "" && i.Task != task || i.Bound != "" && i.Bound != task {
						rt.Fatalf("%s goes to a session of another task", id)
					}
					size += i.tokens()
				}
				if size > MaxTokens {
					rt.Fatalf("%d tokens", size)
				}
				q = q.Bind(target, b)
				if owed := q.Owed(b.Bound); len(owed) > len(b.Bound) {
					rt.Fatalf("owed %v of %v", owed, b.Bound)
				}
				if rapid.Bool().Draw(rt, "ends") {
					for _, id := range b.Bound {
						q = q.Report(id, rapid.SampledFrom([]State{Addressed, SetAside, NotReported}).Draw(rt, "state"), "note", at)
					}
					q = q.EndSession(target.Session)
				}
			case 6:
				q = q.Drop(id)
			case 7:
				q = q.Release("", task)
			case 8:
				now = now.Add(time.Duration(rapid.IntRange(1, 100).Draw(rt, "hours")) * time.Hour)
				for _, id := range q.Due(now, never) {
					q = q.Expire(id, "72 hours")
				}
				if next := q.NextDue(never); !next.IsZero() && !next.After(now) {
					rt.Fatalf("due at %s, and it is %s", next, now)
				}
			case 9:
				q = q.Keep(id, now)
			case 10:
				q = q.Reopen("", task, "")
			}
			if encode(old) != before {
				rt.Fatal("the older queue was changed")
			}
			if len(q.Items) != len(old.Items)+added {
				rt.Fatalf("%d items, and there were %d", len(q.Items), len(old.Items))
			}
			for k, i := range q.Items {
				if i.ID != fmt.Sprintf("g%d", k+1) {
					rt.Fatalf("order: %s at %d", i.ID, k)
				}
				if k < len(old.Items) && old.Items[k].State == Dropped && i.State != Dropped {
					rt.Fatalf("%s was dropped and is %s", i.ID, i.State)
				}
			}
			var back Queue
			if err := json.Unmarshal([]byte(encode(q)), &back); err != nil || encode(back) != encode(q) {
				rt.Fatalf("a snapshot is another queue: %v", err)
			}
		}
	})
}

// TestJudgeAndParts checks that an item found not followed is owed again, and
// that items of a task apply to its parts.
func TestJudgeAndParts(t *testing.T) {
	q := queue(Item{}, Item{Task: "task 5"}, Item{Task: "task 5/b"}, Item{})
	part := func(session, id string) Target {
		return Target{Session: session, Hat: "builder", Task: "task 5/" + id, Parent: "task 5", Writes: true}
	}
	a := part("r1-2", "a")
	b := q.Plan(a)
	if diff := cmp.Diff(Binding{Bound: []string{"g1", "g2", "g4"}}, b); diff != "" {
		t.Fatal(diff)
	}
	q = q.Bind(a, b).Report("g1", Addressed, "kept", at).Report("g2", Addressed, "so", at).Report("g4", SetAside, "no", at)
	q = q.Judge("g1", Judged{Session: "r1-3", Hat: "reviewer", Note: "it is not"}).Judge("g2", Judged{Session: "r1-3", Hat: "reviewer", Followed: true})
	if owed := q.Owed(b.Bound); !slices.Equal(owed, []string{"g1"}) {
		t.Errorf("owed %v", owed)
	}
	next := part("r1-4", "b")
	if got := q.Plan(next); !slices.Equal(got.Bound, []string{"g1", "g2", "g4", "g3"}) {
		t.Errorf("the other part has %v", got.Bound)
	}
	if got := q.Plan(writes("r1-5", "task 6")); got.Bound != nil {
		t.Errorf("another task has %v", got.Bound)
	}
	q = q.Report("g1", Addressed, "now", at)
	if again := q.Reopen("", "task 5/a", "task 5").Owed(b.Bound); !slices.Equal(again, []string{"g1", "g2", "g4"}) {
		t.Errorf("a new attempt owes %v", again)
	}
	q = q.Release("", "task 5")
	if got := q.Plan(next); !slices.Equal(got.Bound, []string{"g3"}) {
		t.Errorf("after its task ended: %v", got.Bound)
	}
}

// TestShownIsBounded shows a sticky item every night for years: the list of
// sessions stays bounded.
func TestShownIsBounded(t *testing.T) {
	q := queue(Item{Sticky: true})
	for n := range 3 * maxShown {
		reads := Target{Session: fmt.Sprintf("r1-%d", n), Hat: "reviewer", Task: "task 1"}
		q = q.Bind(reads, q.Plan(reads))
	}
	if got := q.Items[0].Shown; len(got) != maxShown || got[maxShown-1] != fmt.Sprintf("r1-%d", 3*maxShown-1) {
		t.Errorf("%d sessions: %v", len(got), got)
	}
}

// never is a rest that no item has.
func never(Item) bool { return false }

// TestStickyLeavesRoom checks that what was said once goes along before what is
// said every time, and that no more sticky items are taken than one session can
// have.
func TestStickyLeavesRoom(t *testing.T) {
	long := strings.Repeat("€", MaxText) // 3 bytes each
	var q Queue
	add := func(i Item) []string {
		i.ID, i.At = fmt.Sprintf("g%d", len(q.Items)+1), at
		before := q.StickyBefore(i)
		q = q.Add(i)
		return before
	}
	for n := range 5 { // as earlier releases took them
		full := add(Item{Text: long, Sticky: true})
		if want := n > 1; (full != nil) != want {
			t.Errorf("sticky item %d: %v leave no room", n+1, full)
		}
	}
	add(Item{Text: "be brief"})
	add(Item{Text: long})
	target := writes("r1-1", "task 1")
	b := q.Plan(target)
	if want := []string{"g1", "g2", "g3", "g6", "g7"}; !slices.Equal(b.Bound, want) {
		t.Errorf("bound %v, want %v", b.Bound, want)
	}
	for _, id := range []string{"g4", "g5"} {
		if before := q.Before(id, target); !slices.Equal(before, b.Bound) {
			t.Errorf("%s waits for %v", id, before)
		}
	}
	if before := q.Before("g7", target); before != nil {
		t.Errorf("g7 waits for %v", before)
	}
	if full := q.StickyBefore(Item{ID: "g2", Text: "short", Sticky: true}); full == nil {
		t.Error("a shorter text fits beside four long ones")
	}
	q = q.Drop("g3").Drop("g4").Drop("g5")
	if full := q.StickyBefore(Item{ID: "g8", Text: "tabs", Sticky: true}); full != nil {
		t.Errorf("%v leave no room for a short one", full)
	}
	if other := q.StickyBefore(Item{ID: "g8", Text: long, Sticky: true, Task: "task 1", Source: "plan:a.md"}); other == nil {
		t.Error("an item for one task is in the same sessions as one for all")
	}
}

// TestSource checks that an item for a task of one source reaches no session of
// another, whose tasks have the same ids.
func TestSource(t *testing.T) {
	q := queue(Item{Task: "task 1", Source: "plan:a.md"}, Item{}, Item{Sticky: true}, Item{Source: "plan:b.md"})
	in := func(source, session string) Target {
		target := writes(session, "task 1")
		target.Source = source
		return target
	}
	a := in("plan:a.md", "r1-1")
	b := q.Plan(a)
	if !slices.Equal(b.Bound, []string{"g1", "g2", "g3"}) {
		t.Fatalf("bound %v", b.Bound)
	}
	q = q.Bind(a, b).EndSession("r1-1")
	if got := q.Plan(in("plan:b.md", "r2-1")).Bound; !slices.Equal(got, []string{"g3", "g4"}) {
		t.Errorf("a session of the other source has %v", got)
	}
	q = q.Release("plan:b.md", "task 1").Reopen("plan:b.md", "task 1", "")
	if g2, _ := q.Get("g2"); g2.Bound != "task 1" || g2.Source != "plan:a.md" {
		t.Errorf("the other source's task took %+v", g2)
	}
	rests := func(i Item) bool { return i.Source == "plan:b.md" }
	late := at.Add(2 * Lifetime)
	if due := q.Due(late, rests); due != nil {
		t.Errorf("%v expire while their source rests", due)
	}
	if next := q.Wake("plan:b.md", "", late).NextDue(never); !next.Equal(late.Add(Lifetime)) {
		t.Errorf("after the rest the next item expires at %v", next)
	}
}
