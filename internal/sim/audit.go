package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// audit holds the invariants of one project of a night, and with what it shares
// those of the whole. It sees each commit of the ledger, what the world did, and what
// people are shown.
type audit struct {
	w *site
	*shared

	calmRun                bool
	hosts                  hostWords
	knownRed               bool // people let a run begin on a tree that its commands fail on
	planned, endedSessions map[string]bool
	green                  map[string]bool   // trees on which a check passed, to the world's knowledge
	committedTasks         map[string]string // task → commit
	open                   map[string]bool   // questions
	expired                map[string]bool
	runsEnded              map[string]bool
	lastEnd                time.Time                // of a run, by the scheduler's clock
	last                   ledger.RunEnded          // as the ledger has it
	lastReason             ledger.Reason            // of that end
	aside                  map[string]bool          // runs that plan an idea alone
	startedAt              time.Time                // when the last run began, by the ledger's clock
	finishingAt            time.Time                // when it last began to finish; zero: it did not
	agents                 map[string]int           // sessions of agents, by run
	cut                    map[string]bool          // sessions
	failed                 map[string]bool          // tasks whose attempt fails in the batch of the moment by a session that ended at once
	reserves               map[string]float64       // what sessions of agents reserved, in US dollars
	spentOn                map[string]float64       // by run and task, sections counted for their task; what is unknown as it was reserved
	set                    map[string]ledger.Status // tasks whose status the batch of the moment sets
	owned                  map[string]own           // what each task in hand changed, by folded id
	joined                 map[string]string        // the task that each part is merged into, by folded id

	criteria map[string][]ledger.CriterionResult // of the last verdict on each task, by folded id
}

// shared is what the audits of all projects of a night have in common.
type shared struct {
	version    int // of the last file written
	message    int // of people's messages
	shortUntil time.Time

	entries    int
	folds      map[string]*folded // by stream
	stateSize  int                // the largest, as JSON
	queue      int                // the longest of messages that wait
	catchingUp bool               // entries are seen without a daemon
	commitsIn  time.Duration      // the minute that attempts are counted in
	attempts   int                // commits tried in it

	directives map[string]int  // by text
	pressed    map[string]bool // directives that buttons give
	seen       map[string]int  // entries by type
}

func newShared() *shared {
	return &shared{folds: map[string]*folded{}, directives: map[string]int{}, pressed: map[string]bool{}, seen: map[string]int{}}
}

func newAudit(w *site, all *shared) *audit {
	return &audit{
		w: w, shared: all, planned: map[string]bool{}, endedSessions: map[string]bool{}, green: map[string]bool{}, committedTasks: map[string]string{},
		open: map[string]bool{}, expired: map[string]bool{}, runsEnded: map[string]bool{}, aside: map[string]bool{}, agents: map[string]int{}, cut: map[string]bool{}, failed: map[string]bool{}, set: map[string]ledger.Status{}, owned: map[string]own{}, joined: map[string]string{}, reserves: map[string]float64{}, spentOn: map[string]float64{}, hosts: newHostWords(),
		criteria: map[string][]ledger.CriterionResult{},
	}
}

// Bounds of one night.
const (
	maxStill    = 30_000 // steps at one moment
	maxAttempts = 4_000  // commits tried in a minute
	maxEntries  = 60_000
	maxQueue    = 2_000 // messages that wait
	maxSessions = 1_500
	maxState    = 1 << 20 // bytes of the project's state as JSON

	retriedIn = 2 * time.Minute // what a disk refused is tried again after a minute at most
)

// tries counts an attempt to commit.
func (a *audit) tries() {
	minute := a.w.elapsed().Truncate(time.Minute)
	if minute != a.commitsIn {
		a.commitsIn, a.attempts = minute, 0
	}
	if a.attempts++; a.attempts > maxAttempts {
		a.w.fail("bounded work", "more than %d commits are tried in one minute", maxAttempts)
	}
}

