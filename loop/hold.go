package loop

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// pause pauses the run after the current session, or at once if b.Now is set:
// then the session is cut and repeated on resume.
func (d *decision) pause(b Pause) {
	r := d.run()
	switch {
	case r.Over():
		d.refuse(ledger.CodeIdle, "%s is idle: nothing to pause", d.in.Project)
		return
	case r.State == ledger.RunPaused:
		d.say("%s is paused already", d.in.Project)
		return
	case r.State == ledger.RunPlanning:
		d.refuse(ledger.CodeStarting, "%s is being checked before its start; pause it once it runs", r.ID)
		return
	case r.State == ledger.RunStopping, r.Finishing != nil:
		d.refuse(ledger.CodeEnding, "%s is ending; there is nothing to pause", r.ID)
		return
	}
	if b.Now {
		d.cutAll("pause now")
	}
	d.add(scope{}, ledger.RunStateSet{State: ledger.RunPausing, Wait: ledger.WaitPerson})
	if tasks := d.Project.inLanes(); len(tasks) > 0 && d.Project.busy() {
		land := slices.DeleteFunc(slices.Clone(tasks), func(t TaskState) bool { return !lands(t) })
		cut := slices.DeleteFunc(slices.Clone(tasks), lands)
		switch {
		case !b.Now:
			d.say("%s pauses after %s", d.in.Project, allDoing(tasks))
		case len(cut) == 0:
			d.say("%s pauses after %s", d.in.Project, allDoing(land))
		case len(land) == 0:
			d.say("%s pauses%s%s %s on /resume", d.in.Project, behindFirst(tasks), allDoing(cut), verb(cut, "reruns", "rerun"))
		default:
			d.say("%s pauses after %s%s%s %s on /resume", d.in.Project, allDoing(land), behindFirst(tasks), allDoing(cut), verb(cut, "reruns", "rerun"))
		}
		return
	}
	d.say("%s paused; /resume goes on", d.in.Project)
}

// resume continues a run that is paused, pausing, stopping or waiting. Waiting
// for an agent ends: resume means "try now", also for an agent that was
// unusable. If agent is not "", the run switches to it, and other agents stay
// on hold.
func (d *decision) resume(agent string) {
	r := d.run()
	if r.Over() && agent != "" {
		d.tryAgain(agent)
		return
	}
	if r.Over() && len(d.Project.Failing) > 0 {
		d.say("%s tries now", d.in.Project) // the engine does, for any command of a person
		return
	}
	if r.Over() {
		d.refuse(ledger.CodeIdle, "%s is idle; start it with: nightporter run", d.in.Project)
		return
	}
	if r.Drains && !(r.State == ledger.RunStopping && r.StopNow) {
		d.refuse(ledger.CodeEnding, "%s is ending, after %s", r.ID, allDoing(d.Project.inLanes()))
		return
	}
	if r.Finishing != nil && !(r.State == ledger.RunStopping && r.StopNow) {
		d.refuse(ledger.CodeEnding, "%s is ending: its branch is being checked", r.ID)
		return
	}
	if agent != "" && !d.choose(agent) {
		return
	}
	for _, name := range sortedKeys(d.Shared.Agents) { // "try now"
		if agent != "" && agent != name {
			continue // another agent stays on hold
		}
		if agent == name || r.State == ledger.RunWaiting || d.Shared.Agents[name].Unusable {
			d.addShared(ledger.AgentUsable{Agent: name})
		}
	}
	switch r.State {
	case ledger.RunPausing, ledger.RunPaused, ledger.RunStopping:
		for _, q := range d.Project.Questions {
			if q.Kind == ledger.AskReview {
				d.add(scope{}, ledger.QuestionAnswered{ID: q.ID, Choice: "resume", By: d.by()})
			}
		}
		if r.Wait == ledger.WaitReview {
			d.add(scope{}, ledger.RunResumed{Settings: r.Settings})
		} else {
			d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
		}
		d.say("%s goes on", d.in.Project)
	case ledger.RunWaiting:
		if d.Project.stuck() {
			d.say("%s tries now", d.in.Project) // the engine does, for any command of a person
			return
		}
		d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
		d.say("%s tries now", d.in.Project)
		if agent != "" {
			d.say("%s goes on with %s", d.in.Project, agent)
		}
	default:
		if agent != "" {
			d.say("%s goes on with %s from the next session", d.in.Project, agent)
		} else if tasks := d.Project.inLanes(); len(tasks) > 0 {
			d.say("%s is at work: %s", d.in.Project, allDoing(tasks))
		} else {
			d.say("%s is at work", d.in.Project)
		}
	}
}

