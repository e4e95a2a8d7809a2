package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// agentOf returns the name of the agent that a waiting run waits for. Where that
// agent is not parked it returns the run's default, or "the agent".
func agentOf(s loop.State, r *loop.Run) string {
	if name := r.AwaitedAgent(); name != "" {
		if _, held := s.Shared.Agents[name]; held {
			return name
		}
	}
	return orElse(r.Settings.Agent, "the agent")
}

// Limited announces that a run waits for an agent that has reached its limit or
// cannot be reached. cut names the session that ended early because of it: "#9
// planner", "" for none.
func Limited(s loop.State, cut string, now time.Time) Message {
	r := s.Project.Run
	agent := agentOf(s, r)
	hold := s.Shared.Agents[agent]
	name := Cut(Clean(agent), 10)
	rest := "waits for " + name + ", tries " + Clock(r.Until, now)
	last := "Goes on by itself."
	if hold.Known || hold.Why == "" {
		rest = "waits until " + Clock(r.Until, now) + " for " + name
	}
	key := "limit.waiting"
	if hold.Why == ledger.FailureNetwork {
		key = "limit.network"
		last = "The network or the far side fails. Tried again until it works."
	}
	if hold.Why == ledger.FailureEarly {
		key = "limit.network"
		last = "Counts for no task. Tried again until a session works."
	}
	m := newMessage(key, firstLine(SignLook, s.Project.Name, rest, ""))
	m.Project = s.Project.Name
	m.quote(orElse(hold.Text, r.Text))
	if cut != "" {
		m.add(cut + " cut off, not an attempt.")
	}
	m.add(last)
	m.button("Try now", "/resume")
	m.useOther(s)
	m.button("Stop", "/stop")
	return m
}

// StillLimited renders the message that replaces the one of Limited when the
// wait gets longer.
func StillLimited(s loop.State, now time.Time) Message {
	m := Limited(s, "", now)
	m.Lines[0].Text = firstLine(SignLook, s.Project.Name, "waits on, until "+Clock(s.Project.Run.Until, now), "")
	return m
}

// GoesOn renders the message that replaces the one about a wait when the wait
// is over. r is the run as it was during the wait, since is the beginning of
// the wait, zero if unknown.
func GoesOn(s loop.State, r *loop.Run, since, now time.Time) Message {
	m := newMessage("goes.on", firstLine(SignAgain, s.Project.Name, "goes on · "+now.Format("15:04"), ""))
	m.Project = s.Project.Name
	what := Cut(Clean(agentOf(s, r)), 20)
	if r.Wait == ledger.WaitDisk {
		what = "room on the disk"
	}
	took := ""
	if !since.IsZero() {
		took = " " + Took(now.Sub(since))
	}
	text := "Waited" + took + " for " + what + "."
	for _, t := range s.Project.Tasks.All() {
		if t.Status == ledger.Active && t.Attempt != nil && t.Attempt.Replaces != "" {
			text += " " + Doing(s) + " starts again."
			break
		}
	}
	m.add(text)
	return m
}

// Standstill announces that a run waits for an agent that only a person at the
// host can repair, for example by a login. cut is as in Limited.
func Standstill(s loop.State, cut string, now time.Time) Message {
	r := s.Project.Run
	agent := agentOf(s, r)
	hold := s.Shared.Agents[agent]
	m := newMessage("standstill", firstLine(SignLook, s.Project.Name, "stands still: "+Cut(Clean(agent), 10)+" "+ails(hold.LoggedOut), ""))
	m.Project = s.Project.Name
	facts := now.Format("15:04") + " · " + Count(s).String()
	if cut != "" {
		facts += " · " + cut + " cut off"
	}
	m.add(facts)
	m.quote(orElse(hold.Text, r.Text))
	m.add(remedy(agent, hold.Why, hold.LoggedOut))
	m.add("Looks again every 15 min and goes on by itself.")
	m.button("Try now", "/resume")
	m.useOther(s)
	m.button("Stop", "/stop")
	return m
}

