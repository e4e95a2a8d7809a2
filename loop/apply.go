package loop

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
	"github.com/nightporter/nightporter/loop/request"
)

// settledKept limits the settled questions that the state keeps. They tell a person
// who presses an old button what was answered.
const settledKept = 50

// Apply returns the state after one more entry. It is total: every entry gives a
// state, and an entry of unknown type leaves the state as it is. It never changes
// s, so earlier states stay valid. To fold a whole ledger, use a Folder.
func Apply(s State, e ledger.Entry) State {
	f := Folder{state: s}
	f.Add(e)
	return f.state
}

// Add folds one more entry into the Folder's state.
func (f *Folder) Add(e ledger.Entry) {
	if e.Stream == ledger.SharedStream {
		f.state.Shared = applyShared(f.state.Shared, e)
		return
	}
	f.state.Project = applyProject(f.state.Project, e, &f.own)
}

// applyShared folds one entry of the shared stream into s.
func applyShared(s Shared, e ledger.Entry) Shared {
	switch b := e.Body.(type) {
	case ledger.SharedSet:
		s.MaxSessions, s.Purse.Day = b.MaxSessions, b.Day
	case ledger.IDIssued:
		s.Issued = with(s.Issued, b.Kind, b.N)
	case ledger.LeaseGranted:
		s.Leases = append(slices.Clip(s.Leases), b)
	case ledger.LeaseReleased:
		n := slices.IndexFunc(s.Leases, func(l ledger.LeaseGranted) bool { return l.Session == b.Session })
		if n < 0 { // its slot was freed before, and it was counted then
			break
		}
		s = s.applyWindows(s.Leases[n].Agent, b.Windows, e.Time)
		s.Leases = slices.Delete(slices.Clone(s.Leases), n, n+1)
		if b.Spent != nil {
			s.Purse.Window = addSlot(s.Purse.Window, SpentSlot{At: e.Time, USD: b.Spent.USD, Tokens: b.Spent.Tokens, Assumed: assumedOf(*b.Spent)})
		}
	case ledger.BudgetRaised:
		s.Purse.Raised = addSlot(s.Purse.Raised, SpentSlot{At: e.Time, USD: b.USD, Tokens: b.Tokens})
	case ledger.BudgetWarned:
		s.Purse = s.Purse.applyWarned(b, e.Time)
	case ledger.AgentParked:
		s.Agents = with(s.Agents, b.Agent, AgentHold{Until: b.Until, Known: b.Known, Why: b.Why, Text: b.Text, Since: e.Time, Times: b.Times})
		switch {
		case b.Why == ledger.FailureNetwork:
			s.Backoff = with(s.Backoff, b.Agent, b.Times)
		case b.Why == ledger.FailureEarly:
			s.Early = with(s.Early, b.Agent, s.Early[b.Agent].held(b.Times))
		case b.Times > 0:
			s.Limits = with(s.Limits, b.Agent, s.Limits[b.Agent].fold(b, e.Time))
		}
	case ledger.ClockJumped:
		return s.clockJumped(b.To.Sub(b.From), b.To)
	case ledger.AgentFaltered:
		s.Early = with(s.Early, b.Agent, s.Early[b.Agent].fold(b, s.Leases, e.Time))
	case ledger.AgentUncounted:
		s.Uncounted = maps.Clone(s.Uncounted)
		delete(s.Uncounted, b.Agent)
		if !b.Over {
			s.Uncounted = with(s.Uncounted, b.Agent, true)
		}
	case ledger.AgentUnusable:
		hold := AgentHold{Unusable: true, LoggedOut: b.LoggedOut, Why: cmp.Or(b.Why, ledger.FailureAuth), Text: b.Text, Since: e.Time, Until: e.Time.Add(trialEvery)}
		if before := s.Agents[b.Agent]; before.Trial {
			hold.Since = before.Since
		}
		s.Agents = with(s.Agents, b.Agent, hold)
	case ledger.AgentUsable:
		before, held := s.Agents[b.Agent]
		if early, ok := s.Early[b.Agent]; ok && b.Worked {
			s.Early = with(s.Early, b.Agent, early.worked(b, e.Time))
		}
		if held && b.Trial {
			s.Agents = with(s.Agents, b.Agent, AgentHold{Trial: true, LoggedOut: before.LoggedOut, Why: before.Why, Text: before.Text, Since: before.Since})
			break
		}
		s.Agents = maps.Clone(s.Agents)
		delete(s.Agents, b.Agent)
		if b.Worked {
			s.Backoff = maps.Clone(s.Backoff)
			delete(s.Backoff, b.Agent)
		}
		if b.Worked || before.Unusable { // a person says that the agent works again
			s.Limits = maps.Clone(s.Limits)
			delete(s.Limits, b.Agent)
		}
	default:
		s.State = people.Apply(s.State, e)
	}
	return s
}

