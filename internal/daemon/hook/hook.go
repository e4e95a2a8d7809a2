package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Bounds of a post.
const (
	postTime  = 10 * time.Second
	keepsFor  = 24 * time.Hour // an event older than that is left out
	batchSize = 200            // records that are read before their posts
)

// Ledger is what a hook reads of the store.
type Ledger interface {
	Streams(ctx context.Context) ([]string, error)
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
	RecordsAfter(ctx context.Context, stream string, after int64, types []string, yield func(ledger.Record) error) error
}

// Options are what hooks need of the daemon.
type Options struct {
	Ledger Ledger
	Hooks  func() []config.Hook        // of the configuration as it is now
	Next   func() <-chan struct{}      // closed at the next committed entry, or change of the configuration
	Alive  func(context.Context) error // proves that the engine and the ledger answer
	Status func() string               // one line, for signs of life
	File   string                      // where the places are kept
	Client *http.Client                // nil = one of its own
	Clock  func() time.Time            // nil = the machine's
	Log    *slog.Logger
}

// Hooks posts events until its context ends.
type Hooks struct {
	o      Options
	places *places
	retry  map[string]*retry // by key of the hook
}

// retry is the state of a hook whose last post failed.
type retry struct {
	backoff transport.Backoff
	at      time.Time // not before
	told    bool      // the log has it
}

// New returns hooks that post nothing yet.
func New(o Options) *Hooks {
	if o.Client == nil {
		o.Client = &http.Client{Timeout: postTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Hooks{o: o, places: openPlaces(o.File), retry: map[string]*retry{}}
}

// Run posts until ctx ends.
func (h *Hooks) Run(ctx context.Context) {
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	h.signs(ctx)
	for ctx.Err() == nil {
		next := h.o.Next()
		again := time.NewTimer(h.round(ctx))
		select {
		case <-ctx.Done():
		case <-next:
		case <-again.C:
		case <-alive.C:
			h.signs(ctx)
		}
		again.Stop()
	}
}

// round posts what is due on every hook. It returns how long until a failed post is
// due again.
func (h *Hooks) round(ctx context.Context) time.Duration {
	wait := aliveEvery
	var keys []string
	for _, hook := range h.o.Hooks() {
		key := hook.Key()
		keys = append(keys, key)
		r := h.retry[key]
		if r == nil {
			r = &retry{}
			h.retry[key] = r
		}
		if left := r.at.Sub(h.o.Clock()); left > 0 {
			wait = min(wait, left)
			continue
		}
		err := h.follow(ctx, hook, key)
		if ctx.Err() != nil {
			return 0
		}
		if err == nil {
			*r = retry{}
			continue
		}
		pause := r.backoff.Next()
		if r.at = h.o.Clock().Add(pause); !r.told {
			r.told = true
			h.o.Log.Warn("a hook cannot be reached, and is tried again", "hook", hook.Name(), "error", err)
		}
		wait = min(wait, pause)
	}
	h.places.keep(keys)
	return wait
}

// follow posts the events after the hook's place. A hook without a place begins at
// the ledger's end: it is told of what happens from now on.
func (h *Hooks) follow(ctx context.Context, hook config.Hook, key string) error {
	streams, err := h.o.Ledger.Streams(ctx)
	if err != nil {
		return err
	}
	begun := h.places.begun(key)
	for _, stream := range streams {
		if stream == ledger.SharedStream || !hook.Takes(strings.TrimPrefix(stream, ledger.ProjectStream(""))) {
			continue
		}
		after, known := h.places.at(key, stream)
		if !known && !begun {
			if after, _, err = h.o.Ledger.Head(ctx, stream); err != nil {
				return err
			}
			h.places.set(key, stream, after)
			continue
		}
		for more := true; more; {
			if more, err = h.batch(ctx, hook, key, stream, after); err != nil {
				return err
			}
			after, _ = h.places.at(key, stream)
		}
	}
	h.places.begin(key)
	return h.places.save()
}

// errEnough ends a reading of the ledger.
var errEnough = errors.New("enough")

// batch posts the events among the next records. more reports that there may be
// others.
func (h *Hooks) batch(ctx context.Context, hook config.Hook, key, stream string, after int64) (more bool, err error) {
	var records []ledger.Record
	err = h.o.Ledger.RecordsAfter(ctx, stream, after, types, func(r ledger.Record) error {
		if records = append(records, r); len(records) == batchSize {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return false, err
	}
	for _, r := range records {
		if err := h.tell(ctx, hook, r); err != nil {
			return false, err
		}
		h.places.set(key, stream, r.Seq)
		if err := h.places.save(); err != nil {
			return false, err
		}
	}
	return len(records) == batchSize, nil
}

// tell posts one record, if it is an event that the hook asks for.
func (h *Hooks) tell(ctx context.Context, hook config.Hook, r ledger.Record) error {
	e, err := r.Entry()
	if err != nil {
		return nil //nolint:nilerr // of a later release: no event that this one knows
	}
	ev, ok := eventOf(e)
	if !ok || !slices.Contains(hook.On, ev.Event) {
		return nil
	}
	ev.ID = fmt.Sprintf("%s/%d", r.Stream, r.Seq)
	err = h.post(ctx, hook, ev)
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*refusedError)), h.o.Clock().Sub(ev.Time) > keepsFor:
		h.o.Log.Warn("an event is left out: its hook did not take it", "hook", hook.Name(), "event", ev.Event, "id", ev.ID, "error", err)
		return nil
	}
	return err
}

// refusedError is an answer that a repetition will not change.
type refusedError struct{ status string }

func (e *refusedError) Error() string { return "it answered " + e.status }

// post sends one event. An error names no part of the address but the host: the rest
// is often secret.
func (h *Hooks) post(ctx context.Context, hook config.Hook, ev Event) error {
	body, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.Post, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is not valid")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "nightporter")
	if ev.ID != "" {
		req.Header.Set("Idempotency-Key", ev.ID)
	}
	resp, err := h.o.Client.Do(req)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	switch code := resp.StatusCode; {
	case code < 300:
		return nil
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return errors.New("it answered " + resp.Status)
	}
	return &refusedError{resp.Status}
}