// committed sees each batch of the ledger.
func (w *world) committed(r ledger.Receipt) {
	if r.Repeated {
		return
	}
	for _, p := range w.sites {
		clear(p.audit.set)
		clear(p.audit.failed)
	}
	for _, rec := range r.Records {
		a := w.auditOf(rec.Stream)
		e, err := rec.Entry()
		if err != nil {
			w.fail("ledger", "entry %s does not decode: %v", rec.Type, err)
		}
		a.fold(e, rec.Seq)
		if d := w.disk; d != nil {
			d.acknowledged[rec.Stream] = append(d.acknowledged[rec.Stream], rec.Hash)
		}
		switch b := e.Body.(type) {
		case ledger.TaskSet:
			a.set[ledger.FoldID(e.Task)] = b.To
		case ledger.AttemptEnded:
			s := a.w.machine.sessions[e.Session]
			a.failed[ledger.FoldID(e.Task)] = b.Failed && s != nil && s.ended && s.exit.Took() < 5*time.Second
		}
		a.entry(e)
	}
}

// auditOf returns the audit of a stream. That of the shared one is the first
// project's.
func (w *world) auditOf(stream string) *audit {
	for _, p := range w.sites {
		if ledger.ProjectStream(p.name) == stream {
			return p.audit
		}
	}
	return w.audit
}

// entry sees each entry of the ledger.
func (a *audit) entry(e ledger.Entry) {
	w := a.w
	a.seen[e.Body.EntryType()]++
	if a.entries++; a.entries > maxEntries {
		w.fail("bounded ledger", "more than %d entries in one night", maxEntries)
	}
	a.hostEntry(e)
	a.ownChange(e)
	switch b := e.Body.(type) {
	case ledger.SessionPlanned:
		if a.planned[e.Session] {
			w.fail("one plan a session", "%s is planned twice", e.Session)
		}
		a.planned[e.Session] = true
		a.restsDone(e, b)
		a.reserved(e, b)
	case ledger.SessionEnded:
		if !a.planned[e.Session] || a.endedSessions[e.Session] {
			w.fail("one end a session", "%s ends, planned %v, ended before %v", e.Session, a.planned[e.Session], a.endedSessions[e.Session])
		}
		a.endedSessions[e.Session] = true
		a.overshoot(e, b)
		if s := w.machine.sessions[e.Session]; s == nil || s.launch.Kind == ledger.KindAgent {
			w.tell("ledger", "%s is over: %s", e.Session, outcome(string(b.End), string(b.Counts)))
		}
		if s := w.machine.sessions[e.Session]; s != nil && !s.ended {
			w.fail("no session alive after its end", "%s is recorded as ended, and it is at work", e.Session)
		}
	case ledger.SessionCut:
		a.cut[e.Session] = true
		whole, _, _ := strings.Cut(e.Task, "/") // the line of a part is that of its task
		if all, _ := w.opens(w.plan.text); e.Task != "" && len(all) > 0 && !all[ledger.FoldID(whole)] && !byPerson[b.Why] && !a.held() {
			w.fail("no session cut by a vanished line", "%s of %s is cut: %s", e.Session, e.Task, b.Why)
		}
		w.tell("ledger", "%s is cut: %s", e.Session, b.Why)
	case ledger.Verified:
		a.knownRed = a.knownRed || b.Kind == ledger.KindBaseline && !b.OK
		w.tell("ledger", "%s", judgement(b))
	case ledger.Commitment:
		delete(a.criteria, ledger.FoldID(e.Task))
	case ledger.Evidence:
		if b.Kind == ledger.EvidenceVerification {
			a.criteria[ledger.FoldID(e.Task)] = b.Criteria
		}
	case ledger.TaskCommitted:
		a.truth(e, b)
		a.tried(e)
		a.committedTasks[ledger.FoldID(e.Task)] = b.Commit
	case ledger.TaskSet:
		if b.To != ledger.Ready || b.From != ledger.Pending {
			w.tell("ledger", "%s", strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Task, became(b.To), b.Reason())))
		}
		a.taskSet(e, b)
		a.recurs(e, b)
	case ledger.AttemptEnded:
		w.tell("ledger", "the attempt at %s ends: %s", e.Task, b.Why)
	case ledger.QuestionAsked:
		id := b.Question.ID
		if a.open[id] { // one that expired may be asked again, without a limit
			w.fail("one question an id", "%s is asked twice", id)
		}
		a.open[id] = true
		w.tell("ledger", "%s asks people about: %s %s", id, b.Question.Kind, b.Question.Task)
	case ledger.QuestionAnswered:
		if !a.open[b.ID] && !a.lateAnswer(b.ID) {
			w.fail("one answer a question", "%s is answered by %s, and it is not open", b.ID, b.By)
		}
		a.open[b.ID] = false
		w.tell("ledger", "%s is answered by %s: %s", b.ID, b.By, strings.TrimSpace(b.Choice+" "+b.Words))
	case ledger.QuestionExpired:
		a.open[b.ID] = false
		w.tell("ledger", "%s stays without an answer: %s", b.ID, b.Then)
	case ledger.AnswerUndone:
		a.open[b.Before.Question.ID] = true
	case ledger.GuidanceQueued:
		a.directives[b.Item.Text]++
	case ledger.GuidanceKept:
		delete(a.expired, b.ID)
	case ledger.GuidanceExpired:
		a.guidanceEnds(b.ID, "expires")
	case ledger.GuidanceDropped:
		a.guidanceEnds(b.ID, "is dropped")
	case ledger.RunStateSet:
		w.tell("ledger", "%s", strings.Join(strings.Fields(fmt.Sprintf("%s is %s %s %s", e.Run, b.State, b.Wait, b.Text)), " "))
		if b.State == ledger.RunPaused {
			a.nobodyAtWork(e.Run, "paused")
		}
	case ledger.RunPlanned:
		a.aside[b.Run] = b.Idea != ""
	case ledger.RunStarted:
		a.startedAt, a.finishingAt = e.Time, time.Time{}
	case ledger.RunFinishing:
		a.finishingAt = e.Time
	case ledger.RunEnded:
		a.runEnded(e, b)
	case ledger.SourceRead:
		if len(b.Doubted)+len(b.Gone)+len(b.Back) > 0 {
			w.tell("ledger", "the plan is read: doubted %v, gone %v, back %v", b.Doubted, b.Gone, b.Back)
		}
	case ledger.InputPoisoned:
		w.fail("no poisoned input", "%s (%s): %s", b.Key, b.Kind, b.Error)
	case ledger.EffectFailed:
		w.tell("ledger", "%s does not succeed: %s", strings.ReplaceAll(b.Kind, "_", " "), b.Text)
	}
}