// clearedKept limits the fingerprints of cleared findings that the state keeps.
// An older finding is asked about again.
const clearedKept = 500

// clearedWith returns the list with the fingerprints of more findings.
func clearedWith(list []string, found []ledger.SecretFound) []string {
	list = slices.Clone(list)
	for _, s := range found {
		if !slices.Contains(list, s.Print) {
			list = append(list, s.Print)
		}
	}
	return list[max(0, len(list)-clearedKept):]
}

// with returns a copy of m that has v under k. m may be nil.
func with[V any](m map[string]V, k string, v V) map[string]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]V{}
	}
	m[k] = v
	return m
}

// applyProject folds one entry of a project's stream into p. An entry about a run,
// task or session that p does not have changes nothing else.
func applyProject(p Project, e ledger.Entry, own *owned) Project {
	was := p
	p.Requests = request.Apply(p.Requests, e)
	p = p.applyIdea(e)
	p = p.applyLearning(e)
	p = p.applyTaken(e)
	p = p.applyNetwork(e)
	p = p.applyTaint(e)
	switch b := e.Body.(type) {
	case ledger.RunPlanned:
		return p.plan(b, e)
	case ledger.RunQueued:
		p.Queued = &b
	case ledger.TasksAsked, ledger.TasksAdded, ledger.TasksUnasked, ledger.TasksRemoved:
		p = p.applyAddition(e).applyAttachment(e)
	case ledger.FilesAttached, ledger.FilesErased:
		p = p.applyAttachment(e)
	case ledger.PreflightDone:
		p = p.applyTold(b)
	case ledger.SourceRead:
		return p.read(b, e.Time)
	case ledger.PartsMade:
		p = p.parts(b, e.Task)
	case ledger.BranchRemade:
		p = p.remade(b)
	case ledger.WaveTriaged:
		p = p.triaged(b)
	case ledger.WaveJudged:
		p = p.judged(b, e.Session)
	case ledger.SecretsCleared:
		p.Cleared = clearedWith(p.Cleared, b.Found)
	case ledger.RunEnded:
		if p.Internal++; b.Reason != ledger.ReasonInternal {
			p.Internal = 0
		}
		p.NotStarted = p.notStarted(b)
		if p.Run.Aside() || p.Run != nil && p.Run.Check {
			p.Internal, p.NotStarted = was.Internal, was.NotStarted // they are about runs of the source
		}
		p = p.failed(ledger.EffectFailed{Kind: ledger.EffectStart{}.EffectKind(), Key: startKey}) // nothing tries to start one
	case ledger.ClockJumped:
		return p.clockJumped(b.To.Sub(b.From), b.To)
	case ledger.Verified:
		p = p.leftoverVerified(b)
	case ledger.EffectFailed:
		p = p.failed(b)
	case ledger.EffectRecovered:
		p = p.failed(ledger.EffectFailed{Kind: b.Kind, Key: b.Key})
	case ledger.GuidanceQueued:
		if b.Item.Task != "" && b.Item.Source == "" { // of an earlier release
			b.Item.Source = p.Source
		}
		p.Guidance = p.Guidance.Add(b.Item)
	case ledger.GuidanceChanged:
		p.Guidance = p.Guidance.Change(b.ID, b.Text)
	case ledger.GuidanceDropped:
		p.Guidance = p.Guidance.Drop(b.ID)
	case ledger.GuidanceBound:
		parent := ""
		if n := p.index(e.Task); n >= 0 {
			parent = ledger.FoldID(p.Tasks.At(n).Task.Parent)
		}
		if b.Reopen {
			p.Guidance = p.Guidance.Reopen(p.Source, ledger.FoldID(e.Task), parent)
		}
		p.Guidance = p.Guidance.Bind(guidance.Target{Source: p.Source, Session: e.Session, Hat: b.Hat, Task: ledger.FoldID(e.Task), Parent: parent, Writes: b.Writes}, b.Binding)
	case ledger.GuidanceReported:
		p.Guidance = p.Guidance.Report(b.ID, b.State, b.Note, e.Time)
	case ledger.GuidanceJudged:
		p.Guidance = p.Guidance.Judge(b.ID, guidance.Judged{Session: e.Session, Hat: b.Hat, Followed: b.Followed, Note: b.Note})
	case ledger.GuidanceExpired:
		p.Guidance = p.Guidance.Expire(b.ID, b.Why)
	case ledger.GuidanceKept:
		p.Guidance = p.Guidance.Keep(b.ID, e.Time)
	case ledger.QuestionAsked:
		p.Questions = append(slices.Clip(p.Questions), b.Question)
	case ledger.ReminderDue:
		p.Questions = slices.Clone(p.Questions)
		for n := range p.Questions {
			if p.Questions[n].ID == b.ID {
				p.Questions[n].Remind = time.Time{}
			}
		}
	case ledger.QuestionAnswered:
		p = p.settle(Answered{
			ID: b.ID, Text: trimJoin(b.Choice, b.Words) + ", " + b.By, At: e.Time,
			Choice: b.Choice, Words: b.Words, By: b.By, Actor: e.Actor, Along: b.Along, Guided: p.guided(append(slices.Clip(b.Along), e.Task)), Before: p.before(b),
		})
	case ledger.AnswerUndone:
		id := b.Before.Question.ID
		p.Answered = slices.DeleteFunc(slices.Clone(p.Answered), func(s Answered) bool { return s.ID == id })
		p.Questions = append(slices.Clip(p.Questions), b.Before.Question)
		p = p.applyAttachment(e)
	case ledger.QuestionExpired:
		s := Answered{ID: b.ID, Text: "unanswered: " + b.Then, At: e.Time}
		if n := slices.IndexFunc(p.Questions, func(q ledger.Question) bool { return q.ID == b.ID }); n >= 0 && p.Questions[n].Kind == ledger.AskAgent && b.Choice != "" {
			q := p.Questions[n]
			s.Late = &q
		}
		p = p.settle(s)
	}
	if b, ok := e.Body.(ledger.Submit); ok {
		p.Progress = progressLine(p, b, e)
	}
	ended, ends := e.Body.(ledger.SessionEnded)
	var had Session
	if ends {
		had, _ = p.Session(e.Session) // its SessionEnded entry removes it, below
	}
	p = p.applySession(e)
	if p.Run != nil {
		p.Run = applyRun(own.runOf(p.Run), e)
		p.Run.applyNetwork(e)
		if b, ok := e.Body.(ledger.BudgetRaised); ok {
			b.Task = p.wholeID(b.Task) // entries of earlier releases name parts
			*p.Run = p.Run.raise(b)
		}
		if p.doneAgain(e) {
			p.Run.Made = p.madeAgain(e.Task)
		}
		if ends && ended.Kind == ledger.KindAgent {
			p.Run.spend(had, e.Task, ended.Exit)
		}
		if now := p.doneNow(e); len(now) > len(p.Run.DoneNow) {
			p.Run.DoneNow = now
			p.Run.DoneIn++
		}
		p.Run.LastEvent = e.Time
	}
	if n := p.index(e.Task); n >= 0 {
		old := p.Tasks.At(n)
		was := old.kept()
		t := own.taskOf(old)
		if _, ok := e.Body.(ledger.TaskCommitted); ok && p.Run != nil && t.Attempt != nil {
			p.Run.TipTests = t.Attempt.testsOf(t.Attempt.Tree)
		}
		applyTask(t, p.Run, e, own)
		effort, outcome := t.applyEffort(p.Run, e, had)
		p.Tasks = p.Tasks.replace(n, was, t)
		p = p.finished(n, effort, outcome)
	}
	p = p.applyHistory(e, had)
	p = p.applyTip(e)
	if b, ok := e.Body.(ledger.TaskCommitted); ok && p.Run != nil && !p.scripted(e.Task) && p.tipKey() == p.Source {
		p.Branches = with(p.Branches, p.Source, Tip{Branch: p.Run.Base.Branch, Commit: b.Commit})
	}
	if b, ok := e.Body.(ledger.TaskSet); ok && b.From == ledger.Active {
		p = p.tookTurn(e.Task)
	}
	if b, ok := e.Body.(ledger.TaskSet); ok && (b.To == ledger.Done || b.To == ledger.Skipped || b.To == ledger.Withdrawn && b.Rest == nil) {
		p.Guidance = p.Guidance.Release(p.Source, ledger.FoldID(e.Task))
	}
	if b, ok := e.Body.(ledger.TaskSet); ok && b.From == ledger.Withdrawn {
		p.Guidance = p.Guidance.Wake(p.Source, ledger.FoldID(e.Task), e.Time)
	}
	if _, ok := e.Body.(ledger.RunEnded); ok && p.Run.Aside() {
		p = p.lookedAfter()
	} else if ok && p.Run != nil && p.Run.Check {
		p = p.checked(e.Time)
	}
	return p
}

