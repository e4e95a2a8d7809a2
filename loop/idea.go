package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// An idea becomes a plan (docs/spec 3.9): one session drafts tasks, a person agrees to
// them, and only then they are written into the source and worked on. The session is a
// task of nightporter's own. A run at work takes it before its next task; without one a
// small run has it alone, which stands in the place of the project's last run, as one
// that keeps a request green does.

// Bounds of ideas (docs/spec 3.9).
const (
	maxIdeas         = 5      // of a project that are open
	maxIdeaText      = 40_000 // characters of an idea: some 10,000 tokens of a prompt
	maxIdeaQuestions = 3      // that the session may ask about one idea
	ideaTime         = 72 * time.Hour

	// DraftPattern is the pattern that plans ideas.
	DraftPattern = "draft"
)

// Idea is a person's idea that is being planned, or whose plan waits for an answer.
type Idea struct {
	ID       string          `json:"id"`
	Words    string          `json:"words"`
	Changes  []string        `json:"changes,omitempty"` // words of people about earlier plans
	By       string          `json:"by,omitempty"`
	Settings ledger.Settings `json:"settings"` // of the run that works the plan
	At       time.Time       `json:"at"`
	Run      string          `json:"run,omitempty"`     // that plans it now
	Asked    int             `json:"asked,omitempty"`   // questions that its sessions asked
	Answers  []string        `json:"answers,omitempty"` // those questions, with what people answered
	Summary  string          `json:"summary,omitempty"` // of the plan
	Tasks    []ledger.Task   `json:"tasks,omitempty"`   // the last plan; its ids hold within it
	Planned  bool            `json:"planned,omitempty"` // that plan answers the last words
	Addition string          `json:"addition,omitempty"`
	Taint    string          `json:"taint,omitempty"` // id of the task that planned it after it had read outside text; "" = none did
}

// Idea returns the open idea with an id.
func (p Project) Idea(id string) (Idea, bool) {
	n := slices.IndexFunc(p.Ideas, func(i Idea) bool { return i.ID == id && id != "" })
	if n < 0 {
		return Idea{}, false
	}
	return p.Ideas[n], true
}

// applyIdea folds an entry about ideas.
func (p Project) applyIdea(e ledger.Entry) Project {
	change := func(is func(Idea) bool, f func(*Idea)) {
		if n := slices.IndexFunc(p.Ideas, is); n >= 0 {
			p.Ideas = slices.Clone(p.Ideas)
			f(&p.Ideas[n])
		}
	}
	named := func(id string) func(Idea) bool { return func(i Idea) bool { return i.ID == id } }
	switch b := e.Body.(type) {
	case ledger.IdeaTaken:
		p.Name = cmp.Or(p.Name, b.Settings.Project)
		p.Ideas = append(slices.Clip(p.Ideas), Idea{ID: b.ID, Words: b.Words, By: b.By, Settings: b.Settings, At: e.Time})
	case ledger.IdeaPlanned:
		taint := p.ideaTaint(b.ID)
		change(named(b.ID), func(i *Idea) { i.Summary, i.Tasks, i.Planned, i.Run, i.Taint = b.Summary, b.Tasks, true, "", taint })
	case ledger.IdeaChanged:
		change(named(b.ID), func(i *Idea) { i.Changes, i.Planned = append(slices.Clip(i.Changes), b.Words), false })
	case ledger.IdeaAccepted:
		change(named(b.ID), func(i *Idea) { i.Addition = b.Addition })
		if i, ok := p.Idea(b.ID); ok {
			p = p.changeAddition(b.Addition, func(a *Addition) { a.Taint = i.Taint })
		}
	case ledger.IdeaEnded:
		p.Ideas = slices.DeleteFunc(slices.Clone(p.Ideas), named(b.ID))
	case ledger.RunPlanned:
		change(named(b.Idea), func(i *Idea) { i.Run = b.Run })
	case ledger.RunEnded:
		change(func(i Idea) bool { return i.Run != "" && i.Run == e.Run }, func(i *Idea) { i.Run = "" })
	case ledger.SourceRead:
		for _, t := range b.Own {
			if t.Idea != "" && p.Run != nil {
				change(named(t.Idea), func(i *Idea) { i.Run = p.Run.ID })
			}
		}
	case ledger.EventAccepted:
		if n := p.index(e.Task); n >= 0 && b.Type == ledger.EventQuestion {
			change(named(p.Tasks.At(n).Task.Idea), func(i *Idea) { i.Asked++ })
		}
	case ledger.TaskWords:
		if n := p.index(e.Task); n >= 0 {
			change(named(p.Tasks.At(n).Task.Idea), func(i *Idea) { i.Answers = append(slices.Clip(i.Answers), b.Text) })
		}
	case ledger.QuestionAsked:
		if b.Question.Kind == ledger.AskIdea { // the source does not take it: it is asked for again
			change(named(b.Question.Idea), func(i *Idea) { i.Addition = "" })
		}
	}
	return p
}

