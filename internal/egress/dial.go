package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

const (
	resolveTimeout = 15 * time.Second
	dialTimeout    = 15 * time.Second // for one address
	maxAddresses   = 4                // tried of one name
)

// dial connects to a host by the address that the policy pins, or else by what
// the proxy's own resolver says now. The address that was judged is the one
// that is dialled: nothing resolves the name a second time.
func (p *Proxy) dial(ctx context.Context, host string, port int, pin netip.Addr) (net.Conn, error) {
	addrs := []netip.Addr{pin}
	if !pin.IsValid() {
		var err error
		if addrs, err = p.resolve(ctx, host); err != nil {
			return nil, err
		}
	}
	var failed error
	for _, a := range addrs {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		c, err := p.opt.Dial(ctx, "tcp", net.JoinHostPort(a.String(), strconv.Itoa(port)))
		cancel()
		if err == nil {
			return c, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, refusef(CodeUnreachable, "%s:%d cannot be reached: %v", host, port, failed)
}

// resolve returns the public addresses of a name, IPv4 first: a machine
// without a route for IPv6 may only find out by waiting.
func (p *Proxy) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil // judge lets an address pass only if the policy names it
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	all, err := p.opt.Resolve(ctx, host)
	if err != nil {
		return nil, refusef(CodeUnreachable, "%s has no address: %v", host, err)
	}
	if len(all) == 0 {
		return nil, refusef(CodeUnreachable, "%s has no address", host)
	}
	own := p.own()
	var public []netip.Addr
	for _, a := range all {
		if a = a.Unmap(); isPublic(a) && !slices.Contains(own, a) {
			public = append(public, a)
		}
	}
	if len(public) == 0 {
		return nil, refusef(CodeAddress, "%s has the address %s, which is not one of the internet; to allow it, write %s=%s in "+settingHosts, host, all[0], host, all[0].Unmap())
	}
	slices.SortStableFunc(public, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return public[:min(len(public), maxAddresses)], nil
}

// ownAddresses returns the addresses of this machine. A service that listens on
// all of them is as local as one on loopback, also where they are public.
func ownAddresses() (out []netip.Addr) {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if own, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, own.Unmap())
			}
		}
	}
	return out
}

// resolveHere asks the machine's resolver. The final dot keeps it from trying
// the machine's search domains.
func resolveHere(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
	if err != nil {
		var dns *net.DNSError
		if errors.As(err, &dns) {
			return nil, fmt.Errorf("%s", dns.Err) // the whole text names the machine's server
		}
		return nil, err
	}
	return addrs, nil
}