// missed sees the entries of a commit that a power cut met: they are kept, and no
// daemon was told so.
func (a *audit) missed(records []ledger.Record) {
	a.catchingUp = true
	a.w.committed(ledger.Receipt{Records: records})
	a.catchingUp = false
}

// lateAnswer reports whether a question takes an answer after it expired.
func (a *audit) lateAnswer(id string) bool {
	if a.catchingUp {
		return true // there is no daemon to ask
	}
	s, _ := a.w.state()
	return slices.ContainsFunc(s.Project.Answered, func(x loop.Answered) bool { return x.ID == id && x.Late != nil })
}

func (a *audit) guidanceEnds(id, how string) {
	if a.expired[id] {
		a.w.fail("one end a directive", "%s %s after its end", id, how)
	}
	a.expired[id] = true
}

// truth compares a task's commit with what its tree really is.
func (a *audit) truth(e ledger.Entry, b ledger.TaskCommitted) {
	w := a.w
	w.tell("ledger", "%s is committed as %s", e.Task, short(b.Commit))
	if w.settings.Queue == ledger.QueueBatch {
		return // the tip is looked at when the run ends
	}
	base := w.objects.failing(w.repo.base)
	for _, name := range w.objects.failing(b.Tree) {
		if !slices.Contains(base, name) {
			w.fail("no false done", "%s is committed with tree %s, in which %s fails", e.Task, b.Tree, name)
		}
	}
}

// tried checks that the last verdict on a task which is committed leaves no criterion of
// its own out, and none that failed.
func (a *audit) tried(e ledger.Entry) {
	for _, c := range a.criteria[ledger.FoldID(e.Task)] {
		if c.Number > 0 && (c.Verdict == ledger.CriterionUntried || c.Verdict == ledger.CriterionFailed) {
			a.w.fail("no false done", "%s is committed, and its criterion %q is %s", e.Task, c.Criterion, c.Verdict)
		}
	}
}

// commits sees each commit that is made in the repository.
func (a *audit) commits(c ledger.CommitTask) {
	if a.w.settings.Queue == ledger.QueueBatch {
		return // a batch is verified as one: its last tree counts
	}
	if !a.knownRed && !a.green[c.Tree] && len(a.w.settings.Verify) > 0 && len(a.w.objects.failing(a.w.repo.base)) == 0 {
		a.w.fail("no commit unverified", "%s is committed with tree %s, which no command has passed on", c.Subject, c.Tree)
	}
}

