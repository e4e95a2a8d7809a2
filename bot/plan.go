package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// planWidth limits a line of a plan, in columns: a phone shows 32 without
// scrolling sideways.
const planWidth = 32

// planJSON is the JSON of a task's plan, as its planner wrote it (docs/spec 4.2).
type planJSON struct {
	Summary  string            `json:"summary"`
	Steps    []json.RawMessage `json:"steps"`
	Sections []payload.Section `json:"sections"`
}

// planOf reads the newest plan of a task. The plan of a part is its section of
// the parent's plan.
func planOf(t loop.TaskState) (planJSON, bool) {
	raw := t.Plan
	if raw == nil && t.Attempt != nil {
		raw = t.Attempt.Plan
	}
	var p planJSON
	if raw == nil || json.Unmarshal(raw, &p) != nil {
		return p, false
	}
	if t.Task.Parent == "" {
		return p, p.Summary != "" || len(p.Steps)+len(p.Sections) > 0
	}
	var s payload.Section
	if json.Unmarshal(raw, &s) != nil || s.Title == "" {
		return p, false
	}
	p.Sections, p.Steps = []payload.Section{s}, nil
	return p, true
}

// consensusOf returns the state of the argument about a task's plan; the zero
// Consensus if there is none.
func consensusOf(t loop.TaskState) loop.Consensus {
	if t.Attempt == nil || t.Attempt.Consensus == nil {
		return loop.Consensus{}
	}
	return *t.Attempt.Consensus
}

// showPlan handles /plan, which shows a task's plan, /plan night, which says what the
// night will probably get done, and /plan redo, which
// discards the plan and has the task planned again.
func showPlan(ctx context.Context, d dispatch) (Message, error) {
	if !d.c.Redo && strings.EqualFold(strings.TrimSpace(d.c.Target), planNight) {
		return d.night(ctx), nil
	}
	t, problem := d.plannedTask()
	if problem != nil {
		return *problem, nil
	}
	m := PlanOf(d.s, t)
	var err error
	if d.c.Redo {
		m, err = d.do(ctx, loop.RedoPlan{Task: t.Task.ID, Words: d.c.Words})
	}
	m.About = t.Task.ID
	return m, err
}

// plannedTask returns the task that /plan means: the named task, else the task
// of the first open plan question, else the active task. If there is none it
// returns a message that asks for one.
func (d dispatch) plannedTask() (loop.TaskState, *Message) {
	typed := strings.TrimSpace(d.c.Target)
	if questionID.MatchString(typed) { // "/plan q1" means the task of q1
		if q, ok := d.question(strings.ToLower(typed)); ok {
			typed = q.Task
		}
	}
	if typed != "" {
		if t, ok := FindTask(d.s, typed); ok {
			return t, nil
		}
		m := noTask(d.s, typed)
		return loop.TaskState{}, &m
	}
	for _, q := range d.s.Project.Questions {
		if q.Kind == ledger.AskPlan {
			if t, ok := FindTask(d.s, q.Task); ok {
				return t, nil
			}
		}
	}
	if t, ok := activeTask(d.s); ok {
		return t, nil
	}
	what := "/plan"
	if d.c.Redo {
		what = "/plan redo"
	}
	m := refusal("cmd.whichtask", SignAsk+" "+what+": which task?")
	m.add("Type for example " + what + " " + exampleTask(d.s) + ".")
	m.button("Tasks", "/tasks")
	return loop.TaskState{}, &m
}

// PlanOf shows a task's plan in lines for a phone: the summary, the steps or
// sections with their states, and the critic's objections.
func PlanOf(s loop.State, t loop.TaskState) Message {
	id := shortID(t.Task.ID)
	p, ok := planOf(t)
	if !ok {
		m := newMessage("plan.none", firstLine(SignLater, s.Project.Name, id+" has no plan yet", ""))
		m.Project = s.Project.Name
		m.add("It is there when its planner is done.")
		m.button("Task "+strings.TrimPrefix(id, "#"), "/task "+idArg(t.Task.ID))
		return m
	}
	m := newMessage("plan", firstLine("", s.Project.Name, id+" plan: "+planSize(t, p)+planRound(consensusOf(t)), ""))
	m.Project = s.Project.Name
	q, asked := planQuestion(s, t)
	facts := Cut(Foreign(t.Task.Title), quoteWidth)
	if asked {
		facts += " · asks you (" + q.ID + ")"
	}
	m.add(facts)
	m.planBody(s, t, p)
	if asked {
		addVerbButtons(&m, q)
		m.Buttons = m.Buttons[:len(m.Buttons)-1] // without the Read button, which leads to this message
		return m
	}
	if redoable(t) {
		m.addButton(redoPlan("Redo", t.Task.ID))
	}
	return m
}

// PlanLines returns a task's plan as PlanOf shows it, in lines of at most so many
// columns; nil if it has none.
func PlanLines(s loop.State, t loop.TaskState, columns int) []string {
	p, ok := planOf(t)
	if !ok {
		return nil
	}
	m := Message{columns: columns}
	m.planBody(s, t, p)
	var out []string
	for _, l := range m.Lines {
		out = append(out, l.Text)
	}
	return out
}

