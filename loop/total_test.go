package loop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// FuzzApplyIsTotal folds entries of every type with random content, in random
// order, into random states: each result can be saved, shown and decided on. A
// ledger is a file, so its entries need not come from Decide.
func FuzzApplyIsTotal(f *testing.F) {
	all := ledger.Bodies()
	for n := range all {
		for seed := range uint64(30) {
			f.Add(n, seed)
		}
	}
	f.Fuzz(func(t *testing.T, n int, seed uint64) {
		d := drawing{rand.New(rand.NewPCG(uint64(n), seed))}
		body := all[(n%len(all)+len(all))%len(all)]
		folder := NewFolder(d.state())
		for range 1 + d.IntN(3) {
			e := d.entry(body)
			if e.Body == nil {
				return // the body does not decode, and the fold of a ledger stops there with an error
			}
			before := folder.State()
			was := mustJSON(t, before)
			after := Apply(before, e)
			if now := mustJSON(t, before); now != was {
				t.Fatalf("%s changes the state that it is given: %s", e.Body.EntryType(), differ(was, now))
			}
			folder.Add(e)
			if a, b := mustJSON(t, after), mustJSON(t, folder.State()); a != b {
				t.Fatalf("%s: a Folder folds another state: %s", e.Body.EntryType(), differ(a, b))
			}
			body = all[d.IntN(len(all))]
		}
		s := folder.State()
		anew := NewTaskList(s.Project.Tasks.Slice()...)
		if !slices.EqualFunc(s.Project.Tasks.in[:], anew.in[:], slices.Equal[bitset]) {
			t.Fatalf("sets of tasks are %v, and should be %v", s.Project.Tasks.in, anew.in)
		}
		Due(s)
		s.Project.Count()
	})
}

// Few different names, so that hostile entries refer to each other.
var (
	someTasks    = []string{"", "Task 1", "task 1", "Task 2", "Task 2/a", "Task 9", " ", "q1"}
	someSessions = []string{"", "r1-1", "r1-2", "r1-c1", "r9-9"}
	someWords    = []string{"", "q1", "q2", "g1", "r1", "Task 1", "Task 2", "a", "\x00", "é", "planner", "builder", "2026-11-20"}
)

// drawing generates random states and entries.
type drawing struct{ *rand.Rand }

func oneOf[T any](d drawing, from ...T) T { return from[d.IntN(len(from))] }

// state returns a random state, from empty to the middle of a night.
func (d drawing) state() State {
	var s State
	for _, of := range []ledger.Body{ledger.RunPlanned{}, ledger.SourceRead{}, ledger.Commitment{}, ledger.SessionPlanned{}} { // mostly some order
		if d.IntN(4) > 0 {
			s = d.apply(s, of)
		}
	}
	for range d.IntN(6) {
		s = d.apply(s, oneOf[ledger.Body](d, ledger.RunPlanned{}, ledger.SourceRead{}, ledger.SessionPlanned{}, ledger.Commitment{}, ledger.QuestionAsked{}, ledger.ChecksBegun{},
			ledger.EventAccepted{}, ledger.PartsMade{}, ledger.GuidanceQueued{}, ledger.TaskSet{}, ledger.QuestionAnswered{}, ledger.Routed{}))
	}
	return s
}

func (d drawing) apply(s State, of ledger.Body) State {
	e := d.entry(of)
	if e.Body == nil {
		return s
	}
	return Apply(s, e)
}

