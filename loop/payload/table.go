package payload

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

// MaxSize is the largest payload of an event, in bytes (docs/spec 4.2).
const MaxSize = 256 << 10

// field describes one field of an event's payload.
type field struct {
	name string
	kind string // string, words (not empty), line (words without a line break), bool, flag (true, or a note that implies it), strings, list, issues, sections, checks, rulings, critique, review
	must bool
}

// eventRow holds everything that nightporter knows about one event type.
type eventRow struct {
	// fields lists the known fields (docs/spec 4.2). Check keeps any other
	// field and does not look at it.
	fields   []field
	shape    string                                  // example that is accepted
	anyOf    []string                                // at least one of these lists has to have an item that is not blank; nil: none
	everyHat bool                                    // any session may end with it, not only those whose hat declares it
	check    func(data json.RawMessage) (why string) // compares fields with each other; nil: nothing to compare
	whole    bool                                    // check says all that there is to change
}

// events has a row for each event of the shipped hats.
var events = map[string]eventRow{
	"plan.complete": {
		fields: []field{{"summary", "string", true}, {"steps", "list", false}, {"sections", "sections", false}, {"requirements", "strings", false}, {"acceptance", "strings", false}},
		shape:  `{"summary":"…","steps":["…","…"]}`,
		anyOf:  []string{"steps", "sections"},
	},
	"build.complete": {
		fields: []field{{"summary", "string", true}, {"files_modified", "strings", true}, {"no_change", "string", false}, {"checks_changed", "string", false}, {"manual_verify", "flag", false}, {"learnings", "string", false}},
		shape:  `{"summary":"…","files_modified":["path"]}`,
	},
	"fix.complete": {
		fields: []field{{"summary", "string", true}, {"files_modified", "strings", true}, {"resolved", "list", false}, {"disputed", "list", false}, {"no_change", "string", false}, {"checks_changed", "string", false}},
		shape:  `{"summary":"…","files_modified":["path"],"resolved":["…"],"disputed":[{"issue":"…","reason":"…"}]}`,
	},
	"review.verdict": {
		fields: []field{{"summary", "string", true}, {"issues", "issues", true}, {"review", "review", false}},
		shape:  `{"summary":"…","issues":[{"severity":"critical|major|minor|suggestion","file":"path","line":12,"rule":"…","text":"…","contradicts":"none|plan|decision"}]}`,
	},
	"docs.complete": {
		fields: []field{{"summary", "string", true}, {"files_modified", "strings", true}, {"no_change", "string", false}, {"checks_changed", "string", false}},
		shape:  `{"summary":"…","files_modified":["path"]}`,
	},
	"refactor.complete": {
		fields: []field{{"summary", "string", true}, {"files_modified", "strings", true}, {"no_change", "string", false}, {"checks_changed", "string", false}},
		shape:  `{"summary":"…","files_modified":["path"]}`,
	},
	"repro.complete": {
		fields: []field{{"command", "line", true}, {"root_cause", "words", true}, {"affected_files", "strings", true}, {"strategy", "words", true}},
		shape:  `{"command":"go test ./pkg -run TestName","root_cause":"…","affected_files":["path"],"strategy":"…"}`,
	},
	"verification.passed": {
		fields: []field{{"checks", "checks", true}},
		shape:  `{"checks":[{"criterion":"…","ok":true,"how":"what you ran and saw"}]}`,
		check:  checkPassed, whole: true,
	},
	"verification.failed": {
		fields: []field{{"checks", "checks", true}},
		shape:  `{"checks":[{"criterion":"…","ok":false,"how":"what you ran and saw"}]}`,
		check:  checkFailed, whole: true,
	},
	ledger.EventUpheld: {
		fields: []field{{"summary", "string", true}, {"rulings", "rulings", true}},
		shape:  `{"summary":"…","rulings":[{"criterion":"as it stands in Issues","holds":true,"reason":"…"}]}`,
		check:  checkUpheld, whole: true,
	},
	ledger.EventDismissed: {
		fields: []field{{"summary", "string", true}, {"rulings", "rulings", true}},
		shape:  `{"summary":"…","rulings":[{"criterion":"as it stands in Issues","holds":false,"reason":"…"}]}`,
		check:  checkDismissed, whole: true,
	},
	"critique.verdict": {
		fields: []field{{"verdict", "words", true}, {"sections", "critique", true}, {"objections", "strings", false}},
		shape:  `{"verdict":"OKAY|REJECT","sections":[{"id":"a","verdict":"OKAY|REJECT","objections":["…"]}],"objections":["about the whole"]}`,
		check:  checkVerdict,
	},
	"advice.complete": {
		fields: []field{{"summary", "string", true}, {"advice", "words", true}},
		shape:  `{"summary":"…","advice":"…"}`,
	},
	ledger.EventIdeas: {
		fields: []field{{"summary", "words", true}, {"added", "strings", true}},
		shape:  `{"summary":"…","added":["id of a task that you added"]}`,
	},
	ledger.EventEvaluation: {
		fields: []field{{"ok", "bool", true}, {"task", "line", false}, {"findings", "strings", true}},
		shape:  `{"ok":false,"task":"id of the task that has to be done again","findings":["what is wrong, and how you saw it"]}`,
		check:  checkEvaluation,
	},
	ledger.EventDraft: {
		fields: []field{{"summary", "words", true}, {"tasks", "list", true}},
		shape:  `{"summary":"…","tasks":[{"id":"a","title":"…","body":"…","scope":["path"],"acceptance":["…"],"depends_on":[],"priority":0,"complexity":0}]}`,
		check:  checkDraft,
	},
	ledger.EventTriage: {
		fields: []field{{"summary", "string", false}, {"reports", "list", true}},
		shape:  `{"reports":[{"id":"b37","verdict":"take"},{"id":"b38","verdict":"set_aside","gate":4,"of":"b12","reason":"…"}]}`,
		check:  checkTriage,
	},
	ledger.EventQuestion: {
		fields: []field{{"text", "words", true}, {"options", "strings", false}, {"choice", "string", false}},
		shape:  `{"text":"…","options":["…","…"],"choice":"…"}`,
		check:  checkQuestion, everyHat: true,
	},
	ledger.EventBlocked: {
		fields:   []field{{"reason", "words", true}, {"tried", "string", true}, {"needs", "string", true}},
		shape:    `{"reason":"…","tried":"…","needs":"…"}`,
		everyHat: true,
	},
}

