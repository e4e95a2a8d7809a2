package main

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// hatFile is a hat in the form of its TOML file.
type hatFile struct {
	Hat struct {
		Name    string `toml:"name"`
		Role    string `toml:"role,omitempty"`
		Prompt  string `toml:"prompt,multiline"`
		Context struct {
			Load         []string `toml:"load,omitempty"`
			WriteAllowed []string `toml:"write_allowed"`
			WriteDenied  []string `toml:"write_denied,omitempty"`
			OwnScope     bool     `toml:"own_scope,omitempty"`
		} `toml:"context"`
		Exit struct {
			EmitEvent []string `toml:"emit_event"`
			Payload   []string `toml:"payload,omitempty"`
			MaxTokens int      `toml:"max_tokens"`
		} `toml:"exit"`
	} `toml:"hat"`
	Tools struct {
		Denied  []string           `toml:"denied,omitempty"`
		Network ledger.NetworkMode `toml:"network,omitempty"`
	} `toml:"tools"`
	Verify struct {
		Expect ledger.Expect `toml:"expect"`
	} `toml:"verify"`
	Agent struct {
		Name         string   `toml:"name,omitempty"`
		Model        string   `toml:"model,omitempty"`
		Effort       string   `toml:"effort,omitempty"`
		Escalate     bool     `toml:"escalate,omitempty"`
		Fallback     []string `toml:"fallback,omitempty"`
		Timeout      string   `toml:"timeout"`
		StallTimeout string   `toml:"stall_timeout"`
		MaxCostUSD   float64  `toml:"max_cost_usd,omitempty"`
	} `toml:"agent"`
}

func hatToFile(h ledger.Hat) hatFile {
	var f hatFile
	f.Hat.Name, f.Hat.Role, f.Hat.Prompt = h.Name, h.Role, h.Prompt+"\n"
	in := &f.Hat.Context
	in.Load, in.WriteAllowed, in.WriteDenied, in.OwnScope = h.Load, h.WriteAllowed, h.WriteDenied, h.OwnScope
	if in.WriteAllowed == nil {
		in.WriteAllowed = []string{} // an empty list makes the hat read-only
	}
	f.Hat.Exit.EmitEvent, f.Hat.Exit.Payload, f.Hat.Exit.MaxTokens = h.Emits, h.Payload, h.MaxTokens
	f.Tools.Denied, f.Tools.Network, f.Verify.Expect = h.Denied, h.Network, h.Expect
	f.Agent.Name, f.Agent.Model, f.Agent.Effort, f.Agent.MaxCostUSD = h.Agent, h.Model, h.Effort, h.MaxCostUSD
	f.Agent.Escalate, f.Agent.Fallback = h.Escalate, h.Fallbacks
	if h.Tier != "" {
		f.Agent.Model = string(h.Tier) // the file asks for a strength; a name would pin it
	}
	f.Agent.Timeout, f.Agent.StallTimeout = h.Timeout.D().String(), h.StallTimeout.D().String()
	return f
}