// planBody adds the summary, the steps or sections with their states, and the
// critic's objections.
func (m *Message) planBody(s loop.State, t loop.TaskState, p planJSON) {
	c := consensusOf(t)
	m.spoken(p.Summary)
	for n, step := range p.Steps {
		m.item(fmt.Sprintf("%d ", n+1), stepText(step))
	}
	for _, section := range p.Sections {
		m.section(s, t, c, section)
	}
	for n, v := range c.Rounds {
		text := fmt.Sprintf("Critic, round %d: OKAY", n+1)
		if !v.OK {
			text = fmt.Sprintf("Critic, round %d: REJECT", n+1)
		}
		m.pre(text)
		for _, o := range v.Objections {
			m.item("  ", o)
		}
		if n == len(c.Rounds)-1 { // objections of the last round are listed below their sections
			continue
		}
		for _, j := range v.Sections {
			for _, o := range j.Objections {
				m.item("  "+Cut(Clean(j.ID), 16)+": ", o)
			}
		}
	}
}

// redoable reports whether a button can discard the plan. The task must not be
// over or a part of another plan, and its id must fit the command that the
// button sends.
func redoable(t loop.TaskState) bool {
	switch t.Status {
	case ledger.Done, ledger.Skipped, ledger.Withdrawn:
		return false
	}
	return t.Task.Parent == "" && !strings.ContainsAny(idArg(t.Task.ID), " .")
}

func planSize(t loop.TaskState, p planJSON) string {
	if t.Task.Parent != "" {
		return "part " + Cut(Clean(p.Sections[0].ID), 16) + " of " + shortID(t.Task.Parent)
	}
	if len(p.Sections) > 0 {
		return Plural(len(p.Sections), "part")
	}
	return Plural(len(p.Steps), "step")
}

func planRound(c loop.Consensus) string {
	if len(c.Rounds) == 0 {
		return ""
	}
	return fmt.Sprintf(", round %d", len(c.Rounds))
}

func planQuestion(s loop.State, t loop.TaskState) (ledger.Question, bool) {
	for _, q := range s.Project.Questions {
		if q.Kind == ledger.AskPlan && ledger.SameID(q.Task, t.Task.ID) {
			return q, true
		}
	}
	return ledger.Question{}, false
}

// section adds one section of a plan, with the state of the task it became.
func (m *Message) section(s loop.State, t loop.TaskState, c loop.Consensus, part payload.Section) {
	id := Cut(Clean(part.ID), 16)
	sign, standing := SignLater, ""
	var objections []string
	if len(c.Rounds) > 0 {
		for _, j := range c.Rounds[len(c.Rounds)-1].Sections {
			if j.ID == part.ID && len(j.Objections) > 0 {
				sign, standing, objections = SignFailed, "sent back", j.Objections
			}
		}
	}
	if slices.Contains(c.Approved, part.ID) {
		sign, standing, objections = SignDone, "approved", nil
	}
	if made, ok := partOf(s, t, part.ID); ok {
		sign, standing = StatusSign(made.Status), orElse(standingOf(s, made), "ready")
	}
	m.item(sign+" "+id+" ", Clean(part.Title)+comma(standing))
	if len(part.Files) > 0 {
		m.item("    ", strings.Join(part.Files, " "))
	}
	for _, text := range part.Tasks {
		m.item("    – ", text)
	}
	for n, step := range part.Steps {
		m.item(fmt.Sprintf("    %d ", n+1), stepText(step))
	}
	for _, o := range objections {
		m.item("    "+SignFailed+" ", o)
	}
}

// partOf returns the task that a section of a plan became: "Task 5/b".
func partOf(s loop.State, t loop.TaskState, section string) (loop.TaskState, bool) {
	id := t.Task.ID + "/" + section
	if t.Task.Parent != "" {
		id = t.Task.ID
	}
	for _, u := range s.Project.Tasks.All() {
		if ledger.SameID(u.Task.ID, id) && u.Task.Parent != "" {
			return *u, true
		}
	}
	return loop.TaskState{}, false
}

func standingOf(s loop.State, t loop.TaskState) string {
	if t.Status == ledger.Done {
		return DoneWord(t)
	}
	return taskStanding(s, t)
}

// stepText returns a step as text. Planners write most steps as strings and
// some as objects; for an object it returns the first field that holds text.
func stepText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return string(raw)
	}
	for _, name := range []string{"title", "text", "step", "description", "what", "action"} {
		if v, ok := fields[name].(string); ok && strings.TrimSpace(v) != "" {
			return v
		}
	}
	return string(raw)
}

// spoken adds an agent's text uncut, in lines that a phone shows without
// scrolling. The lines are preformatted because platforms turn parts of plain
// lines into links.
func (m *Message) spoken(text string) {
	if text = Clean(text); text != "" {
		m.item("", text)
	}
}

// item adds preformatted lines behind a mark.
func (m *Message) item(mark, text string) {
	gap := strings.Repeat(" ", Width(mark))
	columns := m.columns
	if columns == 0 {
		columns = planWidth
	}
	for n, part := range Wrap(Clean(text), max(columns-len(gap), 16)) {
		if n > 0 {
			mark = gap
		}
		m.pre(mark + part)
	}
}
