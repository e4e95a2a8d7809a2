package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// SourceReader is implemented by a Service that can read the source of a project
// while no run of it is under way.
type SourceReader interface {
	// ReadSource reads the source that a run would begin with now. A problem that a
	// person has to repair is a *ledger.InputError.
	ReadSource(ctx context.Context, project string) (SourceReading, error)
	// ReadInbox reads the bug reports of a project: its source where that has some, else
	// the only inbox of its repository. That there is none is a *ledger.InputError.
	ReadInbox(ctx context.Context, project string) (SourceReading, error)
}

// SourceReading is one reading of a project's source.
type SourceReading struct {
	Repo   string // folder of the repository
	Source ledger.SourceRef
	Tasks  []ledger.Task
	Closed *ledger.Diagnostic // why no task can be added to it; nil = one can
}

// Writes is implemented by a Service whose files a caller without a chat can wait for:
// a terminal shows one answer, and no edits of it.
type Writes interface {
	// Written waits until all that was decided about people's files is written.
	Written(ctx context.Context) error
}

// writtenTime limits how long a terminal waits for a file.
const writtenTime = 10 * time.Second

var undoForm = regexp.MustCompile(`^(?i:(undo|edit))\s+(#?[0-9A-Za-z][0-9A-Za-z./_-]*)(?:\s+|$)`)

// addTasks answers /add: it writes tasks into the project's source, takes them out
// again, or replaces them.
func addTasks(ctx context.Context, d dispatch) (Message, error) {
	text := strings.TrimSpace(d.c.Words)
	if m := undoForm.FindStringSubmatch(text); m != nil {
		// "/add Undo migrations" is a task: an id has a number, or is one that was added.
		a, known := d.s.Project.Addition(m[2])
		rest := strings.TrimSpace(text[len(m[0]):])
		switch id := orElse(a.ID, m[2]); {
		case !known && !strings.ContainsAny(m[2], "0123456789"):
		case strings.EqualFold(m[1], "undo") && rest == "":
			return d.added(ctx, id, loop.UndoAdd{ID: id})
		case strings.EqualFold(m[1], "edit") && rest != "":
			tasks := loop.ReadTasks(rest)
			if isReport(a.Tasks) {
				tasks = []ledger.Task{loop.ReadReport(rest)}
			}
			return d.added(ctx, "", loop.EditAdd{ID: id, Tasks: tasks})
		}
	}
	if text == "" {
		m := refusal("add.words", SignAsk+" What is to be done in "+d.project+"?")
		m.add("Type /add and the task: its first line is the title, the rest its notes. Lines that all begin with \"- \" are a task each.")
		return m, nil
	}
	add := loop.AddTasks{Tasks: loop.ReadTasks(text)}
	if r := d.s.Project.Run; r.Over() || r.Aside() || r.Base.Commit == "" {
		reader, ok := d.service.(SourceReader)
		if !ok {
			return noSource(d.project), nil
		}
		read, err := reader.ReadSource(ctx, d.project)
		var input *ledger.InputError
		if errors.As(err, &input) {
			return notAdded(d.project, input.Diagnostics, "/add", text), nil
		}
		if err != nil {
			return Message{}, err
		}
		add.Repo, add.Source, add.Known = read.Repo, read.Source, read.Tasks
	}
	return d.added(ctx, "", add)
}

// noSource is the reply of a service that works on one run alone.
func noSource(project string) Message {
	m := refusal("add.nosource", SignFailed+" No run of "+project+" is under way")
	m.add("This one works on one run. Nothing was added.")
	return m
}

