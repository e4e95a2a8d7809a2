package agent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/internal/egress"
	"github.com/nightporter/nightporter/loop/ledger"
)

// compareHost fails where the configuration takes a host that the proxy refuses, which
// would end every session at its start, or refuses one that the proxy takes.
func compareHost(t interface{ Errorf(string, ...any) }, host string) {
	checked := ledger.CheckHost(host)
	_, parsed := egress.ParseHost(host)
	if (checked == nil) != (parsed == nil) {
		t.Errorf("%q: the configuration says %v, the proxy %v", host, checked, parsed)
	}
}

func TestHostsOfConfigurationAndProxy(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, host := range []string{
		"api.example.org", "API.Example.ORG", "api.example.org.", "api.example.org..", "*.example.org", "*.Example.org.", "api.example.org:8443", "localhost",
		"10.0.0.5", "10.0.0.5:80", "git.intern=10.0.0.5", "models.test:8080=127.0.0.1", "*.test=127.0.0.1", "a.test=::1", "a.test=::ffff:10.0.0.1", "a.test=fe80::1%eth0", "a.test=",
		"", ".", "*", "*.", "*.*", "a.*.org", "*a.org", "*.org", "*.co.uk", "*.CO.UK", "*.co.uk.", "*.github.io", "*.googleapis.com", "*.intern", "*.10.0.0.5", "*.0x1f",
		"my_host.example.org", "-a.org", "a-.org", "a..org", ".a.org", "a b.org", "a\x00.org", "a\n.org", "a/b", "https://a.org", "me@a.org", "a.org?x", "a.org#x", "a.org%61",
		"127.1", "2130706433", "0x7f000001", "1.2.3.400", "1.2.3.04", "a.0x", "a.0xZZ", "a.1e", "::1", "[::1]", "[::1]:443", "a:b:c", "::ffff:127.0.0.1",
		"a.org:", "a.org:0", "a.org:65535", "a.org:65536", "a.org:+443", "a.org:-1", "a.org:0443", "a.org: 443", "a.org:４４３", "a.org:443=", "a=b=c",
		long + ".org", long + "a.org", strings.Repeat(long+".", 3) + strings.Repeat("a", 61), strings.Repeat(long+".", 3) + strings.Repeat("a", 62), strings.Repeat(long+".", 3) + strings.Repeat("a", 61) + ".",
		"xn--mnchen-3ya.de", "*.xn--p1ai",
	} {
		compareHost(t, host)
	}
	// The configuration wants what it shows to be what is compared: punycode.
	for _, host := range []string{"münchen.de", "пример.рф", "a\u200b.org", "a。org"} {
		if ledger.CheckHost(host) == nil {
			t.Errorf("%q is taken as it is", host)
		}
	}
}

func TestHostsOfConfigurationAndProxyAtRandom(t *testing.T) {
	part := rapid.StringMatching(`[a-z0-9A-Z_.*:=-]{0,12}|co\.uk|org|0x[0-9a-f]{0,4}|[0-9]{1,4}|\.|\*\.|:[0-9+]{1,6}|=10\.0\.0\.[0-9]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		compareHost(t, strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "parts"), ""))
	})
}
