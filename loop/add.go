package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of added tasks (docs/spec 3.8).
const (
	MaxTitle        = 80     // characters of a title
	maxAddedText    = 8000   // characters of a task's other words
	MaxReport       = 16_000 // characters of a bug report, with all that its site adds
	maxAddedAtOnce  = 20
	maxAddedByRun   = 500 // tasks that the sessions of one run add
	addedKept       = 50  // settled additions that the state keeps
	maxAddedDepends = 50
)

// Addition is one wish for new tasks and what became of it.
type Addition struct {
	ID      string           `json:"id"`
	Repo    string           `json:"repo"`
	Source  ledger.SourceRef `json:"source"`
	Tasks   []ledger.Task    `json:"tasks"`
	By      string           `json:"by,omitempty"`
	Session string           `json:"session,omitempty"`
	Taint   string           `json:"taint,omitempty"` // id of the task whose session wrote them after it had read outside text; "" = none did
	After   string           `json:"after,omitempty"` // addition that it replaces, and waits for
	Done    bool             `json:"done,omitempty"`  // the source has them, or does not take them
	IDs     []string         `json:"ids,omitempty"`   // that the source gave them
	Text    string           `json:"text,omitempty"`
	Place   int              `json:"place,omitempty"`
	Found   bool             `json:"found,omitempty"`
	Error   string           `json:"error,omitempty"` // why the source does not take them, or does not give them back
	Remedy  string           `json:"remedy,omitempty"`
	Leaving bool             `json:"leaving,omitempty"` // they are being taken out again
	Removed bool             `json:"removed,omitempty"`
}

// Addition returns the addition with an id, "a3", or the last one that brought a task
// with that id.
func (p Project) Addition(id string) (Addition, bool) {
	for n := len(p.Additions) - 1; n >= 0; n-- {
		a := p.Additions[n]
		brought := func(task string) bool {
			return ledger.SameID(task, id) || ledger.SameID(strings.TrimPrefix(ledger.ShortID(task), "#"), strings.TrimPrefix(id, "#"))
		}
		if strings.EqualFold(a.ID, id) || slices.ContainsFunc(a.IDs, brought) {
			return a, true
		}
	}
	return Addition{}, false
}

// Owed reports whether the inbox did not take a report that a site has the id of. It is
// asked for again when the inbox can be read.
func (a Addition) Owed() bool {
	return a.Done && a.Error != "" && len(a.IDs) == 0 && len(a.Tasks) == 1 && a.Tasks[0].Report != nil && a.Tasks[0].ID != ""
}

// replacedBy reports whether a report is asked for again with tasks.
func (a Addition) replacedBy(tasks []ledger.Task) bool {
	return a.Owed() && len(tasks) == 1 && tasks[0].Report != nil && ledger.SameID(a.Tasks[0].ID, tasks[0].ID)
}

// applyAddition folds an entry about added tasks.
func (p Project) applyAddition(e ledger.Entry) Project {
	switch b := e.Body.(type) {
	case ledger.TasksAsked:
		a := Addition{ID: b.ID, Repo: b.Repo, Source: b.Source, Tasks: b.Tasks, By: b.By, Session: e.Session, After: b.After}
		if e.Session != "" && p.wroteOutside(e) {
			a.Taint = e.Task
		}
		list := append(slices.DeleteFunc(slices.Clone(p.Additions), func(a Addition) bool { return a.replacedBy(b.Tasks) }), a)
		if n := slices.IndexFunc(list, func(a Addition) bool { return a.Done && !a.Leaving && !a.Owed() }); len(list) > addedKept && n >= 0 {
			list = slices.Delete(slices.Clone(list), n, n+1)
		}
		p.Additions = list
		if e.Session != "" && p.Run != nil {
			r := *p.Run
			r.Added += len(b.Tasks)
			p.Run = &r
		}
	case ledger.TasksAdded:
		p = p.changeAddition(b.ID, func(a *Addition) {
			a.Done, a.IDs, a.Text, a.Place, a.Found, a.Error, a.Remedy = true, b.Tasks, b.Text, b.Place, b.Found, b.Error, b.Remedy
		})
	case ledger.TasksUnasked:
		p = p.changeAddition(b.ID, func(a *Addition) { a.Leaving, a.Error = true, "" })
	case ledger.TasksRemoved:
		p = p.changeAddition(b.ID, func(a *Addition) { a.Leaving, a.Removed, a.Error = false, b.Error == "", b.Error })
	}
	return p
}

