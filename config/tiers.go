package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Tiers maps strengths to an agent's model names, so that a hat can ask for a
// strength with any agent.
type Tiers = ledger.Tiers

// ShippedTiers are the models of an agent that nightporter knows without
// configuration.
type ShippedTiers struct {
	Name string `toml:"name"` // of the agent
	Tiers
	Date   string `toml:"date"`   // day on which Source was read
	Source string `toml:"source"` // address or program that names the models
}

// AllShippedTiers returns the rows of presets/tiers.toml.
var AllShippedTiers = sync.OnceValue(func() []ShippedTiers {
	var file struct {
		Agent []ShippedTiers `toml:"agent"`
	}
	data, err := presets.ReadFile("presets/tiers.toml")
	if err == nil {
		err = toml.Unmarshal(data, &file)
	}
	if err != nil {
		panic(fmt.Sprintf("config: presets/tiers.toml: %v", err)) // part of this program
	}
	return file.Agent
})

// TiersOf returns the models of an agent by strength, and whether they are shipped.
// A section that sets tiers is complete: what it leaves out is the agent's own
// default. So is all of an agent with a command of the user's, which may lead to
// models of another provider.
func (c *Config) TiersOf(agent string) (t Tiers, shipped bool) {
	a := c.Agents[agent]
	switch {
	case a.Tiers != nil:
		return *a.Tiers, false
	case len(a.Command) > 0:
		return Tiers{}, false
	}
	all := AllShippedTiers()
	n := slices.IndexFunc(all, func(s ShippedTiers) bool { return s.Name == agent })
	if n < 0 {
		return Tiers{}, false
	}
	return all[n].Tiers, true
}

// TiersText names an agent's models by strength: "strong opus, fast sonnet, light haiku,
// as shipped on 2026-11-27". It returns "" if the agent chooses its model by itself.
func (c *Config) TiersText(agent string) string {
	t, shipped := c.TiersOf(agent)
	var parts []string
	for _, tier := range []struct{ name, model string }{{"strong", t.Strong}, {"fast", t.Fast}, {"light", t.Light}} {
		if tier.model != "" {
			parts = append(parts, tier.name+" "+tier.model)
		}
	}
	text := strings.Join(parts, ", ")
	for _, s := range AllShippedTiers() {
		if text != "" && shipped && s.Name == agent {
			text += ", as shipped on " + s.Date
		}
	}
	return text
}

// fallbacksOf returns the agents that take an agent's place: its own list, then
// those of the agents in it; each once.
func (c *Config) fallbacksOf(agent string) []string {
	var out []string
	next := slices.Clone(c.Agents[agent].Fallback)
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if name == "" || name == agent || slices.Contains(out, name) {
			continue
		}
		out = append(out, name)
		next = append(next, c.Agents[name].Fallback...)
	}
	return out
}

// choices sets what a run knows of its agents: fallbacks, models and reserves.
func (c *Config) choices(s *ledger.Settings) {
	var hats []string
	for name := range s.Hats {
		hats = append(hats, name)
	}
	slices.Sort(hats)
	var names []string
	add := func(name string) {
		if name == "" || slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		if list := c.fallbacksOf(name); len(list) > 0 {
			if s.Fallbacks == nil {
				s.Fallbacks = map[string][]string{}
			}
			s.Fallbacks[name] = list
		}
	}
	for _, list := range [][]string{{s.Agent}, s.Others, s.AgentsFor(hats)} {
		for _, name := range list {
			add(name)
		}
	}
	for n := 0; n < len(names); n++ { // names grows with the fallbacks
		for _, other := range s.Fallbacks[names[n]] {
			add(other)
		}
	}
	for _, name := range names {
		if t, _ := c.TiersOf(name); t != (Tiers{}) {
			if s.Models == nil {
				s.Models = map[string]ledger.Tiers{}
			}
			s.Models[name] = t
		}
		if part := float64(c.Agents[name].Reserve); part > 0 {
			if s.Reserve == nil {
				s.Reserve = map[string]float64{}
			}
			s.Reserve[name] = part
		}
	}
}
