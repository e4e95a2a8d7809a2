package loop

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// missed tells, before the night, what setup and the verification of the start commit
// lacked in a closed network: the sessions that follow would lack it, too.
func (d *decision) missed(v ledger.Verified) {
	r, m := d.run(), ledger.HostsMissed{}
	for _, h := range r.HostsWanted {
		settled := func(rule HostRule) bool { return rule.Session == "" && rule.covers(h.Host, h.Port) }
		if !slices.Contains(m.Hosts, h.name()) && !slices.ContainsFunc(d.Project.Hosts, settled) && !slices.ContainsFunc(r.Hosts, settled) {
			m.Hosts = append(m.Hosts, h.name())
		}
	}
	if d.commandNetwork(v.Kind, d.outsideCheck("")) == ledger.NetworkNone {
		for _, res := range redResults(v.Results) {
			for _, s := range silentServices(res.Tail) {
				if !slices.Contains(m.Services, s) && !slices.Contains(r.Settings.Network.Services, s) {
					m.Services = append(m.Services, s)
				}
			}
		}
	}
	if len(m.Hosts)+len(m.Services) > 0 {
		d.add(scope{}, m)
	}
}

// missedByAgents tells, before the night, which hosts an agent asked for that nobody named.
func (d *decision) missedByAgents(all []AgentHosts) {
	r := d.run()
	rules := r.Settings.Network
	for _, a := range all {
		named := slices.Concat(rules.Hosts, rules.ReadOnly, rules.Agents[a.Agent].Hosts)
		m := ledger.HostsMissed{Agent: a.Agent}
		for _, u := range a.Hosts {
			covers := func(h HostRule) bool { return h.Session == "" && h.covers(u.Host, u.Port) }
			name := HostName(u.Host, u.Port)
			if !slices.Contains(m.Hosts, name) && !slices.ContainsFunc(named, func(s string) bool { return covers(hostRule(s)) }) && !slices.ContainsFunc(d.Project.Hosts, covers) {
				m.Hosts = append(m.Hosts, name)
			}
		}
		if len(m.Hosts) > 0 {
			d.add(scope{}, m)
		}
	}
}

// Forms of output by which programs say that nothing listens at a port of the
// machine's loopback: Go, Node.js, psycopg, JDBC, redis-py and mysql among others.
var (
	refusedLine  = regexp.MustCompile(`(?i)refused|\(111\)`)
	loopbackPort = regexp.MustCompile(`(?:\b127\.0\.0\.1|\blocalhost|::1)[\])"']*(?::|,? port )(\d{1,5})\b`)
)

// silentServices returns the ports of the machine's loopback that a command's output
// calls refused, as `services` writes them. With a closed network they are those of
// the session, where no service of the machine listens.
func silentServices(output string) []string {
	var found []string
	for line := range strings.Lines(output) {
		if !refusedLine.MatchString(line) {
			continue
		}
		for _, m := range loopbackPort.FindAllStringSubmatch(line, -1) {
			port, err := strconv.ParseUint(m[1], 10, 16)
			if s := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)).String(); err == nil && port > 0 && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}