// changeAddition returns the project with an addition changed by f.
func (p Project) changeAddition(id string, f func(*Addition)) Project {
	p.Additions = slices.Clone(p.Additions)
	for n := range p.Additions {
		if p.Additions[n].ID == id {
			f(&p.Additions[n])
		}
	}
	return p
}

// addTasks has tasks written into a source. What it is asked for is in the ledger
// before the source is touched, so nothing of it is lost by a crash.
func (d *decision) addTasks(b AddTasks) {
	about := scope{}
	if b.Session != "" {
		s, ok := d.Project.Session(b.Session)
		if !ok || s.Planned.Kind != ledger.KindAgent || s.Cut || d.run().Over() {
			d.refuse(ledger.CodeEnded, "session %s has ended; nothing was added", b.Session)
			return
		}
		if !d.run().Settings.Hats[s.Planned.Hat].MayAdd {
			d.refuse(ledger.CodeRole, "the hat %s adds no tasks; say what is missing in your event's summary", s.Planned.Hat)
			return
		}
		about = scope{task: s.Task, session: s.ID}
	}
	reports := slices.ContainsFunc(b.Tasks, func(t ledger.Task) bool { return t.Report != nil })
	if r := d.run(); !r.Over() && !r.Aside() && (!reports || r.Settings.Source.Kind == ledger.SourceBugs) {
		b.Repo, b.Source = r.Settings.Repo, r.Settings.Source
		if r.Base.Commit != "" {
			b.Known = d.inSource()
		}
	}
	tasks := slices.Clone(b.Tasks)
	if !d.checkAdded(tasks, b) {
		return
	}
	id := d.nextID("a")
	d.dateReports(tasks, id, d.in.Files)
	d.add(about, ledger.TasksAsked{ID: id, Repo: b.Repo, Source: b.Source, Tasks: tasks, By: d.in.Name})
	if b.Session == "" {
		d.attach(scope{}, id)
	}
	d.write(Addition{ID: id, Repo: b.Repo, Source: b.Source}, ledger.AddTasks{Tasks: tasks, Known: alike(b.Known, tasks)})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAdding, ID: id, Text: "being added"}
}

// dateReports completes the reports of an addition: when they were made, and the
// picture that came with them, by its name in the CONTEXT of sessions.
func (d *decision) dateReports(tasks []ledger.Task, id string, files []ledger.Attachment) {
	picture := slices.IndexFunc(files, ledger.Attachment.Picture)
	for n := range tasks {
		if tasks[n].Report == nil {
			continue
		}
		r := *tasks[n].Report
		if r.Created.IsZero() {
			r.Created = d.in.Time.UTC().Truncate(time.Second)
		}
		if r.Screenshot == "" && picture >= 0 {
			r.Screenshot = files[picture].FileName(id, picture+1)
		}
		tasks[n].Report = &r
	}
}

// write asks for the tasks of an addition in its source.
func (d *decision) write(a Addition, tasks ledger.AddTasks) {
	d.effect(d.in.Project+"/"+a.ID, ledger.EffectAddTasks{ID: a.ID, Repo: a.Repo, Source: a.Source, Add: tasks})
}

