package jsonform

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Bugs is the form of an inbox of bug reports, as sites send them: a list of reports,
// an object that has one, or a report a line.
type Bugs struct {
	// Single is the form of a file with one report, which is an object. Without an id it
	// has the one that ReportID makes of the file's name.
	Single bool
}

// ReportID returns the id of a report that is a file by itself.
func ReportID(file string) string { return strings.Join(strings.Fields(form.Name(file)), "-") }

// BugStatus returns what a status of a report means, and whether it is a known word.
func BugStatus(word string) (m ledger.Mark, known bool) {
	m, known = bugStatus.read[strings.ToLower(strings.TrimSpace(word))]
	return m, known
}

// BugStatusWords lists the known words for a message.
func BugStatusWords() string { return bugStatus.expected() }

// BugStatuses holds how each status is written. Without a word of its own a status is
// written as open.
var BugStatuses = map[ledger.Mark]string{
	ledger.MarkOpen: `"open"`, ledger.MarkDone: `"fixed"`, ledger.MarkBlocked: `"blocked"`,
	ledger.MarkManualVerify: `"open"`, ledger.MarkWorking: `"in_progress"`,
}

var bugStatus = words{
	key: "status",
	read: map[string]ledger.Mark{
		"open": ledger.MarkOpen, "new": ledger.MarkOpen, "reported": ledger.MarkOpen, "todo": ledger.MarkOpen, "triaged": ledger.MarkOpen, "reopened": ledger.MarkOpen, "pending": ledger.MarkOpen,
		"in_progress": ledger.MarkWorking, "in progress": ledger.MarkWorking,
		"fixed": ledger.MarkDone, "done": ledger.MarkDone, "closed": ledger.MarkDone, "resolved": ledger.MarkDone, "duplicate": ledger.MarkDone, "wontfix": ledger.MarkDone, "invalid": ledger.MarkDone,
		"blocked": ledger.MarkBlocked,
	},
	write: map[ledger.Mark]string{
		ledger.MarkOpen: `"open"`, ledger.MarkWorking: `"in_progress"`, ledger.MarkDone: `"fixed"`, ledger.MarkBlocked: `"blocked"`,
	},
}

// bugLists are the names of the list in an object of reports.
var bugLists = []string{"bugs", "reports", "items"}

// Parse implements form.Form. A list without reports is an inbox that is empty.
func (f Bugs) Parse(file string, data []byte) (ledger.Snapshot, error) {
	l, err := f.list(file, data, true)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	return l.snapshot()
}

// Mark implements form.Form. A report without a status gets one, in front of its other
// fields.
func (f Bugs) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	l, err := f.list(file, data, false)
	if err != nil {
		return nil, nil, err
	}
	return l.mark(data, marks)
}

// Recognise implements form.Recogniser.
func (Bugs) Recognise(_ string, data []byte) string {
	d, err := open("bugs.json", "inbox", data)
	if err != nil {
		return ""
	}
	first, ok := gjson.Result{}, false
	if reports, isList := reportsIn(gjson.Parse(d.text)); isList && gjson.Valid(d.text) {
		first, ok = reports.Get("0"), true
	} else if line, _, _ := strings.Cut(strings.TrimSpace(d.text), "\n"); gjson.Valid(line) {
		first, ok = gjson.Parse(line), true
	}
	if !ok || !first.Get("body").Exists() || !(first.Get("severity").Exists() || first.Get("page").Exists() || first.Get("meta").IsObject()) {
		return ""
	}
	return "bug reports with body and severity or page"
}

// reportsIn returns the list of reports of a text that is one JSON value.
func reportsIn(root gjson.Result) (gjson.Result, bool) {
	if root.IsArray() {
		return root, true
	}
	if !root.IsObject() {
		return root, false
	}
	var found gjson.Result
	root.ForEach(func(key, value gjson.Result) bool {
		for _, name := range bugLists {
			if key.Str == name && value.IsArray() {
				found = value
			}
		}
		return !found.Exists()
	})
	return found, found.Exists()
}

func (f Bugs) list(file string, data []byte, full bool) (*list, error) {
	d, err := open(file, "inbox", data)
	if err != nil {
		return nil, err
	}
	l := &list{document: d, full: full, dialect: &bugs}
	r := bugsReader{list: l, same: map[string]int{}, single: f.Single}
	if f.Single {
		if l.document, err = openJSON(file, "bug report", data); err != nil {
			return nil, err
		}
		if !l.root.IsObject() {
			l.Error(1, "is "+describe(l.root)+": expected a bug report, an object with a body", `Write { "body": "…" }; a list of reports is bugs:FILE`)
			return nil, l.Err()
		}
		r.read(l.root)
		return l, nil
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(d.text), "\n")
	if first == "" && strings.HasSuffix(file, ".jsonl") {
		return l, nil // nothing was reported yet
	}
	if strings.HasPrefix(first, "{") && gjson.Valid(first) && (strings.TrimSpace(rest) != "" || !hasList(first)) {
		l.eachLine(data, r.read)
		return l, nil
	}
	if d, err = openJSON(file, "inbox", data); err != nil {
		return nil, err
	}
	l.document = d
	reports, ok := reportsIn(d.root)
	if !ok {
		l.Error(1, "is "+describe(d.root)+": expected a list of reports, or an object with bugs, reports or items", "Write [ … ], or check the path")
		return nil, l.Err()
	}
	l.array = reports
	reports.ForEach(func(_, v gjson.Result) bool {
		r.read(v)
		return true
	})
	return l, nil
}