// scripted reports whether the commit of a task holds what the scripted agent
// wrote, on which no later run builds.
func (p Project) scripted(task string) bool {
	n := p.index(task)
	return n >= 0 && p.Tasks.At(n).Scripted
}

// progressLine returns the line about the last attempt that ended, which later
// prompts show.
func progressLine(p Project, b ledger.Submit, e ledger.Entry) string {
	n := p.index(e.Task)
	if n < 0 || p.Tasks.At(n).Task.Prepares() {
		return p.Progress
	}
	line := fmt.Sprintf("%s %s, %s", ledger.ShortID(e.Task), p.Tasks.At(n).Task.Title, b.Result)
	if b.Reason != "" {
		line += ": " + b.Reason
	} else if w := p.Tasks.At(n).Attempt; w != nil {
		if said := body(w); said != "" {
			line += ": " + said
		}
	}
	return line
}

// notStarted returns what the end of a run says about its start.
func (p Project) notStarted(b ledger.RunEnded) *NotStarted {
	if b.Reason != ledger.ReasonPreflight {
		return nil
	}
	n := NotStarted{Text: b.Text, Times: 1}
	if was := p.NotStarted; was != nil && was.Text == b.Text {
		n.Times += was.Times
	}
	return &n
}

// plan returns the project with a newly planned run. Tasks belong to their
// source: if the run has another source, the present tasks move to the shelf
// until a run of their source takes them back.
func (p Project) plan(b ledger.RunPlanned, e ledger.Entry) Project {
	p.Name = b.Settings.Project
	if b.Upkeep == nil && b.Idea == "" && !b.Check {
		p = p.leave()
	}
	p = p.onSource(b.Settings.Source.String(), e.Time)
	// Tasks that nightporter added itself came from the baseline of an earlier
	// run. This run's baseline decides anew.
	p.Tasks = p.Tasks.without(func(t *TaskState) bool { return t.Task.Own })
	p.Queued = nil
	now := e.Time
	last := p.Run
	if last != nil && last.Check { // one that was cut off
		last = p.Aside
	}
	if last != nil && !last.LastEvent.IsZero() && last.LastEvent.Before(now) {
		now = last.LastEvent // the clock may be wrong now
	}
	if p.Aside = nil; b.Upkeep != nil || b.Idea != "" || b.Check {
		p.Aside = last
	}
	p.Run = &Run{ID: b.Run, Settings: b.Settings, Check: b.Check, State: ledger.RunPlanning, Planned: e.Time, LastEvent: e.Time, ByItself: e.Actor == "daemon", Upkeep: b.Upkeep, Idea: b.Idea}
	p.Guidance = p.Guidance.WakeBranch(p.Run.requestOf(), e.Time)
	return p.forget(now)
}

