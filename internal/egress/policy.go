package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Policy says what a session may reach. The zero value permits nothing.
type Policy struct {
	Hosts    []Host    `json:"hosts,omitempty"`     // reached with any method
	ReadOnly []Host    `json:"read_only,omitempty"` // reached by GET and HEAD of http://, which the proxy makes https
	Services []Service `json:"services,omitempty"`  // local services outside, reached at the same address inside
	Ports    []int     `json:"ports,omitempty"`     // ports on which every host of the internet is reached
	Canaries []string  `json:"canaries,omitempty"`  // secrets that no request may carry; those under 8 bytes are ignored
}

// Host is one entry of a policy: a name, all names below one, or an IPv4
// address. Its text is what ParseHost reads, also in JSON.
type Host struct {
	Name     string     // lower case, punycode, without a final dot
	Wildcard bool       // all names below Name, and not Name
	Port     int        // 0 is 443 and 80
	Addr     netip.Addr // dialled instead of what the name resolves to; the zero value is none
}

// ParseHost reads a host as it is written in the configuration:
// "api.example.org", "*.example.org", "host.example.org:8443", an IPv4
// address, and any of them with the address to dial, as in
// "git.intern=10.0.0.5" or "models.test:8080=127.0.0.1".
func ParseHost(s string) (Host, error) {
	h, err := parseHost(s)
	if err != nil {
		return Host{}, fmt.Errorf("host %q: %w", s, err)
	}
	return h, nil
}

func parseHost(s string) (Host, error) {
	var h Host
	name, addr, pinned := strings.Cut(s, "=")
	if pinned {
		a, err := netip.ParseAddr(addr)
		if err != nil || a.Zone() != "" {
			return Host{}, fmt.Errorf("%q is no IP address; expected NAME=ADDRESS as in git.example.org=10.0.0.5", addr)
		}
		h.Addr = a.Unmap()
	}
	if strings.Contains(name, "://") || strings.Contains(name, "/") {
		return Host{}, errors.New("expected a host name without scheme and path, as in api.example.org or api.example.org:8443")
	}
	if name, port, ok := strings.Cut(name, ":"); ok {
		if strings.Contains(port, ":") {
			return Host{}, errors.New("IPv6 addresses are not reached; expected a name or an IPv4 address")
		}
		n, err := parsePort(port)
		if err != nil {
			return Host{}, err
		}
		h.Port, h.Name = n, name
	} else {
		h.Name = name
	}
	h.Name, h.Wildcard = strings.CutPrefix(h.Name, "*.")
	if strings.Contains(h.Name, "*") {
		return Host{}, errors.New(`a wildcard stands for whole labels in front of a name, as in "*.example.org"`)
	}
	ascii, err := toASCII(h.Name)
	if err != nil {
		return Host{}, err
	}
	if h.Name, err = parseName(ascii); err != nil {
		return Host{}, err
	}
	if !h.Wildcard {
		return h, nil
	}
	if isLiteral(h.Name) {
		return Host{}, errors.New("an address has no names below it")
	}
	// Suffixes of the list's other part are domains of somebody: that of
	// googleapis.com is in it beside those of hosting.
	if suffix, icann := publicsuffix.PublicSuffix(h.Name); suffix == h.Name && (icann || !strings.Contains(suffix, ".")) {
		return Host{}, fmt.Errorf(`everybody can register names below %q; expected a wildcard below a registered name, as in "*.example.org"`, h.Name)
	}
	return h, nil
}

func parsePort(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || s[0] == '+' {
		return 0, fmt.Errorf("%q is no port; expected a number from 1 to 65535", s)
	}
	return int(n), nil
}

// String returns the text that ParseHost reads.
func (h Host) String() string {
	s := h.Name
	if h.Wildcard {
		s = "*." + s
	}
	if h.Port != 0 {
		s += ":" + strconv.Itoa(h.Port)
	}
	if h.Addr.IsValid() {
		s += "=" + h.Addr.String()
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (h Host) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Host) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHost(string(text))
	return err
}

// covers reports whether h names the host, whatever the port.
func (h Host) covers(host string) bool {
	if h.Wildcard {
		return strings.HasSuffix(host, "."+h.Name) && !isLiteral(host)
	}
	return h.Name == host
}

// onPort reports whether h may be reached on a port.
func (h Host) onPort(port int) bool {
	return h.Port == port || h.Port == 0 && (port == portTLS || port == portHTTP)
}

// Service is a local service outside, such as a database on 127.0.0.1:5432.
// Its text is what ParseService reads, also in JSON.
type Service struct{ Addr netip.AddrPort }

// ParseService reads "127.0.0.1:5432" or "localhost:5432". The address is of
// 127.0.0.0/8, because nothing else can be listened on inside, and not one of
// those that stand for names (Proxy.Address).
func ParseService(s string) (Service, error) {
	text := s
	if port, ok := strings.CutPrefix(s, "localhost:"); ok {
		text = "127.0.0.1:" + port
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil || a.Port() == 0 || !a.Addr().Is4() || !a.Addr().IsLoopback() {
		return Service{}, fmt.Errorf("service %q: expected an IPv4 loopback address and a port, as in 127.0.0.1:5432", s)
	}
	if nameRange.Contains(a.Addr()) {
		return Service{}, fmt.Errorf("service %q: %s is kept for names of hosts", s, nameRange)
	}
	return Service{a}, nil
}

// String returns the text that ParseService reads.
func (s Service) String() string { return s.Addr.String() }

// MarshalText implements encoding.TextMarshaler.
func (s Service) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Service) UnmarshalText(text []byte) (err error) {
	*s, err = ParseService(string(text))
	return err
}
