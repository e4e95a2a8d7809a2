package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

const (
	maxName  = 253 // bytes of a name, RFC 1035 2.3.4
	maxLabel = 63
)

// toASCII converts a name of the configuration to punycode. Names of requests
// are not converted: a client that resolved them would have had to.
func toASCII(s string) (string, error) {
	for _, r := range s {
		if r >= 0x80 {
			a, err := idna.Lookup.ToASCII(s)
			if err != nil {
				return "", fmt.Errorf("not a host name: %w", err)
			}
			return a, nil
		}
	}
	return s, nil
}

// parseName normalises a host name or IPv4 address: lower case, without one
// final dot. It refuses all that is not letters, digits and hyphens in labels
// of 1 to 63 bytes, IPv6 addresses, and the other forms of IPv4 addresses that
// C libraries read (127.1, 0x7f000001, 2130706433), which would be looked up
// as names here and be addresses elsewhere.
func parseName(s string) (string, error) {
	if strings.ContainsAny(s, ":[]%") {
		return "", errors.New("IPv6 addresses are not reached; expected a name or an IPv4 address")
	}
	s = strings.TrimSuffix(s, ".")
	switch {
	case s == "":
		return "", errors.New("empty; expected a host name")
	case len(s) > maxName:
		return "", fmt.Errorf("longer than %d bytes", maxName)
	}
	s = strings.ToLower(s)
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
		last = label
	}
	if isNumber(last) && !isLiteral(s) {
		return "", errors.New("neither a name nor an IPv4 address of four decimal numbers")
	}
	return s, nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("an empty label; expected a name such as api.example.org")
	case len(label) > maxLabel:
		return fmt.Errorf("a label longer than %d bytes", maxLabel)
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Errorf("label %q begins or ends with a hyphen", label)
	}
	for _, r := range label {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return fmt.Errorf("%q in a name; expected letters, digits and hyphens", r)
		}
	}
	return nil
}

// isNumber reports whether a resolver could take a name that ends in label for
// an IPv4 address.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func isLiteral(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Is4()
}

// parseTarget reads HOST:PORT of a request. A missing port is the one given; 0
// means that it must be there.
func parseTarget(s string, port int) (Target, error) {
	host := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 || port == 0 {
		h, p, err := net.SplitHostPort(s)
		if err != nil {
			return Target{}, errors.New("expected HOST:PORT with a name or an IPv4 address")
		}
		if port, err = parsePort(p); err != nil {
			return Target{}, err
		}
		host = h
	}
	host, err := parseName(host)
	if err != nil {
		return Target{}, err
	}
	return Target{Host: host, Port: port}, nil
}

// localZones are names that mean another machine on each network, or no host
// at all. A session reaches one only if the policy names it.
var localZones = []string{
	"localhost", "local", "internal", "onion", "home.arpa", "lan", "intranet", "corp", "home", "private",
	"test", "invalid", "example", "alt", "in-addr.arpa", "ip6.arpa",
}

// isLocal reports whether a name is of a local zone, or without a dot: a
// resolver would look the latter up in the machine's search domains.
func isLocal(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, zone := range localZones {
		if strings.HasSuffix(host, "."+zone) {
			return true
		}
	}
	return false
}
