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
		d, ok := known[name]
		if !ok || d.Prices() {
			continue
		}
		p := ledger.Diagnostic{
			File: cfg.File, Text: fmt.Sprintf("a budget in money cannot hold for agent %s, which reports no cost", name),
			Remedy: fmt.Sprintf("Say what a session costs: usd_estimate in [agents.%s]. Or limit tokens instead, where the agent reports them.", name),
		}
		if d.Counts() {
			missing, all := unpricedModels(cfg.Prices(), s, hats, name)
			if all {
				continue
			}
			p.Remedy = fmt.Sprintf("Say what a session costs: usd_estimate in [agents.%s]. Or name a model for it whose price is known (tiers), or limit tokens instead.", name)
			if missing != "" {
				p.Text += fmt.Sprintf(", and the price of %s is not known", missing)
				p.Remedy = fmt.Sprintf("Write the price of %s into %s beside this file. Or say what a session costs: usd_estimate in [agents.%s].", missing, config.PricesFile, name)
			}
		}
		problems = append(problems, p)
	}
	return problems
}

// Unpriced refuses agents whose cost nobody knows where a budget in money holds.
func (r *Runners) Unpriced(cfg *config.Config, s ledger.Settings) []ledger.Diagnostic {
	return Unpriced(cfg, s)
}

// unpricedModels reports whether all models are priced that an agent works with for the
// hats, and else the first one that is not: "" is the agent's own default, whose name
// nobody knows.
func unpricedModels(prices []ledger.Price, s ledger.Settings, hats []string, agent string) (missing string, all bool) {
	for _, name := range hats {
		if !slices.Contains(s.AgentsFor([]string{name}), agent) {
			continue
		}
		hat := s.Hats[name]
		for _, raised := range []bool{false, hat.Escalate} {
			model := s.ModelFor(hat, agent, raised)
			if _, ok := ledger.FindPrice(prices, model); !ok {
				return model, false
			}
		}
	}
	return "", true
}
