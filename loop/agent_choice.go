package loop

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// agentFor returns the agent that runs a hat of the attempt now: the hat's own, or
// the first of its fallbacks that can be used while that is held. If none can,
// agentFor returns the one that is usable again first, and its hold; the hold is
// nil otherwise. A second review has another agent than the first; ok is false where
// the settings have none.
func (d *decision) agentFor(w *Attempt, hat ledger.Hat) (name string, hold *AgentHold, ok bool) {
	s := d.run().Settings
	own := hat.Agent
	if own == "" {
		own = s.Agent
	}
	candidates := append([]string{own}, s.FallbacksOf(hat, own)...)
	if not := w.second(hat); not != "" {
		candidates = slices.DeleteFunc(append(candidates, unbarred(s)...), func(name string) bool { return name == not })
		if len(candidates) == 0 {
			return "", nil, false
		}
	}
	for _, c := range candidates {
		h, held := d.Shared.Agents[c]
		switch {
		case !held || h.Trial:
			return c, nil, true
		case hold == nil, !h.Unusable && (hold.Unusable || h.Until.Before(hold.Until)):
			name, hold = c, &h
		}
	}
	return name, hold, true
}

// second returns the agent whose passing review the hat's next session has to
// confirm, "" if there is none.
func (w *Attempt) second(hat ledger.Hat) string {
	if w == nil || !slices.Contains(hat.Emits, ledger.EventReview) {
		return ""
	}
	return w.Second
}

// seconds reports whether the review that passed is the first of two. A review that
// finds something sends the task to the fixer, and both begin again.
func (t TaskState) seconds() bool {
	return t.Task.SecondReview && t.Attempt.Event.Type == ledger.EventReview && t.Attempt.Second == ""
}

// raised reports whether the task's next session gets a stronger model than its
// hat's: its last attempt failed, and the hat asks for it.
func (t TaskState) raised(hat ledger.Hat) bool {
	return hat.Escalate && t.Failed > 0 && hat.Tier != "" && hat.Tier != hat.Tier.Stronger()
}

// RaisedModel returns the model of an open task's next session if that is a stronger one
// than its hat asks for, and whether it is.
func (s State) RaisedModel(t TaskState) (model string, raised bool) {
	d := &decision{State: s}
	if s.Project.Run == nil || t.Status != ledger.Ready {
		return "", false
	}
	set := d.run().upcoming()
	hat, ok := set.Hats[d.hatOf(&t)]
	if !ok || !t.raised(hat) {
		return "", false
	}
	agent := hat.Agent
	if agent == "" {
		agent = set.Agent
	}
	model = set.ModelFor(hat, agent, true)
	return model, model != "" && model != set.ModelFor(hat, agent, false)
}

// blockForSecond blocks a task whose second review nobody can make.
func (d *decision) blockForSecond(t TaskState) {
	why := fmt.Sprintf("no agent but %s is configured, and the task asks for a review by another one", t.Attempt.Second)
	d.add(scope{task: t.Task.ID}, ledger.AttemptEnded{Outcome: ledger.OutcomeBlocked, Why: why})
	d.block(t.Task.ID, blockage{reason: why, needs: "an [agents.NAME] section of another agent, or the task without its second review"})
}

// unbarred returns the other agents of the settings that can take part in the run.
func unbarred(s ledger.Settings) []string {
	return slices.DeleteFunc(slices.Clone(s.Others), func(name string) bool {
		_, barred := s.Bar(name)
		return barred
	})
}

// Choosable returns the agents that a person can have the run go on with now: no budget
// refuses them, none is held, and none lacked its program or its login when the run began.
// The last is no reason to refuse one: a person may have logged in since.
func (s State) Choosable() []string {
	return slices.DeleteFunc(unbarred(s.Project.Run.Settings), func(name string) bool {
		h, held := s.Shared.Agents[name]
		return held && !h.Trial || slices.Contains(s.Project.Run.Base.Unready, name)
	})
}

// Substitute returns the agent that takes the place of a held one in the run, "" if
// none can now.
func (s State) Substitute(agent string) string {
	set := s.Project.Run.Settings
	for _, other := range set.FallbacksOf(ledger.Hat{}, agent) {
		if h, held := s.Shared.Agents[other]; !held || h.Trial {
			return other
		}
	}
	return ""
}

// SecondReviewer returns the agent that makes a task's second review if none is
// held, "" for a task that asks for none. It returns a problem for a task that asks
// for one in vain.
func SecondReviewer(s ledger.Settings, t ledger.Task) (agent string, problem *ledger.Diagnostic) {
	if !t.SecondReview || t.Mark != ledger.MarkOpen {
		return "", nil
	}
	s = s.For(t)
	for _, r := range s.Pattern.Routes {
		hat := s.Hats[r.From]
		if !slices.Contains(hat.Emits, ledger.EventReview) {
			continue
		}
		own := hat.Agent
		if own == "" {
			own = s.Agent
		}
		for _, other := range append(s.FallbacksOf(hat, own), unbarred(s)...) {
			if other != own {
				return other, nil
			}
		}
		if len(s.Barred) > 0 {
			return "", &ledger.Diagnostic{
				Line: t.Line, Text: fmt.Sprintf("%s asks for a second review, and %s", t.ID, s.Barred[0].Text), Remedy: s.Barred[0].Remedy,
			}
		}
		return "", &ledger.Diagnostic{
			Line: t.Line, Text: fmt.Sprintf("%s asks for a second review, and no agent but %s is configured", t.ID, own),
			Remedy: "Add a section [agents.NAME] of another agent, or take the field out of the task",
		}
	}
	return "", &ledger.Diagnostic{
		Line: t.Line, Text: fmt.Sprintf("%s asks for a second review, and pattern %s has no review", t.ID, s.Pattern.Name),
		Remedy: "Choose a pattern with a reviewer, or take the field out of the task",
	}
}
