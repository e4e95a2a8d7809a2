package egress

import (
	"hash/fnv"
	"net/netip"
	"sync"
)

// nameRange has one address for each name that a session looks up. All of
// 127.0.0.0/8 is local in every network namespace, so no route is needed.
var nameRange = netip.MustParsePrefix("127.64.0.0/10")

// maxNames bounds the names of one proxy, and with them its memory: a session
// can look up as many as it likes.
const maxNames = 1 << 16

// nameTable assigns addresses to names. An address follows from its name's
// hash, so that it is the same after a restart unless two names collide.
type nameTable struct {
	mu    sync.Mutex
	names map[netip.Addr]string
	addrs map[string]netip.Addr
}

// address returns the address of a name, which it assigns at the first call.
// The zero Addr says that the table is full.
func (t *nameTable) address(host string) netip.Addr {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, ok := t.addrs[host]; ok {
		return a
	}
	if len(t.addrs) >= maxNames {
		return netip.Addr{}
	}
	if t.addrs == nil {
		t.addrs, t.names = map[string]netip.Addr{}, map[netip.Addr]string{}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(host))
	for n := h.Sum32(); ; n++ {
		a := netip.AddrFrom4([4]byte{127, 64 | byte(n>>16)&63, byte(n >> 8), byte(n)})
		if _, taken := t.names[a]; !taken {
			t.addrs[host], t.names[a] = a, host
			return a
		}
	}
}

// name returns the name that an address was assigned to.
func (t *nameTable) name(a netip.Addr) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	host, ok := t.names[a.Unmap()]
	return host, ok
}

// nameOf returns the name that an address stands for, or host itself. Some
// clients look a name up before they ask a proxy for it.
func (t *nameTable) nameOf(host string) string {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if name, ok := t.name(a); ok {
		return name
	}
	return host
}

// notPublic are the ranges of IANA's registries of special-purpose addresses
// that are not reached over the internet. Those of IPv6 that embed an IPv4
// address are among them: 64:ff9b::/96 and 64:ff9b:1::/48 (NAT64), 2002::/16
// (6to4), 2001::/32 (Teredo).
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// globalUnicast is all that is assigned of IPv6 for hosts on the internet.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, s := range texts {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// isPublic reports whether an address is one of the internet.
func isPublic(a netip.Addr) bool {
	if a.Zone() != "" || a.Is4In6() || a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsValid()
}
