package loop

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/ledger/ledgertest"
)

// TestUnknownEntries checks that an entry of a newer release is kept and not
// folded, and that an entry that does not decode is an error.
func TestUnknownEntries(t *testing.T) {
	n := newNight(t)
	n.do(StartRun{Settings: n.settings}, "run")
	for _, r := range []ledger.Record{
		{Stream: ledger.ProjectStream("shop"), Type: "dream.dreamt", V: 1, Body: []byte(`{"of":"sheep"}`)},
		{Stream: ledger.ProjectStream("shop"), Type: ledger.TaskSet{}.EntryType(), V: 99, Task: "Task 1", Body: []byte(`{"to":["done"]}`)},
		{Stream: ledger.SharedStream, Type: "dream.dreamt", V: 1, Body: []byte(`not even JSON`)},
	} {
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		u, ok := e.Body.(ledger.Unknown)
		if !ok || u.EntryType() != r.Type || u.V != r.V || string(u.Raw) != string(r.Body) {
			t.Errorf("%s: got %#v", r.Type, e.Body)
		}
		after := Apply(n.s, e)
		n.s.Project.Run.LastEvent, after.Project.Run.LastEvent = time.Time{}, time.Time{}
		if diff := cmp.Diff(n.s, after, cmpopts.EquateEmpty(), listed); diff != "" {
			t.Errorf("%s changes the state: %s", r.Type, diff)
		}
	}
	if _, err := (ledger.Record{Type: ledger.TaskSet{}.EntryType(), V: 1, Body: []byte(`{"to":5}`)}).Entry(); err == nil {
		t.Error("an entry that does not decode is read")
	}
}

// TestStatesAreValues checks that two states folded from the same state do not
// write into each other, even if one of its slices has spare capacity.
func TestStatesAreValues(t *testing.T) {
	for _, zero := range ledger.Bodies() {
		entry := func(stream, suffix string) ledger.Entry {
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			ledgertest.Fill(t, v, "x", suffix)
			return ledger.Entry{Stream: stream, Task: "Task 1", Session: "r1-1", Body: v.Interface().(ledger.Body)}
		}
		for _, stream := range []string{ledger.SharedStream, ledger.ProjectStream("shop")} {
			s := playing(t, "go quiet", "plan").s
			for _, suffix := range []string{"a", "b", "c"} { // three appends leave a slice with a capacity of four
				s = Apply(s, entry(stream, suffix))
			}
			one := Apply(s, entry(stream, "d"))
			before := mustJSON(t, one)
			Apply(s, entry(stream, "e"))
			if got := mustJSON(t, one); got != before {
				t.Errorf("%s: %s", zero.EntryType(), differ(before, got))
			}
		}
	}
}

// listed lets cmp compare the elements of lists.
var listed = cmp.Options{cmp.Transformer("", TaskList.Slice), cmp.Transformer("", List[Share].Slice)}
