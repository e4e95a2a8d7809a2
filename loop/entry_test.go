package loop

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/guidance"
)

// samples are values for types whose values are words of their own.
var samples = map[reflect.Type]any{
	reflect.TypeFor[time.Time]():       time.Date(2026, 11, 19, 23, 10, 0, 5, time.UTC),
	reflect.TypeFor[json.RawMessage](): json.RawMessage(`{"summary":"s","other":[1,null]}`),
	reflect.TypeFor[Duration]():        Duration(90 * time.Second),
	reflect.TypeFor[Status]():          Blocked,
	reflect.TypeFor[Mark]():            MarkBlocked,
	reflect.TypeFor[Kind]():            KindVerify,
	reflect.TypeFor[ExitReason]():      ExitSelf,
	reflect.TypeFor[FailureClass]():    FailureLimit,
	reflect.TypeFor[SessionOutcome]():  EndedEvent,
	reflect.TypeFor[Accounting]():      CountsAsSuccess,
	reflect.TypeFor[Severity]():        Major,
	reflect.TypeFor[RunState]():        RunWaiting,
	reflect.TypeFor[WaitReason]():      WaitLimit,
	reflect.TypeFor[Reason]():          ReasonBlocked,
	reflect.TypeFor[Stage]():           StageChecks,
	reflect.TypeFor[Expect]():          ExpectPass,
	reflect.TypeFor[ThresholdSide]():   Above,
	reflect.TypeFor[QuestionKind]():    AskBlocked,
	reflect.TypeFor[guidance.State]():  guidance.Addressed,
	reflect.TypeFor[Role]():            RoleSteer,
	reflect.TypeFor[DeferredCommand](): DeferStopNow,
	reflect.TypeFor[AttemptOutcome]():  OutcomeStalled,
	reflect.TypeFor[MemoryKind]():      MemoryDecision,
	reflect.TypeFor[Hours]():           Hours("23:00-07:00"),
}

// fill sets every field of a value, so that none is left out of a golden.
func fill(t *testing.T, v reflect.Value, name string, suffix ...string) {
	t.Helper()
	if s, ok := samples[v.Type()]; ok {
		v.Set(reflect.ValueOf(s))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name + strings.Join(suffix, ""))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Float64:
		v.SetFloat(0.25)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), name, suffix...)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(t, e, name, suffix...)
		v.SetMapIndex(reflect.ValueOf(name+strings.Join(suffix, "")), e)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), name, suffix...)
	case reflect.Struct:
		for n := range v.NumField() {
			fill(t, v.Field(n), strings.ToLower(v.Type().Field(n).Name), suffix...)
		}
	default:
		t.Fatalf("%s: no sample for %s", name, v.Type())
	}
}

// TestEntries: the JSON of every type of entry is a contract. One that an
// older nightporter wrote is read by every later one.
func TestEntries(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "entries.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "EntryType" {
			declared++
		}
		return true
	})
	if declared != len(Bodies()) {
		t.Errorf("%d types of entry, and Bodies lists %d", declared, len(Bodies()))
	}
	files := map[string]bool{}
	for _, zero := range Bodies() {
		typ := zero.EntryType()
		t.Run(typ, func(t *testing.T) {
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			fill(t, v, typ)
			want := Entry{
				Stream: ProjectStream("shop"), Time: time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC), Run: "r14", Task: "Task 5", Attempt: "a1",
				Session: "r14-25", Actor: "agent", Cause: "emit:r14-25", Body: v.Interface().(Body),
			}
			rec, err := want.Record()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "entries", typ+".json")
			files[file] = true
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, rec.Body, "", "  "); err != nil {
				t.Fatal(err)
			}
			pretty.WriteByte('\n')
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(golden), pretty.String()); diff != "" {
				t.Errorf("the JSON of %s changed; only adding is allowed: (-golden +now)\n%s", typ, diff)
			}
			rec.Body = golden
			got, err := rec.Entry()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Transformer("compact", compactJSON)); diff != "" {
				t.Errorf("the golden comes back as something else: (-want +got)\n%s", diff)
			}
		})
	}
	have, err := filepath.Glob("testdata/entries/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range have {
		if !files[file] {
			t.Errorf("%s: this type of entry is gone, and older ledgers have it", file)
		}
	}
}

func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// TestUnknownEntries: what a newer nightporter wrote is kept and not folded;
// what does not decode is an error and not passed over.
func TestUnknownEntries(t *testing.T) {
	n := newNight(t)
	n.do(StartRun{Settings: n.settings}, "run")
	for _, r := range []Record{
		{Stream: ProjectStream("shop"), Type: "dream.dreamt", V: 1, Body: []byte(`{"of":"sheep"}`)},
		{Stream: ProjectStream("shop"), Type: TaskSet{}.EntryType(), V: entryVersion + 1, Task: "Task 1", Body: []byte(`{"to":["done"]}`)},
		{Stream: SharedStream, Type: "dream.dreamt", V: 1, Body: []byte(`not even JSON`)},
	} {
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		u, ok := e.Body.(Unknown)
		if !ok || u.EntryType() != r.Type || u.V != r.V || string(u.Raw) != string(r.Body) {
			t.Errorf("%s: got %#v", r.Type, e.Body)
		}
		after := Apply(n.s, e)
		n.s.Project.Run.LastEvent, after.Project.Run.LastEvent = time.Time{}, time.Time{}
		if diff := cmp.Diff(n.s, after, cmpopts.EquateEmpty(), listed); diff != "" {
			t.Errorf("%s changes the state: %s", r.Type, diff)
		}
	}
	if _, err := (Record{Type: TaskSet{}.EntryType(), V: 1, Body: []byte(`{"to":5}`)}).Entry(); err == nil {
		t.Error("an entry that does not decode is read")
	}
}

// TestStatesAreValues: two futures of one state do not write into each other,
// also where a list of it has room to grow.
func TestStatesAreValues(t *testing.T) {
	for _, zero := range Bodies() {
		entry := func(stream, suffix string) Entry {
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			fill(t, v, "x", suffix)
			return Entry{Stream: stream, Task: "Task 1", Session: "r1-1", Body: v.Interface().(Body)}
		}
		for _, stream := range []string{SharedStream, ProjectStream("shop")} {
			s := promptNight(t, "go quiet", "plan").s
			for _, suffix := range []string{"a", "b", "c"} { // three elements in room for four
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

// listed lets cmp look into lists.
var listed = cmp.Options{cmp.Transformer("", TaskList.Slice), cmp.Transformer("", List[Share].Slice)}
