package session

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Unpriced refuses agents whose cost nobody knows where a budget in money holds: what
// they spend would count as nothing (docs/spec 12.2).
func Unpriced(cfg *config.Config, s ledger.Settings) (problems []ledger.Diagnostic) {
	budget := s.Budget.USDRun > 0 || s.Budget.USDTask > 0 || cfg.Budget.USDDay > 0
	var hats []string
	for _, name := range slices.Sorted(maps.Keys(s.Hats)) {
		if budget || s.Hats[name].MaxCostUSD > 0 {
			hats = append(hats, name)
		}
	}
	known := Definitions(cfg)
	for _, name := range s.AgentsFor(hats) {
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