// ideaTaint returns the task that planned an idea, if its sessions read outside text.
func (p Project) ideaTaint(id string) string {
	for _, t := range p.Tasks.All() {
		if t.Task.Idea == id && p.HoldsOutsideText(*t) {
			return t.Task.ID
		}
	}
	return ""
}

// takeIdea keeps a person's idea. It is planned in the same decision where that can be.
func (d *decision) takeIdea(b TakeIdea) {
	text := strings.TrimSpace(strings.ToValidUTF8(b.Text, "\uFFFD"))
	r := d.run()
	switch {
	case text == "":
		d.refuse(ledger.CodeNoWords, "there is no idea in it")
		return
	case utf8.RuneCountInString(text) > maxIdeaText:
		d.refuse(ledger.CodeTooLong, "the idea has %d characters; %d are the most. Put the rest into a file of the repository and name it", utf8.RuneCountInString(text), maxIdeaText)
		return
	case len(d.Project.Ideas) >= maxIdeas:
		d.refuse(ledger.CodeTooMany, "%d ideas are open; answer one of their plans first", len(d.Project.Ideas))
		return
	case r != nil && r.Settings.Repo != b.Settings.Repo:
		d.refuse(ledger.CodeOtherRepository, "project %s is %s in this state folder, not %s", d.in.Project, r.Settings.Repo, b.Settings.Repo)
		return
	}
	if _, ok := draftPattern(b.Settings); !ok {
		d.refuse(ledger.CodeRole, "the pattern %s is missing or cannot be used; nightporter hats says why", DraftPattern)
		return
	}
	id := d.nextID("i")
	d.add(scope{}, ledger.IdeaTaken{ID: id, Words: text, By: d.by(), Settings: b.Settings})
	d.attach(scope{}, id)
	d.answer = ledger.Answer{OK: true, Code: ledger.CodePlanned, ID: id, Text: d.whenPlanned(id)}
}

// whenPlanned says when an idea without a plan gets one.
func (d *decision) whenPlanned(id string) string {
	r := d.run()
	var ahead []string
	for _, i := range d.Project.Ideas {
		if !i.Planned {
			ahead = append(ahead, i.ID)
		}
	}
	inHand, busy := d.Project.inHand()
	switch {
	case ahead[0] != id:
		return "a drafter reads " + d.in.Project + " after " + strings.Join(ahead[:slices.Index(ahead, id)], " and ")
	case r.Over() && r.idle():
		return "a drafter reads " + d.in.Project
	case !d.canJoin():
		return fmt.Sprintf("a drafter reads %s when %s has ended", d.in.Project, r.ID)
	case r.State == ledger.RunPaused || r.State == ledger.RunPausing:
		return fmt.Sprintf("%s is paused; a drafter reads %s when it goes on", r.ID, d.in.Project)
	case busy:
		return fmt.Sprintf("a drafter reads %s after %s, before the next task", d.in.Project, ledger.ShortID(inHand.Task.ID))
	}
	return fmt.Sprintf("a drafter reads %s before the next task", d.in.Project)
}