// added sends an input about added tasks. In a chat the answer's message is edited as
// they are written; a terminal waits for that. id is the addition's, "" for a new one.
func (d dispatch) added(ctx context.Context, id string, body loop.InputBody) (Message, error) {
	a, err := d.service.Do(ctx, loop.Input{
		Key: d.r.Key, Time: d.r.Time, Actor: d.r.Actor, Name: d.r.Name, Project: d.project, Body: body,
	})
	if err != nil {
		return Message{}, err
	}
	m := AddAnswer(d.project, body, a)
	writes, ok := d.service.(Writes)
	if !a.OK || !d.r.Terminal || !ok {
		m.Cause = d.r.Key
		return m, nil
	}
	wait, cancel := context.WithTimeout(ctx, writtenTime)
	defer cancel()
	if err := writes.Written(wait); err != nil {
		return m, nil //nolint:nilerr // the answer says that it is being written
	}
	s, _ := d.service.State(d.project)
	if id == "" {
		id = a.ID
	}
	if now, ok := s.Project.Addition(id); ok {
		m = Added(s, now)
		m.Refused = now.Error != ""
	}
	return m, nil
}

// AddAnswer renders the core's answer to an input about added tasks. What was accepted
// is told by Added from then on.
func AddAnswer(project string, body loop.InputBody, a ledger.Answer) Message {
	var tasks []ledger.Task
	switch b := body.(type) {
	case loop.AddTasks:
		tasks = b.Tasks
	case loop.EditAdd:
		tasks = b.Tasks
	}
	switch {
	case a.OK && a.Code == ledger.CodeAdding:
		return beingAdded(project, tasks)
	case !a.OK && a.Code == ledger.CodeTwice && a.ID != "":
		said, other := "has that title already", "Begin it with other words if it is another task."
		if isReport(tasks) {
			said, other = "says that already", "Say what differs if it is another bug."
		}
		m := refusal("add.twice", SignAsk+" "+shortID(a.ID)+" "+said)
		m.Project, m.About = project, a.ID
		m.quote(tasks[0].Title)
		m.add("Not added. " + other)
		m.button(shortID(a.ID), "/task "+idArg(a.ID))
		return m
	}
	m := FromAnswer(body.InputKind(), a, "")
	m.Project = project
	if !a.OK && len(tasks) > 0 {
		m.quote(tasks[0].Title)
	}
	return m
}

// beingAdded is the answer to /add until the source has the tasks.
func beingAdded(project string, tasks []ledger.Task) Message {
	what := "task"
	if isReport(tasks) {
		what = "bug report"
	}
	m := newMessage("add.writing", firstLine(SignLater, project+":", "adding "+Plural(len(tasks), what), ""))
	m.Project = project
	m.titles(tasks)
	return m
}

// AddWaits renders an addition that a fault of the machine keeps out of the file, in
// the message of its /add.
func AddWaits(s loop.State, a loop.Addition, b ledger.EffectFailed) Message {
	m := newMessage("add.waits", firstLine(SignLook, s.Project.Name+":", "not added yet", ""))
	m.Project = s.Project.Name
	m.quote(b.Text)
	m.add(b.Remedy)
	m.titles(a.Tasks)
	m.add("Kept, and tried again by itself until it works.")
	return m
}

