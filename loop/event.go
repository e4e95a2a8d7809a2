package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// MaxEvent is the largest payload of an event in bytes (SPEC 4.2).
const MaxEvent = 256 << 10

// field is one known field of an event's payload and the JSON that it holds.
type field struct {
	name string
	kind string // string, words (not empty), line (words without a line break), flag (true, or words that say more), strings, list, issues, sections, checks, critique
	must bool
}

// eventFields are the fields that each event of the shipped hats may carry
// (SPEC 4.2). A field that is not listed is kept and not looked at.
var eventFields = map[string][]field{
	"plan.complete":  {{"summary", "string", true}, {"steps", "list", false}, {"sections", "sections", false}},
	"build.complete": {{"summary", "string", true}, {"files_modified", "strings", true}, {"no_change", "string", false}, {"manual_verify", "flag", false}, {"learnings", "string", false}},
	"fix.complete":   {{"summary", "string", true}, {"files_modified", "strings", true}, {"resolved", "list", false}, {"disputed", "list", false}, {"no_change", "string", false}},
	"review.verdict": {{"summary", "string", true}, {"issues", "issues", true}},

	"docs.complete":       {{"summary", "string", true}, {"files_modified", "strings", true}, {"no_change", "string", false}},
	"refactor.complete":   {{"summary", "string", true}, {"files_modified", "strings", true}, {"no_change", "string", false}},
	"repro.complete":      {{"command", "line", true}, {"root_cause", "words", true}, {"affected_files", "strings", true}, {"strategy", "words", true}},
	"verification.passed": {{"checks", "checks", true}},
	"verification.failed": {{"checks", "checks", true}},
	"critique.verdict":    {{"verdict", "words", true}, {"sections", "critique", true}, {"objections", "strings", false}},
	"advice.complete":     {{"summary", "string", true}, {"advice", "words", true}},
	"triage.verdict":      {{"reports", "list", true}},

	ledger.EventQuestion: {{"text", "words", true}, {"options", "strings", false}, {"choice", "string", false}},
	ledger.EventBlocked:  {{"reason", "words", true}, {"tried", "string", true}, {"needs", "string", true}},
}

// EventShape describes an event's payload for the prompt and for a refusal:
// an example that would be accepted.
func EventShape(typ string) string {
	switch typ {
	case "plan.complete":
		return `{"summary":"…","steps":["…","…"]}`
	case "build.complete":
		return `{"summary":"…","files_modified":["path"]}`
	case "fix.complete":
		return `{"summary":"…","files_modified":["path"],"resolved":["…"],"disputed":[{"issue":"…","reason":"…"}]}`
	case "review.verdict":
		return `{"summary":"…","issues":[{"severity":"critical|major|minor|suggestion","file":"path","line":12,"rule":"…","text":"…"}]}`
	case "docs.complete", "refactor.complete":
		return `{"summary":"…","files_modified":["path"]}`
	case "repro.complete":
		return `{"command":"go test ./pkg -run TestName","root_cause":"…","affected_files":["path"],"strategy":"…"}`
	case "verification.passed":
		return `{"checks":[{"criterion":"…","ok":true,"how":"what you ran and saw"}]}`
	case "verification.failed":
		return `{"checks":[{"criterion":"…","ok":false,"how":"what you ran and saw"}]}`
	case "critique.verdict":
		return `{"verdict":"OKAY|REJECT","sections":[{"id":"a","verdict":"OKAY|REJECT","objections":["…"]}],"objections":["about the whole"]}`
	case "advice.complete":
		return `{"summary":"…","advice":"…"}`
	case "triage.verdict":
		return `{"reports":[{"id":"b37","verdict":"take|set_aside","gate":3,"reason":"…"}]}`
	case ledger.EventQuestion:
		return `{"text":"…","options":["…","…"],"choice":"…"}`
	case ledger.EventBlocked:
		return `{"reason":"…","tried":"…","needs":"…"}`
	}
	return `{"summary":"…"}`
}

