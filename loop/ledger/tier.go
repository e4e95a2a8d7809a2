package ledger

import "slices"

// ModelTier is a strength of models, by which a hat asks any agent for one.
type ModelTier string

// Tiers of models, the cheapest first.
const (
	ModelLight  ModelTier = "light"
	ModelFast   ModelTier = "fast"
	ModelStrong ModelTier = "strong"
)

// modelTiers are all tiers, the cheapest first.
var modelTiers = []ModelTier{ModelLight, ModelFast, ModelStrong}

// IsTier reports whether a hat's model is a tier.
func IsTier(model string) bool { return slices.Contains(modelTiers, ModelTier(model)) }

// Stronger returns the next stronger tier; the strongest stays, and so does none.
func (t ModelTier) Stronger() ModelTier {
	n := slices.Index(modelTiers, t)
	if n < 0 || n == len(modelTiers)-1 {
		return t
	}
	return modelTiers[n+1]
}

// Tiers has the names of one agent's models, by tier. "" is the agent's own
// default.
type Tiers struct {
	Strong string `json:"strong,omitempty" toml:"strong"`
	Fast   string `json:"fast,omitempty" toml:"fast"`
	Light  string `json:"light,omitempty" toml:"light"`
}

// Model returns the model of a tier, "" if there is none.
func (t Tiers) Model(tier ModelTier) string {
	switch tier {
	case ModelStrong:
		return t.Strong
	case ModelFast:
		return t.Fast
	case ModelLight:
		return t.Light
	}
	return ""
}

// ModelFor returns the model that a session of the hat asks the agent for, "" for
// the agent's own default. With raised it is that of the next stronger tier. Names
// of models belong to one agent, so a pinned one is for the hat's own agent alone.
func (s Settings) ModelFor(h Hat, agent string, raised bool) string {
	own := h.Agent
	if own == "" {
		own = s.Agent
	}
	tier := h.Tier
	if raised {
		tier = tier.Stronger()
	}
	switch {
	case tier == "" && h.Pinned && agent != own:
		return ""
	case tier == "" || agent == own && tier == h.Tier:
		return h.Model
	}
	return s.Models[agent].Model(tier)
}

// FallbacksOf returns the agents that take the place of an agent of the hat, the
// first one first.
func (s Settings) FallbacksOf(h Hat, agent string) []string {
	list := h.Fallbacks
	if len(list) == 0 {
		list = s.Fallbacks[agent]
	}
	if len(list) == 0 && s.Fallbacks == nil && s.Fallback != "" { // an entry of an earlier release
		list = []string{s.Fallback}
	}
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == agent })
}

// AgentsFor returns every agent that sessions of these settings can use without a
// person's choice: those of the named hats first, then their fallbacks; each once.
func (s Settings) AgentsFor(hats []string) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range hats {
		if a := s.Hats[name].Agent; a != "" {
			add(a)
		} else {
			add(s.Agent)
		}
	}
	for _, agent := range slices.Clone(names) {
		for _, other := range s.FallbacksOf(Hat{}, agent) {
			add(other)
		}
	}
	for _, name := range hats {
		for _, other := range s.Hats[name].Fallbacks {
			add(other)
		}
	}
	return names
}
