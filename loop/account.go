package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// An agent's account may allow fewer sessions than there are lanes: the provider logs out
// an account whose token two programs renew at once, or the person limits an agent. The
// sessions of all projects count. Another agent does not take over: its turn comes soon.

// sessionsOf returns how many sessions an agent may have at a time in all projects, 0 = any.
func (r *Run) sessionsOf(agent string) int {
	if slices.Contains(r.Base.OneSession, agent) {
		return 1
	}
	return r.Settings.AgentSessions[agent]
}

// accountBusy reports whether all sessions that an agent may have at a time are in use.
func (d *decision) accountBusy(agent string) bool {
	most, used := d.run().sessionsOf(agent), 0
	for _, l := range d.Shared.Leases {
		if l.Agent == agent {
			used++
		}
	}
	return most > 0 && used >= most
}

// AwaitedAccount returns the agent whose sessions are all in use and whose next one a
// task waits for, and how many it may have at a time. It returns "" if the task waits for
// none, or for something else as well: a ready one for a lane.
func (s State) AwaitedAccount(t TaskState) (agent string, most int) {
	d := &decision{State: s}
	r := d.run()
	next := t.Status == ledger.Ready && !t.Queued()
	ready := next || t.Attempt != nil && t.Attempt.Stage == ledger.StageReady
	if r.Over() || len(r.Base.OneSession)+len(r.Settings.AgentSessions) == 0 || !ready || d.flies(t.Task.ID) || r.Lanes() == 1 && s.Project.busy() {
		return "", 0
	}
	if _, free := d.freeLane(); next && !free {
		return "", 0
	}
	hat, ok := r.upcoming().Hats[d.hatOf(&t)]
	if !ok {
		return "", 0
	}
	agent, held, ok := d.agentFor(t.Attempt, hat)
	if !ok || held != nil || !d.accountBusy(agent) {
		return "", 0
	}
	return agent, r.sessionsOf(agent)
}