// Shape returns an example of the payload of an event, for prompts and
// refusals. Check accepts the example once a value is chosen wherever it lists
// several, as in "OKAY|REJECT". An unknown event type gets an example with a
// summary.
func Shape(typ string) string {
	if row, ok := events[typ]; ok {
		return row.shape
	}
	return `{"summary":"…"}`
}

// ShapeFor returns an example of the payload of an event of a hat. It has every field
// that the hat demands, so that an event like it is accepted.
func ShapeFor(h ledger.Hat, typ string) string {
	shape := Shape(typ)
	if typ == ledger.EventPlan && Divides(h) {
		shape = SectionsShape
	}
	if !slices.Contains(h.Emits, typ) {
		return shape
	}
	for _, name := range h.Payload {
		if Field(json.RawMessage(shape), name) == nil {
			shape = WithField(shape, fmt.Sprintf("%q:%s", name, Example(typ, name)))
		}
	}
	return shape
}

// Divides reports whether the plans of a hat always have sections.
func Divides(h ledger.Hat) bool { return slices.Contains(h.Payload, "sections") }

// WithField adds a field, as JSON, to the example of a payload.
func WithField(shape, field string) string { return strings.TrimSuffix(shape, "}") + "," + field + "}" }

// eventGuidance is one report in an event's guidance field.
type eventGuidance struct {
	ID       string          `json:"id"`
	Done     json.RawMessage `json:"done"`
	SetAside json.RawMessage `json:"set_aside"`
	Note     string          `json:"note"`
}

