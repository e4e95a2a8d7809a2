package intake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/jsonform"
)

// known are the keys of a posted report that are taken, as inboxes have them.
var (
	known     = []string{"body", "description", "message", "title", "severity", "page", "url", "tags", "reporter", "user", "email", "created_at", "createdAt", "timestamp", "meta"}
	knownMeta = []string{"screenshot", "consoleErrors", "console_errors", "userAgent", "user_agent", "url"}
)

// readReport reads a posted report. A mistake in it is a *ledger.InputError. ignored are
// the keys that are not taken.
func readReport(data []byte) (t ledger.Task, ignored []string, err error) {
	read, err := jsonform.Bugs{Single: true}.Parse("report", data)
	if err != nil {
		return ledger.Task{}, nil, err
	}
	t = read.Tasks[0]
	r := *t.Report
	if !r.Untitled && utf8.RuneCountInString(strings.TrimSpace(t.Title)) > loop.MaxTitle {
		t.Body, r.Untitled = strings.TrimSpace(t.Title+"\n\n"+t.Body), true
		t.Title = jsonform.Heading(t.Title)
	}
	if strings.TrimSpace(t.Body) == "" {
		t.Body, r.Untitled = t.Title, true
	}
	r.Updated, r.Closed, r.Assignee, r.Of, r.Claim = time.Time{}, time.Time{}, "", "", nil
	return ledger.Task{Title: t.Title, Body: t.Body, Report: &r}, ignoredKeys(data), nil
}

// ignoredKeys returns the keys of a report that are not taken, sorted.
func ignoredKeys(data []byte) (ignored []string) {
	var top, meta map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		return nil
	}
	_ = json.Unmarshal(top["meta"], &meta) // without a meta there is nothing in it
	for key := range top {
		if !slices.Contains(known, key) {
			ignored = append(ignored, key)
		}
	}
	for key := range meta {
		if !slices.Contains(knownMeta, key) {
			ignored = append(ignored, "meta."+key)
		}
	}
	slices.Sort(ignored)
	return ignored
}

// Bytes of an id, and of one where that is another report's.
const (
	idBytes     = 4
	longIDBytes = 10
)

// idOf returns the id of a report that is posted on a day: the same for the same bytes,
// so that a site may post again what got no answer. there reports that listed has that
// very report, which is not fixed.
func idOf(data []byte, day time.Time, t ledger.Task, listed []ledger.Task) (id string, there bool) {
	sum := sha256.Sum256(append([]byte(day.UTC().Format(time.DateOnly)+"\n"), data...))
	for _, n := range []int{idBytes, longIDBytes} {
		id = "B" + hex.EncodeToString(sum[:n])
		at := slices.IndexFunc(listed, func(l ledger.Task) bool { return ledger.SameID(l.ID, id) })
		if at < 0 {
			return id, false
		}
		if l := listed[at]; l.Mark != ledger.MarkDone && ledger.TitleKey(l.Body) == ledger.TitleKey(t.Body) {
			return id, true
		}
	}
	return id, false // the core refuses it, and the site posts it again
}

// mistake returns what is wrong with a report, in words for whoever posts it.
func mistake(err error) string {
	input := (*ledger.InputError)(nil)
	if !errors.As(err, &input) || len(input.Diagnostics) == 0 {
		return err.Error()
	}
	d := input.Diagnostics[0]
	text := "the report " + d.Text
	if d.Line > 1 || !strings.HasPrefix(d.Text, "is ") {
		text = d.Text
	}
	if d.Remedy != "" {
		text += ". " + d.Remedy
	}
	return text
}