// eventGuidance is one report in an event's guidance field.
type eventGuidance struct {
	ID       string          `json:"id"`
	Done     json.RawMessage `json:"done"`
	SetAside json.RawMessage `json:"set_aside"`
	Note     string          `json:"note"`
}

// checkEvent holds an event against what its hat declares. why is empty when
// it can be accepted; else it tells the agent what to change.
func checkEvent(h ledger.Hat, typ string, data json.RawMessage) (reports []ledger.GuidanceReported, why string) {
	if !h.MayEmit(typ) {
		may := append(slices.Clone(h.Emits), ledger.EventQuestion, ledger.EventBlocked)
		return nil, fmt.Sprintf("a %s ends with %s, not with %q", h.Name, strings.Join(may, " or "), typ)
	}
	if len(data) > MaxEvent {
		return nil, fmt.Sprintf("the data has %d kB; 256 kB are the most", len(data)>>10)
	}
	if !utf8.Valid(data) {
		return nil, "the data is not UTF-8 text; send " + EventShape(typ)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, "the data is not a JSON object; send " + EventShape(typ)
	}
	var missing []string
	known := eventFields[typ]
	for _, f := range known {
		raw, ok := fields[f.name]
		if !ok || !f.must && string(raw) == "null" { // agents write null for "nothing to say"
			if f.must {
				missing = append(missing, f.name)
			}
			continue
		}
		if bad := f.check(raw); bad != "" {
			shape := EventShape(typ)
			if f.kind == "sections" {
				shape = sectionsShape
			}
			return nil, fmt.Sprintf("field %q %s; send %s", f.name, bad, shape)
		}
	}
	if typ != ledger.EventQuestion && typ != ledger.EventBlocked {
		for _, name := range h.Payload {
			if _, ok := fields[name]; !ok && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	if typ == "plan.complete" && fields["steps"] == nil && fields["sections"] == nil {
		missing = append(missing, "steps")
	}
	if len(missing) > 0 {
		return nil, fmt.Sprintf("%s is missing; send %s", strings.Join(missing, ", "), EventShape(typ))
	}
	if bad := checkWhole(typ, data); bad != "" {
		return nil, fmt.Sprintf("%s; send %s", bad, EventShape(typ))
	}
	if typ == ledger.EventQuestion {
		options, choice := stringsOf(data, "options"), stringOf(data, "choice")
		switch {
		case len(options) > 20:
			return nil, "20 options are the most"
		case choice != "" && !slices.Contains(options, choice):
			return nil, "choice has to be one of the options, written the same"
		}
	}
	reports, why = guidanceReports(fields["guidance"])
	return reports, why
}

func (f field) check(raw json.RawMessage) string {
	switch f.kind {
	case "line":
		var v string
		if json.Unmarshal(raw, &v) != nil || strings.TrimSpace(v) == "" || strings.ContainsAny(v, "\r\n\x00") || len(v) > maxCommand {
			return fmt.Sprintf("has to be one line of at most %d characters", maxCommand)
		}
	case "sections":
		return checkSections(raw)
	case "checks":
		return checkChecks(raw)
	case "critique":
		return checkCritique(raw)
	case "string":
		var v *string
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return "has to be a string"
		}
	case "words":
		var v string
		if json.Unmarshal(raw, &v) != nil || strings.TrimSpace(v) == "" {
			return "has to be a string that is not empty"
		}
	case "flag":
		var on bool
		var words string
		if json.Unmarshal(raw, &on) != nil && json.Unmarshal(raw, &words) != nil {
			return "has to be true, or a string that says what to look at"
		}
	case "strings":
		var v []string
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return "has to be a list of strings"
		}
	case "list":
		var v []json.RawMessage
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return "has to be a list"
		}
	case "issues":
		var v []ledger.Issue
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return "has to be a list of issues, each with strings for severity, file, rule and text, and a number for line"
		}
		for n, i := range v {
			if !slices.Contains([]ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor, ledger.Suggestion}, i.Severity) {
				return fmt.Sprintf("has an issue (number %d) of severity %q; it has to be critical, major, minor or suggestion", n+1, i.Severity)
			}
			if strings.TrimSpace(i.Text) == "" {
				return fmt.Sprintf("has an issue (number %d) without text", n+1)
			}
		}
	}
	return ""
}

