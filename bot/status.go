package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Status describes a project at the time now, in now's time zone. The first
// line always has a clock time, so that an old message cannot look current.
func Status(s loop.State, now time.Time) Message { return status(s, "", now) }

// StatusNow is Status with the last action of the session at work, if service
// knows it.
func StatusNow(service Service, s loop.State, now time.Time) Message {
	action := ""
	if r, can := service.(ActionReporter); can {
		if x, ok := atWork(s); ok {
			action = r.LastAction(x.ID)
		}
	}
	return status(s, action, now)
}

// status describes a project. action is what the session at work did last, "" if
// unknown.
func status(s loop.State, action string, now time.Time) Message {
	r := s.Project.Run
	t := Count(s)
	clock := " · " + now.Format("15:04")
	say := func(key, sign, rest string) Message {
		return newMessage("status."+key, firstLine(sign, s.Project.Name, rest, clock))
	}
	if r.Over() {
		return idleStatus(s, t, now, say)
	}
	doing := Doing(s)
	var m Message
	last := ""
	switch {
	case r.State == ledger.RunPlanning:
		m = say("planned", SignLater, orElse(lookingAfter(r), "looks before it starts"))
		last = "Nothing has been changed yet."
		if r.Wait == ledger.WaitQuestion {
			last = "Waits for your answer."
		}
		m.button("Stop", "/stop")
	case r.State == ledger.RunPausing:
		m = say("pausing", SignPaused, "pauses after "+orElse(doing, "this step"))
		last = "Usually within half an hour."
		m.button("Keep going", "/resume")
		m.button("Pause now", "/pause now")
	case r.State == ledger.RunPaused:
		m = say("paused", SignPaused, "paused · "+t.String())
		last = "Stays paused until you resume."
		m.button("Resume", "/resume")
		m.button("Tasks", "/tasks")
		m.button("Stop", "/stop")
	case r.State == ledger.RunStopping || r.Finishing != nil:
		m = say("stopping", SignLater, "ends after "+orElse(doing, "this step"))
		if r.State == ledger.RunStopping {
			m.button("Keep going", "/resume")
		}
		m.button("Stop now", "/stop now")
	case r.State == ledger.RunWaiting:
		m, last = waitingStatus(s, r, now, say)
		if r.Wait != ledger.WaitQuestion {
			m.button("Try now", "/resume")
		}
		if r.Wait == ledger.WaitLimit || r.Wait == ledger.WaitAgent {
			m.useOther(s)
		}
		m.button("Stop", "/stop")
	default:
		m = say("running", SignNow, orElse(lookingAfter(r), t.String())+" · "+orElse(doing, "at work"))
		m.button("Log", "/log")
		m.button("Pause", "/pause")
		m.button("Stop", "/stop")
	}
	m.body(s, r, t, action, now)
	m.add(last)
	return m
}

// body adds the lines that every status of a run has below its first line.
func (m *Message) body(s loop.State, r *loop.Run, t Tally, action string, now time.Time) {
	if lanes := lanesText(s, now); len(lanes) > 1 {
		for _, line := range lanes {
			m.add(line)
		}
		m.add("last event " + Clock(r.LastEvent, now))
	} else if a, ok := activeTask(s); ok {
		m.add(Cut(Foreign(a.Task.Title), quoteWidth))
		m.add(replanned(a))
		if to, _ := s.AwaitsTurn(a); to != "" {
			m.add(stepOf(s, a))
		}
		if x, ok := atWork(s); ok {
			if action = Foreign(action); action != "" {
				m.add("› " + Cut(action, quoteWidth))
			}
			m.add(fmt.Sprintf("%s so far, last event %s", Took(now.Sub(x.At)), Clock(r.LastEvent, now)))
		}
	}
	if r.Wait != ledger.WaitMachine && r.Wait != ledger.WaitDisk {
		m.failing(s, now)
	}
	m.add(standingLine(s, t))
	m.add(waveLine(s))
	m.add(QueuedText(s))
	for _, line := range boundLines(s) {
		m.add(line)
	}
	m.add(ProofCounts(s))
	began := r.Started
	if began.IsZero() {
		began = r.Planned
	}
	m.add(r.ID + " " + Took(now.Sub(began)) + " · " + CostSoFar(s) + costOf(s))
	for _, line := range BudgetLines(s, now) {
		m.add(line)
	}
	m.add(RetoldLine(r, now))
	m.add(guidanceLine(s))
	if r.State != ledger.RunWaiting {
		m.add(HeldLine(s, now))
	}
	if r.Source != "" {
		m.add(SignLook + " " + Plan(r) + " cannot be read as it is; the last good reading stands")
		m.quote(r.Source)
	}
	if len(r.Exempt) > 0 {
		m.add(SignLook + " fails without our changes, only shown: " + ExemptText(r.Exempt))
	}
	m.add(redTipLine(s))
	m.add(remaking(r))
	if s.Project.FirstBranch().Pushed != "" || r.Remakes > 0 || NotPushed(s) != "" || StackText(s) != "" {
		m.branch(s, r.Base.Branch)
	}
	m.requests(s)
	if trouble := HatsTrouble(r.HatsBad); trouble != "" {
		m.add(SignLook + " hats " + trouble)
	}
}