// hasList reports whether a text in one line is an object with a list of reports.
func hasList(text string) bool {
	_, ok := reportsIn(gjson.Parse(text))
	return ok
}

// bugsReader reads reports.
type bugsReader struct {
	*list
	object object
	meta   object
	single bool           // the file is one report
	same   map[string]int // reports by the id that is made of their text
	index  int
}

func (r *bugsReader) read(v gjson.Result) {
	e, ok := r.element(&r.object, v, "report", r.index)
	r.index++
	o := &r.object
	if !ok {
		return
	}
	body, title := o.text("body", "description", "message"), o.text("title")
	if _, has := o.get("id"); has {
		r.readID(o, &e, "report", r.index-1)
	} else {
		if e.id = ReportID(r.path); !r.single {
			e.id = r.idOf(body, title, o)
		}
		o.name = e.id
	}
	if r.single && strings.TrimSpace(body) == "" && strings.TrimSpace(title) == "" {
		r.Error(e.line, o.label()+" has no text", `Say what is wrong: "body": "…"`)
	}
	e.words, e.mark = &bugStatus, ledger.MarkOpen
	if n := o.find("status"); n < 0 {
		e.insert = statusPlace(r.text, v)
	} else if o.fields[n].value.Type == gjson.Null {
		e.status = place(o.fields[n].value)
	} else {
		r.readStatus(o, &e, &bugStatus)
	}
	r.readClaim(o, &e)
	if r.full {
		r.readReport(o, &e, body, title)
	}
	r.entries = append(r.entries, e)
}

// idOf returns the id of a report that has none: of what it said and when. It is the
// same wherever the report stands, and whatever becomes of others.
func (r *bugsReader) idOf(body, title string, o *object) string {
	created, _ := o.get("created_at", "createdAt", "timestamp")
	sum := sha256.Sum256([]byte(strings.Join([]string{title, body, o.text("page"), created.Raw}, "\x00")))
	id := "B" + hex.EncodeToString(sum[:4])
	if r.same[id]++; r.same[id] > 1 {
		id += fmt.Sprintf("-%d", r.same[id])
	}
	return id
}

// readReport reads the fields of a report.
func (r *bugsReader) readReport(o *object, e *entry, body, title string) {
	untitled := strings.TrimSpace(title) == ""
	if untitled {
		title = Heading(body)
	}
	if title == "" {
		title = "(no text)" // triage sets it aside
	}
	severity := o.text("severity")
	report := &ledger.Report{
		Untitled: untitled, Severity: severity, Page: o.text("page"), Tags: o.texts("tags"), URL: o.text("url"), Reporter: o.text("reporter", "user", "email"), Assignee: o.text("assignee"),
		Created: r.moment(o, "created_at", "createdAt", "timestamp"), Updated: r.moment(o, "updated_at", "updatedAt"), Of: o.text("duplicate_of", "duplicateOf"),
		Claim: e.claim.ReportClaim,
	}
	if v, ok := o.get("meta"); ok && !v.IsObject() {
		o.wrong("meta", v, "an object")
	} else if ok {
		m := &r.meta
		m.what, m.index = o.what, o.index
		m.read(r.document, "meta of "+o.label(), v)
		report.Screenshot, report.Console, report.UserAgent = m.text("screenshot"), m.texts("consoleErrors", "console_errors"), m.text("userAgent", "user_agent")
		if report.URL == "" {
			report.URL = m.text("url")
		}
	}
	if e.mark == ledger.MarkDone {
		report.Closed = report.Updated
	}
	e.title = title
	e.task = &ledger.Task{
		ID: e.id, Title: title, Line: e.line, Mark: r.asMark(e), Body: body,
		Priority: ledger.ReportPriority(severity), Outside: true, Report: report,
	}
}

// moment reads a time: of RFC 3339, or seconds or milliseconds since 1970.
func (r *bugsReader) moment(o *object, keys ...string) time.Time {
	v, ok := o.get(keys...)
	if !ok {
		return time.Time{}
	}
	switch v.Type {
	case gjson.Number:
		n := int64(v.Num)
		if n > 1e11 {
			return time.UnixMilli(n).UTC()
		}
		return time.Unix(n, 0).UTC()
	case gjson.String:
		for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02"} {
			if t, err := time.Parse(layout, strings.TrimSpace(v.Str)); err == nil {
				return t.UTC()
			}
		}
	}
	o.wrong(keys[0], v, "a time such as 2026-11-26T10:00:00Z")
	return time.Time{}
}

// insertion is where a field is put in front of an object's others, and what follows it:
// a comma, and the white space that stands there before the first of them.
type insertion struct {
	at   int
	then string
}

// statusPlace returns where a status goes into the object v.
func statusPlace(text string, v gjson.Result) insertion {
	from := v.Index + 1
	at := from
	for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	if text[at] == '}' { // it has none
		return insertion{at: from}
	}
	return insertion{at: at, then: "," + text[from:at]}
}

var _ form.Recogniser = Bugs{}