// Replaced announces that an agent cannot be used and that the run goes on with
// other instead.
func Replaced(s loop.State, b ledger.AgentUnusable, other string, now time.Time) Message {
	m := newMessage("agent.replaced", SignLook+" "+Cut(Clean(b.Agent), 14)+" "+ails(b.LoggedOut)+" · "+now.Format("15:04"))
	m.Project = s.Project.Name
	m.quote(b.Text)
	m.add(remedy(b.Agent, b.Why, b.LoggedOut))
	m.add(s.Project.Name + " goes on with " + Cut(Clean(other), 20) + ".")
	return m
}

// Uncounted says that an agent's output is not known any more, as after an update of
// its program.
func Uncounted(s loop.State, b ledger.AgentUncounted, now time.Time) Message {
	name := Cut(Clean(b.Agent), 14)
	m := newMessage("agent.uncounted", SignLook+" "+name+" reports differently · "+now.Format("15:04"))
	m.Project = s.Project.Name
	m.add("Its output has events or figures that nightporter does not know, as after an update. What it does not know of tokens, cost and limits is unknown, not 0.")
	m.add("Work goes on. On the host: nightporter agents says which release was measured.")
	return m
}

// ails returns the reason why an agent cannot be used.
func ails(loggedOut bool) string {
	if loggedOut {
		return "logged out"
	}
	return "unusable"
}

// remedy says what makes an agent usable again: a shell command, or nothing that
// nightporter can do if its output says that it is at its limit.
func remedy(agent string, why ledger.FailureClass, loggedOut bool) string {
	switch {
	case why == ledger.FailureLimit:
		return "Look at the limit of its account."
	case loggedOut:
		return "On the host: nightporter login " + Clean(agent) + "."
	}
	return "On the host: nightporter doctor."
}

// useOther adds a button that continues the run with another agent, if one can be used
// now. The agent that the run waits for is none.
func (m *Message) useOther(s loop.State) {
	for _, other := range s.Choosable() {
		if other != agentOf(s, s.Project.Run) {
			m.button("Use "+other, "/resume "+other)
			return
		}
	}
}

// HoldText returns the reason why the run's agent or its fallback cannot be used,
// in the agent's words; "" when neither is held.
func HoldText(s loop.State) string {
	r := s.Project.Run
	if r == nil {
		return ""
	}
	for _, name := range append([]string{r.Settings.Agent}, r.Settings.FallbacksOf(ledger.Hat{}, r.Settings.Agent)...) {
		if h, held := s.Shared.Agents[name]; held && h.Text != "" {
			return name + ": " + h.Text
		}
	}
	return ""
}

// HeldLine says which of a run's agents cannot be used now, until when, and which one
// works meanwhile, or would in the next run; "" if none is held. A waiting run has its own
// lines.
func HeldLine(s loop.State, now time.Time) string {
	r := s.Project.Run
	if r == nil {
		return ""
	}
	var held []string
	own := false
	for _, name := range append([]string{r.Settings.Agent}, r.Settings.FallbacksOf(ledger.Hat{}, r.Settings.Agent)...) {
		h, ok := s.Shared.Agents[name]
		if !ok || h.Trial {
			continue
		}
		own = own || name == r.Settings.Agent
		text := Cut(Clean(name), 20) + " " + ails(h.LoggedOut)
		if !h.Unusable {
			text = Cut(Clean(name), 20) + " parked until " + Clock(h.Until, now)
		}
		held = append(held, text)
	}
	if len(held) == 0 {
		return ""
	}
	line := SignLook + " " + strings.Join(held, ", ")
	if other := s.Substitute(r.Settings.Agent); own && other != "" {
		does := " works meanwhile"
		if r.Over() {
			does = " takes over"
		}
		line += "; " + Cut(Clean(other), 20) + does
	}
	return line
}

// heldIdle says which agents the next run cannot use yet, with a button that has the first
// parked one tried at once. One that is logged out is tried by each start of a run.
func (m *Message) heldIdle(s loop.State, now time.Time) {
	line := HeldLine(s, now)
	if line == "" {
		return
	}
	m.add(line)
	set := s.Project.Run.Settings
	for _, name := range append([]string{set.Agent}, set.FallbacksOf(ledger.Hat{}, set.Agent)...) {
		if h, held := s.Shared.Agents[name]; held && !h.Trial && !h.Unusable {
			m.button("Try "+Cut(Clean(name), 10), "/resume "+name)
			return
		}
	}
}
