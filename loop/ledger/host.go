package ledger

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// ParseHost reads a host that a person names: HOST, *.HOST or HOST:PORT. port is 0
// where none is named.
func ParseHost(s string) (host string, port int, err error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if strings.Contains(s, "=") {
		return "", 0, errors.New("an address is named in the configuration alone")
	}
	if err := CheckHost(s); err != nil {
		return "", 0, err
	}
	host, named, _ := strings.Cut(s, ":")
	port, _ = strconv.Atoi(named) // CheckHost has looked at it
	return strings.TrimSuffix(host, "."), port, nil
}

// CheckHost returns what is wrong with a host as the configuration writes it: HOST,
// *.HOST, HOST:PORT, HOST=ADDRESS.
func CheckHost(s string) error {
	name, addr, pinned := strings.Cut(s, "=")
	if pinned {
		if a, err := netip.ParseAddr(addr); err != nil || a.Zone() != "" {
			return fmt.Errorf("%q is no IP address", addr)
		}
	}
	if strings.ContainsAny(name, "/@?#") {
		return errors.New("a host is a name, without scheme, user and path")
	}
	name, port, ok := strings.Cut(name, ":")
	if ok {
		if strings.Contains(port, ":") {
			return errors.New("addresses of IPv6 are not reached: name a host or an address of IPv4")
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%q is no port", port)
		}
	}
	name, below := strings.CutPrefix(name, "*.")
	if strings.Contains(name, "*") {
		return errors.New("* stands for whole names in front of a host, as in *.example.com")
	}
	if a, err := netip.ParseAddr(name); err == nil {
		if below {
			return errors.New("an address has no names below it")
		}
		if !a.Is4() {
			return errors.New("addresses of IPv6 are not reached: name a host or an address of IPv4")
		}
		return nil
	}
	if err := checkHostName(name); err != nil || !below {
		return err
	}
	// Suffixes of the list's private part are domains of somebody: that of googleapis.com
	// is in it beside those of hosting.
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if suffix, icann := publicsuffix.PublicSuffix(name); suffix == name && (icann || !strings.Contains(suffix, ".")) {
		return fmt.Errorf("*.%s would be all hosts of everybody", name)
	}
	return nil
}

// checkHostName refuses what is no host's name in its ASCII form, and what some
// resolvers take for an address and others for a name (127.1, 0x7f000001).
func checkHostName(name string) error {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > 253 {
		return errors.New("a host has a name")
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		bad := strings.ContainsFunc(label, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
		})
		switch {
		case bad && strings.ContainsFunc(label, func(r rune) bool { return r > 127 }):
			return errors.New("names in other letters are written in ASCII, as xn--…")
		case bad, label == "", len(label) > 63, strings.HasPrefix(label, "-"), strings.HasSuffix(label, "-"):
			return fmt.Errorf("%q is no part of a host's name", label)
		}
		last = strings.ToLower(label)
	}
	hex, isHex := strings.CutPrefix(last, "0x")
	if strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == "" {
		return errors.New("an address of IPv4 has four decimal numbers")
	}
	return nil
}
