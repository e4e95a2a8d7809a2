package loop

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// decide makes a decision, and folds it unless another test does.
func (n *night) decide(in Input) Decision {
	n.t.Helper()
	if n.trusts {
		d := Decide(n.s, in)
		if n.decided != nil {
			n.decided(n.s, &d)
		}
		n.folded, n.folder, n.stands, n.gaveJSON = d.State, NewFolder(d.State), "", ""
		return d
	}
	if n.stands == "" {
		n.stands = mustJSON(n.t, n.s)
	}
	before, d := n.stands, Decide(n.s, in)
	n.stands = n.pure(in, d)
	switch {
	case len(d.Entries) > 0:
		n.fold(d, n.stands)
		n.indexed(d.State.Project.Tasks)
	case n.stands != before:
		n.t.Fatalf("%s: another state without an entry: %s", in.Body.InputKind(), differ(n.stands, before))
	}
	return d
}

// pure holds that d is what one input leads to and nothing else, and that no
// decision writes into a state. It returns the state after d as text. fold holds
// that both decisions' entries lead to it, and that no later decision changed it:
// the ledger's states share nothing with it.
func (n *night) pure(in Input, d Decision) string {
	n.t.Helper()
	again := Decide(n.s, in)
	// Another future of the same state must not write into this one.
	for _, probe := range []InputBody{Guide{Text: "probe"}, Now{Text: "probe"}, Stop{}} {
		Decide(n.s, Input{Time: n.now, Actor: "probe", Project: n.settings.Project, Body: probe})
	}
	if now := mustJSON(n.t, n.s); now != n.stands {
		n.t.Fatalf("%s: Decide changed the state that it was given: %s", in.Body.InputKind(), differ(n.stands, now))
	}
	after := mustJSON(n.t, d.State)
	if len(d.Entries) > 0 && !reflect.DeepEqual(d.After[len(d.Entries)-1], d.State) {
		n.t.Fatalf("%s: the state of the decision is not that after its last entry", in.Body.InputKind())
	}
	d.State, again.State, d.After, again.After = State{}, State{}, nil, nil // fold looks at After
	if a, b := mustJSON(n.t, d), mustJSON(n.t, again); a != b {
		n.t.Fatalf("%s: two decisions of one input: %s", in.Body.InputKind(), differ(a, b))
	}
	return after
}

// fold folds the entries as they come back from the ledger, to the state that
// want is the text of.
func (n *night) fold(d Decision, want string) {
	n.t.Helper()
	if len(d.After) != len(d.Entries) {
		n.t.Fatalf("%d states after %d entries", len(d.After), len(d.Entries))
	}
	for at, e := range d.Entries {
		if e.Stream != ledger.SharedStream && e.Stream != ledger.ProjectStream("shop") {
			n.t.Fatalf("entry %s in stream %q", e.Body.EntryType(), e.Stream)
		}
		r, err := e.Record()
		if err != nil {
			n.t.Fatalf("%v", err)
		}
		back, err := r.Entry()
		if err != nil {
			n.t.Fatalf("%v", err)
		}
		n.folded = Apply(n.folded, back)
		n.folder.Add(back)
		if at != len(d.Entries)/2 || at == len(d.Entries)-1 { // that after the last one is compared below
			continue
		}
		if want, got := mustJSON(n.t, n.folded), mustJSON(n.t, d.After[at]); want != got {
			n.t.Fatalf("after %s stands another state than that of the fold: %s", e.Body.EntryType(), differ(got, want))
		}
	}
	if got := mustJSON(n.t, n.folded); got != want {
		n.t.Fatalf("%s: the fold of the ledger is another state: %s", n.last.Body.InputKind(), differ(got, want))
	}
	if got := mustJSON(n.t, n.gave); n.gaveJSON != "" && got != n.gaveJSON {
		n.t.Fatalf("%s: a Folder changed a state that it gave away: %s", n.last.Body.InputKind(), differ(got, n.gaveJSON))
	}
	n.gave, n.gaveJSON = n.folder.State(), want
	if got := mustJSON(n.t, n.gave); got != want {
		n.t.Fatalf("%s: a Folder folds another state: %s", n.last.Body.InputKind(), differ(got, want))
	}
	var back State
	if err := json.Unmarshal([]byte(want), &back); err != nil {
		n.t.Fatalf("state does not decode: %v", err)
	}
	if got := mustJSON(n.t, back); got != want {
		n.t.Fatalf("a snapshot is another state: %s", differ(got, want))
	}
}

// indexed compares the indexes of a list with those of a new list of the same
// tasks.
func (n *night) indexed(l TaskList) {
	n.t.Helper()
	anew := NewTaskList(l.Slice()...)
	for s := range taskSets {
		if !slices.Equal(l.in[s], anew.in[s]) {
			n.t.Fatalf("%s: set %d of the tasks is %b, and should be %b", n.last.Body.InputKind(), s, l.in[s], anew.in[s])
		}
	}
	if l.Len() > 0 && !slices.EqualFunc(l.ids.neededBy, anew.ids.neededBy, func(has, should []int32) bool {
		return !slices.ContainsFunc(should, func(n int32) bool { return !slices.Contains(has, n) })
	}) {
		n.t.Fatalf("%s: tasks are needed by %v, and should be by %v", n.last.Body.InputKind(), l.ids.neededBy, anew.ids.neededBy)
	}
}

// differ returns the place where two texts begin to differ.
func differ(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	cut := func(s string) string { return s[max(0, min(at, len(s))-150):min(len(s), at+150)] }
	return "\n… " + cut(a) + "\n… " + cut(b)
}
