package chattest

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// Output records what an adapter says of itself: its log, its states and its
// pauses.
type Output struct {
	t      testing.TB
	secret string

	mu     sync.Mutex
	log    bytes.Buffer
	states []transport.State
	pauses []time.Duration
}

// NewOutput returns an Output that fails the test at its end if the log or a state
// contains the secret.
func NewOutput(t testing.TB, secret string) *Output {
	o := &Output{t: t, secret: secret}
	t.Cleanup(func() {
		o.CheckSecret("log", o.Logged())
		for _, s := range o.States() {
			o.CheckSecret("state", s.Text)
		}
	})
	return o
}

// CheckSecret fails the test if a text contains the secret.
func (o *Output) CheckSecret(where, text string) {
	o.t.Helper()
	if strings.Contains(text, o.secret) {
		o.t.Errorf("%s contains the secret: %s", where, text)
	}
}

// Logger returns a logger that writes to the Output.
func (o *Output) Logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(o, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write appends to the log.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(p)
}

// Logged returns the log.
func (o *Output) Logged() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.String()
}

// OnChange records a state.
func (o *Output) OnChange(s transport.State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.states = append(o.states, s)
}

// States returns the recorded states.
func (o *Output) States() []transport.State {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.states)
}

// Troubles returns the troubles of the recorded states.
func (o *Output) Troubles() []transport.Trouble {
	var out []transport.Trouble
	for _, s := range o.States() {
		out = append(out, s.Trouble)
	}
	return out
}

// Pause records a pause.
func (o *Output) Pause(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pauses = append(o.pauses, d)
}

// Pauses returns the recorded pauses.
func (o *Output) Pauses() []time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.pauses)
}