// Check compares an event with the declaration of its hat h. It returns the
// reports in the guidance field. If the event cannot be accepted, why tells the
// agent what to change; otherwise why is empty.
func Check(h ledger.Hat, typ string, data json.RawMessage) (reports []ledger.GuidanceReported, why string) {
	if !h.MayEmit(typ) {
		may := append(slices.Clone(h.Emits), ledger.EventQuestion, ledger.EventBlocked)
		return nil, fmt.Sprintf("a %s ends with %s, not with %q", h.Name, strings.Join(may, " or "), typ)
	}
	if len(data) > MaxSize {
		return nil, fmt.Sprintf("the data has %d kB; 256 kB are the most", len(data)>>10)
	}
	if !utf8.Valid(data) {
		return nil, "the data is not UTF-8 text; send " + ShapeFor(h, typ)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, "the data is not a JSON object; send " + ShapeFor(h, typ)
	}
	var missing []string
	row := events[typ]
	for _, f := range row.fields {
		raw, ok := fields[f.name]
		if !ok || !f.must && string(raw) == "null" { // agents write null for an empty field
			if f.must {
				missing = append(missing, f.name)
			}
			continue
		}
		if bad := f.check(raw); bad != "" {
			shape := ShapeFor(h, typ)
			if f.kind == "sections" {
				shape = SectionsShape
			}
			return nil, fmt.Sprintf("field %q %s; send %s", f.name, bad, shape)
		}
	}
	if !row.everyHat { // fields that the hat's file requires
		for _, name := range h.Payload {
			if _, ok := fields[name]; !ok && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	given := func(name string) bool { raw := fields[name]; return raw != nil && string(raw) != "null" }
	if row.anyOf != nil && !slices.ContainsFunc(row.anyOf, given) {
		missing = append(missing, row.anyOf[0])
	}
	if len(missing) > 0 {
		return nil, fmt.Sprintf("%s is missing; send %s", strings.Join(missing, ", "), ShapeFor(h, typ))
	}
	if row.anyOf != nil && !slices.ContainsFunc(row.anyOf, func(name string) bool { return hasItem(fields[name]) }) {
		return nil, fmt.Sprintf("at least one of %s has to have an item; send %s", strings.Join(row.anyOf, " and "), ShapeFor(h, typ))
	}
	if row.check != nil {
		if bad := row.check(data); bad != "" {
			if !row.everyHat && !row.whole {
				bad += "; send " + ShapeFor(h, typ)
			}
			return nil, bad
		}
	}
	reports, why = guidanceReports(fields["guidance"])
	return reports, why
}

// hasItem reports whether a list has an item other than null and empty text,
// lists and objects.
func hasItem(list json.RawMessage) bool {
	var items []any
	_ = json.Unmarshal(list, &items)
	return slices.ContainsFunc(items, func(item any) bool {
		switch v := item.(type) {
		case nil:
			return false
		case string:
			return strings.TrimSpace(v) != ""
		case []any:
			return len(v) > 0
		case map[string]any:
			return len(v) > 0
		}
		return true
	})
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
	case "review":
		return checkReview(raw)
	case "checks":
		return checkChecks(raw)
	case "rulings":
		return checkRulings(raw)
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
	case "bool":
		var v *bool
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return "has to be true or false"
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
			if i.Confidence < 0 || i.Confidence > 100 {
				return fmt.Sprintf("has an issue (number %d) with the confidence %d; it is a number of percent", n+1, i.Confidence)
			}
			if !i.Contradicts.Known() {
				return fmt.Sprintf("has an issue (number %d) that contradicts %q; it has to be none, plan or decision", n+1, i.Contradicts)
			}
		}
	}
	return ""
}

// guidanceReports reads the guidance field: a list of {id, done|set_aside,
// note}. done and set_aside may hold the note instead of true.
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
			r.Note = strings.TrimSpace(r.Note + " " + doneNote)
		default:
			r.State = guidance.SetAside
			r.Note = strings.TrimSpace(r.Note + " " + asideNote)
		}
		// The last report on each item counts; earlier ones are dropped.
		out = slices.DeleteFunc(out, func(o ledger.GuidanceReported) bool { return o.ID == r.ID })
		out = append(out, r)
	}
	return out, ""
}

// flag reads a boolean, or a string that implies true and is returned as the
// note.
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