// ran sees the end of each command.
func (a *audit) ran(l ledger.Launch, x ledger.Exit) {
	if tree, _, room := inRoom(l.Work); room && x.Reason == ledger.ExitSelf && x.Code == 0 && l.Kind != ledger.KindSetup {
		a.green[tree] = true
	}
}

// taskSet checks that done means done.
func (a *audit) taskSet(e ledger.Entry, b ledger.TaskSet) {
	if b.To == ledger.Withdrawn {
		unheard := a.w.s.now.Sub(a.w.freed) < retriedIn || a.w.disk != nil && a.w.s.now.Sub(a.w.disk.healed) < retriedIn // the ledger could not take what was read
		if all, _ := a.w.opens(a.w.plan.meant); all[ledger.FoldID(e.Task)] && a.w.planStands() && !unheard {
			a.w.fail("no task withdrawn that is in the plan", "%s is withdrawn: %s", e.Task, b.Why)
		}
	}
	if b.To == ledger.Blocked && a.failed[ledger.FoldID(e.Task)] && a.w.shortBurst() && !a.alone(e.Task) {
		a.w.fail("no task marked for the agent's trouble", "%s is blocked while every session ends at once: %s", e.Task, b.Why)
	}
	if b.To != ledger.Done || b.From != ledger.Active || b.Why != "" {
		return
	}
	s, _ := a.w.state()
	t, _ := s.Project.Find(e.Task)
	if t.Attempt != nil && t.Attempt.Tree != t.Attempt.Start && a.committedTasks[ledger.FoldID(e.Task)] == "" {
		a.w.fail("no false done", "%s is done, and no commit has its change", e.Task)
	}
}

// alone reports whether a task failed at once while others worked, within two hours:
// nobody can tell that from an hour in which all do.
func (a *audit) alone(task string) bool {
	s, _ := a.w.state()
	key := a.w.name + "/" + s.Project.Source + "/" + ledger.FoldID(task)
	for _, l := range s.Shared.Early {
		if _, is := l.Alone[key]; is {
			return true
		}
	}
	return false
}

// nobodyAtWork holds that no session of a run is alive. A run that is stopped
// before its start cuts a command off and does not wait for it.
func (a *audit) nobodyAtWork(run, state string) {
	for _, id := range a.w.machine.order {
		s := a.w.machine.sessions[id]
		if s.ended || s.launch.Run != run {
			continue
		}
		if s.launch.Kind == ledger.KindAgent || !a.cut[id] {
			a.w.fail("no session alive after its end", "%s is %s, and %s is at work", run, state, id)
		}
	}
}

// byPerson are the reasons of a cut that a person asked for.
var byPerson = map[string]bool{"/now": true, "pause now": true, "stop now": true, "SIGINT": true, "SIGTERM": true}

// held reports whether a person holds or stops the run, which cuts sessions off.
func (a *audit) held() bool {
	s, _ := a.w.state()
	r := s.Project.Run
	return r.Over() || r.State != ledger.RunRunning
}

// allDone compares the end of a run with what the plan asks for: as its person
// means it, and has meant it for as long as nightporter takes to read it.
func (a *audit) allDone(run string) {
	w := a.w
	if !w.planStands() {
		return
	}
	_, open := w.opens(w.plan.meant)
	s, _ := w.state()
	for _, t := range s.Project.Tasks.All() {
		id, is := ledger.FoldID(t.Task.ID), t.Status
		if set := a.set[id]; set != "" {
			is = set
		}
		if open[id] && is != ledger.Done && is != ledger.Skipped {
			w.fail("no false all done", "%s ends as all done, and %s is %s and open in the plan", run, t.Task.ID, is)
		}
		delete(open, id)
	}
	for id := range open {
		w.fail("no false all done", "%s ends as all done, and does not know %s, which is open in the plan", run, id)
	}
}