// onSource returns the project with the tasks of a source: those of the one before go to
// the shelf.
func (p Project) onSource(source string, at time.Time) Project {
	if p.Source == source {
		return p
	}
	shelf := maps.Clone(p.Shelf)
	if shelf == nil {
		shelf = map[string]TaskList{}
	}
	if p.Source != "" {
		shelf[p.Source] = p.Tasks.shelved()
	}
	p.Tasks = shelf[source]
	delete(shelf, source)
	p.Source, p.Shelf = source, shelf
	p = p.unarchive(source)
	p.Guidance = p.Guidance.Wake(source, "", at)
	return p
}

// checked returns the project after a check: with its last run again.
func (p Project) checked(at time.Time) Project {
	last := p.Aside
	if p.Run, p.Aside = last, nil; last != nil {
		p = p.onSource(last.Settings.Source.String(), at)
	}
	p.Tasks = p.Tasks.without(func(t *TaskState) bool { return t.Task.Own })
	return p
}

// read replaces the tasks by those of the source and keeps the history of each.
// It changes no status: statuses change by TaskSet entries.
func (p Project) read(b ledger.SourceRead, at time.Time) Project {
	old := p.Tasks
	doubted := make(map[string]time.Time, len(b.Doubted)+len(b.Back))
	for _, id := range b.Back {
		doubted[old.ids.fold(id)] = time.Time{}
	}
	for _, id := range b.Doubted {
		doubted[old.ids.fold(id)] = at
	}
	run := ""
	if p.Run != nil && b.Lost {
		run = p.Run.ID
	}
	changed := make(map[string]*ledger.Task, len(b.Tasks))
	for n := range b.Tasks {
		changed[old.ids.fold(b.Tasks[n].ID)] = &b.Tasks[n]
	}
	tasks := make([]*TaskState, 0, len(b.Order))
	placed := make(map[string]bool, len(b.Order))
	for _, id := range b.Order {
		key := old.ids.fold(id)
		t := &TaskState{Status: ledger.Pending}
		if n := old.index(id); n >= 0 {
			t = old.At(n)
		}
		if now, ok := changed[key]; ok {
			edited := *t
			if now.Mark != t.Lifted {
				edited.Lifted = ""
			}
			edited.counted(now.Failures)
			edited.Task, edited.Doubted, edited.Lost = *now, time.Time{}, ""
			edited.Archived, edited.ArchivedText = false, ""
			if edited.Taken != "" && edited.Taken != hashText(&edited.Task) {
				edited.Taken = ""
			}
			t = &edited
		}
		if since, ok := doubted[key]; ok || b.Trouble != "" && !t.Doubted.IsZero() {
			other := *t
			if other.Doubted, other.Lost = since, ""; !since.IsZero() {
				other.Lost = run
			}
			t = &other
		}
		tasks = append(tasks, t)
		placed[key] = true
	}
	// Tasks whose line is gone move to the end instead of being deleted: people
	// still ask for their history, and a git stash pop may bring the line back.
	var own, rest, parts []*TaskState
	for _, t := range b.Own {
		own = append(own, &TaskState{Task: t, Status: ledger.Pending})
		placed[old.ids.fold(t.ID)] = true
	}
	for n, t := range old.All() {
		switch {
		case placed[old.ids.keys[n]]:
		case t.Task.Parent != "":
			parts = append(parts, t)
		case t.Task.Own:
			own = append(own, t)
		default:
			gone := *t
			gone.Task.Mark = markGone
			rest = append(rest, &gone)
		}
	}
	p.Tasks = newTaskList(withParts(slices.Concat(own, tasks, rest), parts, old.ids), old.ids)
	if p.Run != nil {
		r := *p.Run
		r.Source, r.Name = b.Trouble, b.Name
		p.Run = &r
	}
	return p
}

