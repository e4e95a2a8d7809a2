package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// earlyEnd is the length below which a session that did nothing has ended at
// once. A model takes longer to read its prompt and to give up.
const earlyEnd = 20 * time.Second

// earlyTrouble is the number of sessions in a row that have to end at once until
// that is their agent's trouble. Two are enough if they are of two tasks.
const earlyTrouble = 3

// aloneWithin is how soon after a session that ended at once one of another task
// has to work to tell that task's own failure from its agent's trouble. The longest
// pause before the agent is tried again (lateBy) and a session of an hour, the
// default timeout, fit in. What works later may only show that the trouble is over.
const aloneWithin = 2 * time.Hour

// EarlyStreak describes the sessions of one agent that ended at once, with no
// session in between that worked.
type EarlyStreak struct {
	Times int       `json:"times"`
	Last  time.Time `json:"last,omitzero"`   // time of the last one
	Holds int       `json:"holds,omitempty"` // how often the agent was held for them
	Tasks []string  `json:"tasks,omitempty"` // keys of the tasks that showed it, each once
	Held  string    `json:"held,omitempty"`  // session whose files decide whether the agent is held
	Text  string    `json:"text,omitempty"`  // last words of the last one
	// Running has the agent's other sessions that were under way when the last one
	// ended at once. That they work says nothing of the agent since then.
	Running []string `json:"running,omitempty"`
	// Alone has the keys of tasks that showed it while sessions of other tasks
	// worked, at most aloneWithin later, and when those did. That is their own
	// failure, for as long again: later it may be their agent's.
	Alone map[string]time.Time `json:"alone_at,omitempty"`
}

// earlyKey returns the key of a task in an EarlyStreak: each source has a Task 1.
func earlyKey(project, source, task string) string {
	return project + "/" + source + "/" + ledger.FoldID(task)
}

// earlyKey returns the key of a task of the project's present source.
func (d *decision) earlyKey(task string) string {
	return earlyKey(d.in.Project, d.Project.Source, task)
}

// fold returns the streak after another session, while some are under way.
func (l EarlyStreak) fold(b ledger.AgentFaltered, leases []ledger.LeaseGranted, at time.Time) EarlyStreak {
	l.Times++
	l.Last, l.Running = at, nil
	for _, o := range leases {
		if o.Agent == b.Agent && o.Session != b.Session {
			l.Running = append(l.Running, o.Session)
		}
	}
	l.Text, l.Held = b.Text, ""
	if b.Held {
		l.Held = b.Session
	}
	if key := earlyKey(b.Project, b.Source, b.Task); !slices.Contains(l.Tasks, key) {
		l.Tasks = append(slices.Clip(l.Tasks), key)
	}
	return l
}

// held returns the streak after the agent was held for it.
func (l EarlyStreak) held(times int) EarlyStreak {
	l.Holds, l.Held = times, ""
	return l
}

// worked returns the streak after a session of the agent worked. What several
// tasks showed was the agent's trouble, and is over; so may be what one showed long
// ago.
func (l EarlyStreak) worked(b ledger.AgentUsable, at time.Time) EarlyStreak {
	alone := map[string]time.Time{}
	for key, since := range l.Alone {
		if at.Sub(since) <= aloneWithin {
			alone[key] = since
		}
	}
	if len(l.Tasks) == 1 && at.Sub(l.Last) <= aloneWithin {
		alone[l.Tasks[0]] = at
	}
	delete(alone, earlyKey(b.Project, b.Source, b.Task))
	if len(alone) == 0 {
		alone = nil
	}
	return EarlyStreak{Alone: alone}
}

// own reports whether a task showed it alone, not long ago, and no other task shows
// it now.
func (l EarlyStreak) own(task string, now time.Time) bool {
	since, is := l.Alone[task]
	return is && now.Sub(since) <= aloneWithin && !slices.ContainsFunc(l.Tasks, func(other string) bool { return other != task })
}

// endedEarly reports whether a session ended by itself within seconds and
// without a sign of work. Changed files are known only after a capture.
func endedEarly(x ledger.Exit) bool {
	return x.Reason == ledger.ExitSelf && !x.Started.IsZero() && x.Took() < earlyEnd && !worked(x)
}

// faltered records a failed session that ended at once. It reports whether that
// is the agent's trouble: then the session counts for nothing. What a task shows
// alone, while others work, stays its own failure.
func (d *decision) faltered(s Session, hat ledger.Hat, x ledger.Exit) bool {
	agent := s.Planned.Agent
	l, key := d.Shared.Early[agent], d.earlyKey(s.Task)
	if !endedEarly(x) || l.own(key, d.in.Time) {
		return false
	}
	b := ledger.AgentFaltered{Agent: agent, Project: d.in.Project, Source: d.Project.Source, Task: s.Task, Session: s.ID, Text: lastWords(x)}
	l = l.fold(b, d.Shared.Leases, d.in.Time)
	trouble := l.Times >= earlyTrouble || len(l.Tasks) > 1
	b.Held = trouble && hat.Writes()
	d.addShared(b)
	return trouble
}

