package agent

import (
	"cmp"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// price sets what a session cost: by its agent, else by its tokens and the price of its
// model, else by the estimate of the configuration, else unknown. model is what the
// session was started with, which the agent's own word for it replaces.
func (r *Runner) price(x *ledger.Exit, v adapter.Verdict, d Definition, model string) {
	if x.Reason == ledger.ExitNotStarted && x.Code < 0 { // with 126 or 127 a script may have done something before
		x.CostUSD = 0 // known, not unknown: no program ran
		return
	}
	x.CostUSD, x.PricedBy, x.Estimated = v.CostUSD, "", false
	if x.CostUSD >= 0 {
		x.PricedBy = ledger.PricedByAgent
		return
	}
	if p, ok := ledger.FindPrice(r.o.Prices, cmp.Or(v.Model, model)); ok && v.Usage != nil && !v.Several {
		if usd, ok := p.Cost(*v.Usage); ok {
			x.CostUSD, x.PricedBy, x.Estimated = usd, ledger.PricedByTable, true
			return
		}
	}
	if d.USDEstimate > 0 {
		x.CostUSD, x.PricedBy, x.Estimated = d.USDEstimate, ledger.PricedByEstimate, true
	}
}

// Counts reports whether the agent tells tokens by kind, so that its sessions cost what
// the prices of their models say.
func (d Definition) Counts() bool {
	a, err := d.adapter()
	return err == nil && a.Kinds == adapter.KindsReported
}

// TellsTokens reports whether its sessions' tokens are known at their end, or it uses none.
func (d Definition) TellsTokens() bool {
	a, err := d.adapter()
	return err == nil && (a.Kinds == adapter.KindsReported || a.Cost == adapter.CostReported)
}
