package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A task whose plan was divided is built by its sections: parts that are merged into
// one tree (docs/spec 4.5). Its own entries say little while they are at work, so
// /log and /evidence read theirs as well.

// TaskReader reads a task's ledger records.
type TaskReader interface {
	Records(ctx context.Context, project, task string) ([]ledger.Record, error)
}

// TaskRecords returns the records of a task in ledger order, those of the given
// attempt unless that is "". A divided task has the records of its sections among them,
// and a section the record of its merge.
func TaskRecords(ctx context.Context, from TaskReader, project string, t loop.TaskState, attempt string) ([]ledger.Record, error) {
	records, err := from.Records(ctx, project, t.Task.ID)
	if err != nil {
		return nil, err
	}
	if attempt != "" {
		records = slices.DeleteFunc(slices.Clone(records), func(r ledger.Record) bool { return r.Attempt != attempt })
	}
	add := func(task string, keep func(ledger.Entry) bool) error {
		more, err := from.Records(ctx, project, task)
		if err != nil {
			return err
		}
		for _, r := range more {
			if e, err := r.Entry(); err == nil && keep(e) {
				records = append(slices.Clip(records), r)
			}
		}
		return nil
	}
	if t.Task.Joins {
		err = add(t.Task.Parent, func(e ledger.Entry) bool {
			b, is := e.Body.(ledger.PartMerged)
			return is && ledger.SameID(b.Part, t.Task.ID)
		})
	}
	for _, id := range sectionsIn(records) {
		if err == nil {
			err = add(id, func(ledger.Entry) bool { return true })
		}
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(records, func(a, b ledger.Record) int { return int(a.Seq - b.Seq) })
	return records, nil
}

// sectionsIn returns the ids of the sections that records of a task name.
func sectionsIn(records []ledger.Record) (ids []string) {
	for _, r := range records {
		if r.Type != (ledger.PartsMade{}).EntryType() {
			continue
		}
		e, err := r.Entry()
		if err != nil {
			continue // whoever shows the record says so
		}
		if b, is := e.Body.(ledger.PartsMade); is {
			for _, p := range b.Parts {
				if p.Joins {
					ids = append(ids, p.ID)
				}
			}
		}
	}
	return ids
}

// section is what became of one section so far.
type section struct {
	id             string
	status         ledger.Status
	step           string // its hat, "merge"
	at             time.Time
	built          bool // its change is merged
	mends          bool // it mends what a section before it built
	round          int  // of mending, 0 for those of the plan
	files          int
	added, removed int
}

// sections follows the sections of divided tasks, entry by entry. The zero value is
// ready for use.
type sections struct {
	all      []section
	round    int  // of the last ones
	dividing bool // the plan is settled: the task's attempt rests until its sections are built
}

// find returns the section of a task's id, nil if it is none.
func (x *sections) find(id string) *section {
	if n := slices.IndexFunc(x.all, func(s section) bool { return ledger.SameID(s.id, id) }); n >= 0 {
		return &x.all[n]
	}
	return nil
}

// rests reports whether an entry is the end of the attempt that gives way to the
// sections: nothing was given up with it.
func (x *sections) rests(e ledger.Entry) bool {
	b, is := e.Body.(ledger.AttemptEnded)
	return is && b.Outcome == ledger.OutcomeParked && x.dividing && x.find(e.Task) == nil
}

func (x *sections) apply(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.PartsMade:
		if mends(b) {
			x.round++
		}
		for _, p := range b.Parts {
			if p.Joins {
				x.all = append(x.all, section{id: p.ID, status: ledger.Pending, mends: p.Hat != "", round: x.round})
			}
		}
		x.all = slices.DeleteFunc(x.all, func(s section) bool {
			return slices.ContainsFunc(b.Gone, func(id string) bool { return ledger.SameID(id, s.id) })
		})
		x.dividing = b.Whole && len(x.all) > 0
	case ledger.PartMerged:
		if s := x.find(b.Part); s != nil {
			s.built = true
		}
	}
	s := x.find(e.Task)
	if s == nil {
		if _, is := e.Body.(ledger.AttemptEnded); is {
			x.dividing = false
		}
		return
	}
	switch b := e.Body.(type) {
	case ledger.SessionPlanned:
		if b.Kind == ledger.KindAgent {
			s.step, s.at = b.Hat, e.Time
		}
	case ledger.Evidence:
		if b.Kind == "fix-applied" {
			s.files, s.added, s.removed = b.FilesChanged, b.LinesAdded, b.LinesRemoved
		}
	case ledger.SessionEnded:
		if b.End == ledger.EndedEvent {
			s.step, s.at = "merge", e.Time
		}
	case ledger.TaskSet:
		s.status, s.at = b.To, e.Time
	}
}

