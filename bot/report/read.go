package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Ledger is where Read reads; package store has it.
type Ledger interface {
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
	Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error
	RecordsAfter(ctx context.Context, stream string, after int64, types []string, yield func(ledger.Record) error) error
	LastRecord(ctx context.Context, stream string, upTo int64, types ...string) (ledger.Record, bool, error)
}

// lookBack is how far before a span its records are read: what happened in it
// began earlier.
const lookBack = 24 * time.Hour

// Types of entries that Collect looks at. Of a house with many projects they are
// a small part of all; the others are not even decoded.
var (
	ofHouse   = types(ledger.StrangerWrote{}, ledger.AgentParked{}, ledger.WasOff{})
	ofProject = types(
		ledger.RunPlanned{}, ledger.RunResumed{}, ledger.RunStarted{}, ledger.RunStateSet{}, ledger.RunEnded{}, ledger.SourceRead{}, ledger.TaskSet{},
		ledger.SessionPlanned{}, ledger.SessionEnded{}, ledger.Verified{}, ledger.Redo{}, ledger.Routed{}, ledger.AttemptEnded{},
		ledger.GuidanceQueued{}, ledger.GuidanceBound{}, ledger.GuidanceReported{}, ledger.GuidanceJudged{},
		ledger.GuidanceDropped{}, ledger.GuidanceExpired{}, ledger.GuidanceKept{},
	)
)

// Types of which an older one still says what goes on: a run that waits, and
// the agent that it waits for.
var (
	holding  = types(ledger.AgentParked{})
	standing = types(ledger.RunStateSet{}, ledger.RunEnded{})
)

func types(bodies ...ledger.Body) []string {
	var out []string
	for _, b := range bodies {
		out = append(out, b.EntryType())
	}
	return out
}

// Read collects the Facts of a span from the ledger; s is the state at to, which
// is now. It reads no more than the span and lookBack, however long the ledger
// is.
func Read(ctx context.Context, l Ledger, s loop.State, from, to time.Time) (Facts, error) {
	records, err := about(ctx, l, ledger.SharedStream, from, ofHouse, holding)
	if err == nil {
		var own []ledger.Record
		own, err = about(ctx, l, ledger.ProjectStream(s.Project.Name), from, ofProject, standing)
		records = append(records, own...)
	}
	if err != nil {
		return Facts{}, fmt.Errorf("digest of %s: %w", s.Project.Name, err)
	}
	// The house comes first where both have an entry of one decision.
	slices.SortStableFunc(records, func(a, b ledger.Record) int { return a.Time.Compare(b.Time) })
	return Collect(records, s, from, to)
}

// about reads the entries of some types from lookBack before a time on; the last
// one of the types of old before that; and the stream's last one, whose hash a
// digest bears.
func about(ctx context.Context, l Ledger, stream string, from time.Time, types, old []string) ([]ledger.Record, error) {
	after, err := entryBefore(ctx, l, stream, from.Add(-lookBack))
	if err != nil {
		return nil, err
	}
	var records []ledger.Record
	keep := func(r ledger.Record) error {
		records = append(records, r)
		return nil
	}
	last, found, err := l.LastRecord(ctx, stream, after, old...)
	if err != nil {
		return nil, err
	}
	if found {
		records = append(records, last)
	}
	if err := l.RecordsAfter(ctx, stream, after, types, keep); err != nil {
		return nil, err
	}
	head, _, err := l.Head(ctx, stream)
	if err != nil || head == 0 || len(records) > 0 && records[len(records)-1].Seq == head {
		return records, err
	}
	return records, l.Records(ctx, stream, head-1, keep)
}

var errEnough = errors.New("enough was read")

// entryBefore is the number of a stream's last entry before a time, 0 for
// none. Where the clock was set back it is about that.
func entryBefore(ctx context.Context, l Ledger, stream string, t time.Time) (int64, error) {
	last, _, err := l.Head(ctx, stream)
	if err != nil {
		return 0, err
	}
	low, high := int64(0), last // it is one of these
	for low < high {
		mid := (low + high + 1) / 2
		before := false
		err := l.Records(ctx, stream, mid-1, func(r ledger.Record) error {
			before = r.Time.Before(t)
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			return 0, err
		}
		if before {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
}