func (a *audit) runEnded(e ledger.Entry, b ledger.RunEnded) {
	w := a.w
	w.tell("ledger", "%s ends: %s, %d of %d tasks done, exit code %d %s", e.Run, b.Reason, b.Done, b.Total, b.Exit, b.Text)
	if a.runsEnded[e.Run] {
		w.fail("one end a run", "%s ends twice", e.Run)
	}
	a.runsEnded[e.Run] = true
	if !a.aside[e.Run] {
		a.lastEnd, a.lastReason, a.last = w.s.now, b.Reason, b
	}
	if b.Reason == ledger.ReasonDone {
		a.allDone(e.Run)
		a.noneLost(e)
	}
	a.nobodyAtWork(e.Run, "ended")
	if b.Exit == 0 && b.Tip != "" && !a.aside[e.Run] && len(w.objects.failing(b.Tip)) > 0 {
		w.fail("no false done", "%s ends with 0, and in its tip %v fails", e.Run, w.objects.failing(b.Tip))
	}
	if b.Reason == ledger.ReasonInternal {
		w.fail("no run ends by the machine", "%s ends: %s", e.Run, b.Text)
	}
}

// usedRoom returns the room that a command of a check has to itself. Setup uses that of
// all, wherever it runs.
func usedRoom(l ledger.Launch) string {
	if l.Kind == ledger.KindSetup {
		return ""
	}
	_, own, _ := inRoom(l.Work)
	return own
}

// started sees each process that a daemon starts.
func (a *audit) started(l ledger.Launch) {
	w := a.w
	if len(w.machine.order) > maxSessions {
		w.fail("bounded sessions", "more than %d sessions in one night", maxSessions)
	}
	beside := 0
	for _, id := range w.machine.order {
		s := w.machine.sessions[id]
		if s.ended || id == l.Session || s.launch.Project != l.Project {
			continue
		}
		agents := s.launch.Kind == ledger.KindAgent && l.Kind == ledger.KindAgent
		if agents {
			beside++
		}
		if agents && s.launch.Work == l.Work || agents && beside >= max(w.lanes(), 1) {
			w.fail("one agent a lane", "%s starts in %s while %s is at work in %s", l.Session, l.Work, id, s.launch.Work)
		}
		if s.launch.Kind != ledger.KindAgent && l.Kind != ledger.KindAgent && usedRoom(s.launch) == usedRoom(l) {
			w.fail("one check a room", "%s starts while %s is at work", l.Session, id)
		}
	}
	if most := max(w.sessions, w.lanes()); w.agentsAtWork() > most {
		w.fail("bounded sessions", "%s starts, and %d agents are at work where %d may be", l.Session, w.agentsAtWork(), most)
	}
	state, _ := w.state()
	ses, flying := state.Project.Session(l.Session)
	switch {
	case !flying:
		w.fail("no session starts after its end", "%s starts, and the ledger does not know it as in flight", l.Session)
	case ses.Cut:
		w.fail("no session starts after its end", "%s starts, and its end was asked for before", l.Session)
	case state.Project.Run != nil && state.Project.Run.Remake != nil && l.Kind != ledger.KindAgent: // the tip of a branch that was made again is verified at any time
	case state.Project.Run.Over() || state.Project.Run.State == ledger.RunPaused:
		w.fail("no session starts after its end", "%s starts, and %s is %s", l.Session, state.Project.Run.ID, state.Project.Run.State)
	}
}

func (a *audit) booted() {
	if a.w.boots > 1 && a.w.one(3) && !a.w.diskFails() {
		a.replay(false)
	}
}

// step is called after each step of the night.
func (a *audit) step() {
	w := a.w
	if w.s.still > maxStill {
		w.fail("bounded work", "%d steps, and the clock does not move\n%s", maxStill, w.world.dump())
	}
	if w.daemon != nil && !w.calm && w.intensity > 0 && w.rnd.Float64() < w.intensity/8000 {
		w.count(daemonKill)
		w.kill("kill -9 between two steps")
	}
	if w.disk != nil && w.disk.Off() && w.daemon != nil {
		w.powerFails("during a write of a chat")
	}
	if w.s.steps%1024 == 0 && w.daemon != nil && !w.diskFails() {
		if w.s.steps%16384 == 0 {
			a.replay(false)
		}
		n, err := w.store.QueueLength(background)
		a.queue = max(a.queue, n)
		if err != nil || n > maxQueue {
			w.fail("bounded outbox", "%d messages wait, %v", n, err)
		}
	}
}

// claims are the entries without which a message says what did not happen, by the
// key of the message.
var claims = map[string]string{
	"run.ended": ledger.RunEnded{}.EntryType(), "run.started": ledger.RunStarted{}.EntryType(), "baseline.broke": ledger.BaselineBroke{}.EntryType(),
	"session.lost": ledger.SessionEnded{}.EntryType(), "guidance.dropped": ledger.GuidanceDropped{}.EntryType(), "poisoned": ledger.InputPoisoned{}.EntryType(),
}