// guidanceReports reads {id, done|set_aside, note}. done and set_aside may be
// true, or the note itself.
func guidanceReports(raw json.RawMessage) ([]ledger.GuidanceReported, string) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, ""
	}
	const shape = `guidance has to be [{"id":"g1","done":true,"note":"how"}] or [{"id":"g1","set_aside":true,"note":"why"}]`
	var list []eventGuidance
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, shape
	}
	var out []ledger.GuidanceReported
	for _, g := range list {
		r := ledger.GuidanceReported{ID: strings.ToLower(strings.TrimSpace(g.ID)), Note: g.Note}
		done, doneNote := flag(g.Done)
		aside, asideNote := flag(g.SetAside)
		switch {
		case r.ID == "" || done == aside:
			return nil, shape
		case done:
			r.State = guidance.Addressed
			r.Note = trimJoin(r.Note, doneNote)
		default:
			r.State = guidance.SetAside
			r.Note = trimJoin(r.Note, asideNote)
		}
		// The last word on each counts: what is repeated is not recorded.
		out = slices.DeleteFunc(out, func(o ledger.GuidanceReported) bool { return o.ID == r.ID })
		out = append(out, r)
	}
	return out, ""
}

// flag reads true, or a string that stands for true and is a note.
func flag(raw json.RawMessage) (bool, string) {
	var b bool
	if json.Unmarshal(raw, &b) == nil {
		return b, ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" {
		return true, s
	}
	return false, ""
}

// fieldOf returns one field of a payload by its exact name: what was checked
// is what is read, and nothing that is spelt in another case.
func fieldOf(data json.RawMessage, name string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m[name]
}

func stringOf(data json.RawMessage, name string) string {
	var s string
	_ = json.Unmarshal(fieldOf(data, name), &s)
	return strings.TrimSpace(s)
}

// summaryOf is what the sessions that follow are told of an event. What a
// reproducer found is its summary: its fixer has to know where to look.
func summaryOf(data json.RawMessage) string {
	if s := stringOf(data, "summary"); s != "" {
		return s
	}
	if v := stringOf(data, "verdict"); v != "" { // a critic's
		said := Critique{Sections: judgementsOf(data), Objections: stringsOf(data, "objections")}.objections()
		if len(said) > 2 {
			said = append(said[:2:2], fmt.Sprintf("%d more", len(said)-2))
		}
		return trimColon(v, strings.Join(said, "; "))
	}
	var found []string
	if cause := stringOf(data, "root_cause"); cause != "" {
		found = append(found, "root cause: "+cause)
	}
	if files := stringsOf(data, "affected_files"); len(files) > 0 {
		found = append(found, "in "+strings.Join(files, ", "))
	}
	if strategy := stringOf(data, "strategy"); strategy != "" {
		found = append(found, "to fix it: "+strategy)
	}
	return strings.Join(found, "; ")
}

// manualOf returns what a person has to look at, if the event says so; true
// means the task's acceptance list.
func manualOf(data json.RawMessage) string {
	on, text := flag(fieldOf(data, "manual_verify"))
	if on && text == "" {
		return "as the task's acceptance says"
	}
	return text
}

func issuesOf(data json.RawMessage) []ledger.Issue {
	var issues []ledger.Issue
	_ = json.Unmarshal(fieldOf(data, "issues"), &issues)
	return issues
}

func stringsOf(data json.RawMessage, name string) []string {
	var list []string
	_ = json.Unmarshal(fieldOf(data, name), &list)
	return list
}

func filesOf(data json.RawMessage) []string { return stringsOf(data, "files_modified") }

// issueSet is what makes two reviews the same: severity, file and rule
// (SPEC 2.6).
func issueSet(issues []ledger.Issue) string {
	keys := make([]string, len(issues))
	for n, i := range issues {
		keys[n] = string(i.Severity) + "\x00" + i.File + "\x00" + i.Rule
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), "\x01")
}
