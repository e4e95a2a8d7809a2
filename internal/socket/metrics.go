package socket

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/api"
)

// MetricsType is the content type of Prometheus' text format.
const MetricsType = "text/plain; version=0.0.4; charset=utf-8"

// Metrics returns all metrics in Prometheus' text format.
type Metrics func(ctx context.Context) ([]byte, error)

// WithMetrics adds GET /metrics to h, for callers with the operator's key as
// Nightporter-Token or as bearer token, which scrapers can send. It requires no
// version header, because a scraper knows no version of our API.
func WithMetrics(h http.Handler, key string, m Metrics, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != api.PathMetrics {
			h.ServeHTTP(w, r)
			return
		}
		got := r.Header.Get(api.TokenHeader)
		if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && got == "" {
			got = bearer
		}
		if key == "" || subtle.ConstantTimeCompare([]byte(got), []byte(key)) != 1 {
			writeReply(w, http.StatusUnauthorized, refuse("the operator's key is missing or another one: send it as "+api.TokenHeader+" or as a bearer token"))
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			writeReply(w, http.StatusMethodNotAllowed, refuse("use GET for metrics"))
			return
		}
		body, err := m(r.Context())
		if err != nil {
			log.Error("socket: metrics", "err", err)
			writeReply(w, http.StatusInternalServerError, refuse(internalText))
			return
		}
		w.Header().Set("Content-Type", MetricsType)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // a scraper without a response retries
		_ = http.NewResponseController(w).Flush()
	})
}