// entry returns a random entry of body's type, as a ledger returns it. Its Body
// is nil if the random JSON does not decode.
func (d drawing) entry(of ledger.Body) ledger.Entry {
	v := reflect.New(reflect.TypeOf(of)).Elem()
	d.fill(v, 0)
	e := ledger.Entry{
		Stream: oneOf(d, ledger.ProjectStream("shop"), ledger.ProjectStream("shop"), ledger.SharedStream), Time: time.Unix(d.Int64N(2e9), 0).UTC(),
		Run: oneOf(d, "", "r1", "r2"), Task: oneOf(d, someTasks...), Session: oneOf(d, someSessions...), Actor: "daemon", Body: v.Interface().(ledger.Body),
	}
	r, err := e.Record()
	if err != nil {
		return ledger.Entry{}
	}
	if e, err = r.Entry(); err != nil {
		return ledger.Entry{}
	}
	return e
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
	known    = map[reflect.Type][]string{
		reflect.TypeFor[ledger.Status](): {"", "pending", "ready", "active", "done", "blocked", "manual_verify", "skipped", "waiting", "withdrawn", "odd"},
		reflect.TypeFor[ledger.Mark]():   {"", "open", "done", "blocked", "manual_verify", "odd"}, reflect.TypeFor[ledger.Kind](): {"", "agent", "setup", "verify", "final", "baseline", "repro", "recheck"},
		reflect.TypeFor[ledger.Stage]():          {"", "ready", "session", "takeover", "checks", "merge", "commit", "held"},
		reflect.TypeFor[ledger.SessionOutcome](): {"", "event", "lost", "cut off", "disk", "limit"},
		reflect.TypeFor[ledger.Accounting]():     {"", "success", "failed session", "nothing"},
		reflect.TypeFor[ledger.QuestionKind]():   {string(ledger.AskAgent), string(ledger.AskBlocked), string(ledger.AskManual), string(ledger.AskSkip), string(ledger.AskUnticked), "odd"},
		reflect.TypeFor[guidance.State]():        {"", "queued", "injected", "addressed", "set_aside", "not_reported", "expired", "dropped", "odd"},
		reflect.TypeFor[ledger.AttemptOutcome](): {"", string(ledger.OutcomeStalled), string(ledger.OutcomePlanned), string(ledger.OutcomeParked), string(ledger.OutcomeAnew)},
		reflect.TypeFor[ledger.RunState]():       {"", string(ledger.RunPlanning), string(ledger.RunRunning), string(ledger.RunWaiting), string(ledger.RunPaused), string(ledger.RunStopping), string(ledger.RunOver)},
	}
	someJSON = []string{`null`, `{}`, `[]`, `"a"`, `-1`, `{"summary":5}`, `{"sections":[{"id":"a"},{"id":"a","depends_on":["b"]},null]}`, `{"sections":{"a":1},"disputed":7}`,
		`{"verdict":"OKAY","sections":[{"id":"a","verdict":"REJECT","objections":[1]}]}`, `{"issues":[{"severity":"x"},null,3]}`, `{"failed":[{}],"command":[],"learnings":{},"manual_verify":5,"no_change":[]}`, `{"choice":"a","text":"b"}`}
	someEvents = []string{"", ledger.EventPlan, ledger.EventCritique, ledger.EventAdvice, ledger.EventFix, ledger.EventRepro, ledger.EventFailed, ledger.EventReview, ledger.EventQuestion, ledger.EventBlocked, "build.complete"}
)

// fill sets a value to random content.
func (d drawing) fill(v reflect.Value, depth int) {
	switch {
	case v.Type() == timeType:
		v.Set(reflect.ValueOf(time.Unix(d.Int64N(4e9)-1e9, 0).UTC()))
		return
	case v.Type() == rawType:
		v.Set(reflect.ValueOf(json.RawMessage(oneOf(d, someJSON...))))
		return
	}
	length := func() int {
		if depth > 5 {
			return 0
		}
		return d.IntN(4)
	}
	switch v.Kind() {
	case reflect.String:
		words := known[v.Type()]
		if words == nil {
			words = slices.Concat(someWords, someTasks, someSessions, someEvents)
		}
		v.SetString(oneOf(d, words...))
	case reflect.Bool:
		v.SetBool(d.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		if v.SetInt(oneOf[int64](d, 0, 1, 2, -1, -1<<31, 1<<31-1)); v.Type() == reflect.TypeFor[ledger.Duration]() {
			v.SetInt(max(v.Int(), 0)) // others do not decode
		}
	case reflect.Float64:
		v.SetFloat(oneOf(d, 0, -1, 0.5, 1e300))
	case reflect.Pointer:
		if length() > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		n := length()
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for k := range n {
			d.fill(v.Index(k), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range length() {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			d.fill(key, depth+1)
			d.fill(elem, depth+1)
			v.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		for k := range v.NumField() {
			if v.Type().Field(k).IsExported() {
				d.fill(v.Field(k), depth+1)
			}
		}
	default:
		panic(fmt.Sprintf("fill does not know a %s", v.Type()))
	}
}