// inSource returns the tasks of the source as they are known.
func (d *decision) inSource() (tasks []ledger.Task) {
	for _, t := range d.Project.Tasks.All() {
		if !t.inSource() || t.Status == ledger.Withdrawn {
			continue
		}
		task := t.Task
		if t.Status == ledger.Done {
			task.Mark = ledger.MarkDone
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// alike returns the ids of the known tasks that a new one says the same as.
func alike(known, tasks []ledger.Task) (ids []string) {
	for _, k := range known {
		if slices.ContainsFunc(tasks, func(t ledger.Task) bool { return t.SaysAs(k) }) {
			ids = append(ids, ledger.FoldID(k.ID))
		}
	}
	return ids
}

// checkAdded refuses tasks that a source cannot have, and writes their dependencies as
// the source does.
func (d *decision) checkAdded(tasks []ledger.Task, b AddTasks) bool {
	switch {
	case len(tasks) == 0:
		d.refuse(ledger.CodeNoWords, "there is no task to add")
		return false
	case b.Source.Path == "":
		d.refuse(ledger.CodeOtherSource, "%s has no source to add to", d.in.Project)
		return false
	case len(tasks) > maxAddedAtOnce:
		d.refuse(ledger.CodeTooMany, "%d tasks at once; %d are the most", len(tasks), maxAddedAtOnce)
		return false
	case b.Session != "" && d.run().Added+len(tasks) > maxAddedByRun:
		d.refuse(ledger.CodeTooMany, "the sessions of this run have added %d tasks; %d are the most", d.run().Added, maxAddedByRun)
		return false
	}
	have := slices.Clone(b.Known)
	for _, a := range d.Project.Additions {
		if !a.Done && a.Source == b.Source && a.Repo == b.Repo {
			have = append(have, a.Tasks...)
		}
	}
	for n := range tasks {
		if ledger.TitleKey(tasks[n].Title) != "" && slices.ContainsFunc(tasks[:n], tasks[n].SaysAs) {
			d.refuse(ledger.CodeTwice, "two of these have the title %q; write it once, or tell them apart by a word. Nothing was added", strings.Join(strings.Fields(tasks[n].Title), " "))
			return false
		}
		if !d.checkTask(&tasks[n], have, tasks, b.Session != "") {
			return false
		}
		have = append(have, tasks[n])
	}
	if circle := circleIn(tasks); circle != nil {
		d.refuse(ledger.CodeCycle, "these tasks wait for each other: %s. Leave one of the dependencies out", strings.Join(circle, ", "))
		return false
	}
	return true
}

// checkTask checks one task. have are those before it, batch all that come with it.
func (d *decision) checkTask(t *ledger.Task, have, batch []ledger.Task, session bool) bool {
	if fields := slices.Concat([]string{t.ID, t.Title, t.Body, t.Scope}, t.Acceptance, t.Report.Texts()); !utf8.ValidString(strings.Join(fields, "")) {
		d.refuse(ledger.CodeNotText, "that is not valid UTF-8 text; nothing was added")
		return false
	}
	*t = shownTask(*t)
	t.Mark = ledger.MarkOpen
	words := t.Body + t.Scope + strings.Join(slices.Concat(t.Acceptance, t.Report.Texts()), "")
	switch n := utf8.RuneCountInString(t.Title); {
	case n == 0:
		d.refuse(ledger.CodeNoWords, "a task needs a title")
		return false
	case n > MaxTitle:
		d.refuse(ledger.CodeTooLong, "the title has %d characters; %d are the most. Put the rest into the body", n, MaxTitle)
		return false
	case t.Report != nil && utf8.RuneCountInString(words) > MaxReport:
		d.refuse(ledger.CodeTooLong, "the report is longer than %d characters: say what was done, seen and expected, and leave the rest out", MaxReport)
		return false
	case t.Report == nil && utf8.RuneCountInString(words) > maxAddedText || len(t.DependsOn) > maxAddedDepends:
		d.refuse(ledger.CodeTooLong, "the task is longer than %d characters: put long text into a file and name the file", maxAddedText)
		return false
	}
	for _, h := range have {
		same := t.SaysAs(h)
		switch {
		case t.ID != "" && ledger.SameID(h.ID, t.ID):
			d.refuse(ledger.CodeTwice, "there is a task %s already; leave the id out, and the next free one is taken", ledger.ShortID(h.ID))
			return false
		case same && h.ID == "" && t.Report != nil:
			d.refuse(ledger.CodeTwice, "a report that says the same is being added")
			return false
		case same && h.ID == "":
			d.refuse(ledger.CodeTwice, "a task of that title is being added")
			return false
		case same && (session || h.Mark != ledger.MarkDone):
			what := "has that title"
			if t.Report != nil {
				what = "says that"
			}
			d.answer = ledger.Answer{Code: ledger.CodeTwice, ID: h.ID, Text: fmt.Sprintf("%s %s already", ledger.ShortID(h.ID), what)}
			return false
		}
	}
	known := slices.Concat(have, batch)
	t.DependsOn = slices.Clone(t.DependsOn)
	for n, need := range t.DependsOn {
		at := slices.IndexFunc(known, func(k ledger.Task) bool {
			return k.ID != "" && (ledger.SameID(k.ID, need) || ledger.SameID(strings.TrimPrefix(ledger.ShortID(k.ID), "#"), strings.TrimPrefix(need, "#")))
		})
		if at < 0 {
			d.refuse(ledger.CodeNoTask, "it depends on %q, and there is no such task; see: hat task list", need)
			return false
		}
		t.DependsOn[n] = known[at].ID
	}
	return true
}

// shownTask returns a task with the words that people see in it. Files of some forms
// cannot have other characters, and a list that has them can no longer be read.
func shownTask(t ledger.Task) ledger.Task {
	t.ID, t.Title, t.Scope = text.OneLine(text.Visible(t.ID)), text.OneLine(text.Visible(t.Title)), text.OneLine(text.Visible(t.Scope))
	t.Body = strings.TrimSpace(text.Visible(t.Body))
	t.Acceptance = slices.Clone(t.Acceptance)
	for n, a := range t.Acceptance {
		t.Acceptance[n] = text.OneLine(text.Visible(a))
	}
	if t.Report != nil {
		r := *t.Report
		for _, s := range []*string{&r.Severity, &r.Page, &r.URL, &r.UserAgent, &r.Screenshot} {
			*s = text.OneLine(text.Visible(*s))
		}
		r.Tags, r.Console = slices.Clone(r.Tags), slices.Clone(r.Console)
		for n, s := range r.Tags {
			r.Tags[n] = text.OneLine(text.Visible(s))
		}
		for n, s := range r.Console {
			r.Console[n] = strings.TrimSpace(text.Visible(s))
		}
		t.Report = &r
	}
	return t
}

// circleIn returns the ids of new tasks that depend on each other in a circle, nil for
// none. A task that was there before depends on none of them.
func circleIn(tasks []ledger.Task) []string {
	free := map[string]bool{}
	for range tasks {
		for _, t := range tasks {
			free[ledger.FoldID(t.ID)] = !slices.ContainsFunc(t.DependsOn, func(need string) bool {
				isNew := slices.ContainsFunc(tasks, func(o ledger.Task) bool { return o.ID != "" && ledger.SameID(o.ID, need) })
				return isNew && !free[ledger.FoldID(need)]
			})
		}
	}
	var circle []string
	for _, t := range tasks {
		if !free[ledger.FoldID(t.ID)] {
			circle = append(circle, ledger.ShortID(t.ID))
		}
	}
	return circle
}

// tasksWritten records what the source did with new tasks. While a run is under way
// they join it at once: nothing waits for the look at the file.
func (d *decision) tasksWritten(b TasksWritten) {
	a, ok := d.Project.Addition(b.ID)
	if !ok || a.Done {
		return
	}
	added := ledger.TasksAdded{ID: a.ID, Tasks: b.Added.IDs, Text: b.Added.Text, Found: b.Added.Found, Error: b.Err, Remedy: b.Remedy}
	if b.Err != "" {
		added.Tasks, added.Text = nil, ""
		d.add(scope{}, added)
		d.ideaWritten(added)
		return
	}
	if d.readsSource(a) {
		d.takeSource(reading{Snapshot: b.Added.Snapshot, before: b.Before})
	}
	if len(added.Tasks) > 0 && a.Source.Kind != ledger.SourceBugs { // the next wave sorts reports
		added.Place = d.placeInLine(added.Tasks[0], a, b.Added.Snapshot.Tasks)
	}
	d.add(scope{}, added)
	d.ideaWritten(added)
}

// readsSource reports whether the run under way works on the source of an addition,
// and has read it.
func (d *decision) readsSource(a Addition) bool {
	r := d.run()
	return !r.Over() && !r.Aside() && r.Base.Commit != "" && r.Settings.Source == a.Source && r.Settings.Repo == a.Repo
}

// placeInLine returns the place of a task among those that wait, from 1; 0 if the run
// under way does not take it.
func (d *decision) placeInLine(id string, a Addition, tasks []ledger.Task) int {
	place := 0
	if d.readsSource(a) {
		d.settleReady()
		for _, t := range d.Project.Tasks.All() {
			waits := (t.Status == ledger.Ready || t.Status == ledger.Pending) && t.Task.Parent == "" && !t.Queued() && d.wanted(t)
			if waits {
				place++
			}
			if ledger.SameID(t.Task.ID, id) {
				if !waits {
					return 0
				}
				return place
			}
		}
		return 0
	}
	mine := d.Project.Source == a.Source.String()
	for _, t := range tasks {
		known, is := d.task(t.ID)
		over := mine && is && (known.Status == ledger.Done || known.Status == ledger.Skipped)
		if t.Mark == ledger.MarkOpen && !over {
			place++
		}
		if ledger.SameID(t.ID, id) {
			return place
		}
	}
	return place
}

// undoAdd takes added tasks out of their source again, as long as none has begun.
func (d *decision) undoAdd(id string) {
	if a, ok := d.canUndo(id); ok {
		d.unask(a)
		d.answer = ledger.Answer{OK: true, Code: ledger.CodeRemoved, ID: a.ID, Text: joinFew(shortIDs(a.IDs)) + " is taken out"}
	}
}

// editAdd replaces what was added by other tasks: it is taken out, and they are
// written after that.
func (d *decision) editAdd(b EditAdd) {
	a, ok := d.canUndo(b.ID)
	if !ok {
		return
	}
	var known []ledger.Task
	if d.readsSource(a) {
		known = slices.DeleteFunc(d.inSource(), func(t ledger.Task) bool {
			return slices.ContainsFunc(a.IDs, func(id string) bool { return ledger.SameID(id, t.ID) })
		})
	}
	tasks := slices.Clone(b.Tasks)
	if !d.checkAdded(tasks, AddTasks{Tasks: tasks, Repo: a.Repo, Source: a.Source, Known: known}) {
		return
	}
	id := d.nextID("a")
	d.dateReports(tasks, id, d.Project.AttachedTo(a.ID).Files)
	d.unask(a)
	d.add(scope{}, ledger.TasksAsked{ID: id, Repo: a.Repo, Source: a.Source, Tasks: tasks, By: d.in.Name, After: a.ID})
	d.hand(a.ID, id)
	d.attach(scope{}, id)
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAdding, ID: id, Text: "being added"}
}

// unask has an addition taken out.
func (d *decision) unask(a Addition) {
	d.add(scope{}, ledger.TasksUnasked{ID: a.ID})
	d.effect(d.uniqueKey(a.ID), ledger.EffectRemoveTasks{ID: a.ID, Repo: a.Repo, Source: a.Source, Remove: ledger.RemoveTasks{IDs: a.IDs, Text: a.Text}})
}

// canUndo returns the addition with an id, or of a task, and whether it can be taken
// out. If not, it refuses the input.
func (d *decision) canUndo(id string) (a Addition, ok bool) {
	a, ok = d.Project.Addition(id)
	switch {
	case !ok:
		d.refuse(ledger.CodeNoTask, "%s was not added here, or long ago; /skip it instead", ledger.ShortID(id))
	case a.Removed:
		d.say("%s is out already", joinFew(shortIDs(a.IDs)))
	case !a.Done || a.Leaving:
		d.refuse(ledger.CodeNotReady, "it is being written; try again in a moment")
	case len(a.IDs) == 0:
		d.refuse(ledger.CodeNothing, "nothing was added: %s", a.Error)
	case a.Found || a.Text == "":
		d.refuse(ledger.CodeOtherSource, "%s is not nightporter's text; take it out of %s yourself", joinFew(shortIDs(a.IDs)), a.Source.Path)
	default:
		return a, d.noneBegun(a)
	}
	return a, false
}

// noneBegun reports whether no task of an addition has begun. If one has, it refuses
// the input.
func (d *decision) noneBegun(a Addition) bool {
	task, has := d.Project.Begun(a)
	if has {
		d.refuse(ledger.CodeActive, "%s has begun; /skip it instead", ledger.ShortID(task))
	}
	return !has
}

// Begun returns the first task of an addition that has begun, and whether one has.
func (p Project) Begun(a Addition) (task string, ok bool) {
	if p.Source != a.Source.String() {
		return "", false
	}
	for _, id := range a.IDs {
		n := p.index(id)
		if n < 0 {
			continue
		}
		if t := p.Tasks.At(n); t.Attempts > 0 || t.Attempt != nil || t.Status == ledger.Active || t.Status == ledger.Done {
			return id, true
		}
	}
	return "", false
}

// tasksTakenOut records what became of an undo. A person took the lines away, so their
// tasks rest at once, and no run counts them as lost.
func (d *decision) tasksTakenOut(b TasksTakenOut) {
	a, ok := d.Project.Addition(b.ID)
	if !ok || !a.Leaving {
		return
	}
	if b.Err == "" && d.readsSource(a) {
		d.takeOut(a.IDs)
	}
	d.add(scope{}, ledger.TasksRemoved{ID: a.ID, Error: b.Err})
	for _, next := range d.Project.Additions {
		switch {
		case next.After != a.ID || next.Done:
		case b.Err != "":
			d.add(scope{}, ledger.TasksAdded{ID: next.ID, Error: b.Err})
		default:
			var known []ledger.Task
			if d.readsSource(next) {
				known = d.inSource()
			}
			d.write(next, ledger.AddTasks{Tasks: next.Tasks, Known: alike(known, next.Tasks)})
		}
	}
}

// takeOut takes tasks of the source out of the run. One that has begun since is cut
// off by the file's next readings (docs/spec 3.2).
func (d *decision) takeOut(ids []string) {
	gone := func(id string) bool {
		t, ok := d.task(id)
		return ok && slices.ContainsFunc(ids, func(o string) bool { return ledger.SameID(o, id) }) && t.Attempt == nil && t.Status != ledger.Active
	}
	read := ledger.SourceRead{Name: d.run().Name, Path: d.run().Settings.Source.Path}
	for _, id := range d.order() {
		if gone(id) {
			read.Gone = append(read.Gone, id)
		} else {
			read.Order = append(read.Order, id)
		}
	}
	if len(read.Gone) == 0 {
		return
	}
	d.add(scope{}, read)
	for _, id := range read.Gone {
		if t, ok := d.task(id); ok && t.Status != ledger.Withdrawn {
			d.rest(t)
		}
	}
}
