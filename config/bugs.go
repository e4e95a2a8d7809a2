package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Bugs is the section [bugs]: an address of this machine that takes bug reports
// (docs/spec 3.11).
type Bugs struct {
	Listen    string `toml:"listen"`     // ADDRESS:PORT on this machine's loopback
	TokenFile string `toml:"token_file"` // "" = the systemd credential bugs-token, else bugs.token
	Project   string `toml:"project"`    // whose inbox gets them; "" = the only project
}

// Names of the token that reports are posted with.
const (
	bugsCredential = "bugs-token"
	bugsTokenName  = "bugs.token"
)

// bugs checks the section [bugs].
func (c *checker) bugs() {
	b := c.cfg.Bugs
	if b == nil {
		return
	}
	listen := []string{"bugs", "listen"}
	a, err := netip.ParseAddrPort(b.Listen)
	switch port, local := strings.CutPrefix(b.Listen, "localhost:"); {
	case b.Listen == "":
		c.key("listen is missing: write the address, like listen = \"127.0.0.1:8787\"", listen...)
	case err == nil && a.Addr().IsLoopback() && a.Port() != 0:
	case local:
		c.value("listen needs an address: write \"127.0.0.1:"+port+"\"", listen...).Meant = "127.0.0.1:" + port
	case err == nil && !a.Addr().IsLoopback():
		p := c.value(fmt.Sprintf("listen: %s can be reached from elsewhere", a.Addr()), listen...)
		p.Remedy = "Write \"127.0.0.1:PORT\", and let a web server with TLS on this machine pass reports on to it"
	default:
		c.value(fmt.Sprintf("listen: %q is no address with a port", b.Listen), listen...).Remedy = "Write it like \"127.0.0.1:8787\""
	}
	c.secretFile(b.TokenFile, "Make one: (umask 077; openssl rand -hex 32 > %s)", "bugs", "token_file")
	is := func(p Project) bool { return p.Name == b.Project }
	switch {
	case b.Project == "" && len(c.cfg.Projects) > 1:
		c.key("project is missing: which one gets the reports?", "bugs", "project")
	case b.Project != "" && !slices.ContainsFunc(c.cfg.Projects, is):
		c.value(fmt.Sprintf("no project %q", strings.TrimSpace(b.Project)), "bugs", "project")
	}
}

// DomainsOfOthers returns the hosts at which other projects are used, sorted, without
// those of p.
func (c *Config) DomainsOfOthers(p Project) []string {
	var others []string
	for _, o := range c.Projects {
		if o.Name != p.Name {
			others = append(others, slices.DeleteFunc(slices.Clone(o.Domains), func(d string) bool { return slices.Contains(p.Domains, d) })...)
		}
	}
	slices.Sort(others)
	return slices.Compact(others)
}

// BugsProject returns the name of the project whose inbox gets posted reports, "" for
// none.
func (c *Config) BugsProject() string {
	switch {
	case c.Bugs == nil:
		return ""
	case c.Bugs.Project == "" && len(c.Projects) == 1:
		return c.Projects[0].Name
	}
	return c.Bugs.Project
}
