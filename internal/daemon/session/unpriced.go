package session

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Unpriced refuses agents whose cost nobody knows where a budget in money holds, and those
// that never tell tokens where one in tokens does: nobody would know what they spend
// (docs/spec 12.2).
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
		if !ok {
			continue
		}
		if p := unpriced(cfg, s, hats, d); p != nil {
			problems = append(problems, *p)
		}
	}
	return append(problems, untold(cfg, s, known)...)
}

// untold refuses agents that never tell tokens where a budget in tokens holds, with their
// definitions by name.
func untold(cfg *config.Config, s ledger.Settings, known map[string]agent.Definition) (problems []ledger.Diagnostic) {
	if s.Budget.TokensRun <= 0 && cfg.Budget.TokensDay <= 0 {
		return nil
	}
	for _, name := range s.AgentsFor(slices.Sorted(maps.Keys(s.Hats))) {
		if d, ok := known[name]; ok && !d.TellsTokens() {
			problems = append(problems, ledger.Diagnostic{
				File: cfg.File, Text: fmt.Sprintf("a budget in tokens cannot hold for agent %s, which reports none", name),
				Remedy: fmt.Sprintf("Limit money instead (usd_run, usd_day), with usd_estimate in [agents.%s]. Or name an agent that reports tokens: nightporter agents.", name),
			})
		}
	}
	return problems
}

// Barred returns those of the settings' other agents that Unpriced would refuse in the
// place of the run's agent, or for a second review.
func Barred(cfg *config.Config, s ledger.Settings) (bars []ledger.Bar) {
	for _, other := range s.Others {
		with := s.WithAgent(other)
		for name, hat := range with.Hats {
			if slices.Contains(hat.Emits, ledger.EventReview) && hat.Agent != "" {
				hat.Agent, hat.Model, hat.Pinned = "", with.Models[other].Model(hat.Tier), false
				with.Hats[name] = hat
			}
		}
		if refused := Unpriced(cfg, with); len(refused) > 0 {
			bars = append(bars, ledger.Bar{Agent: other, Text: refused[0].Text, Remedy: refused[0].Remedy})
		}
	}
	return bars
}

// unpriced refuses one agent for the hats, nil if the cost of its sessions is known.
func unpriced(cfg *config.Config, s ledger.Settings, hats []string, d agent.Definition) *ledger.Diagnostic {
	missing, all := unpricedModels(cfg.Prices(), s, hats, d)
	if all {
		return nil
	}
	p := ledger.Diagnostic{
		File: cfg.File, Text: fmt.Sprintf("a budget in money cannot hold for agent %s, which reports no cost", d.Name),
		Remedy: fmt.Sprintf("Say what a session costs: usd_estimate in [agents.%s]. Or limit tokens instead, where the agent reports them.", d.Name),
	}
	if !d.Counts() {
		return &p
	}
	p.Remedy = fmt.Sprintf("Say what a session costs: usd_estimate in [agents.%s]. Or name a model for it whose price is known (tiers), or limit tokens instead.", d.Name)
	if missing != "" {
		if d.ReportsCost() {
			p.Text = fmt.Sprintf("a budget in money cannot hold for agent %s, which guesses what %s costs", d.Name, missing)
		}
		p.Text += fmt.Sprintf(", and the price of %s is not known", missing)
		p.Remedy = fmt.Sprintf("Write the price of %s into %s beside this file. Or say what a session costs: usd_estimate in [agents.%s].", missing, config.PricesFile, d.Name)
	}
	return &p
}

// Unpriced refuses agents whose cost nobody knows where a budget in money holds, and those
// that never tell tokens where one in tokens does.
func (r *Runners) Unpriced(cfg *config.Config, s ledger.Settings) []ledger.Diagnostic {
	return Unpriced(cfg, s)
}

// Barred returns the agents that cannot take the place of the run's agent.
func (r *Runners) Barred(cfg *config.Config, s ledger.Settings) []ledger.Bar { return Barred(cfg, s) }

// unpricedModels reports whether the cost of all models is known that an agent works with
// for the hats, and else the first one of which it is not: "" is the agent's own default,
// whose name nobody knows.
func unpricedModels(prices []ledger.Price, s ledger.Settings, hats []string, d agent.Definition) (missing string, all bool) {
	for _, name := range hats {
		if !slices.Contains(s.AgentsFor([]string{name}), d.Name) {
			continue
		}
		hat := s.Hats[name]
		for _, raised := range []bool{false, hat.Escalate} {
			model := s.ModelFor(hat, d.Name, raised)
			if _, ok := ledger.FindPrice(prices, model); !d.Prices(model) && (!ok || !d.Counts()) {
				return model, false
			}
		}
	}
	return "", true
}