// lastWords returns what the agent of a session said at its end.
func lastWords(x ledger.Exit) string {
	if x.Text != "" {
		return x.Text
	}
	return causeOf(x.Tail)
}

// parkForEarlyEnds holds an agent whose sessions end at once, with growing
// pauses, and takes their failures from the task that it worked on.
func (d *decision) parkForEarlyEnds(agent string, about scope) {
	l := d.Shared.Early[agent]
	times := l.Holds + 1
	d.addShared(ledger.AgentParked{
		Agent: agent, Until: d.in.Time.Add(backoff(times)), Why: ledger.FailureEarly, Times: times, Session: about.session,
		Text: fmt.Sprintf("%d sessions in a row ended at once: %s", l.Times, l.Text),
	})
	d.add(about, ledger.StageSet{Stage: ledger.StageReady, Forgiven: true})
}

// forgiveEarlyEnds takes from the task of a session that its agent could not work
// on what sessions of that agent failed at once right before: that was the same
// trouble. Otherwise it would add up with what the fallback agent does.
func (d *decision) forgiveEarlyEnds(s Session) {
	t, ok := d.task(s.Task)
	if ok && t.Attempt != nil && t.Attempt.Session == s.ID && d.doubtful(t, s.Planned.Agent) {
		d.add(scope{task: s.Task, session: s.ID}, ledger.StageSet{Stage: ledger.StageReady, Forgiven: true})
	}
}

// doubtful reports whether the last sessions of a task ended at once, too few to
// tell whether that is their agent's trouble. They fail no attempt before the next
// session shows it.
func (d *decision) doubtful(t TaskState, agent string) bool {
	return t.Attempt.EarlyRow > 0 && slices.Contains(d.Shared.Early[agent].Tasks, d.earlyKey(t.Task.ID))
}

// settleEarlyEnd decides about a session that ended at once, as others before it,
// by the files that it left: changed ones show that the agent works, and the
// session has failed. It reports whether the session was such a one.
func (d *decision) settleEarlyEnd(t TaskState, b TreeCaptured) bool {
	for _, agent := range sortedKeys(d.Shared.Early) {
		if d.Shared.Early[agent].Held != b.Session {
			continue
		}
		if b.Taken.Tree == t.Attempt.Tree {
			d.parkForEarlyEnds(agent, scope{task: t.Task.ID, session: b.Session})
			return true
		}
		d.addShared(ledger.AgentUsable{Agent: agent, Worked: true, Project: d.in.Project, Source: d.Project.Source, Task: t.Task.ID})
		d.redo(t, ledger.Redo{Why: ledger.RedoSilent, Failed: true, Tree: t.Attempt.Tree, Note: strictNote(ledger.EndedSilent, t.Attempt.EarlyText)})
		return true
	}
	return false
}

// onTrial reports whether an agent is only tried, and a session of it is under
// way: others wait for what comes of that one.
func (d *decision) onTrial(agent string) bool {
	return d.Shared.Agents[agent].Trial && slices.ContainsFunc(d.Shared.Leases, func(l ledger.LeaseGranted) bool { return l.Agent == agent })
}

// triesAnother sets a task aside whose sessions alone ended at once, where a
// session of another task can show whether that is its agent's trouble. It
// reports whether it did.
func (d *decision) triesAnother(t TaskState, agent string) bool {
	if !d.Shared.Early[agent].alone(d.earlyKey(t.Task.ID)) {
		return false
	}
	if _, ok := d.besides(t); !ok {
		return false
	}
	const why = "its sessions ended at once; another task is tried first"
	d.add(scope{task: t.Task.ID}, ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: why})
	d.setTask(t.Task.ID, ledger.Ready, why)
	return true
}

// suspect reports whether an agent was held for sessions of this task only.
func (d *decision) suspect(t TaskState) bool {
	key := d.earlyKey(t.Task.ID)
	for _, l := range d.Shared.Early {
		if l.alone(key) {
			return true
		}
	}
	return false
}

// alone reports whether the agent is or was held for sessions of one task only.
func (l EarlyStreak) alone(task string) bool {
	return l.Holds > 0 && len(l.Tasks) == 1 && l.Tasks[0] == task
}

// besides returns the first ready task of the run but for one, and but for those
// under the same suspicion: two of them, each with an agent of its own, would let
// each other go first for ever.
func (d *decision) besides(one TaskState) (TaskState, bool) {
	for _, t := range d.byTurn(setReady, setReady) {
		if t.Task.ID != one.Task.ID && !d.suspect(*t) && d.wanted(t) && !d.yields(t) && t.wish() == ledger.MarkOpen && !t.Queued() && !d.unfit(t) {
			return *t, true
		}
	}
	return TaskState{}, false
}