// draftPattern returns the pattern that plans ideas.
func draftPattern(s ledger.Settings) (ledger.Pattern, bool) {
	if s.Pattern.Name == DraftPattern {
		return s.Pattern, true
	}
	p, ok := s.Roles[DraftPattern]
	return p, ok
}

// unplanned returns the first idea that waits for a session.
func (p Project) unplanned() (Idea, bool) {
	n := slices.IndexFunc(p.Ideas, func(i Idea) bool { return !i.Planned && i.Run == "" && i.Settings.Stays })
	if n < 0 {
		return Idea{}, false
	}
	return p.Ideas[n], true
}

// canJoin reports whether a run at work can take ideas: it works on the source, and
// knows the pattern and the hat of them.
func (d *decision) canJoin() bool {
	r := d.run()
	if r.Over() || r.Aside() || r.Check || r.Finishing != nil || r.State == ledger.RunStopping || !r.Settings.Stays {
		return false
	}
	p, ok := draftPattern(r.Settings)
	_, has := r.upcoming().Hats[p.Start]
	return ok && has
}

// joinIdea gives the run at work the task that plans an idea, one idea at a time. It
// comes before all tasks that have not begun. It reports whether there was one.
func (d *decision) joinIdea() bool {
	r := d.run()
	i, ok := d.Project.unplanned()
	if !ok || r.Source != "" || !d.canJoin() || slices.ContainsFunc(d.Project.Ideas, func(i Idea) bool { return i.Run == r.ID }) {
		return false
	}
	d.addOwn(ideaTask(i))
	return true
}

// planIdeas begins the small run of the first idea without a plan.
func (d *decision) planIdeas() {
	r := d.run()
	if !r.idle() || d.Project.busy() || d.Project.Queued != nil || r != nil && !r.Settings.Stays {
		return
	}
	i, ok := d.Project.unplanned()
	if !ok {
		return
	}
	d.closeOwn()
	s := i.Settings
	s.Pattern, _ = draftPattern(s)
	s.Until, s.From, s.Only, s.MaxTasks, s.OnBlocked = time.Time{}, "", "", 0, ledger.OnBlockedContinue
	s.Verify, s.Push, s.Queue, s.Consensus, s.PlanApproval = nil, ledger.PushNever, "", false, false
	id := d.nextID("r")
	begin := ledger.Begin{Run: id}
	if tip, ok := d.Project.Branches[s.Source.String()]; ok { // it reads what was done last
		begin.Previous, begin.Tip = tip.Branch, tip.Commit
	}
	d.add(scope{}, ledger.RunPlanned{Run: id, Settings: s, Idea: i.ID, Previous: begin.Previous})
	d.effect(id, ledger.EffectPreflight{Begin: begin})
}

// ideaPreflighted begins the session that plans the run's idea. Nothing is set up or
// tested for it: it only reads.
func (d *decision) ideaPreflighted(b Preflighted) {
	i, ok := d.Project.Idea(d.run().Idea)
	if !ok {
		d.end(ledger.RunEnded{Reason: ledger.ReasonIdea})
		return
	}
	d.add(scope{}, ledger.PreflightDone{Base: b.Base, Warnings: b.Warnings})
	d.addOwn(ideaTask(i))
	d.begin(ledger.RunStarted{})
}

// ideaTask returns the task of the session that plans an idea.
func ideaTask(i Idea) ledger.Task {
	var b strings.Builder
	b.WriteString(i.Words)
	fmt.Fprintf(&b, "\n\nThe tasks that the project has are in %s.", i.Settings.Source.Path)
	if len(i.Tasks) > 0 {
		b.WriteString("\n\nThis plan was proposed for it:\n")
		for _, t := range i.Tasks {
			fmt.Fprintf(&b, "\n- %s: %s", t.ID, t.Title)
			if len(t.DependsOn) > 0 {
				b.WriteString(" (needs " + strings.Join(t.DependsOn, ", ") + ")")
			}
		}
	}
	for _, answer := range i.Answers {
		b.WriteString("\n\nAsked about it before: " + answer)
	}
	for _, words := range i.Changes {
		b.WriteString("\n\nThe owner wants it changed:\n\n" + words)
	}
	id := "Idea " + i.ID
	if n := len(i.Changes); n > 0 { // each plan is a task of its own: the run may have the last one
		id += fmt.Sprintf(".%d", n+1)
	}
	title := firstLine(i.Words)
	if utf8.RuneCountInString(title) > MaxTitle {
		title = string([]rune(title)[:MaxTitle-1]) + "…"
	}
	return ledger.Task{ID: id, Title: title, Body: b.String(), Own: true, Outside: i.Taint != "", Idea: i.ID, Role: DraftPattern, Mark: ledger.MarkOpen}
}

