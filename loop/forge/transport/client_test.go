package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

const token = "s3cr3t-t0ken"

// open starts a server and a client of it.
func open(t *testing.T, serve http.HandlerFunc) *Client {
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	c, err := New(Options{Title: "Forge", Base: s.URL + "/api", Token: token, Authorization: "Bearer " + token, Clock: func() time.Time { return time.Unix(1000, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// get returns the error of a call.
func get(t *testing.T, c *Client, method, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(t.Context(), method, c.Base.JoinPath(path).String(), strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.HTTP.Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

// TestOtherHosts checks that the token reaches its server and no other one.
func TestOtherHosts(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	c := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("the server got %q", r.Header.Get("Authorization"))
		}
		switch r.URL.Path {
		case "/api/elsewhere":
			http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		case "/api/moved":
			http.Redirect(w, r, "/api/here", http.StatusMovedPermanently)
		case "/api/circle":
			http.Redirect(w, r, "/api/circle", http.StatusFound)
		}
	})
	_, err := get(t, c, http.MethodGet, "elsewhere")
	if f := c.Lost(err); f.Failure != ledger.ForgeRefused || f.Remedy == "" || reached != 0 {
		t.Errorf("%+v; the other server was reached %d times", f, reached)
	}
	if _, err := c.HTTP.Get(other.URL); err == nil || reached != 0 {
		t.Errorf("%v; the other server was reached %d times", err, reached)
	}
	if _, err := get(t, c, http.MethodGet, "moved"); err != nil {
		t.Errorf("on the same server: %v", err)
	}
	_, err = get(t, c, http.MethodPost, "moved")
	var moved MovedError
	if !errors.As(err, &moved) || c.Lost(err).Failure != ledger.ForgeMissing {
		t.Errorf("a POST that would become a GET: %v", err)
	}
	if _, err := get(t, c, http.MethodGet, "circle"); c.Lost(err).Failure != ledger.ForgeAway {
		t.Errorf("a circle: %v", err)
	}
}

func TestNew(t *testing.T) {
	for _, base := range []string{"", "github.com", "ftp://x/", "https://", "https://me:pw@x/", "::"} {
		if _, err := New(Options{Title: "Forge", Base: base}); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// TestBody checks that an answer without an end has one.
func TestBody(t *testing.T) {
	c := open(t, func(w http.ResponseWriter, _ *http.Request) {
		part := make([]byte, 1<<20)
		for range 20 {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	resp, err := get(t, c, http.MethodGet, "x")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if !errors.Is(err, errTooLong) || n != maxBody || c.Lost(err).Failure != ledger.ForgeAway {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestFailure checks what answers mean, and that none of them shows the token.
func TestFailure(t *testing.T) {
	c := open(t, nil)
	limit := func(remaining, reset string) http.Header {
		return http.Header{"X-Ratelimit-Remaining": {remaining}, "X-Ratelimit-Reset": {reset}, "Date": {time.Unix(5000, 0).UTC().Format(http.TimeFormat)}}
	}
	for _, k := range []struct {
		name string
		a    Answer
		want ledger.ForgeFailure
		at   int64 // RetryAt
	}{
		{"revoked", Answer{Status: 401, Message: "Bad credentials"}, ledger.ForgeLogin, 0},
		{"rights", Answer{Status: 403, Message: "Resource not accessible by personal access token"}, ledger.ForgeRights, 0},
		{"rights and a full limit", Answer{Status: 403, Message: "Must have admin rights", Header: limit("4999", "8600")}, ledger.ForgeRights, 0},
		{"archived", Answer{Status: 403, Message: "Repository was archived so is read-only."}, ledger.ForgeArchived, 0},
		{"locked", Answer{Status: 423}, ledger.ForgeArchived, 0},
		{"limit with a reset, by another clock", Answer{Status: 403, Header: limit("0", "8600")}, ledger.ForgeLimited, 4600},
		{"second limit", Answer{Status: 403, Message: "You have exceeded a secondary rate limit", Header: http.Header{"Retry-After": {"60"}}}, ledger.ForgeLimited, 1060},
		{"second limit without a time", Answer{Status: 403, Message: "You have exceeded a secondary rate limit"}, ledger.ForgeLimited, 1060},
		{"too many", Answer{Status: 429}, ledger.ForgeLimited, 1060},
		{"a date", Answer{Status: 429, Header: http.Header{"Retry-After": {time.Unix(5030, 0).UTC().Format(http.TimeFormat)}, "Date": {time.Unix(5000, 0).UTC().Format(http.TimeFormat)}}}, ledger.ForgeLimited, 1030},
		{"a wait of a year", Answer{Status: 429, Header: http.Header{"Retry-After": {"31536000"}}}, ledger.ForgeLimited, 1000 + 24*3600},
		{"nonsense", Answer{Status: 429, Header: http.Header{"Retry-After": {"-5"}, "X-Ratelimit-Reset": {"x"}}}, ledger.ForgeLimited, 1060},
		{"missing", Answer{Status: 404}, ledger.ForgeMissing, 0},
		{"fault", Answer{Status: 502, Message: "<html>"}, ledger.ForgeAway, 0},
		{"fault with a time", Answer{Status: 503, Header: http.Header{"Retry-After": {"5"}}}, ledger.ForgeAway, 1005},
		{"rule", Answer{Status: 405}, ledger.ForgeProtected, 0},
		{"refused", Answer{Status: 422, Message: "no " + token + " \x1b[31m\n" + strings.Repeat("x", 1000)}, ledger.ForgeRefused, 0},
		{"teapot", Answer{Status: 418}, ledger.ForgeRefused, 0},
	} {
		if k.a.Header == nil {
			k.a.Header = http.Header{}
		}
		f := c.Failure(k.a)
		at := int64(0)
		if !f.RetryAt.IsZero() {
			at = f.RetryAt.Unix()
		}
		if f.Failure != k.want || at != k.at || f.Text == "" || strings.Contains(f.Text, token) || strings.ContainsAny(f.Text, "\n\x1b") || len(f.Text) > 400 {
			t.Errorf("%s: %+v at %d; want %s at %d", k.name, f, at, k.want, k.at)
		}
	}
}

// TestLost checks calls without an answer.
func TestLost(t *testing.T) {
	c := open(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := get(t, c, http.MethodGet, "x")
	if f := c.Lost(err); !f.Passes() || !strings.Contains(f.Text, c.Base.Host) {
		t.Errorf("%+v", f)
	}
	if f := c.Lost(context.DeadlineExceeded); !strings.Contains(f.Text, "no answer within") {
		t.Errorf("%+v", f)
	}
	if f := c.Lost(errors.New("it said " + token)); strings.Contains(f.Text, token) {
		t.Errorf("%+v", f)
	}
}

// TestConditional checks that an ETag is sent, and none where there is none.
func TestConditional(t *testing.T) {
	var got []string
	c := open(t, func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("If-None-Match")) })
	for _, tag := range []string{`W/"x"`, ""} {
		req, err := http.NewRequestWithContext(IfNoneMatch(t.Context(), tag), http.MethodGet, c.Base.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.HTTP.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if len(got) != 2 || got[0] != `W/"x"` || got[1] != "" {
		t.Errorf("%q", got)
	}
}