// Field returns the field of a payload with this exact name, or nil.
// encoding/json would also match other cases, and so read a field that Check
// did not see.
func Field(data json.RawMessage, name string) json.RawMessage {
	if !bytes.Contains(data, []byte(name)) && !bytes.ContainsRune(data, '\\') {
		return nil // as most optional fields: a name can be written in another way only with escapes
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m[name]
}

// String returns a string field without surrounding space, or "" if it is
// absent or no string.
func String(data json.RawMessage, name string) string {
	var s string
	_ = json.Unmarshal(Field(data, name), &s)
	return strings.TrimSpace(s)
}

// Summary returns a short account of an event for later sessions: the summary
// field, or the verdict with its first objections, or the findings of a
// reproducer, because the fixer has to know where to look.
func Summary(data json.RawMessage) string {
	if s := String(data, "summary"); s != "" {
		return s
	}
	if v := String(data, "verdict"); v != "" { // by a critic
		said := Critique{Sections: Judgements(data), Objections: Strings(data, "objections")}.AllObjections()
		if len(said) > 2 {
			said = append(said[:2:2], fmt.Sprintf("%d more", len(said)-2))
		}
		return Labelled(v, strings.Join(said, "; "))
	}
	var found []string
	if cause := String(data, "root_cause"); cause != "" {
		found = append(found, "root cause: "+cause)
	}
	if files := Strings(data, "affected_files"); len(files) > 0 {
		found = append(found, "in "+strings.Join(files, ", "))
	}
	if strategy := String(data, "strategy"); strategy != "" {
		found = append(found, "to fix it: "+strategy)
	}
	return strings.Join(found, "; ")
}

// ManualAcceptance stands for a manual_verify that is only true: then the
// task's acceptance list says what to check.
const ManualAcceptance = "as the task's acceptance says"

// ManualVerify returns what a person has to check according to the event, or
// "". It returns ManualAcceptance if the field is only true.
func ManualVerify(data json.RawMessage) string {
	on, text := flag(Field(data, "manual_verify"))
	if on && text == "" {
		return ManualAcceptance
	}
	return text
}

// Issues returns the issues of a reviewer's verdict.
func Issues(data json.RawMessage) []ledger.Issue {
	var issues []ledger.Issue
	_ = json.Unmarshal(Field(data, "issues"), &issues)
	return issues
}

// Strings returns a field that is a list of strings, or nil if it is absent.
func Strings(data json.RawMessage, name string) []string {
	var list []string
	_ = json.Unmarshal(Field(data, name), &list)
	return list
}

// Items returns the items of a list, nil if it is none.
func Items(list json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	_ = json.Unmarshal(list, &items)
	return items
}

// ChangesFiles reports whether an event ends a session that was meant to change
// files of the work.
func ChangesFiles(event string) bool {
	switch event {
	case "build.complete", "fix.complete", "docs.complete", "refactor.complete":
		return true
	}
	return false
}

// FilesModified returns the paths that a writer says it changed.
func FilesModified(data json.RawMessage) []string { return Strings(data, "files_modified") }

// SectionsShape is an example of a plan in sections, which can be judged and
// built one by one.
const SectionsShape = `{"summary":"…","sections":[{"id":"a","title":"…","tasks":["what is true when it is done"],"files":["path"],"steps":["…"],"depends_on":[]},{"id":"b","title":"…","tasks":["…"],"files":["other/path"],"steps":["…"],"depends_on":["a"]}]}`

// FaultsShape is an example of a verification.failed whose checks name the section of the
// plan that each is about.
const FaultsShape = `{"checks":[{"criterion":"…","ok":false,"how":"the steps, and what you saw","section":"a"}]}`

// WithNumber returns an example of a verification.passed or verification.failed whose
// checks name their criterion by its number.
func WithNumber(shape string) string {
	return strings.Replace(shape, `{"criterion":`, `{"number":1,"criterion":`, 1)
}

// Example returns an example of a field of an event, as JSON.
func Example(typ, name string) string {
	for _, f := range events[typ].fields {
		if f.name == name && f.kind == "strings" {
			return `["…"]`
		}
	}
	return `"…"`
}

// Labelled returns "a: b". If a or b is empty, it returns the other one.
func Labelled(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}
