package jsonform

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// bugs is how reports are written. Of an inbox without one, the first is B1.
var bugs = dialect{words: &bugStatus, write: writeReport, first: "B1"}

// madeID matches an id that is made of what a report says, and that numbers nothing.
var madeID = regexp.MustCompile(`(?i)^B([0-9a-f]{8}|[0-9a-f]{20})(-\d+)?$`)

// Add implements form.Adder. Reports may say the same: triage finds duplicates, and
// keeps their links. In an inbox whose reports have no ids, the new ones have none.
func (f Bugs) Add(file string, data []byte, tasks []ledger.Task) ([]byte, []string, error) {
	l, err := f.list(file, data, true)
	if err != nil {
		return nil, nil, err
	}
	l.resolve() // an inbox with mistakes takes no reports
	if err := l.Err(); err != nil {
		return nil, nil, err
	}
	if n := len(l.entries) + len(tasks); n > form.MaxTasks {
		return nil, nil, form.InputError(l.path, fmt.Sprintf("would have %d reports: %d are the most", n, form.MaxTasks), "Move those that are fixed out of it")
	}
	ids, err := l.reportIDs(tasks)
	if err != nil {
		return nil, nil, err
	}
	edit := form.Edit{}
	if l.array.Exists() {
		edit = l.insertion(tasks, ids, nil)
	} else {
		edit = l.newLines(tasks, ids)
	}
	grown := form.Apply(data, []form.Edit{edit})
	now, err := f.Parse(file, grown)
	if err != nil {
		return nil, nil, err
	}
	for n, t := range now.Tasks[len(now.Tasks)-len(tasks):] {
		ids[n] = t.ID
	}
	return grown, ids, nil
}

// reportIDs returns the ids that new reports are written with, "" for none.
func (l *list) reportIDs(tasks []ledger.Task) ([]string, error) {
	numbered := list{document: l.document, dialect: l.dialect}
	taken := map[string]bool{}
	named := len(l.entries) == 0
	for _, e := range l.entries {
		taken[ledger.FoldID(e.id)] = true
		if !l.at(e.value).Get("id").Exists() {
			continue
		}
		if named = true; !madeID.MatchString(e.id) {
			numbered.entries = append(numbered.entries, e)
		}
	}
	next := numbered.ids()
	var ids []string
	for _, t := range tasks {
		id := t.ID
		switch {
		case len(t.DependsOn) > 0:
			return nil, form.InputError(l.path, "a report depends on nothing", "Leave the dependency out")
		case strings.ContainsFunc(id, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
			return nil, form.InputError(l.path, fmt.Sprintf("the id %q has a space: expected one word", id), "Write a dash in its place")
		case id != "" && taken[ledger.FoldID(id)]:
			return nil, form.InputError(l.path, id+" is there already", "Give the new report another id, or none")
		}
		for named && (id == "" || t.ID == "" && taken[ledger.FoldID(id)]) {
			id = next.take()
		}
		taken[ledger.FoldID(id)] = true
		ids = append(ids, id)
	}
	return ids, nil
}

// newLines returns the change that adds reports to an inbox with one a line.
func (l *list) newLines(tasks []ledger.Task, ids []string) form.Edit {
	s := style{colon: ": ", comma: ", ", items: [3]string{"", ", ", ""}}
	if last := l.lastReport(); last.Exists() {
		s = l.styleOf(last)
	}
	end := "\n"
	if strings.Contains(l.text, "\r\n") {
		end = "\r\n"
	}
	var b strings.Builder
	if l.text != "" && !strings.HasSuffix(l.text, "\n") {
		b.WriteString(end)
	}
	for n, t := range tasks {
		t.ID = ids[n]
		b.WriteString(s.object(writeReport(&t, l), nil) + end)
	}
	at := l.skip + len(l.text)
	return form.Edit{Span: form.Span{Start: at, End: at}, Text: b.String()}
}

// NewReport returns the text of a file with one report, whose id is the file's name.
func NewReport(t ledger.Task) []byte {
	t.ID = ""
	s := style{open: "\n  ", colon: ": ", comma: ",\n  ", close: "\n", items: [3]string{"", ", ", ""}}
	return []byte(s.object(writeReport(&t, &list{document: &document{}, dialect: &bugs}), nil) + "\n")
}

// lastReport returns the last report of the inbox, which new ones are written like.
func (l *list) lastReport() gjson.Result {
	if len(l.entries) == 0 {
		return gjson.Result{}
	}
	return l.at(l.entries[len(l.entries)-1].value)
}

// writeReport returns the fields of a new report, under the keys that the last report
// has for them. A task that is no report is written as one, too.
func writeReport(t *ledger.Task, l *list) []property {
	last := l.lastReport()
	key := func(names ...string) string {
		for _, name := range names {
			if last.Get(name).Exists() {
				return name
			}
		}
		return names[0]
	}
	r := cmp.Or(t.Report, &ledger.Report{Untitled: t.Body == ""})
	title := t.Title
	if r.Untitled {
		title = ""
	}
	body := cmp.Or(paragraphs(append([]string{t.Body, scopeText(t.Scope)}, t.Acceptance...)...), t.Title)
	id := property{key: "id", text: t.ID, absent: true}
	if last.Get("id").Type == gjson.Number && isNumber(t.ID) {
		id.raw = t.ID
	}
	created := property{key: key("created_at", "createdAt", "timestamp"), absent: true}
	if !r.Created.IsZero() {
		created.text = r.Created.UTC().Format(time.RFC3339)
		if like := last.Get(created.key); like.Type == gjson.Number && like.Num > 1e11 {
			created.raw = fmt.Sprint(r.Created.UnixMilli())
		} else if like.Type == gjson.Number {
			created.raw = fmt.Sprint(r.Created.Unix())
		}
	}
	return []property{
		id,
		{key: "title", text: title, absent: true},
		{key: key("body", "description", "message"), text: body, always: true},
		{key: "severity", text: r.Severity, absent: true},
		{key: "page", text: r.Page, absent: true},
		{key: "reporter", text: r.Reporter, absent: true},
		{key: "tags", texts: r.Tags, list: true, absent: true},
		{key: "status", raw: bugStatus.text(ledger.MarkOpen), def: bugStatus.text(ledger.MarkOpen)},
		created,
		{key: "meta", raw: l.meta(r, last), absent: true},
	}
}

// meta returns the JSON text of what a report's site adds by itself, "" for nothing.
func (l *list) meta(r *ledger.Report, last gjson.Result) string {
	colon, comma := ": ", ", "
	if last.Exists() && l.styleOf(last).colon == ":" {
		colon, comma = ":", ","
	}
	ascii := l.ascii()
	var fields, errs []string
	for _, text := range r.Console {
		errs = append(errs, quote(text, ascii))
	}
	add := func(key, raw string) { fields = append(fields, quote(key, ascii)+colon+raw) }
	if r.URL != "" {
		add("url", quote(r.URL, ascii))
	}
	if r.UserAgent != "" {
		add("userAgent", quote(r.UserAgent, ascii))
	}
	if len(errs) > 0 {
		add("consoleErrors", "["+strings.Join(errs, comma)+"]")
	}
	if r.Screenshot != "" {
		add("screenshot", quote(r.Screenshot, ascii))
	}
	if len(fields) == 0 {
		return ""
	}
	return "{" + strings.Join(fields, comma) + "}"
}

var _ form.Adder = Bugs{}