// tryAgain ends the hold of an agent although no run of the project is under way. Agents
// belong to all projects: the next session of any of them may use it.
func (d *decision) tryAgain(agent string) {
	if _, held := d.Shared.Agents[agent]; held {
		d.addShared(ledger.AgentUsable{Agent: agent})
		d.say("%s is tried again\nBy the next session that wants it, in all projects. %s is idle.", agent, d.in.Project)
		return
	}
	others := "No agent is"
	if held := sortedKeys(d.Shared.Agents); len(held) > 0 {
		others = "Parked: " + joinFew(held)
	}
	d.refuse(ledger.CodeIdle, "%s is not parked\n%s. %s is idle.", agent, others, d.in.Project)
}

// choose switches the run to another agent. It returns false, and refuses the
// command, if the run has no such agent or a budget refuses it.
func (d *decision) choose(agent string) bool {
	s := d.run().Settings
	if agent == s.Agent {
		return true
	}
	if !slices.Contains(s.Others, agent) {
		others := "no other one is configured"
		if len(s.Others) > 0 {
			others = "there are " + strings.Join(s.Others, " ")
		}
		d.refuse(ledger.CodeNoAgent, "%s has no agent %s (%s). Nothing was changed.", d.in.Project, agent, others)
		return false
	}
	if b, barred := s.Bar(agent); barred {
		d.refuse(ledger.CodeNoAgent, "%s cannot go on with %s: %s. %s Nothing was changed.", d.in.Project, agent, b.Text, b.Remedy)
		return false
	}
	d.add(scope{}, ledger.AgentChosen{Agent: agent})
	return true
}

// stop ends the run after the current session, or at once if b.Now is set. A
// signal that cuts a session off does not end the run: the same command resumes
// it (docs/spec 2.4).
func (d *decision) stop(b Stop) {
	r := d.run()
	if r.Over() {
		d.refuse(ledger.CodeIdle, "%s is idle: nothing to stop", d.in.Project)
		return
	}
	// A signal is named as what it is: no person typed a command.
	if r.State == ledger.RunPlanning {
		d.cutAll(cmp.Or(b.Signal, "stop"))
		d.end(ledger.RunEnded{Reason: ledger.ReasonStopped, Signal: b.Signal, By: d.by(), Text: "before its start"})
		d.say("%s stops; nothing was started", r.ID)
		return
	}
	if b.Now {
		d.cutAll(cmp.Or(b.Signal, "stop now"))
	}
	d.add(scope{}, ledger.RunStateSet{State: ledger.RunStopping, Signal: b.Signal, Now: b.Now})
	if b.Now && d.run().Finishing != nil && !d.Project.busy() {
		d.cutCheck() // a full disk holds the run's check, so the end of that check will not come
	}
	var cut []string // fixes that are not pushed
	switch r := d.run(); {
	case r.Over():
		cut = r.Ended.Unpushed
	case r.Finishing != nil:
		cut = d.cutOff()
	}
	tasks := d.Project.inLanes()
	var land, left []TaskState // what goes on although everything stops now, and the rest
	for _, t := range tasks {
		if lands(t) {
			land = append(land, t)
		} else {
			left = append(left, t)
		}
	}
	switch {
	case d.run().Finishing != nil && b.Now && d.unverified():
		d.say("%s ends; its branch is not checked", r.ID)
	case len(cut) > 0:
		d.say("%s ends; not pushed: %s", r.ID, joinFew(shortIDs(cut)))
	case d.run().Finishing != nil && b.Now:
		d.say("%s ends now", r.ID)
	case d.run().Finishing != nil && r.Checks == nil && r.Batch == nil:
		d.say("%s ends when its branch is pushed", r.ID)
	case d.run().Finishing != nil:
		d.say("%s ends when its branch is checked", r.ID)
	case len(tasks) > 0 && d.Project.busy() && !b.Now:
		d.say("%s ends after %s", d.in.Project, allDoing(tasks))
	case len(land) > 0 && d.Project.busy() && b.Signal == "":
		after := allDoing(land)
		if next := nextTime(d.run(), left); next != "" {
			after += behindFirst(tasks) + next
		}
		d.say("%s ends after %s", d.in.Project, after)
	case len(tasks) > 0 && b.Now:
		d.say("stopped%s%s", behindFirst(tasks), NextTime(d.State))
	default:
		d.say("%s ends now", d.in.Project)
	}
}

