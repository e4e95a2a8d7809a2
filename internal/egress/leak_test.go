package egress

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// lines returns the names of a file of testdata.
func lines(t *testing.T, name string) (out []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

func TestRealHostsDoNotLookLikeData(t *testing.T) {
	names := lines(t, "hosts.txt")
	if len(names) < 200 {
		t.Fatalf("only %d names", len(names))
	}
	for _, name := range names {
		if n, err := parseName(name); err != nil || n != name {
			t.Errorf("%s is no host name: %v", name, err)
		}
		if looksLikeData(name) {
			t.Errorf("%s looks like data", name)
		}
	}
}

func TestDataLooksLikeData(t *testing.T) {
	for _, name := range lines(t, "leaks.txt") {
		if !looksLikeData(name) {
			t.Errorf("%s passes", name)
		}
	}
}

// TestEncodedSecretsLookLikeData encodes random secrets of 32 bytes as programs
// do that send data by names.
func TestEncodedSecretsLookLikeData(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	lower := func(s string) string { return strings.NewReplacer("_", "-", "=", "").Replace(strings.ToLower(s)) }
	for name, c := range map[string]struct {
		encode func([]byte) string
		may    int // of 500 secrets pass
	}{
		"hex":    {hex.EncodeToString, 0},
		"base32": {func(b []byte) string { return lower(base32.StdEncoding.EncodeToString(b)) }, 5},
		// Names are compared in lower case, so that nobody can decode it.
		"base64": {func(b []byte) string { return lower(base64.URLEncoding.EncodeToString(b)) }, 125},
	} {
		for _, size := range []int{8, 12, 16, 30, 60} {
			passed := 0
			const rounds = 500
			for range rounds {
				secret := make([]byte, 32)
				for i := range secret {
					secret[i] = byte(draw.Uint32())
				}
				if !looksLikeData(split(c.encode(secret), size) + ".evil.com") {
					passed++
				}
			}
			t.Logf("%s in labels of %d: %d of %d pass", name, size, passed, rounds)
			if passed > c.may {
				t.Errorf("%s in labels of %d: %d pass, at most %d may", name, size, passed, c.may)
			}
		}
	}
}

// split cuts a text into labels.
func split(s string, size int) string {
	var labels []string
	for len(s) > size {
		labels, s = append(labels, s[:size]), s[size:]
	}
	return strings.Join(append(labels, s), ".")
}
