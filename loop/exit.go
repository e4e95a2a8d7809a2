package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// sessionExited records the end of a session, decides whether it counts as success,
// failure or nothing, and continues its attempt. An exit of an unknown session was
// delivered before and changes nothing.
func (d *decision) sessionExited(x ledger.Exit) {
	s, ok := d.Project.Session(x.Session)
	if !ok {
		return
	}
	about := scope{task: s.Task, session: s.ID}
	if s.Planned.Kind != ledger.KindAgent {
		d.commandExited(s, x)
		return
	}
	r := d.run()
	if x.Event != nil {
		d.emitWritten(s.ID, *x.Event)
		x.Event = nil
		s, _ = d.Project.Session(s.ID)
	}
	end, counts := Classify(x, s.Event != nil, s.Cut)
	if counts == ledger.CountsAsNothing && d.repeats(s, end, x) {
		end, counts = ledger.EndedSilent, ledger.CountsAsFailed
	}
	hat := r.Settings.Hats[s.Planned.Hat]
	if end == ledger.EndedSilent && d.faltered(s, hat, x) {
		end, counts = ledger.EndedEarly, ledger.CountsAsNothing
	}
	text := endText(end, x, s)
	d.addShared(ledger.LeaseReleased{Session: s.ID, Spent: spending(s, x), Windows: x.Windows})
	d.add(about, ledger.SessionEnded{Kind: ledger.KindAgent, End: end, Counts: counts, Exit: x, Text: text})
	d.figuresKnown(s, x)
	d.lateNow(s)
	if end != ledger.EndedMachine && end != ledger.EndedCut {
		d.startWorked()
	}
	if counts == ledger.CountsAsSuccess && d.recovered(s) {
		b := ledger.AgentUsable{Agent: s.Planned.Agent, Worked: true}
		if _, ok := d.Shared.Early[b.Agent]; ok {
			b.Project, b.Source, b.Task = d.in.Project, d.Project.Source, s.Task
		}
		d.addShared(b)
	}
	if end != ledger.EndedLimit {
		d.keepReserve(s, x)
	}
	if r.Over() || !r.owns(s.ID) {
		return // the session's run is over; nothing follows
	}
	t, ok := d.task(s.Task)
	if !ok || t.Attempt == nil || t.Attempt.Session != s.ID {
		return
	}
	if counts == ledger.CountsAsSuccess {
		d.output(about, s, hat, x)
		if hat.Writes() && s.Event.Type != ledger.EventBlocked {
			d.capture(t, s, hat)
			return
		}
		d.routeEvent(t, t.Attempt.Tree)
		return
	}
	d.heldAgent(s, end, x)
	if t, _ = d.task(s.Task); t.Attempt.Met != nil && !hat.Writes() {
		d.metBudget(t, *t.Attempt.Met)
		return
	}
	switch {
	case end == ledger.EndedLeak:
		d.failAttempt(s.Task, ledger.OutcomeFailed, text)
		return
	case counts == ledger.CountsAsFailed && t.Attempt.FailedRow >= ledger.MaxFailed && !d.doubtful(t, s.Planned.Agent):
		d.failAttempt(s.Task, ledger.OutcomeFailed, failedSessions(t.Attempt, text))
		return
	case end == ledger.EndedLost && t.Attempt.LostRow >= 2:
		d.failAttempt(s.Task, ledger.OutcomeFailed, reason(text+", the second in a row", t.Attempt.open()))
		return
	}
	if counts == ledger.CountsAsNothing && hat.Writes() && end != ledger.EndedUnusable && end != ledger.EndedDisk && end != ledger.EndedMachine {
		if x.NotBegun {
			return // the work folder has nothing of the session, and may be half restored
		}
		// The files that the session wrote are kept for people to look at,
		// before the work folder is restored to the same input tree.
		d.add(about, ledger.StageSet{Stage: ledger.StageCapture})
		d.capture(t, s, hat)
	}
}

