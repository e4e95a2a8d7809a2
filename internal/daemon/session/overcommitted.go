package session

import (
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Overcommitted warns of a run whose sessions can use more memory together than this
// machine has.
func Overcommitted(cfg *config.Config, s ledger.Settings) []ledger.Diagnostic {
	if w, over := cfg.Overcommitted(s, agent.MachineMemory()); over {
		return []ledger.Diagnostic{w}
	}
	return nil
}

// Overcommitted is the function of the same name.
func (r *Runners) Overcommitted(cfg *config.Config, s ledger.Settings) []ledger.Diagnostic {
	return Overcommitted(cfg, s)
}
