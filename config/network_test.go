package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestNetworkRules: what the configuration says of the network reaches the settings,
// with the hosts of the run's agents and package managers.
func TestNetworkRules(t *testing.T) {
	dir := setupSite(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("shop/go.mod", "module shop\n")
	if err := os.Mkdir(dir+"/shop/web", 0o700); err != nil {
		t.Fatal(err)
	}
	write("shop/web/package.json", "{}\n")
	write("mine.env", "# keys\nexport OPENAI_BASE_URL=\"https://models.example.com/v1\"\nOPENAI_API_KEY=x\n")
	write("local.env", "ANTHROPIC_BASE_URL=http://localhost:4000\n")
	write("nightporter.toml", `
[agents.mine]
command = ["/opt/codex", "exec"]
env_file = "mine.env"
fallback = "claude"
[agents.claude]
env_file = "local.env"
network = "none"
hosts = []
[[project]]
name = "shop"
repo = "shop"
source = "plan:checkout.md"
agent = "mine"
network = "ports"
setup_network = "none"
hosts = ["api.example.org"]
services = ["127.0.0.1:5432"]
`)
	cfg, err := Load(dir + "/nightporter.toml")
	if err != nil {
		t.Fatal(err)
	}
	got := settings(t, cfg, cfg.Projects[0], Overrides{}).Network
	want := ledger.NetworkRules{
		Mode: ledger.NetworkPorts, Setup: ledger.NetworkNone, Ports: []int{443, 80},
		Hosts: []string{"api.example.org", "proxy.golang.org", "sum.golang.org"}, Services: []string{"127.0.0.1:5432"},
		ReadOnly: []string{"registry.npmjs.org", "registry.yarnpkg.com"},
		Agents: map[string]ledger.AgentNetwork{
			"mine":   {Hosts: []string{"api.openai.com", "chatgpt.com", "auth.openai.com", "models.example.com:443"}},
			"claude": {Mode: ledger.NetworkNone, Hosts: []string{}, Services: []string{"127.0.0.1:4000"}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
}

// TestShippedHosts: each host that this release names by itself is one that a
// configuration could name.
func TestShippedHosts(t *testing.T) {
	var all []string
	for _, hosts := range agentHosts {
		all = append(all, hosts...)
	}
	for _, m := range managers {
		all = append(all, m.Hosts...)
	}
	if len(all) < 30 {
		t.Fatalf("only %d hosts were found", len(all))
	}
	for _, host := range all {
		if err := ledger.CheckHost(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if agents := slices.Collect(maps.Keys(agentHosts)); !slices.Contains(agents, "claude") {
		t.Error("nothing is known of claude")
	}
}
