package jsonform

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// mark returns data with statuses written into it. Tasks that are not marked may
// have mistakes.
func (l *list) mark(data []byte, marks []ledger.Marking) (marked []byte, gone []string, err error) {
	places := make(map[string]int, len(marks)) // folded id → entry; -1 = none, -2 = several
	for _, m := range marks {
		switch m.Mark {
		case ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify, ledger.MarkWorking:
		default:
			return nil, nil, fmt.Errorf("mark %s: unknown mark %q", m.Task, m.Mark)
		}
		places[ledger.FoldID(m.Task)] = -1
	}
	for n := range l.entries {
		key := ledger.FoldID(l.entries[n].id)
		switch at, ok := places[key]; {
		case !ok:
		case at == -1:
			places[key] = n
		default:
			places[key] = -2
		}
	}
	want := map[int]ledger.Mark{} // the last mark of each task
	claiming := map[int]*ledger.Claiming{}
	for _, m := range marks {
		switch n := places[ledger.FoldID(m.Task)]; n {
		case -1:
			gone = append(gone, m.Task)
		case -2:
			l.Findings.Errors = nil
			l.index() // reports the lines that share the id
			return nil, nil, l.Err()
		default:
			if l.entries[n].mark == "" { // no status, or a word that nobody knows
				return nil, nil, l.Err()
			}
			want[n] = m.Mark
			if delete(claiming, n); m.Claim != nil && l.dialect == &bugs {
				claiming[n] = m.Claim
			}
		}
	}
	var edits []form.Edit
	statuses := map[int]*form.Edit{}
	touched := map[int]bool{} // parents of tasks whose status changed
	for n, m := range want {
		e := &l.entries[n]
		if e.says(m) {
			continue
		}
		edit := l.replace(e, m)
		statuses[n] = &edit
		e.mark = m
		if e.parent >= 0 {
			touched[e.parent] = true
		}
	}
	claims, err := l.claims(want, claiming, statuses)
	if err != nil {
		return nil, nil, err
	}
	for _, edit := range statuses {
		edits = append(edits, *edit)
	}
	edits = append(edits, claims...)
	if len(touched) > 0 {
		edits = append(edits, l.follow(touched)...)
	}
	return form.Apply(data, edits), gone, nil
}

// says reports whether the status says m already: several words can mean the same,
// and the file's own stays.
func (e *entry) says(m ledger.Mark) bool {
	if _, ok := e.words.write[m]; !ok {
		m = ledger.MarkOpen
	}
	return e.mark == m
}

func (l *list) replace(e *entry, m ledger.Mark) form.Edit {
	if e.status.End == 0 {
		at := l.skip + e.insert.at
		return form.Edit{Span: form.Span{Start: at, End: at}, Text: fmt.Sprintf("%q: %s%s", e.words.key, e.words.text(m), e.insert.then)}
	}
	return form.Edit{Span: form.Span{Start: l.skip + e.status.Start, End: l.skip + e.status.End}, Text: e.words.text(m)}
}

// follow returns the changes that bring parents into step with what they hold: done
// when all of it is, at work when some of it is, and no longer done when something
// is open again.
func (l *list) follow(touched map[int]bool) []form.Edit {
	all, working := map[int]bool{}, map[int]bool{}
	for p := range touched {
		all[p] = true
	}
	for n := range l.entries {
		e := &l.entries[n]
		if !touched[e.parent] {
			continue
		}
		all[e.parent] = all[e.parent] && e.mark == ledger.MarkDone
		working[e.parent] = working[e.parent] || e.mark == ledger.MarkWorking
	}
	var edits []form.Edit
	for p := range touched {
		e := &l.parents[p]
		want := e.mark
		switch {
		case e.status.End == 0:
			continue
		case all[p]:
			want = ledger.MarkDone
		case e.mark == ledger.MarkDone:
			want = ledger.MarkOpen
		}
		if working[p] && (want == ledger.MarkOpen || want == ledger.MarkManualVerify) {
			want = ledger.MarkWorking
		}
		if want != e.mark && want != "" {
			edits = append(edits, l.replace(e, want))
		}
	}
	return edits
}
