package loop

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// sections returns random sections of a task's plan, in its scope. A section may depend on
// an earlier one.
func (w *world) sections(task string) []map[string]any {
	t, _ := w.s.Project.Find(task)
	file := map[string]string{"`src/a`": "src/a/a.go", "`src/b`": "src/b/a.go", "`src/c/**`": "src/c/a.go", "`src/{a,b}/x.go`": "src/b/x.go", "`go.mod`": "go.mod"}[t.Task.Scope]
	file = cmp.Or(file, "a.go")
	var list []map[string]any
	for n := range 1 + w.draw(4, "sections") {
		s := map[string]any{"id": string(rune('a' + n)), "title": "Section", "files": []string{file}}
		switch w.draw(4, "needs") {
		case 0, 1:
			s["depends_on"] = []string{}
		case 2:
			if n > 0 {
				s["depends_on"] = []string{string(rune('a' + w.draw(n, "needs")))}
			}
		}
		list = append(list, s)
	}
	if !w.kind && w.draw(3, "left out") == 0 { // and what needed it
		gone := list[w.draw(len(list), "left out")]["id"]
		list = slices.DeleteFunc(list, func(s map[string]any) bool { return s["id"] == gone })
		for _, s := range list {
			s["depends_on"] = []string{}
		}
	}
	return list
}

// critique returns a random verdict on the plan of a task.
func (w *world) critique(task string) map[string]any {
	data := map[string]any{"verdict": payload.VerdictOkay, "sections": []any{}}
	t, _ := w.s.Project.Find(task)
	if w.kind || w.draw(2, "verdict") == 0 || t.Attempt == nil {
		return data
	}
	data["verdict"], data["objections"] = payload.VerdictReject, []string{"it misses the point"}
	var list []map[string]any
	for _, s := range payload.Sections(t.Attempt.Plan) {
		j := map[string]any{"id": s.ID, "verdict": payload.VerdictOkay}
		if w.draw(2, "section") == 0 {
			j = map[string]any{"id": s.ID, "verdict": payload.VerdictReject, "objections": []string{"no test"}}
		}
		list = append(list, j)
	}
	if list != nil {
		data["sections"] = list
	}
	return data
}

// emitAny emits a random event: one that the hat may emit, or another.
func (w *world) emitAny(ses Session) {
	typ := w.s.Project.Run.Settings.Hats[ses.Planned.Hat].Emits[0]
	data := map[string]any{"summary": "did it", "steps": []string{"one"}, "files_modified": []string{"a.go"}, "issues": []ledger.Issue{}, "resolved": []string{}}
	switch typ {
	case ledger.EventPlan:
		t, _ := w.s.Project.Find(ses.Task)
		stands := t.Attempt != nil && t.Attempt.Consensus != nil && len(t.Attempt.Consensus.Approved) > 0 // then the rest of the plan has to be in sections too
		if w.draw(2, "in parts") == 0 || w.kind && stands {
			data["sections"] = w.sections(ses.Task)
		}
	case ledger.EventCritique:
		data = w.critique(ses.Task)
	case ledger.EventAdvice:
		data["advice"] = "smaller steps"
	case ledger.EventTriage:
		data = w.verdicts(ses.Task)
	case ledger.EventReview:
		w.review(ses.Task, data)
	case ledger.EventRepro:
		data = map[string]any{"command": "go test -run TestBug", "root_cause": "off by one", "affected_files": []string{}, "strategy": "count from 0"}
	case "verification.passed":
		ok := w.kind || w.draw(3, "checks") > 0
		if !ok {
			typ = ledger.EventFailed
		}
		checks := []map[string]any{{"criterion": "It works", "ok": ok, "how": "ran it"}}
		if t, found := w.s.Project.Find(ses.Task); found && w.kind {
			for n, c := range t.Criteria() { // upkeep has one for each comment
				checks = append(checks, map[string]any{"number": n + 1, "criterion": c, "ok": true, "how": "ran it"})
			}
		}
		data = map[string]any{"checks": checks}
	}
	if !w.kind && w.draw(4, "remember") == 0 {
		w.do(Remember{Session: ses.ID, Kind: ledger.MemoryNote, Text: pick(w, "tests need a port", "", string(make([]byte, maxMemory+1)))}, w.key("memory"))
	}
	if !w.kind && w.draw(8, "throttled") == 0 {
		w.do(Throttled{Session: ses.ID, Refused: 1000}, w.key("throttled"))
	}
	if !w.kind {
		switch w.draw(9, "event") {
		case 0:
			data["no_change"] = "it is there already"
		case 1:
			data["manual_verify"] = "look at the page"
		case 2:
			typ, data = ledger.EventQuestion, map[string]any{"text": "which?", "options": []string{"this", "that"}}
			if w.draw(2, "choice") == 0 {
				data["choice"] = "that"
			}
		case 3:
			typ, data = ledger.EventBlocked, map[string]any{"reason": "no key", "tried": "all", "needs": "a key"}
		case 4:
			typ = "nonsense"
		case 5:
			data = map[string]any{"summary": 5}
		}
		if w.draw(3, "issues") == 0 {
			data["issues"] = []ledger.Issue{{Severity: ledger.Major, File: "a.go", Rule: pick(w, "r1", "r2", "r3"), Text: "wrong", Pass: ledger.PassBugs, Confidence: pick(w, 50, 90)}}
		}
	}
	var reports []map[string]any
	for _, id := range ses.Planned.Guidance.Shown {
		if !w.kind && w.draw(3, "judged") == 0 {
			reports = append(reports, map[string]any{"id": id, pick(w, "done", "set_aside"): true, "note": "so"})
		}
	}
	for _, id := range ses.Planned.Guidance.Bound {
		if w.kind || w.draw(2, "report") == 0 {
			reports = append(reports, map[string]any{"id": id, "done": true, "note": "so"})
		}
	}
	if reports != nil {
		data["guidance"] = reports
	}
	raw, err := json.Marshal(data)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	key := w.key("emit")
	first := w.do(Emit{Session: ses.ID, Type: typ, Data: raw}, key).Answer
	if again := w.do(Emit{Session: ses.ID, Type: typ, Data: raw}, key).Answer; again != first {
		w.t.Fatalf("the same emit is answered %v, then %v", first, again)
	}
	if w.kind && !first.OK && !ses.Cut {
		w.t.Fatalf("a good event is refused: %v", first)
	}
	if first.OK {
		other := w.do(Emit{Session: ses.ID, Type: ledger.EventBlocked, Data: raw}, w.key("emit")).Answer
		if typ != ledger.EventBlocked && other.OK {
			w.t.Fatalf("a second event is accepted")
		}
	}
}
