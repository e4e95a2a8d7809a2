package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot/transport"
)

const token = "xoxb-5ec7e7"

// world is a Conn with a clock that the test sets.
type world struct {
	*transport.Conn
	now     time.Time
	changed []transport.State
}

func open() *world {
	w := &world{now: time.Date(2026, 11, 20, 1, 47, 0, 0, time.UTC)}
	w.Conn = transport.New(transport.Options{
		Platform: "Slack", ID: "A1", Log: slog.New(slog.DiscardHandler), Clock: func() time.Time { return w.now },
		Redact:   func(s string) string { return strings.ReplaceAll(s, token, transport.Redacted) },
		OnChange: func(s transport.State) { w.changed = append(w.changed, s) },
	})
	return w
}

// TestState checks that Since is the time of the last change of Connected,
// whatever troubles follow each other, and that OnChange is called for changes
// only.
func TestState(t *testing.T) {
	w := open()
	began := w.now
	steps := []struct {
		do   func()
		want transport.State
		told bool
	}{
		{func() { w.MarkDown(transport.TroubleStart, "still not tried") }, transport.State{Since: began, Trouble: transport.TroubleStart, Text: "still not tried"}, false},
		{w.MarkUp, transport.State{Connected: true, Since: began.Add(2 * time.Second), LastContact: began.Add(2 * time.Second)}, true},
		{w.MarkUp, transport.State{Connected: true, Since: began.Add(2 * time.Second), LastContact: began.Add(3 * time.Second)}, false},
		{func() { w.MarkDown(transport.TroubleNetwork, "no route") }, transport.State{Since: began.Add(4 * time.Second), LastContact: began.Add(3 * time.Second), Trouble: transport.TroubleNetwork, Text: "no route"}, true},
		{func() { w.MarkDown(transport.TroubleNetwork, "no name") }, transport.State{Since: began.Add(4 * time.Second), LastContact: began.Add(3 * time.Second), Trouble: transport.TroubleNetwork, Text: "no name"}, false},
		{func() { w.MarkDown(transport.TroubleToken, "revoked") }, transport.State{Since: began.Add(4 * time.Second), LastContact: began.Add(3 * time.Second), Trouble: transport.TroubleToken, Text: "revoked"}, true},
	}
	for n, s := range steps {
		w.now = w.now.Add(time.Second)
		before := len(w.changed)
		s.do()
		if diff := cmp.Diff(s.want, w.State()); diff != "" {
			t.Errorf("step %d: %s", n, diff)
		}
		if told := len(w.changed) > before; told != s.told {
			t.Errorf("step %d: told %v", n, told)
		}
	}
}

func TestBackoff(t *testing.T) {
	var b transport.Backoff
	var all []time.Duration
	for range 8 {
		all = append(all, b.Next()/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 8, 16, 32, 60, 60}, all); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if got := b.Next(); got != transport.MinBackoff {
		t.Errorf("after a reset: %s", got)
	}
}

func TestSecret(t *testing.T) {
	s := transport.Secret(token)
	asJSON, err := json.Marshal(map[string]any{"t": s})
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "t", s, "in", struct{ T transport.Secret }{s})
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %s %q %x %#v %+v", s, s, s, s, s, struct{ T transport.Secret }{s}), string(asJSON), logged.String()} {
		if strings.Contains(text, "5ec7e7") || !strings.Contains(text, transport.Redacted) && !strings.Contains(text, "2873656372657429") {
			t.Errorf("shown: %s", text)
		}
	}
}

// TestNoResponseError checks that a call without a response reports whether it
// may have had an effect: the caller repeats only calls that had none.
func TestNoResponseError(t *testing.T) {
	hold := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/held":
			<-hold
		case "/elsewhere":
			http.Redirect(rw, r, "/held", http.StatusFound)
		case "/cut":
			panic(http.ErrAbortHandler)
		}
	}))
	defer s.Close()
	defer close(hold)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w := open()
	for name, c := range map[string]struct {
		ctx   context.Context
		url   string
		limit time.Duration
		sent  bool
		text  string
		is    error
	}{
		"nobody there": {t.Context(), "http://127.0.0.1:1/" + token, time.Minute, false, "", nil},
		"too slow":     {t.Context(), s.URL + "/held", 50 * time.Millisecond, true, "no answer within 50ms", context.DeadlineExceeded},
		"cut off":      {t.Context(), s.URL + "/cut", time.Minute, true, "", nil},
		"not wanted":   {ended, s.URL + "/held", time.Minute, false, "", context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(c.ctx, http.MethodGet, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Exchange(r, "chat.postMessage", c.limit)
			var quiet *transport.NoResponseError
			if !errors.As(err, &quiet) || quiet.Sent != c.sent || !strings.Contains(quiet.Text(), c.text) || c.is != nil && !errors.Is(err, c.is) {
				t.Fatalf("%v, %+v", err, quiet)
			}
			if !strings.HasPrefix(err.Error(), "slack chat.postMessage: ") || strings.Contains(err.Error(), "5ec7e7") {
				t.Errorf("said as %s", err)
			}
		})
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/elsewhere", nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := w.Exchange(r, "x", time.Minute); err != nil || a.Status != http.StatusFound {
		t.Errorf("a redirection was followed: %+v, %v", a, err)
	}
}