// lands reports whether a task is on its way into the branch. Nothing cuts that off:
// half of it would be no better than either end.
func lands(t TaskState) bool {
	return t.Attempt.Stage == ledger.StageMerge || t.Attempt.Stage == ledger.StageCommit
}

// doing names a task in hand and what is done for it: "#1 builder", "#1 commit".
func doing(t TaskState) string {
	what := t.Attempt.Hat
	switch {
	case lands(t) && t.Task.Joins:
		what = "merge"
	case lands(t):
		what = "commit"
	case t.Attempt.Stage == ledger.StageChecks, t.Attempt.Stage == ledger.StageRoom:
		what = "verify"
	case t.Attempt.Stage == ledger.StageTurn && t.Task.Joins:
		what = "waits to be merged"
	case t.Attempt.Stage == ledger.StageTurn:
		what = "waits for its commit"
	}
	return ledger.ShortID(t.Task.ID) + " " + what
}

// allDoing is doing for the task in hand, and names the tasks in several lanes without
// what is done for each: "#1 #3 #4". The first line of a phone has no room for more.
func allDoing(tasks []TaskState) string {
	if len(tasks) == 1 {
		return doing(tasks[0])
	}
	var ids []string
	for _, t := range tasks {
		ids = append(ids, ledger.ShortID(t.Task.ID))
	}
	return strings.Join(ids, " ")
}

// behindFirst separates what becomes of tasks in hand from what happens to the run. Of
// several tasks it stands on a line of its own.
func behindFirst(tasks []TaskState) string {
	if len(tasks) > 1 {
		return "\n"
	}
	return "; "
}

// verb returns the form of a verb for some tasks.
func verb(tasks []TaskState, one, several string) string {
	if len(tasks) == 1 {
		return one
	}
	return several
}

// NextTime says how the tasks in hand go on after a stop that cut them off, "" if none
// is in hand. What a session did until it was cut off is not part of its attempt
// (docs/spec 2.2).
func NextTime(s State) string {
	return nextTime(s.Project.Run, s.Project.inLanes())
}

// nextTime is NextTime for some tasks. Those that go on in the same way share a verb:
// "#1 #3 rerun next time, #4 is committed next time".
func nextTime(r *Run, tasks []TaskState) string {
	if len(tasks) == 1 {
		return goesOn(r, tasks[0], false)
	}
	at := map[string][]TaskState{}
	var order []string
	for _, t := range tasks {
		how := goesOn(r, t, true)
		if at[how] == nil {
			order = append(order, how)
		}
		at[how] = append(at[how], t)
	}
	var all []string
	for _, how := range order {
		if same := at[how]; len(same) > 1 {
			all = append(all, allDoing(same)+how)
			continue
		}
		all = append(all, goesOn(r, at[how][0], false))
	}
	return strings.Join(all, ", ")
}

// goesOn says how a task goes on, with its id; if several is set, only the verb for
// several tasks, to stand behind their ids.
func goesOn(r *Run, t TaskState, several bool) string {
	id, is := ledger.ShortID(t.Task.ID), " is "
	if several {
		id, is = "", " are "
	}
	switch {
	case t.Task.Joins && (lands(t) || t.Attempt.Stage == ledger.StageTurn):
		return id + is + "merged next time"
	case lands(t), t.Attempt.Stage == ledger.StageTurn:
		return id + is + "committed next time"
	case t.Attempt.Stage == ledger.StageChecks, t.Attempt.Stage == ledger.StageRoom:
		return id + is + "verified again next time"
	case t.Attempt.Stage == ledger.StageCapture && r.Signal != "" && several:
		return " have their files captured next time"
	case t.Attempt.Stage == ledger.StageCapture && r.Signal != "":
		return "the files of " + id + " are captured next time"
	case several:
		return " rerun next time"
	}
	return id + " " + t.Attempt.Hat + " reruns next time"
}