// atWork returns the agent session of the active task.
func atWork(s loop.State) (loop.Session, bool) {
	if t, ok := activeTask(s); ok {
		return sessionAt(s, t)
	}
	return loop.Session{}, false
}

// standingLine counts the tasks that are not done and names the open questions.
func standingLine(s loop.State, t Tally) string {
	asks := ""
	if t.Needs > 0 {
		var ids []string
		for _, q := range s.Project.Questions {
			ids = append(ids, q.ID)
		}
		asks = ": " + strings.Join(ids, " ")
	}
	return fmt.Sprintf("left %d · blocked %d · needs you %d%s", t.Left, t.Blocked, t.Needs, asks)
}

// waitingStatus returns the status of a waiting run, and the last line for it.
func waitingStatus(s loop.State, r *loop.Run, now time.Time, say func(key, sign, rest string) Message) (Message, string) {
	until := ""
	if !r.Until.IsZero() {
		until = " until " + Clock(r.Until, now)
	}
	last := "Goes on by itself."
	if until != "" {
		last = "Goes on by itself at " + Clock(r.Until, now) + "."
	}
	switch r.Wait {
	case ledger.WaitQuestion:
		var ids, asked []string
		for _, q := range s.Project.Questions {
			if !q.HoldsUp() {
				continue
			}
			ids = append(ids, q.ID)
			if q.OwnWords() && q.Task != "" {
				asked = append(asked, shortID(q.Task)+": "+q.Text)
			}
		}
		m := say("waiting", SignAsk, "waits for "+orElse(strings.Join(ids, " "), "an answer"))
		if len(asked) < len(ids) || len(ids) == 0 { // of another kind: the run says what it waits for
			m.quote(r.Text)
		} else {
			for _, text := range asked[:min(len(asked), 3)] {
				m.quote(text)
			}
		}
		for _, id := range ids[:min(len(ids), 3)] {
			m.button("Answer "+id, id)
		}
		return m, ifNobody(s, now)
	case ledger.WaitDisk:
		m := say("waiting", SignLook, "waits: the disk is full")
		m.quote(r.Text)
		return m, "Goes on by itself once there is room."
	case ledger.WaitMachine:
		m := say("waiting", SignLook, "waits: "+MachineWait(s))
		if f, held := s.Project.Held(); held {
			m.cause(f.Text, f.Remedy)
		} else {
			m.quote(r.Text)
		}
		return m, "Tried again and again; /resume tries now."
	case ledger.WaitAgent:
		m := say("standstill", SignLook, "stands still")
		m.quote(orElse(r.Text, HoldText(s)))
		agent := agentOf(s, r)
		m.add(remedy(agent, s.Shared.Agents[agent].Why, s.Shared.Agents[agent].LoggedOut))
		if until != "" {
			return m, "Looks again at " + Clock(r.Until, now) + " and goes on by itself."
		}
		return m, "Looks again by itself; /resume tries now."
	}
	m := say("waiting", SignLook, "waits"+until)
	m.quote(orElse(r.Text, HoldText(s)))
	return m, last + " /resume tries now."
}

