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
	"sync"
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
	Runner Runner                      // of commands
	Folder string                      // where commands get folders of their own
	Client *http.Client                // nil = one of its own
	Clock  func() time.Time            // nil = the machine's
	Log    *slog.Logger
}

// Hooks posts events until its context ends.
type Hooks struct {
	o          Options
	places     *places
	deliveries map[string]*delivery // by key of the hook
	followed   chan followed
}

// delivery is the state of one hook. Run alone uses it.
type delivery struct {
	busy    bool // its events are being posted
	due     bool // there may be events for it
	backoff transport.Backoff
	at      time.Time // after a failure: not before
	told    bool      // the log has the failure
}

// followed is how the posts of a hook ended.
type followed struct {
	hook config.Hook
	err  error
}

// New returns hooks that post nothing yet.
func New(o Options) *Hooks {
	if o.Client == nil {
		o.Client = &http.Client{Timeout: postTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Hooks{o: o, places: openPlaces(o.File), deliveries: map[string]*delivery{}, followed: make(chan followed)}
}

// Run posts until ctx ends. Every hook is posted to by itself, and so is the sign of
// life: an address that does not answer holds up no other.
func (h *Hooks) Run(ctx context.Context) {
	var posting sync.WaitGroup
	defer posting.Wait()
	posting.Go(func() { h.alive(ctx) })
	var next <-chan struct{}
	for news := true; ctx.Err() == nil; {
		if news { // what is committed from here on closes it
			next = h.o.Next()
		}
		again := time.NewTimer(h.round(ctx, &posting, news))
		news = true
		select {
		case <-ctx.Done():
		case <-next:
		case <-again.C:
		case f := <-h.followed:
			h.settle(f)
			news = false
		}
		again.Stop()
	}
}

// round begins the posts of every hook for which there may be events; news says that
// there may be some for all. It returns how long until a failed post is due again.
func (h *Hooks) round(ctx context.Context, posting *sync.WaitGroup, news bool) time.Duration {
	wait := aliveEvery
	var keys []string
	for _, hook := range h.o.Hooks() {
		key := hook.Key()
		keys = append(keys, key)
		d := h.deliveries[key]
		if d == nil {
			d = &delivery{due: true}
			h.deliveries[key] = d
			if hook.Missing() {
				h.o.Log.Warn("the program of a hook is not there; it is tried with each event", "hook", hook.Name(), "program", hook.Run[0])
			}
		}
		d.due = d.due || news
		if d.busy || !d.due {
			continue
		}
		if left := d.at.Sub(h.o.Clock()); left > 0 {
			wait = min(wait, left)
			continue
		}
		d.busy, d.due = true, false
		posting.Go(func() {
			f := followed{hook, h.follow(ctx, hook, key)}
			select {
			case h.followed <- f:
			case <-ctx.Done():
			}
		})
	}
	h.places.keep(keys)
	return wait
}

// settle notes how the posts of a hook ended.
func (h *Hooks) settle(f followed) {
	d := h.deliveries[f.hook.Key()]
	if f.err == nil {
		*d = delivery{due: d.due}
		return
	}
	d.busy, d.due, d.at = false, true, h.o.Clock().Add(d.backoff.Next())
	if !d.told {
		d.told = true
		h.o.Log.Warn("a hook did not take an event, and is tried again", "hook", f.hook.Name(), "error", f.err)
	}
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
	err = h.deliver(ctx, hook, ev)
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
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// deliver posts one event, or runs the hook's command with it.
func (h *Hooks) deliver(ctx context.Context, hook config.Hook, ev Event) error {
	if hook.Run != nil {
		return h.command(ctx, hook, ev)
	}
	return h.post(ctx, hook, ev)
}

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
	return &refusedError{"it answered " + resp.Status}
}