// tooManyQuestions says why the session of a task that plans an idea may ask no more,
// or "".
func (d *decision) tooManyQuestions(task string) string {
	if d.sortsReports(task) {
		return "nobody is asked about reports before they are fixed; take what you cannot judge"
	}
	t, _ := d.task(task)
	if i, ok := d.Project.Idea(t.Task.Idea); ok && i.Asked >= maxIdeaQuestions {
		return fmt.Sprintf("%d questions were asked about this idea, which are the most; choose, and say in the summary what you chose", i.Asked)
	}
	return ""
}

// drafted proposes the plan that the session has made. Its task leaves the run, as
// one whose line is gone does: no commit, no mark and no line in the progress log says
// that it is done.
func (d *decision) drafted(t TaskState) {
	data := t.Attempt.Event.Data
	d.submit(t, ledger.Submit{Result: "pass", Outcome: ledger.OutcomeConverged})
	d.setTask(t.Task.ID, ledger.Withdrawn, "planned")
	if i, ok := d.Project.Idea(t.Task.Idea); ok {
		d.add(scope{}, ledger.IdeaPlanned{ID: i.ID, Summary: payload.String(data, "summary"), Tasks: payload.ReadDraft(data)})
		i, _ = d.Project.Idea(i.ID)
		d.askIdea(i, "")
	}
	if d.run().Idea != "" {
		d.end(ledger.RunEnded{Reason: ledger.ReasonIdea})
	}
}

// giveUpIdea ends the idea of a task, for which there is no plan: that failed, or a
// person skipped the task. A small run then has nothing left to do, and ends.
func (d *decision) giveUpIdea(t TaskState, outcome ledger.IdeaEnd, why string) {
	d.setTask(t.Task.ID, ledger.Withdrawn, why)
	if _, ok := d.Project.Idea(t.Task.Idea); ok {
		d.add(scope{}, ledger.IdeaEnded{ID: t.Task.Idea, Outcome: outcome, Text: why})
	}
}

// askIdea asks a person about the plan of an idea. tried is what became of an earlier
// answer, "" for none.
func (d *decision) askIdea(i Idea, tried string) {
	d.add(scope{}, ledger.QuestionAsked{Question: ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskIdea, Idea: i.ID, Title: firstLine(i.Words), Text: i.Summary, Tried: tried,
		By: i.By, Asked: d.in.Time, Expires: d.in.Time.Add(ideaTime),
	}})
}

// notDrafted ends the idea of a small run that ends without a plan. A person who stops
// a run wants quiet: all ideas without a plan end with it, as none may begin a session
// right after. After any other end they are planned.
func (d *decision) notDrafted(e ledger.RunEnded) {
	r := d.run()
	if e.Reason == ledger.ReasonReplaced || d.Project.Queued != nil {
		return
	}
	stopped := e.Reason == ledger.ReasonStopped && e.Signal == ""
	if stopped {
		e.Text = r.ID + " was stopped"
	}
	for _, i := range d.Project.Ideas {
		if !i.Planned && (stopped || i.ID == r.Idea) {
			d.add(scope{}, ledger.IdeaEnded{ID: i.ID, Outcome: ledger.IdeaFailed, Text: cmp.Or(e.Text, string(e.Reason))})
		}
	}
}

