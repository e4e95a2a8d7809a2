package socket

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nightporter/nightporter/internal/api"
)

func TestMetrics(t *testing.T) {
	var fail error
	h := WithMetrics(http.NotFoundHandler(), token, func(context.Context) ([]byte, error) { return []byte("up 1\n"), fail }, discardLog)
	ask := func(method, path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		for n := 0; n < len(header); n += 2 {
			r.Header.Set(header[n], header[n+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		name, method, path string
		header             []string
		want               int
	}{
		{"key", "GET", api.PathMetrics, []string{api.TokenHeader, token}, 200},
		{"bearer", "GET", api.PathMetrics, []string{"Authorization", "Bearer " + token}, 200},
		{"nothing", "GET", api.PathMetrics, nil, 401},
		{"another key", "GET", api.PathMetrics, []string{api.TokenHeader, "4f1e"}, 401},
		{"empty", "GET", api.PathMetrics, []string{"Authorization", "Bearer "}, 401},
		{"POST", "POST", api.PathMetrics, []string{api.TokenHeader, token}, 405},
		{"another path", "GET", "/metricsx", []string{api.TokenHeader, token}, 404},
	} {
		w := ask(c.method, c.path, c.header...)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.want)
		}
		if c.want == 200 && (w.Body.String() != "up 1\n" || w.Header().Get("Content-Type") != MetricsType) {
			t.Errorf("%s: %q %v", c.name, w.Body, w.Header())
		}
	}
	fail = errors.New("secret detail")
	if w := ask("GET", api.PathMetrics, api.TokenHeader, token); w.Code != 500 || w.Body.String() == "up 1\n" {
		t.Errorf("failing: %d %q", w.Code, w.Body)
	}
	// An empty key refuses every caller.
	h = WithMetrics(http.NotFoundHandler(), "", func(context.Context) ([]byte, error) { return nil, nil }, discardLog)
	if w := ask("GET", api.PathMetrics); w.Code != 401 {
		t.Errorf("no key at all: %d", w.Code)
	}
}
