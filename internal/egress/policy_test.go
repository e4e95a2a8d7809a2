package egress

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{ // a want with a space is the error
		"api.example.org":                 "api.example.org",
		"API.Example.ORG.":                "api.example.org",
		"*.example.org":                   "*.example.org",
		"host.example.org:8443":           "host.example.org:8443",
		"git.intern=10.0.0.5":             "git.intern=10.0.0.5",
		"models.test:8080=127.0.0.1":      "models.test:8080=127.0.0.1",
		"git.intern=fd00::5":              "git.intern=fd00::5",
		"git.intern=::ffff:10.0.0.5":      "git.intern=10.0.0.5",
		"10.0.0.5:8080":                   "10.0.0.5:8080",
		"localhost:3000=127.0.0.1":        "localhost:3000=127.0.0.1",
		"bücher.example.org":              "xn--bcher-kva.example.org",
		"*.bücher.example.org":            "*.xn--bcher-kva.example.org",
		"*.googleapis.com:443":            "*.googleapis.com:443",
		"*.co.uk":                         "can register",
		"*.com":                           "can register",
		"*":                               "wildcard stands for",
		"*.*.example.org":                 "wildcard stands for",
		"a*.example.org":                  "wildcard stands for",
		"*.10.0.0.5":                      "no names below",
		"":                                "empty; expected",
		".":                               "empty; expected",
		"a..b":                            "empty label",
		"https://example.org":             "without scheme",
		"example.org/path":                "without scheme",
		"example.org:":                    "is no port",
		"example.org:0":                   "is no port",
		"example.org:65536":               "is no port",
		"example.org:+80":                 "is no port",
		"example.org:80:80":               "IPv6 addresses",
		"[::1]:80":                        "IPv6 addresses",
		"example.org=":                    "no IP address",
		"example.org=here":                "no IP address",
		"example.org=fe80::1%eth0":        "no IP address",
		"-a.example.org":                  "with a hyphen",
		"a_b.example.org":                 "letters, digits and hyphens",
		"a b.example.org":                 "letters, digits and hyphens",
		"a\x00b.example.org":              "letters, digits and hyphens",
		"127.1":                           "four decimal numbers",
		"0x7f.1":                          "four decimal numbers",
		"2130706433":                      "four decimal numbers",
		"0177.0.0.1":                      "four decimal numbers",
		"127.0.0.0x1":                     "four decimal numbers",
		strings.Repeat("a", 64) + ".org":  "label longer",
		strings.Repeat("a.", 127) + "org": "longer than",
	} {
		h, err := ParseHost(in)
		if got := h.String(); err == nil && got != want {
			t.Errorf("%q is read as %q, want %q", in, got, want)
		} else if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func TestParseService(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:5432":   "127.0.0.1:5432",
		"localhost:6379":   "127.0.0.1:6379",
		"127.9.9.9:1":      "127.9.9.9:1",
		"127.64.0.1:80":    "kept for names",
		"127.0.0.1:0":      "expected an IPv4 loopback address",
		"10.0.0.1:80":      "expected an IPv4 loopback address",
		"[::1]:80":         "expected an IPv4 loopback address",
		"127.0.0.1":        "expected an IPv4 loopback address",
		"db.internal:5432": "expected an IPv4 loopback address",
	} {
		s, err := ParseService(in)
		if got := s.String(); err == nil && got != want {
			t.Errorf("%q is read as %q, want %q", in, got, want)
		} else if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func TestPolicyJSON(t *testing.T) {
	s, err := ParseService("127.0.0.1:5432")
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Hosts: parseHosts(t, "*.example.org", "git.intern:22=10.0.0.5"), ReadOnly: parseHosts(t, "registry.example.org"), Services: []Service{s}, Canaries: []string{"s3cr3t-value"}}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"hosts":["*.example.org","git.intern:22=10.0.0.5"],"read_only":["registry.example.org"],"services":["127.0.0.1:5432"],"canaries":["s3cr3t-value"]}`
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	var back Policy
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(back); string(again) != want {
		t.Errorf("read back as %s", again)
	}
	if err := json.Unmarshal([]byte(`{"hosts":["*.com"]}`), &back); err == nil {
		t.Error("a policy for *.com was read")
	}
}

// TestPorts holds that a policy of ports leads to hosts of the internet alone.
func TestPorts(t *testing.T) {
	p := Policy{Ports: []int{443}}
	for target, want := range map[Target]bool{
		{Host: "api.example.com", Port: 443}:  true,
		{Host: "api.example.com", Port: 8443}: false,
		{Host: "93.184.216.34", Port: 443}:    false,
		{Host: "printer.local", Port: 443}:    false,
		{Host: "localhost", Port: 443}:        false,
	} {
		if _, got := p.routeOf(target); got != want {
			t.Errorf("%s: %t", target, got)
		}
	}
}
