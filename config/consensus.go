package config

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Built-in events that a pattern's check looks for (docs/spec 4.2).
const (
	eventPlan     = "plan.complete"
	eventReview   = "review.verdict"
	eventFix      = "fix.complete"
	eventCritique = "critique.verdict"
	eventAdvice   = "advice.complete"
)

// Hats that argue about a plan. No route names them: the core sends a plan to
// them and back, by these names (docs/spec 4.4).
const (
	hatCritic    = "critic"
	hatArchitect = "architect"
)

// checkConsensus returns what prevents the pattern's plans from being argued
// about (docs/spec 4.4). These are errors rather than warnings: a person who
// asks for consensus relies on it that nothing is built before. The problems
// have no line yet.
func checkConsensus(p ledger.Pattern, hats map[string]ledger.Hat) []ledger.Diagnostic {
	var problems []ledger.Diagnostic
	for _, need := range []struct{ hat, event string }{{hatCritic, eventCritique}, {hatArchitect, eventAdvice}} {
		h, ok := hats[need.hat]
		problem := ledger.Diagnostic{Remedy: fmt.Sprintf("Your hat %s takes the place of the shipped one: mend it, or give it another name", need.hat)}
		switch {
		case !ok:
			problem = ledger.Diagnostic{Text: fmt.Sprintf("consensus needs a hat %q, and there is none", need.hat)}
		case len(h.Emits) != 1 || h.Emits[0] != need.event:
			problem.Text = fmt.Sprintf("consensus needs hat %s to end with %s, and it ends with %s", need.hat, need.event, list(h.Emits))
		case h.Writes():
			problem.Text = fmt.Sprintf("consensus needs hat %s to be read-only: nothing is built yet when it works", need.hat)
		default:
			continue
		}
		problems = append(problems, problem)
	}
	if !producesPlan(p, hats) {
		problems = append(problems, noPlan("consensus", p))
	}
	return problems
}

// producesPlan reports whether the pattern reaches a hat that ends with a plan.
func producesPlan(p ledger.Pattern, hats map[string]ledger.Hat) bool {
	for name := range reach(p, p.Start) {
		if slices.Contains(hats[name].Emits, eventPlan) {
			return true
		}
	}
	return false
}

func noPlan(key string, p ledger.Pattern) ledger.Diagnostic {
	return ledger.Diagnostic{
		Text:   fmt.Sprintf("%s needs a plan, and no hat of pattern %s ends with %s", key, p.Name, eventPlan),
		Remedy: fmt.Sprintf("Take a pattern with a planner, such as %s, or leave %s out", defaultPattern, key),
	}
}

// checkPlans returns, by key, why the pattern cannot fulfil the project's
// settings about plans. checkPattern covers the same settings of the pattern
// itself.
func (p *Project) checkPlans(pattern ledger.Pattern, hats map[string]ledger.Hat) map[string][]ledger.Diagnostic {
	out := map[string][]ledger.Diagnostic{}
	if p.Consensus && !pattern.Consensus {
		out["consensus"] = checkConsensus(pattern, hats)
	}
	if p.PlanApproval && !producesPlan(pattern, hats) {
		out["plan_approval"] = []ledger.Diagnostic{noPlan("plan_approval", pattern)}
	}
	return out
}