// standing counts the last sections: "1 of 3 sections built, 2 at work".
func (x *sections) standing() string {
	count := map[ledger.Status]int{}
	last := x.last()
	for _, s := range last {
		if !s.built {
			count[s.status]++
		}
	}
	text := strings.Replace(x.tally(), fmt.Sprintf(" of %d ", len(last)), " of "+Plural(len(last), "section")+" ", 1)
	for _, c := range []struct {
		status ledger.Status
		word   string
	}{{ledger.Active, "at work"}, {ledger.Waiting, "waiting for you"}, {ledger.Blocked, "blocked"}, {ledger.Skipped, "left out"}} {
		if n := count[c.status]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, c.word)
		}
	}
	return text
}

// last returns the sections of the plan, or, once the task was sent back to some, those of
// the last time.
func (x *sections) last() (last []section) {
	for _, s := range x.all {
		if s.round == x.round {
			last = append(last, s)
		}
	}
	return last
}

// tally counts the last sections that are finished: "1 of 3 built".
func (x *sections) tally() string {
	last, built, word := x.last(), 0, "built"
	for _, s := range last {
		if s.built {
			built++
		}
		word = s.word()
	}
	return fmt.Sprintf("%d of %d %s", built, len(last), word)
}

// open reports whether a section is neither merged nor left out.
func (x *sections) open() bool {
	return slices.ContainsFunc(x.all, func(s section) bool { return !s.built && s.status != ledger.Skipped })
}

// word says what becomes of a section.
func (s section) word() string {
	if s.mends {
		return "mended"
	}
	return "built"
}

// line says what became of a section: "✓ #1/b built 23:29: 1 file +10 −2".
func (s section) line(clock func(time.Time) string) string {
	id := shortID(s.id)
	switch {
	case s.built:
		text := SignDone + " " + id + " " + s.word() + " " + clock(s.at)
		if s.files > 0 {
			text += fmt.Sprintf(": %s +%d −%d", Plural(s.files, "file"), s.added, s.removed)
		}
		return text
	case s.status == ledger.Active && s.step == "merge":
		return SignNow + " " + id + " merge"
	case s.status == ledger.Active:
		return SignNow + " " + id + " " + Cut(Clean(s.step), 12) + " since " + clock(s.at)
	case s.status == ledger.Skipped:
		return SignAway + " " + id + " left out " + clock(s.at)
	case s.status == ledger.Pending, s.status == ledger.Ready:
		return SignLater + " " + id + " not begun"
	}
	return strings.TrimSpace(StatusSign(s.status) + " " + id + " " + strings.ReplaceAll(string(s.status), "_", " ") + " " + clock(s.at))
}

// isDivided reports whether a task's sections are built apart and merged.
func isDivided(s loop.State, t loop.TaskState) bool {
	if len(t.Parts) == 0 {
		return false
	}
	p, ok := s.Project.Find(t.Parts[0])
	return ok && p.Task.Joins
}

// maxSections limits the sections that /task shows one by one.
const maxSections = 12

// sectionsOf adds a line for each section of a divided task, or for each that it was sent
// back to: "● #1/a builder · Its
// title".
func (m *Message) sectionsOf(s loop.State, t loop.TaskState) {
	all := partsAtWork(t)
	for n, id := range all {
		if n == maxSections {
			m.add(fmt.Sprintf("and %d more: /plan %s", len(all)-n, idArg(t.Task.ID)))
			return
		}
		p, ok := s.Project.Find(id)
		if !ok {
			continue
		}
		word := orElse(taskStanding(s, p), "ready")
		if p.Status == ledger.Done {
			word = DoneWord(p)
		}
		m.add(Cut(StatusSign(p.Status)+" "+shortID(p.Task.ID)+" "+word+" · "+Foreign(p.Task.Title), laneWidth))
	}
}
