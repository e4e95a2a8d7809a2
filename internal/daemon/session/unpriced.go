package session

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Unpriced refuses agents whose cost nobody knows where a budget in money holds: what
// they spend would count as nothing (docs/spec 12.2).
func Unpriced(cfg *config.Config, s ledger.Settings) (problems []ledger.Diagnostic) {
	budget := s.Budget.USDRun > 0 || s.Budget.USDTask > 0 || cfg.Budget.USDDay > 0
	agents := []string{}
	for _, h := range s.Hats {
		if agent := cmp.Or(h.Agent, s.Agent); budget || h.MaxCostUSD > 0 {
			agents = append(agents, agent)
		}
	}
	if len(agents) > 0 && s.Fallback != "" {
		agents = append(agents, s.Fallback)
	}
	slices.Sort(agents)
	known := Definitions(cfg)
	for _, name := range slices.Compact(agents) {
		if d, ok := known[name]; ok && !d.Prices() {
			problems = append(problems, ledger.Diagnostic{
				File: cfg.File, Text: fmt.Sprintf("a budget in money cannot hold for agent %s, which reports no cost", name),
				Remedy: fmt.Sprintf("Say what a session costs: usd_estimate in [agents.%s]. Or limit tokens instead, where the agent reports them.", name),
			})
		}
	}
	return problems
}

// Unpriced refuses agents whose cost nobody knows where a budget in money holds.
func (r *Runners) Unpriced(cfg *config.Config, s ledger.Settings) []ledger.Diagnostic {
	return Unpriced(cfg, s)
}