// withParts returns tasks with each task's parts inserted right behind it, in their
// order. Parts of a task that is missing come last.
func withParts(tasks, parts []*TaskState, ids *taskIDs) []*TaskState {
	if len(parts) == 0 {
		return tasks
	}
	of := map[string][]*TaskState{}
	for _, t := range parts {
		key := ids.fold(t.Task.Parent)
		of[key] = append(of[key], t)
	}
	out := make([]*TaskState, 0, len(tasks)+len(parts))
	for _, t := range tasks {
		key := ids.fold(t.Task.ID)
		out = append(append(out, t), of[key]...)
		delete(of, key)
	}
	for _, t := range parts {
		if _, left := of[ids.fold(t.Task.Parent)]; left {
			out = append(out, t)
		}
	}
	return out
}

// guided returns the ids of the waiting guidance that is addressed to one of
// the given tasks.
func (p Project) guided(tasks []string) []string {
	var ids []string
	for _, i := range p.Guidance.Waiting() {
		if i.Task != "" && !p.Rests(i) && slices.ContainsFunc(tasks, func(t string) bool { return ledger.FoldID(t) == i.Task }) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// settle moves a question from the open to the settled ones.
func (p Project) settle(s Answered) Project {
	if q, ok := p.Question(s.ID); ok {
		s.Asked = q.Asked
		s.Subject = QuestionSubject{Kind: q.Kind, Task: q.Task, Tasks: q.Tasks, Source: q.Source}
	}
	p.Questions = slices.DeleteFunc(slices.Clone(p.Questions), func(q ledger.Question) bool { return q.ID == s.ID })
	// A question that stays open after it expired is settled a second time.
	p.Answered = slices.DeleteFunc(slices.Clone(p.Answered), func(o Answered) bool { return o.ID == s.ID })
	for n := range p.Answered { // drop the undo state of answers that can no longer be taken back
		if p.Answered[n].Before != nil && s.At.After(p.Answered[n].At.Add(UndoTime)) {
			p.Answered[n].Before = nil
		}
	}
	p.Answered = append(p.Answered, s)
	if over := len(p.Answered) - settledKept; over > 0 {
		p.Answered = slices.Clone(p.Answered[over:])
	}
	return p
}

// applySession keeps the set of sessions in flight: SessionPlanned adds one and
// SessionEnded removes it.
func (p Project) applySession(e ledger.Entry) Project {
	n := slices.IndexFunc(p.Sessions, func(s Session) bool { return s.ID == e.Session })
	if b, ok := e.Body.(ledger.SessionPlanned); ok {
		s := Session{ID: e.Session, Planned: b, Task: e.Task, Attempt: e.Attempt, At: e.Time}
		if t, ok := p.Find(e.Task); ok {
			s.Parent = t.Task.Parent
			if t.Attempt != nil {
				s.Lane = t.Attempt.Lane
			}
		}
		p.Sessions = append(slices.Clip(p.Sessions), s)
		return p
	}
	if n < 0 {
		return p
	}
	sessions := slices.Clone(p.Sessions)
	s := &sessions[n]
	switch b := e.Body.(type) {
	case ledger.EventAccepted:
		s.Event = &b
	case ledger.EventRefused:
		s.Refused++
		s.Refusal = b.Why
		s.Owed = s.Owed || len(b.Owed) > 0
	case ledger.SessionThrottled:
		s.Throttled = true
	case ledger.SessionCut:
		s.Cut = true
	case ledger.MemoryKept:
		s.Kept++
	case ledger.SessionEnded:
		sessions = slices.Delete(sessions, n, n+1)
		p.Guidance = p.Guidance.EndSession(e.Session)
	default:
		return p
	}
	p.Sessions = sessions
	return p
}

// doneNow returns the tasks completed since the run was started or resumed. A
// part does not count; its task counts once all its parts are done. A task that
// was neither active nor divided into parts, such as a task that a person
// ticked, does not count either.
func (p Project) doneNow(e ledger.Entry) []string {
	b, ok := e.Body.(ledger.TaskSet)
	n := p.index(e.Task)
	if !ok || b.To != ledger.Done || n < 0 || p.Tasks.At(n).Task.Parent != "" || b.From != ledger.Active && (b.From != ledger.Pending || len(p.Tasks.At(n).Parts) == 0) {
		return p.Run.DoneNow
	}
	return append(slices.Clip(p.Run.DoneNow), e.Task)
}