// figuresKnown records when an agent begins to count in a way that is not known, and
// when a session of it is counted again. So people are told once, not by each session.
func (d *decision) figuresKnown(s Session, x ledger.Exit) {
	agent := s.Planned.Agent
	if said := d.Shared.Uncounted[agent]; x.Uncounted && !said || said && !x.Uncounted && x.Tokens > 0 {
		d.addShared(ledger.AgentUncounted{Agent: agent, Session: s.ID, Over: said})
	}
}

// strictNote returns the note for the session that repeats a failed one: how
// the failed session ended, and how to avoid the same end (docs/spec 2.2).
func strictNote(end ledger.SessionOutcome, text string) string {
	switch end {
	case ledger.EndedStall:
		return "The session before was ended because it was " + text + ", and nothing of it was kept. Wait for nothing and start nothing that waits for input; end with your event."
	case ledger.EndedCircle:
		return "The session before was ended because " + text + ", and nothing of it was kept. Read parts of files, not whole ones, do the smallest thing that settles the task, and end with your event."
	case ledger.EndedWall:
		return "The session before was ended because it took " + text + ", and nothing of it was kept. Do the smallest thing that settles the task, and end with your event in time."
	}
	return "The session before " + text + ", and nothing of it was kept, whatever it did. Send your event with hat emit, see that it is accepted, and only then stop."
}

// heldAgent records in the shared state, for all projects, that a session's end
// shows its agent to be unusable for now. A fault of the machine holds the run
// instead.
func (d *decision) heldAgent(s Session, end ledger.SessionOutcome, x ledger.Exit) {
	agent := s.Planned.Agent
	switch end {
	case ledger.EndedLimit, ledger.EndedUnusable, ledger.EndedNetwork:
		d.forgiveEarlyEnds(s)
	}
	switch end {
	case ledger.EndedLimit:
		d.parkForLimit(s, x)
	case ledger.EndedUnusable:
		text := endText(end, x, s)
		d.addShared(ledger.AgentUnusable{Agent: agent, LoggedOut: loggedOut(text), Text: text})
	case ledger.EndedNetwork:
		times := d.Shared.Backoff[agent] + 1
		p := ledger.AgentParked{Agent: agent, Until: d.in.Time.Add(backoff(times)), Why: ledger.FailureNetwork, Text: x.Text, Times: times}
		if x.Until.After(p.Until) && d.namesEnd(x) { // the provider asks for a longer pause
			p.Until, p.Known = x.Until, true
		}
		d.addShared(p)
	case ledger.EndedEarly:
		if d.Shared.Early[agent].Held == "" { // else its files decide
			d.parkForEarlyEnds(agent, scope{task: s.Task, session: s.ID})
		}
	case ledger.EndedDisk:
		d.holdForDisk()
	case ledger.EndedMachine:
		d.holdForStart(x)
	}
}

// recovered reports whether a session that worked is news of its agent: the
// agent had failed before, and no other session has met a limit since, nor ended
// at once beside this one.
func (d *decision) recovered(s Session) bool {
	agent := s.Planned.Agent
	l := d.Shared.Early[agent]
	if slices.Contains(l.Running, s.ID) {
		return false
	}
	if _, alone := l.Alone[d.earlyKey(s.Task)]; l.Times > 0 || alone {
		return true
	}
	hold, held := d.Shared.Agents[agent]
	limited := d.Shared.Limits[agent].Times > 0
	return d.Shared.Backoff[agent] > 0 || hold.Trial || limited && !held
}

// output records the result of a successful session: its event, summary, files and
// number of issues.
func (d *decision) output(about scope, s Session, hat ledger.Hat, x ledger.Exit) {
	issues := payload.Issues(s.Event.Data)
	o := ledger.SessionOutput{
		Hat: hat.Name, Event: s.Event.Type, Summary: payload.Summary(s.Event.Data), Artifacts: payload.FilesModified(s.Event.Data),
		DurationMs: x.Took().Milliseconds(),
	}
	for _, i := range issues {
		if i.Severity == ledger.Suggestion {
			o.Suggestions++
		} else {
			o.IssuesFound++
		}
	}
	d.add(about, o)
}
