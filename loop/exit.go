package loop

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// sessionExited says what a session's end means.
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
	end, counts := Classify(x, s.Event != nil, s.Cut)
	text := endText(end, x, s)
	d.addShared(ledger.LeaseReleased{Session: s.ID})
	d.add(about, ledger.SessionEnded{Kind: ledger.KindAgent, End: end, Counts: counts, Exit: x, Text: text})
	d.lateNow(s)
	if counts == ledger.CountsAsSuccess && (d.Shared.Backoff[s.Planned.Agent] > 0 || d.Shared.Agents[s.Planned.Agent].Trial) {
		d.addShared(ledger.AgentUsable{Agent: s.Planned.Agent, Worked: true})
	}
	if r.Over() || !r.owns(s.ID) {
		return // of a run that is over: nothing follows from it
	}
	hat := r.Settings.Hats[s.Planned.Hat]
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
	switch {
	case counts == ledger.CountsAsFailed && t.Attempt.FailedRow >= ledger.MaxFailed:
		d.failAttempt(s.Task, ledger.OutcomeFailed, text)
		return
	case end == ledger.EndedLost && t.Attempt.LostRow >= 2:
		d.failAttempt(s.Task, ledger.OutcomeFailed, text+", the second in a row")
		return
	}
	if counts == ledger.CountsAsNothing && hat.Writes() && end != ledger.EndedUnusable && end != ledger.EndedDisk {
		// What it had written is kept to be looked at, before the work folder
		// is restored to the same input tree.
		d.add(about, ledger.StageSet{Stage: ledger.StageCapture})
		d.capture(t, s, hat)
	}
}

// endText is what people, and the session that does it over, are told of an
// end that was no success.
func endText(end ledger.SessionOutcome, x ledger.Exit, s Session) string {
	switch end {
	case ledger.EndedSilent:
		what := fmt.Sprintf("exit %d", x.Code)
		if x.Signal != "" {
			what = x.Signal
		}
		if s.Refused > 0 {
			return fmt.Sprintf("ended without an accepted event (%s, %d refused)", what, s.Refused)
		}
		text := fmt.Sprintf("ended without an event (%s)", what)
		if x.Text != "" {
			text += ": " + x.Text // what the agent's own stream says: a prompt that is too long, tools that were denied
		}
		return text
	case ledger.EndedStall:
		return "silent for " + plain(s.Planned.Stall)
	case ledger.EndedWall:
		return "longer than " + plain(s.Planned.Wall)
	case ledger.EndedLost:
		if x.Reason == ledger.ExitMemory {
			return "ended by the system for memory"
		}
		return "lost without trace"
	case ledger.EndedDisk:
		return "the disk is full"
	case ledger.EndedUnusable:
		if x.Text == "" {
			return fmt.Sprintf("ended at once with exit %d: %s", x.Code, lastLine(x.Tail))
		}
	case ledger.EndedEvent:
		return ""
	}
	if x.Text != "" {
		return x.Text
	}
	return string(end)
}

// plain writes a duration as people do: "15m", not "15m0s".
func plain(d ledger.Duration) string {
	text := d.D().String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// strictNote is what the session that does a failed one over is told: what
// went wrong, and how not to end the same way (SPEC 2.2).
func strictNote(end ledger.SessionOutcome, text string) string {
	switch end {
	case ledger.EndedStall:
		return "The session before was ended because it was " + text + ", and nothing of it was kept. Wait for nothing and start nothing that waits for input; end with your event."
	case ledger.EndedWall:
		return "The session before was ended because it took " + text + ", and nothing of it was kept. Do the smallest thing that settles the task, and end with your event in time."
	}
	return "The session before " + text + ", and nothing of it was kept, whatever it did. Send your event with hat emit, see that it is accepted, and only then stop."
}

// heldAgent records for all projects that an agent cannot be used now.
func (d *decision) heldAgent(s Session, end ledger.SessionOutcome, x ledger.Exit) {
	agent := s.Planned.Agent
	switch end {
	case ledger.EndedLimit:
		p := ledger.AgentParked{Agent: agent, Until: x.Until, Known: !x.Until.IsZero(), Why: ledger.FailureLimit, Text: x.Text}
		if !x.Until.After(d.in.Time) || x.Until.After(d.in.Time.Add(longestLimit)) {
			p.Until, p.Known = d.in.Time.Add(lateBy), false
		}
		d.addShared(p)
	case ledger.EndedUnusable:
		text := endText(end, x, s)
		d.addShared(ledger.AgentUnusable{Agent: agent, LoggedOut: loggedOut(text), Text: text})
	case ledger.EndedNetwork:
		times := d.Shared.Backoff[agent] + 1
		d.addShared(ledger.AgentParked{Agent: agent, Until: d.in.Time.Add(backoff(times)), Why: ledger.FailureNetwork, Text: x.Text, Times: times})
	case ledger.EndedDisk:
		d.holdForDisk()
	}
}

// output is the immutable record of what a session brought.
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
