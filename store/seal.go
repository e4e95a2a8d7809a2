package store

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// effectID identifies an effect among all that were ever committed.
type effectID struct{ kind, key string }

// head is the head of a stream. The zero value is the head of an empty stream.
type head struct {
	seq  int64
	hash []byte
}

// sealed is a batch completed by the store, ready to be written.
type sealed struct {
	rows    []row
	records []ledger.Record
	effects []ledger.PendingEffect // without ID
}

// seal computes Seq, Prev and Hash of a batch's records, and Seq and Head of
// its effects. It calls lookup once for each stream, for the head before the
// batch. The result shares no memory with the batch.
func seal(b ledger.Batch, lookup func(stream string) (head, error)) (sealed, error) {
	if err := check(b); err != nil {
		return sealed{}, err
	}
	heads := map[string]head{}
	at := func(stream string) (head, error) {
		if h, ok := heads[stream]; ok {
			return h, nil
		}
		h, err := lookup(stream)
		if err == nil {
			heads[stream] = h
		}
		return h, err
	}

	s := sealed{
		rows: slices.Grow([]row(nil), len(b.Records)), records: slices.Grow([]ledger.Record(nil), len(b.Records)),
		effects: slices.Grow([]ledger.PendingEffect(nil), len(b.Effects)),
	}
	for _, rec := range b.Records {
		last, err := at(rec.Stream)
		if err != nil {
			return sealed{}, err
		}
		rec.Seq, rec.Prev = last.seq+1, bytes.Clone(last.hash)
		rec.Time = normalTime(rec.Time)
		rec.Body = cloneBytes(rec.Body)
		r := newRow(rec)
		r.hash = r.sum()
		rec.Hash = bytes.Clone(r.hash)
		heads[rec.Stream] = head{rec.Seq, r.hash}
		s.rows = append(s.rows, r)
		s.records = append(s.records, rec)
	}
	// Effects come after the records, because Head is the head after the batch.
	for _, e := range b.Effects {
		last, err := at(e.Stream)
		if err != nil {
			return sealed{}, err
		}
		e.ID, e.Seq, e.Head = 0, last.seq, bytes.Clone(last.hash)
		e.Time = normalTime(e.Time)
		e.Body = cloneBytes(e.Body)
		s.effects = append(s.effects, e)
	}
	return s, nil
}

// check refuses a batch that only a bug of the core can produce.
func check(b ledger.Batch) error {
	for i, r := range b.Records {
		if r.Stream == "" || r.Type == "" {
			return fmt.Errorf("record %d has stream %q and type %q: neither may be empty", i, r.Stream, r.Type)
		}
		if err := checkTime(r.Time); err != nil {
			return fmt.Errorf("record %d (%s): %w", i, r.Type, err)
		}
	}
	seen := map[effectID]bool{}
	for _, e := range b.Effects {
		if e.Stream == "" || e.Kind == "" || e.Key == "" {
			return fmt.Errorf("effect %q %q of stream %q: none of the three may be empty", e.Kind, e.Key, e.Stream)
		}
		switch e.Class {
		case ledger.Repeatable, ledger.Findable:
		default:
			return fmt.Errorf("effect %q %q has the unknown class %q", e.Kind, e.Key, e.Class)
		}
		if err := checkTime(e.Time); err != nil {
			return fmt.Errorf("effect %q %q: %w", e.Kind, e.Key, err)
		}
		if seen[effectID{e.Kind, e.Key}] {
			return duplicate(e)
		}
		seen[effectID{e.Kind, e.Key}] = true
	}
	if err := checkMessages(b); err != nil {
		return err
	}
	return checkTime(b.Time)
}

// checkTime refuses a time that timeLayout can format but not parse.
func checkTime(t time.Time) error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("the year %d cannot be kept", y)
	}
	return nil
}

func duplicate(e ledger.PendingEffect) error {
	return fmt.Errorf("effect %s %q: %w", e.Kind, e.Key, ErrEffect)
}

func unknownEffect(id int64) error { return fmt.Errorf("settle effect %d: there is none", id) }

// normalTime returns t as the database would return it.
func normalTime(t time.Time) time.Time { return t.Round(0).UTC() }

// cloneBytes copies b. An empty slice becomes nil, so that Store and Memory
// return the same for a body without bytes.
func cloneBytes(b []byte) []byte { return bytes.Clone(nilIfEmpty(b)) }

func nilIfEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// newRow converts a record to a row, without its hash.
func newRow(r ledger.Record) row {
	return row{
		stream: r.Stream, seq: r.Seq, time: formatTime(r.Time), typ: r.Type, v: int64(r.V),
		run: r.Run, task: r.Task, attempt: r.Attempt, session: r.Session, actor: r.Actor, cause: r.Cause,
		body: r.Body, prev: r.Prev,
	}
}

// record converts a row to a record, which has the row's bytes. Its error is
// ErrBroken.
func (r *row) record() (ledger.Record, error) {
	t, err := parseTime(r.time)
	if err != nil {
		return ledger.Record{}, fmt.Errorf("entry %d of %s: its time cannot be read: %w: %w", r.seq, r.stream, err, ErrBroken)
	}
	return ledger.Record{
		Stream: r.stream, Seq: r.seq, Time: t, Type: r.typ, V: int(r.v),
		Run: r.run, Task: r.task, Attempt: r.attempt, Session: r.session, Actor: r.actor, Cause: r.cause,
		Body: nilIfEmpty(r.body), Prev: nilIfEmpty(r.prev), Hash: nilIfEmpty(r.hash),
	}, nil
}