func applyIdea(d *decision, a answerGiven) {
	i, ok := d.Project.Idea(a.q.Idea)
	if !ok {
		return
	}
	switch a.choice {
	case "start":
		d.acceptIdea(i)
	case "change":
		d.add(scope{}, ledger.IdeaChanged{ID: i.ID, Words: a.words, By: d.by()})
		d.say("%s is planned again with your words: %s", i.ID, d.whenPlanned(i.ID))
	default:
		d.add(scope{}, ledger.IdeaEnded{ID: i.ID, Outcome: ledger.IdeaDropped})
		d.say("%s is dropped; nothing was written", i.ID)
	}
}

// acceptIdea has the tasks of a plan written into the source, all at once.
func (d *decision) acceptIdea(i Idea) {
	s := i.Settings
	place := map[string]int{}
	tasks := slices.Clone(i.Tasks)
	needs := make([][]int, len(tasks))
	for n := range tasks {
		for _, id := range tasks[n].DependsOn {
			needs[n] = append(needs[n], place[ledger.FoldID(id)])
		}
		place[ledger.FoldID(tasks[n].ID)] = n
		tasks[n] = shownTask(tasks[n])
		tasks[n].ID, tasks[n].DependsOn = "", nil
	}
	if !slices.ContainsFunc(needs, func(on []int) bool { return len(on) > 0 }) {
		needs = nil
	}
	// A title that an open task has means that task. One that a done task has is new
	// work.
	var over []ledger.Task
	if d.Project.Source == s.Source.String() {
		over = slices.DeleteFunc(d.inSource(), func(t ledger.Task) bool { return t.Mark != ledger.MarkDone })
	}
	id := d.nextID("a")
	d.add(scope{}, ledger.TasksAsked{ID: id, Repo: s.Repo, Source: s.Source, Tasks: tasks, By: d.by()})
	d.add(scope{}, ledger.IdeaAccepted{ID: i.ID, Addition: id, By: d.by()})
	d.hand(i.ID, id)
	d.write(Addition{ID: id, Repo: s.Repo, Source: s.Source}, ledger.AddTasks{Tasks: tasks, Known: alike(over, tasks), Needs: needs})
	d.say("the plan is being added to %s", s.Source.Path)
}

// ideaWritten goes on after the tasks of a plan were written: a run starts, unless one
// is under way that takes them, or that a person stops. A plan that the source does not
// take is asked about again, so that nothing of it is lost.
func (d *decision) ideaWritten(addition ledger.TasksAdded) {
	n := slices.IndexFunc(d.Project.Ideas, func(i Idea) bool { return i.Addition == addition.ID })
	if n < 0 {
		return
	}
	i := d.Project.Ideas[n]
	if addition.Error != "" {
		d.askIdea(i, reason("not added: "+addition.Error, addition.Remedy))
		return
	}
	i.Settings.Until = nextClock(i.Settings.Until.In(d.in.Time.Location()), d.in.Time)
	r := d.run()
	ends := !r.Over() && !r.Aside() && r.Finishing != nil && d.Project.Queued == nil // it takes no task any more
	starts := r.Over() || r.Aside() || ends
	d.add(scope{}, ledger.IdeaEnded{ID: i.ID, Outcome: ledger.IdeaWritten, Tasks: addition.Tasks, Started: starts})
	switch {
	case ends:
		d.add(scope{}, ledger.RunQueued{Settings: i.Settings})
	case starts:
		d.startRun(StartRun{Settings: i.Settings})
	}
}

// nextClock returns the next time after now at which a clock shows what it showed at t;
// the zero time stays. A plan may be agreed to days after its settings were read, and
// the run that it starts has until the next morning, not until the one that is over.
func nextClock(t, now time.Time) time.Time {
	for !t.IsZero() && !t.After(now) {
		t = t.AddDate(0, 0, 1)
	}
	return t
}

func (d *decision) expireIdea(q ledger.Question) {
	d.expireQuietly(q)
	if _, ok := d.Project.Idea(q.Idea); ok {
		d.add(scope{}, ledger.IdeaEnded{ID: q.Idea, Outcome: ledger.IdeaDropped, Text: "nobody answered in time"})
	}
}