// Added renders what became of an addition, in the message of its /add.
func Added(s loop.State, a loop.Addition) Message {
	name := s.Project.Name
	file := Cut(Clean(a.Source.Path), 2*quoteWidth)
	switch {
	case a.Removed:
		m := newMessage("add.out", SignAway+" "+Ranges(a.IDs)+" taken out again")
		m.Project = name
		m.titles(a.Tasks)
		m.exact("Add again", typed(a.Tasks))
		return m
	case a.Error != "" && len(a.IDs) == 0:
		m := newMessage("add.failed", SignFailed+" "+Clean(name)+": not added")
		m.Project = name
		m.whole(a.Error)
		m.add(a.Remedy)
		m.titles(a.Tasks)
		if a.Owed() { // a second one would stay beside it
			m.add("Kept: it is added with the next report, or at the next start.")
		} else {
			m.exact("Try again", typed(a.Tasks))
		}
		return m
	case a.Error != "":
		m := newMessage("add.stays", SignLook+" "+Ranges(a.IDs)+" stays")
		m.Project, m.About = name, a.IDs[0]
		m.whole(a.Error)
		m.button("Skip", "/skip "+idArg(a.IDs[0]))
		return m
	case !a.Done:
		return beingAdded(name, a.Tasks)
	case a.Leaving:
		m := newMessage("add.leaving", SignLater+" "+Ranges(a.IDs)+" is taken out")
		m.Project = name
		m.titles(a.Tasks)
		return m
	case a.Found:
		m := newMessage("add.found", SignDone+" "+Ranges(a.IDs)+" is there already")
		m.Project, m.About = name, a.IDs[0]
		m.titles(a.Tasks)
		m.add("Nothing was written: " + file + " has it.")
		return m
	}
	first := SignDone + " " + Ranges(a.IDs) + " added"
	r := s.Project.Run
	runs := !r.Over() && !r.Aside()
	under := runs && s.Project.Source == a.Source.String()
	switch {
	case a.Source.Kind == ledger.SourceBugs:
		first += " to the bug reports"
	case a.Place == 1 && under:
		first += ", next in line"
	case a.Place > 0 && len(a.IDs) == 1:
		first += ", " + ordinal(a.Place) + " in line"
	case a.Place > 0:
		first += ", from " + ordinal(a.Place) + " in line"
	}
	m := newMessage("add.done", first)
	m.Project, m.About = name, a.IDs[0]
	m.titles(a.Tasks)
	if pictures := picturesOf(s, a.ID); pictures != "" {
		m.add(strings.TrimPrefix(pictures, " · ") + " with it.")
	}
	switch {
	case !runs:
		m.add("No run is under way; it is in " + file + ".")
	case !under:
		m.add("It is in " + file + ", which this run does not work on.")
	case a.Source.Kind == ledger.SourceBugs:
		m.add("The next wave sorts it.")
	case a.Place == 0:
		m.add("This run does not take it; a later one does.")
	}
	if under && a.Place > 1 && len(a.IDs) == 1 {
		m.button("Run next", "/next "+idArg(a.IDs[0]))
	}
	if a.Text != "" {
		if len(a.IDs) == 1 {
			m.addButton(textButton("Edit", "/add edit "+idArg(a.IDs[0]), "TEXT"))
		}
		m.button("Undo", "/add undo "+idArg(a.IDs[0]))
	}
	return m
}

// notAdded is the reply to /add and /bug where the source cannot be used. The text is offered
// again, for when that is mended.
func notAdded(project string, problems []ledger.Diagnostic, command, text string) Message {
	m := refusal("add.source", SignFailed+" "+Clean(project)+": not added")
	m.Project = project
	m.unusable(problems)
	m.quote(text)
	m.exact("Try again", command+" "+text)
	return m
}

// unusable adds what is wrong in a source that cannot be used, and what to do.
func (m *Message) unusable(problems []ledger.Diagnostic) {
	for _, p := range problems[:min(len(problems), 3)] {
		m.whole((&ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: p.File, Line: p.Line, Text: p.Text}}}).Error())
		m.add(p.Remedy)
	}
}

// titles quotes the titles of tasks.
func (m *Message) titles(tasks []ledger.Task) {
	const most = 5
	for _, t := range tasks[:min(len(tasks), most)] {
		m.quote(t.Title)
	}
	if n := len(tasks) - most; n > 0 {
		m.add(fmt.Sprintf("and %d more", n))
	}
}

// typed returns the command that adds these tasks.
func typed(tasks []ledger.Task) string {
	switch {
	case isReport(tasks) && tasks[0].Report.Severity != "":
		return "/bug " + tasks[0].Report.Severity + ": " + tasks[0].Body
	case isReport(tasks):
		return "/bug " + tasks[0].Body
	case len(tasks) == 1:
		return "/add " + strings.TrimSpace(tasks[0].Title+"\n"+tasks[0].Body)
	}
	var lines []string
	for _, t := range tasks {
		lines = append(lines, "- "+t.Title)
	}
	return "/add " + strings.Join(lines, "\n")
}

// ordinal writes a number as a place: "3rd".
func ordinal(n int) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, end)
}
