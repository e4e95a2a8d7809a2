package egress

import (
	"strings"
	"testing"
)

// TestReached has a real client reach what the policy names, by each way in.
func TestReached(t *testing.T) {
	o := newOutside(t)
	in := start(t, o.options("api.example.com"))
	c := in.client(o)
	for address, want := range map[string]string{
		"https://api.example.com/a?b=1": "GET https://api.example.com/a?b=1 0",
		"http://api.example.com/a?b;c":  "GET http://api.example.com/a?b;c 0",
	} {
		if code, body := get(t, c, address); code != 200 || body != want {
			t.Errorf("%s: %d %q, want %q", address, code, body, want)
		}
	}
}

func TestUnknownHostIsRefused(t *testing.T) {
	o := newOutside(t)
	in := start(t, o.options("api.example.com"))
	c := in.client(o)
	const reason = "nightporter: other.example.com:%s is not among hosts of [[project]]"
	if _, body := get(t, c, "https://other.example.com/"); !strings.Contains(body, strings.ReplaceAll(reason, "%s", "443")) {
		t.Errorf("CONNECT: %q", body)
	}
	if code, body := get(t, c, "http://other.example.com/"); code != 403 || !strings.Contains(body, strings.ReplaceAll(reason, "%s", "80")) {
		t.Errorf("GET: %d %q", code, body)
	}
	if len(o.asked) > 0 || len(o.dials()) > 0 {
		t.Errorf("resolved %q, dialled %q", o.asked, o.dials())
	}
	for range 2 {
		if u := o.use(); u.Allow || u.Code != CodeUnknown || u.Host != "other.example.com" {
			t.Errorf("seen as %+v", u)
		}
	}
}
