package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

func TestCheckEvent(t *testing.T) {
	s := testSettings()
	long := strings.Repeat("x", payload.MaxSize)
	for _, c := range []struct {
		hat, typ, data string
		want           string // part of the refusal; "" = accepted
	}{
		{"planner", "plan.complete", `{"summary":"s"}`, "steps is missing"},
		{"planner", "plan.complete", `{"summary":"s","steps":["a"],"mine":{"kept":1}}`, ""},
		{"planner", "plan.complete", `{"summary":"s","sections":[{"id":"a","title":"A"}]}`, ""},
		{"planner", "plan.complete", `{"summary":"s","steps":null}`, "steps is missing"},
		{"planner", "plan.complete", `{"summary":"s","steps":[]}`, "at least one of steps and sections has to have an item"},
		{"planner", "plan.complete", `{"summary":"s","steps":[""," \n",null,{},[]]}`, "at least one of steps and sections has to have an item"},
		{"planner", "plan.complete", `{"summary":"s","sections":[]}`, "at least one of steps and sections has to have an item"},
		{"planner", "plan.complete", `{"summary":"s","steps":[],"sections":[{"id":"a","title":"A"}]}`, ""},
		{"planner", "plan.complete", `{"summary":"s","steps":[{"do":"it"}],"sections":[]}`, ""},
		{"planner", "plan.complete", `{"summary":"s","steps":"a"}`, `"steps" has to be a list`},
		{"planner", "plan.complete", `{"Summary":"s","steps":["a"]}`, "summary is missing"},
		{"planner", "plan.complete", `{"summary":null}`, "has to be a string"},
		{"planner", "plan.complete", ``, "summary, steps is missing"},
		{"planner", "plan.complete", `null`, "not a JSON object"},
		{"planner", "plan.complete", `"s"`, "not a JSON object"},
		{"planner", "plan.complete", `{"summary":"s"`, "not a JSON object"},
		{"planner", "plan.complete", `{"summary":"s"} {}`, "not a JSON object"},
		{"planner", "plan.complete", "{\"summary\":\"\xff\"}", "not UTF-8"},
		{"planner", "plan.complete", `{"summary":"` + long + `"}`, "256 kB"},
		{"planner", "build.complete", `{"summary":"s","files_modified":[]}`, "a planner ends with plan.complete"},
		{"planner", "", `{}`, "not with"},
		{"builder", "build.complete", `{"summary":"s","files_modified":["a"]}`, ""},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"manual_verify":true,"no_change":"why","learnings":"l"}`, ""},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"manual_verify":"look"}`, ""},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"manual_verify":3}`, "true, or a string"},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"no_change":null}`, ""},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"no_change":true}`, "has to be a string"},
		{"builder", "build.complete", `{"summary":"s","files_modified":"a"}`, "list of strings"},
		{"builder", "build.complete", `{"files_modified":["a"]}`, "summary is missing"},
		{"reviewer", "review.verdict", `{"summary":"s","issues":[]}`, ""},
		{"reviewer", "review.verdict", `{"summary":"s","issues":[{"severity":"minor","text":"t","more":1}]}`, ""},
		{"reviewer", "review.verdict", `{"summary":"s","issues":[{"severity":"MAJOR","text":"t"}]}`, "severity"},
		{"reviewer", "review.verdict", `{"summary":"s","issues":[{"severity":"blocker","text":"t"}]}`, `severity "blocker"`},
		{"reviewer", "review.verdict", `{"summary":"s","issues":[{"severity":"minor","text":" "}]}`, "without text"},
		{"reviewer", "review.verdict", `{"summary":"s","issues":[{"severity":"minor","text":"t","line":"3"}]}`, "list of issues"},
		{"reviewer", "review.verdict", `{"summary":"s","issues":null}`, "list of issues"},
		{"fixer", "fix.complete", `{"summary":"s","files_modified":[],"resolved":["a"],"disputed":[{"issue":"i","reason":"r"}]}`, ""},
		{"planner", "plan.complete", `{"summary":"s","sections":[{"id":"a"}]}`, "without a title"},
		{"planner", "plan.complete", `{"summary":"s","sections":[{"id":"A/..","title":"t"}]}`, "use a, b, c"},
		{"planner", "plan.complete", `{"summary":"s","sections":[{"id":"a","title":"t"},{"id":"a","title":"t"}]}`, "two sections"},
		{"planner", "plan.complete", `{"summary":"s","sections":[{"id":"a","title":"t","depends_on":["b"]},{"id":"b","title":"t"}]}`, "no section before it"},
		{"planner", "plan.complete", `{"summary":"s","sections":[{"id":"a","title":"t","files":["../etc"]}]}`, "leaves the repository"},
		{"planner", "plan.complete", `{"summary":"s","sections":[{"id":"a","title":"t","steps":"one"}]}`, "list of"},
		{"reproducer", ledger.EventRepro, `{"command":"go test","root_cause":"r","affected_files":[],"strategy":"s"}`, ""},
		{"reproducer", ledger.EventRepro, `{"command":"go test\nrm x","root_cause":"r","affected_files":[],"strategy":"s"}`, "one line"},
		{"reproducer", ledger.EventRepro, `{"command":" ","root_cause":"r","affected_files":[],"strategy":"s"}`, "one line"},
		{"reproducer", ledger.EventRepro, `{"command":"go test"}`, "root_cause, affected_files, strategy is missing"},
		{"verifier", "verification.passed", `{"checks":[{"criterion":"c","ok":true,"how":"h"}]}`, ""},
		{"verifier", "verification.passed", `{"checks":[]}`, "not empty"},
		{"verifier", "verification.passed", `{"checks":[{"criterion":"c","ok":false,"how":"h"}]}`, "send the same checks with verification.failed"},
		{"verifier", ledger.EventFailed, `{"checks":[{"criterion":"c","ok":true,"how":"h"}]}`, "send the same checks with verification.passed"},
		{"verifier", ledger.EventFailed, `{"checks":[{"criterion":"c","how":"h"}]}`, "without criterion, ok or how"},
		{"critic", ledger.EventCritique, `{"verdict":"OKAY","sections":[]}`, ""},
		{"critic", ledger.EventCritique, `{"verdict":"okay","sections":[]}`, "OKAY or REJECT"},
		{"critic", ledger.EventCritique, `{"verdict":"REJECT","sections":[]}`, "without an objection"},
		{"critic", ledger.EventCritique, `{"verdict":"REJECT","sections":[{"id":"a","verdict":"REJECT","objections":[" "]}]}`, "without an objection"},
		{"critic", ledger.EventCritique, `{"verdict":"OKAY","sections":[{"id":"a","verdict":"REJECT","objections":["o"]}]}`, "there are objections"},
		{"critic", ledger.EventCritique, `{"verdict":"OKAY"}`, "sections is missing"},
		{"critic", ledger.EventCritique, `{"verdict":"REJECT","sections":[{"id":"a","verdict":"OKAY"},{"id":"a","verdict":"REJECT","objections":["o"]}]}`, "twice"},
		{"architect", ledger.EventAdvice, `{"summary":"s","advice":""}`, "not empty"},
		{"refactorer", "refactor.complete", `{"summary":"s"}`, "files_modified is missing"},
		{"fixer", ledger.EventQuestion, `{"text":"which?"}`, ""},
		{"fixer", ledger.EventQuestion, `{"text":"which?","options":["a","b"],"choice":"b"}`, ""},
		{"fixer", ledger.EventQuestion, `{"text":"which?","options":["a","b"],"choice":"c"}`, "one of the options"},
		{"fixer", ledger.EventQuestion, `{"text":"which?","Options":["c"],"choice":"c"}`, "one of the options"},
		{"fixer", ledger.EventQuestion, `{"text":" "}`, "not empty"},
		{"fixer", ledger.EventQuestion, `{"text":"w","options":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17","18","19","20","21"]}`, "20 options"},
		{"fixer", ledger.EventBlocked, `{"reason":"r","tried":"","needs":""}`, ""},
		{"fixer", ledger.EventBlocked, `{"reason":"","tried":"t","needs":"n"}`, "not empty"},
		{"fixer", ledger.EventBlocked, `{"reason":"r"}`, "tried, needs is missing"},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"guidance":[{"id":"g1","done":true}]}`, ""},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"guidance":[{"id":"g1","done":"so"}]}`, ""},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"guidance":[{"id":"g1"}]}`, "guidance has to be"},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"guidance":[{"id":"g1","done":true,"set_aside":true}]}`, "guidance has to be"},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"guidance":"g1 done"}`, "guidance has to be"},
		{"builder", "build.complete", `{"summary":"s","files_modified":[],"guidance":null}`, ""},
	} {
		_, why := payload.Check(s.Hats[c.hat], c.typ, json.RawMessage(c.data))
		if (c.want == "") != (why == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s %s %.80s: got %q, want %q", c.hat, c.typ, c.data, why, c.want)
		}
	}
}

// TestEventShapes checks that the example of an event that prompts and refusals
// show is accepted.
func TestEventShapes(t *testing.T) {
	for name, hat := range testSettings().Hats {
		for _, typ := range append(hat.Emits, ledger.EventQuestion, ledger.EventBlocked) {
			shape := strings.NewReplacer("critical|major|minor|suggestion", "major", "OKAY|REJECT", "REJECT", "take|set_aside", "take", "none|plan|decision", "none").Replace(payload.Shape(typ))
			if _, why := payload.Check(hat, typ, json.RawMessage(shape)); why != "" {
				t.Errorf("%s %s: the example %s is refused: %s", name, typ, shape, why)
			}
		}
	}
}

func TestGuidanceReports(t *testing.T) {
	reports, why := payload.Check(testSettings().Hats["builder"], "build.complete", json.RawMessage(
		`{"summary":"s","files_modified":[],"guidance":[{"id":"g1","set_aside":true},{"id":" G1 ","done":"as said"},{"id":"g2","set_aside":true,"done":false,"note":"no such thing"}]}`))
	if why != "" || len(reports) != 2 {
		t.Fatalf("%v %s", reports, why)
	}
	if r := reports[0]; r.ID != "g1" || r.State != guidance.Addressed || r.Note != "as said" {
		t.Errorf("got %+v", r)
	}
	if r := reports[1]; r.ID != "g2" || r.State != guidance.SetAside || r.Note != "no such thing" {
		t.Errorf("got %+v", r)
	}
}

// TestRefusalsAreBounded checks that an agent that emits garbage in a loop does
// not fill the ledger.
func TestRefusalsAreBounded(t *testing.T) {
	d := playing(t, "go quiet")
	before := len(d.entries)
	for n := range 100 {
		d.input(Emit{Session: d.session().ID, Type: fmt.Sprintf("nonsense.%d", n)})
	}
	if got := len(d.entries) - before; got != maxRefusals {
		t.Errorf("%d entries of 100 refused events, want %d", got, maxRefusals)
	}
}

// TestEmitForAnother checks that an event records nothing if its session is not
// in flight or is not an agent's.
func TestEmitForAnother(t *testing.T) {
	d := playing(t, "go quiet", "plan", "build")
	for _, session := range []string{"r1-1", "r1-99", d.session().ID, ""} {
		dec := d.do(Emit{Session: session, Type: ledger.EventQuestion, Data: json.RawMessage(`{"text":"which?"}`)}, "")
		if dec.Answer.OK || len(dec.Entries) > 0 {
			t.Errorf("%q: %+v %v", session, dec.Answer, dec.Entries)
		}
	}
}

func FuzzCheckEvent(f *testing.F) {
	for _, s := range []string{planned, built, fixed, `{"summary":"s","issues":[{"severity":"major","text":"t"}]}`, `{"text":"w","options":["a"],"choice":"a"}`, `{"reason":"r","tried":"t","needs":"n"}`, `{"guidance":[{"id":"g1","done":true}]}`, "null", "[", "\xff"} {
		f.Add("builder", "build.complete", strings.ReplaceAll(s, "%s", ""))
	}
	f.Fuzz(func(_ *testing.T, hat, typ, data string) {
		payload.Check(testSettings().Hats[hat], typ, json.RawMessage(data))
	})
}

// FuzzEmit emits an event and plays on to the session's end: any data is either
// refused or routed. Package prompt fuzzes the prompt that follows.
func FuzzEmit(f *testing.F) {
	for _, s := range []string{
		planned, built, fixed, `{"summary":"s","issues":[{"severity":"major","text":"t"}]}`, `{"text":"w","options":["a"],"choice":"a"}`, `{"reason":"r","tried":"t","needs":"n"}`,
		`{"summary":"s","sections":[{"id":"a","title":"t","files":["a.go"]},{"id":"b","title":"t","depends_on":["a"]}]}`, `{"verdict":"REJECT","sections":[{"id":"a","verdict":"REJECT","objections":["o"]}]}`,
		`{"command":"go test","root_cause":"r","affected_files":["a"],"strategy":"s"}`,
	} {
		for stage := range 8 {
			for _, typ := range []string{"plan.complete", "build.complete", "review.verdict", "fix.complete", ledger.EventCritique, ledger.EventRepro, ledger.EventQuestion, ledger.EventBlocked} {
				f.Add(uint8(stage), typ, strings.ReplaceAll(s, "%s", ""))
			}
		}
	}
	f.Fuzz(func(t *testing.T, stage uint8, typ, data string) {
		n := newNight(t)
		d := &director{night: n, held: map[string]bool{}}
		n.trusts = true // in what is the same for every event, and played by TestTranscripts
		d.tasks("1")
		for _, line := range [][]string{
			{"go quiet"}, {"go quiet", "plan"}, {"go quiet", "plan", "build", "green"}, {"go quiet", "plan", "build", "green", "issues major:r"},
			{"set consensus=yes", "go quiet"}, {"set consensus=yes", "go quiet", "sections a b<a"}, {"set consensus=yes", "go quiet", "sections a b<a", "critic a"},
			{"set pattern=bug", "go quiet"},
		}[stage%8] {
			d.play(line)
		}
		n.trusts = false
		d.emit(typ, data)
		if len(d.s.Project.Sessions) == 0 || d.session().Event == nil {
			return
		}
		d.exit(nil)
		d.play("greens")
	})
}

// A reproducer's finding reaches the fixer. A summary is shown whatever hat
// sent it.
func TestSummary(t *testing.T) {
	for data, want := range map[string]string{
		`{"summary":"did it","root_cause":"x"}`: "did it",
		`{"command":"go test","root_cause":"off by one","affected_files":["a.go","b.go"],"strategy":"count from 0"}`: "root cause: off by one; in a.go, b.go; to fix it: count from 0",
		`{"checks":[]}`: "",
		`[]`:            "",
	} {
		if got := payload.Summary(json.RawMessage(data)); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

// TestWrittenEvent checks an event that a session's last message ended with: it counts
// as one that was sent, where none was, and the ledger says that it was written.
func TestWrittenEvent(t *testing.T) {
	written := func(typ, data string) func(*ledger.Exit) {
		return func(x *ledger.Exit) {
			x.Event = &ledger.WrittenEvent{Type: typ, Data: json.RawMessage(data)}
		}
	}
	plan := `{"summary":"the plan","steps":["one"]}`
	for _, c := range []struct {
		name  string
		sent  string // event that the session sent before, "" = none
		exit  func(*ledger.Exit)
		end   ledger.SessionOutcome
		event string // type of the accepted event
		wrote bool
	}{
		{"accepted", "", written("plan.complete", plan), ledger.EndedEvent, "plan.complete", true},
		{"refused", "", written("plan.complete", `{"summary":"x"}`), ledger.EndedSilent, "", false},
		{"sent before", plan, written("task.blocked", `{}`), ledger.EndedEvent, "plan.complete", false},
		{"none", "", nil, ledger.EndedSilent, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := playing(t, "go quiet")
			if c.sent != "" {
				d.emit("plan.complete", c.sent)
			}
			before := len(d.entries)
			if c.sent != "" {
				before-- // its event
			}
			d.exit(c.exit)
			var accepted *ledger.EventAccepted
			var ended *ledger.SessionEnded
			for _, e := range d.entries[before:] {
				switch b := e.Body.(type) {
				case ledger.EventAccepted:
					accepted = &b
				case ledger.SessionEnded:
					ended = &b
				}
			}
			if ended == nil || ended.End != c.end || ended.Exit.Event != nil {
				t.Errorf("end: %+v, want %s", ended, c.end)
			}
			if (accepted != nil) != (c.event != "") || accepted != nil && (accepted.Type != c.event || accepted.Written != c.wrote) {
				t.Errorf("event: %+v, want %q, written %v", accepted, c.event, c.wrote)
			}
		})
	}
}
