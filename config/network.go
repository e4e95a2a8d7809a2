package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// DefaultPorts returns the ports that network = "ports" leaves open where a project
// names none.
func DefaultPorts() []int { return []int{443, 80} }

func networkMode(s string) ledger.NetworkMode { return ledger.NetworkMode(s) }

// ClosesNetwork reports whether sessions of the project need a closed network: by its
// configuration, or because strangers can write its tasks.
func (p Project) ClosesNetwork() bool {
	k := p.Source.kind()
	return k != nil && k.Foreign || slices.ContainsFunc([]string{p.Network, p.SetupNetwork, p.VerifyNetwork}, func(s string) bool { return networkMode(s).Closes() })
}

// network returns what the sessions of a run may reach. A project that names no
// hosts to read from gets those of its package managers.
func (p Project) network(cfg *Config, s ledger.Settings) ledger.NetworkRules {
	n := ledger.NetworkRules{
		Mode: networkMode(p.Network), Setup: networkMode(p.SetupNetwork), Verify: networkMode(p.VerifyNetwork),
		Ports: p.Ports, Hosts: p.Hosts, ReadOnly: p.ReadOnlyHosts, Services: p.Services,
	}
	if n.Ports == nil && slices.Contains([]string{p.Network, p.SetupNetwork, p.VerifyNetwork}, string(ledger.NetworkPorts)) {
		n.Ports = DefaultPorts()
	}
	if n.ReadOnly == nil {
		for _, m := range ManagersOf(p.Repo) {
			n.Hosts, n.ReadOnly = append(slices.Clip(n.Hosts), m.Hosts...), append(n.ReadOnly, m.ReadOnly...)
		}
	}
	names := append(s.AgentsFor(slices.Sorted(maps.Keys(s.Hats))), s.Others...)
	names = append(names, s.Agent)
	for _, name := range names {
		if a := cfg.AgentNetwork(name); name != "" && (a.Mode != "" || len(a.Hosts)+len(a.Services) > 0) {
			if n.Agents == nil {
				n.Agents = map[string]ledger.AgentNetwork{}
			}
			n.Agents[name] = a
		}
	}
	return n
}

// AgentNetwork returns what the sessions of an agent need: the hosts that are
// configured or known for it, and that of the base URL which it is given.
func (c *Config) AgentNetwork(name string) ledger.AgentNetwork {
	a := c.Agents[name]
	n := ledger.AgentNetwork{Mode: networkMode(a.Network), Hosts: a.Hosts}
	if a.Hosts == nil {
		n.Hosts = knownHosts(name, a.Command)
	}
	for _, base := range a.baseURLs() {
		host, service := hostOf(base)
		switch {
		case service != "" && !slices.Contains(n.Services, service):
			n.Services = append(n.Services, service)
		case host != "" && !slices.Contains(n.Hosts, host):
			n.Hosts = append(slices.Clip(n.Hosts), host)
		}
	}
	return n
}

// baseURLVars are the variables in which agents are told where their models are.
var baseURLVars = []string{
	"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL",
	"OLLAMA_HOST", "OPENROUTER_BASE_URL", "AZURE_OPENAI_ENDPOINT",
}

// baseURLs returns the addresses that the agent's variables name. A file that
// cannot be read has none: its check reports it.
func (a Agent) baseURLs() []string {
	var found []string
	for _, name := range a.PassEnv {
		if v := os.Getenv(name); v != "" && slices.Contains(baseURLVars, name) {
			found = append(found, v)
		}
	}
	text, err := os.ReadFile(a.EnvFile)
	if a.EnvFile == "" || err != nil {
		return found
	}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if ok && slices.Contains(baseURLVars, strings.TrimSpace(name)) {
			found = append(found, strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return found
}

// hostOf returns the host of an address as the configuration writes it, or the
// service if it lies on this machine's loopback. Both are empty for what is no
// address.
func hostOf(address string) (host, service string) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "", ""
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if name == "localhost" {
		name = "127.0.0.1"
	}
	if a, err := netip.ParseAddr(name); err == nil && a.IsLoopback() {
		return "", netip.AddrPortFrom(a, portNumber(port)).String()
	}
	if host = name + ":" + port; ledger.CheckHost(host) != nil {
		return "", ""
	}
	return host, ""
}

func portNumber(s string) uint16 {
	n, _ := strconv.ParseUint(s, 10, 16)
	return uint16(n)
}

// hosts checks each host of a list.
func (c *checker) hosts(list []string, path ...string) {
	for i, s := range list {
		where := child(path, strconv.Itoa(i))
		if err := ledger.CheckHost(s); err != nil && isText(c.doc, where) {
			c.value(fmt.Sprintf("%s: %q is not right: %v", path[len(path)-1], s, err), where...).Remedy =
				`Write it like "api.example.com", "*.example.com", "api.example.com:8443" or "git.example.com=10.0.0.5"`
		}
	}
}

// services checks each local service of a list.
func (c *checker) services(list []string, path ...string) {
	for i, s := range list {
		where := child(path, strconv.Itoa(i))
		if a, err := netip.ParseAddrPort(s); (err != nil || !a.Addr().IsLoopback() || a.Port() == 0) && isText(c.doc, where) {
			p := c.value(fmt.Sprintf("services: %q is no service on this machine", s), where...)
			p.Remedy = `Write address and port, like "127.0.0.1:5432"`
			if port, ok := strings.CutPrefix(s, "localhost:"); ok {
				p.Meant = "127.0.0.1:" + port
			}
		}
	}
}

// ports checks the ports of a project.
func (c *checker) ports(p *Project, at func(...string) []string) {
	for i, n := range p.Ports {
		if where := at("ports", strconv.Itoa(i)); (n < 1 || n > 65535) && c.isNumberAt(where) {
			c.value(fmt.Sprintf("ports: %d is no port", n), where...)
		}
	}
	if p.Ports != nil && len(p.Ports) == 0 && c.isList(at("ports")) {
		c.value("ports is empty: leave it out for 443 and 80", at("ports")...).Remedy = `For no network at all: network = "none"`
	}
}

// ManagersOf returns the package managers that have a file in a repository, or in a
// folder right below.
func ManagersOf(repo string) []Manager {
	var found []Manager
	for _, m := range managers {
		if slices.ContainsFunc(m.files, func(name string) bool { return hasFile(repo, name) }) {
			found = append(found, m)
		}
	}
	return found
}

func hasFile(repo, glob string) bool {
	for _, pattern := range []string{filepath.Join(globEscape(repo), glob), filepath.Join(globEscape(repo), "*", glob)} {
		if names, err := filepath.Glob(pattern); err == nil && len(names) > 0 {
			return true
		}
	}
	return false
}

// globEscape returns a path as a glob of itself alone.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
