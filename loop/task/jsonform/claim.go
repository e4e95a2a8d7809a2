package jsonform

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// claimKey is the field of a report that says who works on it: a name, or an object with
// by and at.
const claimKey = "claimed"

// self is an assignee that is no claim: whoever writes it wants nightporter to fix it.
const self = "nightporter"

// claim is who works on a report, with the place of the field that says it.
type claim struct {
	*ledger.ReportClaim           // nil = nobody
	field               form.Span // of key and value; none where End is 0
	value               form.Span
}

// readClaim reads who works on a report: as its field says, else its assignee, else its
// status, if it is known how old that is.
func (r *bugsReader) readClaim(o *object, e *entry) {
	if n := o.find(claimKey); n >= 0 {
		f := o.fields[n]
		e.claim.field, e.claim.value = form.Span{Start: f.at, End: place(f.value).End}, place(f.value)
	}
	if e.mark == ledger.MarkDone {
		return
	}
	updated := r.moment(o, "updated_at", "updatedAt")
	if v, ok := o.get(claimKey); ok {
		by, since := r.claimValue(o, v)
		if by != "" {
			e.claim.ReportClaim = &ledger.ReportClaim{By: by, How: ledger.ClaimField, Since: since, Last: updated}
		}
		return
	}
	assignee := o.text("assignee")
	switch {
	case strings.TrimSpace(assignee) != "" && !strings.EqualFold(assignee, self):
		e.claim.ReportClaim = &ledger.ReportClaim{By: assignee, How: ledger.ClaimAssignee, Last: updated}
	case e.mark == ledger.MarkWorking && !updated.IsZero():
		e.claim.ReportClaim = &ledger.ReportClaim{By: "somebody", How: ledger.ClaimStatus, Last: updated}
	}
}

// claimValue reads the value of the field.
func (r *bugsReader) claimValue(o *object, v gjson.Result) (by string, since time.Time) {
	switch {
	case v.Type == gjson.String:
		return strings.TrimSpace(strings.Clone(v.Str)), time.Time{}
	case v.IsObject():
		m := object{what: o.what, index: o.index}
		m.read(r.document, claimKey+" of "+o.label(), v)
		return strings.TrimSpace(m.text("by", "agent", "agentId")), r.moment(&m, "at", "since", "startedAt")
	}
	o.wrong(claimKey, v, `a name, or { "by": "…", "at": "2026-11-26T10:00:00Z" }`)
	return "", time.Time{}
}

// claims returns the changes that record whose reports are being worked on. statuses has
// the changes of statuses so far, by entry: where a report gets its status, it gets the
// claim behind it.
func (l *list) claims(want map[int]ledger.Mark, by map[int]*ledger.Claiming, statuses map[int]*form.Edit) (edits []form.Edit, err error) {
	for n, c := range by {
		e := &l.entries[n]
		now := e.claim.ReportClaim
		ours := now != nil && now.How == ledger.ClaimField && strings.EqualFold(now.By, c.By)
		switch {
		case want[n] != ledger.MarkWorking || c.At.IsZero():
			if ours {
				edits = append(edits, form.Edit{Span: l.fieldSpan(e.claim.field)})
			}
		case ours:
		case now != nil && c.Yields(*now):
			return nil, &ledger.ClaimedError{Task: e.id, Claim: *now}
		case e.claim.field.End > 0:
			edits = append(edits, form.Edit{Span: form.Span{Start: l.skip + e.claim.value.Start, End: l.skip + e.claim.value.End}, Text: l.claimText(c)})
		default:
			text := fmt.Sprintf(", %q: %s", claimKey, l.claimText(c))
			if s := statuses[n]; s != nil && e.status.End == 0 { // a status that is put in, with what follows it
				s.Text = strings.TrimSuffix(s.Text, e.insert.then) + text + e.insert.then
			} else if e.status.End > 0 {
				at := l.skip + e.status.End
				edits = append(edits, form.Edit{Span: form.Span{Start: at, End: at}, Text: text})
			}
		}
	}
	return edits, nil
}

// claimText returns the JSON text of a claim.
func (l *list) claimText(c *ledger.Claiming) string {
	return fmt.Sprintf(`{"by": %s, "at": %q}`, quote(c.By, l.ascii()), c.At.UTC().Format(time.RFC3339))
}

// fieldSpan returns the span of a field with the comma that it needs, in the file.
func (l *list) fieldSpan(s form.Span) form.Span {
	const space = " \t\r\n"
	from := len(strings.TrimRight(l.text[:s.Start], space))
	if from > 0 && l.text[from-1] == ',' {
		return form.Span{Start: l.skip + from - 1, End: l.skip + s.End}
	}
	rest := strings.TrimLeft(l.text[s.End:], space)
	if strings.HasPrefix(rest, ",") {
		rest = strings.TrimLeft(rest[1:], space)
		return form.Span{Start: l.skip + s.Start, End: l.skip + len(l.text) - len(rest)}
	}
	return form.Span{Start: l.skip + s.Start, End: l.skip + s.End}
}
