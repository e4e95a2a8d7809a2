package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop"
)

// Ledger is where Read reads; package store has it.
type Ledger interface {
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
	Records(ctx context.Context, stream string, after int64, yield func(loop.Record) error) error
	RecordsAfter(ctx context.Context, stream string, after int64, types []string, yield func(loop.Record) error) error
	LastRecord(ctx context.Context, stream string, upTo int64, types ...string) (loop.Record, bool, error)
}

// lookBack is how far before a span its records are read: what happened in it
// began earlier.
const lookBack = 24 * time.Hour

// Types of entries that Collect looks at. Of a house with many projects they are
// a small part of all; the others are not even decoded.
var (
	ofHouse   = types(loop.StrangerWrote{}, loop.AgentParked{}, loop.WasOff{})
	ofProject = types(
		loop.RunPlanned{}, loop.RunResumed{}, loop.RunStarted{}, loop.RunStateSet{}, loop.RunEnded{}, loop.SourceRead{}, loop.TaskSet{},
		loop.SessionPlanned{}, loop.SessionEnded{}, loop.Verified{}, loop.Redo{}, loop.Routed{}, loop.AttemptEnded{},
		loop.GuidanceQueued{}, loop.GuidanceBound{}, loop.GuidanceReported{}, loop.GuidanceJudged{},
		loop.GuidanceDropped{}, loop.GuidanceExpired{}, loop.GuidanceKept{},
	)
)

// Types of which an older one still says what goes on: a run that waits, and
// the agent that it waits for.
var (
	holding  = types(loop.AgentParked{})
	standing = types(loop.RunStateSet{}, loop.RunEnded{})
)

func types(bodies ...loop.Body) []string {
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
	records, err := about(ctx, l, loop.SharedStream, from, ofHouse, holding)
	if err == nil {
		var own []loop.Record
		own, err = about(ctx, l, loop.ProjectStream(s.Project.Name), from, ofProject, standing)
		records = append(records, own...)
	}
	if err != nil {
		return Facts{}, fmt.Errorf("digest of %s: %w", s.Project.Name, err)
	}
	// The house comes first where both have an entry of one decision.
	slices.SortStableFunc(records, func(a, b loop.Record) int { return a.Time.Compare(b.Time) })
	return Collect(records, s, from, to)
}

// about reads the entries of some types from lookBack before a time on; the last
// one of the types of old before that; and the stream's last one, whose hash a
// digest bears.
func about(ctx context.Context, l Ledger, stream string, from time.Time, types, old []string) ([]loop.Record, error) {
	after, err := entryBefore(ctx, l, stream, from.Add(-lookBack))
	if err != nil {
		return nil, err
	}
	var records []loop.Record
	keep := func(r loop.Record) error {
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
		err := l.Records(ctx, stream, mid-1, func(r loop.Record) error {
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