// shown sees each message that a chat shows.
func (a *audit) shown(x *shown) {
	if entry, is := claims[x.m.Key]; is && a.seen[entry] == 0 {
		a.w.fail("nobody told what did not happen", "%s shows %q, and the ledger has no %s", x.chat, first(x.m), entry)
	}
	if kind, is := strings.CutPrefix(x.m.Key, "ask."); is && a.seen[ledger.QuestionAsked{}.EntryType()] == 0 {
		a.w.fail("nobody told what did not happen", "%s shows a question about %s, and nothing was asked", x.chat, kind)
	}
}

// acknowledged sees each input that a daemon confirmed to its platform.
func (a *audit) acknowledged(i *input) {
	name, line, named := strings.Cut(i.Text, ": ")
	if !named || a.w.siteOf(name) == nil {
		line, named = i.Text, false
	}
	_, text, is := strings.Cut(line, "keep the names of ")
	switch text = "keep the names of " + text; {
	case !is:
	case a.w.several() && !named: // the answer is "for which project?", and each press of its buttons a directive
		a.pressed[text] = true
	case line == "/guidance "+text && a.directives[text] != 1:
		a.w.fail("each message once", "%q was confirmed, and the ledger has it %d times", i.Text, a.directives[text])
	}
}

// marks sees the marks that nightporter wrote into the plan.
func (a *audit) marks(list []ledger.Marking) {
	for _, m := range list {
		a.w.tell("plan", "%s is marked %s", m.Task, m.Mark)
	}
}

// end holds what has to be true once the night is over.
func (a *audit) end() {
	w := a.w
	whole := w.seed%4 == 3 // of the nights on a real file: all entries and the chain's hashes are as much work as a third of the commits
	a.replay(whole)
	sessions := 0
	for _, p := range w.sites {
		p.audit.endOf()
		sessions += len(p.machine.order)
	}
	w.ideasTold()
	for text, n := range a.directives {
		if strings.Contains(text, "note") && n > 1 && !a.pressed[text] {
			w.fail("each message once", "%q is in the ledger %d times", text, n)
		}
	}
	if whole {
		if breaks, err := w.store.Verify(background); err != nil || len(breaks) > 0 {
			w.fail("ledger", "the chain is broken: %v %v", breaks, err)
		}
	}
	w.world.tell("night", "over after %s: %d entries, %d sessions, %d starts of the daemon, a state of %d KB", w.elapsed().Round(time.Minute), a.entries, sessions, w.boots, a.stateSize/1024)
}

// endOf holds what has to be true of one project.
func (a *audit) endOf() {
	w := a.w
	s, _ := w.state()
	for _, id := range w.machine.order {
		if x := w.machine.sessions[id]; !x.ended {
			w.fail("no session alive after its end", "the night is over, and %s is at work", id)
		}
		if !a.endedSessions[id] {
			w.fail("one end a session", "the night is over, and the ledger has no end of %s", id)
		}
	}
	if len(s.Shared.Leases) > 0 || len(s.Project.Sessions) > 0 {
		w.fail("nothing in flight at the end", "leases %v, sessions %v", s.Shared.Leases, s.Project.Sessions)
	}
	for _, i := range s.Project.Guidance.Items {
		if t, found := s.Project.Find(i.Bound); i.State == guidance.Injected && !i.Sticky && found && t.Status == ledger.Done {
			w.fail("one end a directive", "%s is in use by %s, which is done", i.ID, t.Task.ID)
		}
	}
	a.branchHolds()
	a.addsHold()
	a.ideasHold()
	a.pushesHold()
	a.recurringHold()
	for _, t := range s.Project.Tasks.All() {
		if t.Status != ledger.Done || t.Commit == "" {
			continue
		}
		if !w.reachable(t.Commit) {
			w.fail("no false done", "%s is done, and its commit %s is on no branch", t.Task.ID, t.Commit)
		}
	}
}

// reachable reports whether a branch contains a commit.
func (w *site) reachable(c string) bool {
	for _, tip := range w.repo.branches {
		if w.objects.contains(tip, c) {
			return true
		}
	}
	return false
}