// ifNobody says what happens to a waiting run when its first question expires
// without an answer. The task goes on only if the question has the agent's own
// choice (docs/spec 6.4).
func ifNobody(s loop.State, now time.Time) string {
	var first ledger.Question
	for _, q := range s.Project.Questions {
		if !q.Expires.IsZero() && (first.ID == "" || q.Expires.Before(first.Expires)) {
			first = q
		}
	}
	if first.ID == "" {
		for _, q := range s.Project.Questions {
			if q.HoldsUp() {
				return Unanswered(s, q, "")
			}
		}
		return "Waits as long as it takes."
	}
	by := "by " + Clock(first.Expires, now)
	if first.OwnWords() && first.Choice == "" {
		return "No answer " + by + ": " + shortID(first.Task) + " waits, and the run ends if nothing else can run."
	}
	if first.OwnWords() {
		choice := Cut(Foreign(first.Choice), 30)
		if n := OptionOf(first, first.Choice); n >= 0 {
			choice = first.ID + " " + ledger.Letter(n)
		}
		return "No answer " + by + ": " + shortID(first.Task) + " goes on with " + choice + "."
	}
	return Unanswered(s, first, by)
}

// idleStatus returns the status of a project without a run under way.
func idleStatus(s loop.State, t Tally, now time.Time, say func(key, sign, rest string) Message) Message {
	r := s.Project.Run
	if r == nil {
		m := say("idle", SignLater, "idle")
		if t.Total > 0 {
			m = say("idle", SignLater, "idle · "+t.String())
		}
		if t.Needs > 0 { // about a start, or the plan of an idea
			m = say("idle", SignAsk, needYou(t.Needs))
			for _, q := range s.Project.Questions[:min(t.Needs, 3)] {
				m.button("Answer "+q.ID, q.ID)
			}
		}
		if t.Total > 0 {
			m.add(standingLine(s, t))
		}
		if len(s.Project.Ideas) > 0 { // their sessions had their cost
			m.add("No run yet, no agent runs.")
			return m
		}
		m.add("No run yet, no agent runs, no cost.")
		return m
	}
	m := say("idle", SignLater, "idle · "+t.String())
	if t.Needs > 0 { // open questions matter more than the idle state
		m = say("idle", SignAsk, t.String()+", "+needYou(t.Needs))
	}
	switch {
	case r.Ended != nil && r.Ended.Reason == ledger.ReasonPreflight:
		if t.Needs == 0 {
			m = say("idle", SignLook, "not started · "+t.String())
		}
		m.add(r.ID + " not started: " + orElse(r.Ended.Text, string(r.Ended.Reason)))
		if at := loop.RetryStart(s.Project); r.ByItself && !at.IsZero() {
			m.add("Tried again by itself, at the latest " + Clock(at, now) + "; /run tries now.")
		}
	case t.Left+t.Blocked+t.Needs == 0 && r.Ended != nil: // read from the tasks: they may have been settled after the run's end
		m.add(r.ID + " ended, and nothing is left to do.")
		m.add(nextAgain(s, now))
	case r.Ended != nil:
		m.add(r.ID + " ended: " + string(r.Ended.Reason))
	}
	m.add(standingLine(s, t))
	m.add(wavesLine(s))
	m.add(ProofCounts(s))
	m.add(guidanceLine(s))
	m.add(redTipLine(s))
	m.add(remaking(r))
	m.failing(s, now)
	if s.Project.FirstBranch().Pushed != "" || r.Remakes > 0 || NotPushed(s) != "" || StackText(s) != "" {
		m.branch(s, r.Base.Branch)
	}
	m.requests(s)
	m.heldIdle(s, now)
	m.add("No agent runs, no cost.")
	m.button("Tasks", "/tasks")
	if len(r.Waves) > 0 {
		m.button("Waves", "/waves")
	}
	return m
}

// guidanceLine counts the guidance items that still matter: "guidance 1 in
// use, 2 wait, 1 sticky". It returns "" when there are none.
func guidanceLine(s loop.State) string {
	use, wait, sticky := guidanceCount(s)
	if use+wait+sticky == 0 {
		return ""
	}
	var parts []string
	if use > 0 {
		parts = append(parts, fmt.Sprintf("%d in use", use))
	}
	if wait > 0 {
		parts = append(parts, fmt.Sprintf("%d wait", wait))
	}
	if sticky > 0 {
		parts = append(parts, fmt.Sprintf("%d sticky", sticky))
	}
	return "guidance " + strings.Join(parts, ", ")
}

func guidanceCount(s loop.State) (use, wait, sticky int) {
	for _, i := range s.Project.Guidance.Items {
		switch {
		case i.Over():
		case i.Sticky:
			sticky++
		case i.State == guidance.Injected:
			use++
		case i.State == guidance.Queued:
			wait++
		}
	}
	return use, wait, sticky
}
