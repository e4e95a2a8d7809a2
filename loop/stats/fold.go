package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// By is what figures are told apart by.
type By string

// Ways to tell figures apart.
const (
	ByHat   By = "hat"
	ByAgent By = "agent"
	ByModel By = "model"
	BySize  By = "size" // of the task
)

// Kinds returns all ways, in the order in which they are shown.
func Kinds() []By { return []By{ByHat, ByAgent, ByModel, BySize} }

// Part names the sessions and tasks of which figures are. The name of a model that the
// agent chooses itself is "", and that of the size of a session without a task.
type Part struct {
	By   By
	Name string
}

// Others is the name of what is beyond the limit of names.
const Others = "others"

// Types are the entry types that a Fold reads; Apply ignores any other.
func Types() []string {
	var out []string
	for _, b := range []ledger.Body{
		ledger.RunPlanned{}, ledger.RunStarted{}, ledger.SourceRead{}, ledger.PartsMade{}, ledger.WaveTriaged{}, ledger.TaskSet{},
		ledger.SessionPlanned{}, ledger.EventAccepted{}, ledger.SessionEnded{}, ledger.Verified{}, ledger.Redo{}, ledger.Routed{}, ledger.AttemptEnded{},
	} {
		out = append(out, b.EntryType())
	}
	return out
}

// bucket has the sums of a day or of a run.
type bucket struct {
	all   Figures
	parts map[Part]*Figures
}

func (b *bucket) add(parts []Part, f Figures) {
	b.all = b.all.Plus(f)
	for _, p := range parts {
		b.addTo(p, f)
	}
}

func (b *bucket) addTo(p Part, f Figures) {
	if b.parts == nil {
		b.parts = map[Part]*Figures{}
	}
	sum := b.parts[p]
	if sum == nil {
		if len(b.parts) >= maxNames {
			p.Name = Others
		}
		if sum = b.parts[p]; sum == nil {
			sum = &Figures{}
			b.parts[p] = sum
		}
	}
	*sum = sum.Plus(f)
}

// merge adds the sums of another bucket.
func (b *bucket) merge(o *bucket) {
	b.all = b.all.Plus(o.all)
	for p, f := range o.parts {
		b.addTo(p, *f)
	}
}

// dayBucket has the sums of one day.
type dayBucket struct {
	bucket
	date time.Time // its midnight
}

// runBucket has the sums of one run.
type runBucket struct {
	bucket
	id string
}

// session is a session of an agent in flight.
type session struct {
	parts []Part
	task  string // key; "" = of none
}

// Fold folds a project's entries. Create it with New and give Apply every entry of the
// types of Types, in order. It is not safe for concurrent use.
type Fold struct {
	zone    *time.Location
	days    []*dayBucket // in their order
	run     runBucket    // the last run on the source
	planned string       // the run that was planned last, unless it does no work of the source
	source  string
	open    map[string]session // by id
	listed  map[string]listed  // by key
	works   map[string]*work   // by key
	entries int64
}

// New returns a fold of nothing. Its days are those of the zone.
func New(zone *time.Location) *Fold {
	return &Fold{zone: zone, open: map[string]session{}, listed: map[string]listed{}, works: map[string]*work{}}
}

// Apply folds the next entry.
func (f *Fold) Apply(e ledger.Entry) {
	f.entries++
	if Flawed(e) {
		if w := f.works[f.whole(e.Task)]; w != nil {
			w.flawed = true
		}
	}
	switch b := e.Body.(type) {
	case ledger.RunPlanned:
		f.source = b.Settings.Source.String()
		if f.planned = b.Run; b.Check || b.Upkeep != nil || b.Idea != "" {
			f.planned = ""
		}
	case ledger.RunStarted:
		if e.Run != "" && e.Run == f.planned && e.Run != f.run.id {
			f.run = runBucket{id: e.Run}
		}
	case ledger.SourceRead:
		f.list(b.Tasks)
		f.list(b.Own)
	case ledger.PartsMade:
		f.list(b.Parts)
	case ledger.WaveTriaged:
		f.triaged(b.Changed)
	case ledger.TaskSet:
		f.taskSet(e, b)
	case ledger.SessionPlanned:
		if b.Kind == ledger.KindAgent {
			f.planSession(e, b)
		}
	case ledger.EventAccepted:
		f.accept(e, b)
	case ledger.SessionEnded:
		if b.Kind == ledger.KindAgent {
			f.add(e, f.open[e.Session].parts, sessionFigures(b))
			delete(f.open, e.Session)
		}
	case ledger.Routed:
		if w := f.works[f.whole(e.Task)]; w != nil && SentBack(b) {
			f.add(e, w.writer, Figures{FixRounds: 1})
		}
	}
}

func (f *Fold) planSession(e ledger.Entry, b ledger.SessionPlanned) {
	if len(f.open) >= maxOpen {
		clear(f.open) // none of them can be in flight: their ends are not in the ledger
	}
	s := session{parts: []Part{{ByHat, b.Hat}, {ByAgent, b.Agent}, {ByModel, b.Model}, {BySize, ""}}}
	if e.Task != "" {
		key := f.whole(e.Task)
		of := f.listed[key]
		s.parts[3].Name = string(of.size)
		if !of.aside {
			s.task = key
			w := f.begin(key)
			w.parts = joined(w.parts, s.parts)
		}
	}
	f.open[e.Session] = s
}

// accept counts a verdict for the session whose work it is about.
func (f *Fold) accept(e ledger.Entry, b ledger.EventAccepted) {
	s := f.open[e.Session]
	w := f.works[s.task]
	if s.task == "" || w == nil {
		return
	}
	switch {
	case payload.ChangesFiles(b.Type):
		w.writer = s.parts
	case b.Type == ledger.EventReview:
		f.add(e, w.writer, reviewFigures(payload.Issues(b.Data)))
	}
}

// add adds figures to the sums of an entry's day and run.
func (f *Fold) add(e ledger.Entry, parts []Part, sum Figures) {
	f.day(e.Time).add(parts, sum)
	if f.run.id != "" && e.Run == f.run.id {
		f.run.add(parts, sum)
	}
}

// midnight returns the beginning of a time's day.
func (f *Fold) midnight(t time.Time) time.Time {
	y, m, d := t.In(f.zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, f.zone)
}

// day returns the sums of a time's day. Days beyond maxDays are added to the one after
// them.
func (f *Fold) day(t time.Time) *dayBucket {
	date := f.midnight(t)
	if n := len(f.days); n > 0 && f.days[n-1].date.Equal(date) {
		return f.days[n-1]
	}
	n, found := slices.BinarySearchFunc(f.days, date, func(d *dayBucket, t time.Time) int { return d.date.Compare(t) })
	if found {
		return f.days[n]
	}
	if len(f.days) >= maxDays {
		if n == 0 {
			return f.days[0]
		}
		f.days[1].merge(&f.days[0].bucket)
		f.days, n = f.days[1:], n-1
	}
	d := &dayBucket{date: date}
	f.days = slices.Insert(f.days, n, d)
	return d
}

// Named are the figures of one part.
type Named struct {
	Name string
	Figures
}

// byUse sorts parts by their sessions, and those with as many by their names.
func byUse(a, b Named) int {
	return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(b.Finished, a.Finished), cmp.Compare(a.Name, b.Name))
}
