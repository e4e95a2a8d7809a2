package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Ledger is the part of the store that Read needs. Package store implements it.
type Ledger interface {
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
	Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error
	RecordsAfter(ctx context.Context, stream string, after int64, types []string, yield func(ledger.Record) error) error
	LastRecord(ctx context.Context, stream string, upTo int64, types ...string) (ledger.Record, bool, error)
	RecordsOfTask(ctx context.Context, stream, task string, yield func(ledger.Record) error) error
}

// readBack is the time before a span from which records are read too: a session
// or a wait in the span may have begun earlier.
const readBack = 24 * time.Hour

// The entry types that Collect uses, in the shared stream and in a project's.
// They are a small part of a large ledger; Read does not even decode the others.
var (
	sharedTypes  = typeNames(ledger.StrangerWrote{}, ledger.AgentParked{}, ledger.WasOff{})
	projectTypes = typeNames(
		ledger.RunPlanned{}, ledger.RunResumed{}, ledger.RunStarted{}, ledger.RunStateSet{}, ledger.RunEnded{}, ledger.SourceRead{}, ledger.TaskSet{},
		ledger.SessionPlanned{}, ledger.SessionEnded{}, ledger.Verified{}, ledger.Redo{}, ledger.Routed{}, ledger.AttemptEnded{}, ledger.TaskCommitted{},
		ledger.GuidanceQueued{}, ledger.GuidanceBound{}, ledger.GuidanceReported{}, ledger.GuidanceJudged{},
		ledger.GuidanceDropped{}, ledger.GuidanceExpired{}, ledger.GuidanceKept{},
		ledger.WaveEnded{},
	)
)

// The entry types whose last occurrence describes the present, however old it
// is: a waiting run, and the agent that it waits for.
var (
	sharedStateTypes = typeNames(ledger.AgentParked{})
	runStateTypes    = typeNames(ledger.RunStateSet{}, ledger.RunEnded{})
)

func typeNames(bodies ...ledger.Body) []string {
	var out []string
	for _, b := range bodies {
		out = append(out, b.EntryType())
	}
	return out
}

// Read collects the Facts of a span from the ledger. s is the state at to, which
// is now. The records read are those of the span and of readBack, so the cost
// does not grow with the ledger.
func Read(ctx context.Context, l Ledger, s loop.State, from, to time.Time) (Facts, error) {
	records, err := readStream(ctx, l, ledger.SharedStream, from, sharedTypes, sharedStateTypes)
	if err == nil {
		var own []ledger.Record
		if own, err = readStream(ctx, l, ledger.ProjectStream(s.Project.Name), from, projectTypes, runStateTypes); err == nil {
			own, err = withOldFlaws(ctx, l, s, own)
		}
		records = append(records, own...)
	}
	if err != nil {
		return Facts{}, fmt.Errorf("digest of %s: %w", s.Project.Name, err)
	}
	// Entries of one decision have the same time; the shared ones come first.
	slices.SortStableFunc(records, func(a, b ledger.Record) int { return a.Time.Compare(b.Time) })
	return Collect(records, s, from, to)
}

// flawTypes are the entry types that say that a task is not done at the first pass, and
// the one that makes it begin anew.
var flawTypes = typeNames(ledger.Verified{}, ledger.Redo{}, ledger.Routed{}, ledger.AttemptEnded{}, ledger.TaskSet{})

// withOldFlaws puts before records the older ones that keep a task of them from being
// done at the first pass: a retry may come days after the attempt that failed. Only
// tasks with several attempts have such.
func withOldFlaws(ctx context.Context, l Ledger, s loop.State, records []ledger.Record) ([]ledger.Record, error) {
	var old []ledger.Record
	looked := map[string]bool{}
	for _, r := range records {
		t, ok := s.Project.Find(r.Task)
		if r.Type != (ledger.TaskSet{}).EntryType() || !ok || t.Attempts < 2 || t.Status != ledger.Done || looked[t.Task.ID] {
			continue
		}
		looked[t.Task.ID] = true
		err := l.RecordsOfTask(ctx, r.Stream, t.Task.ID, func(o ledger.Record) error {
			if o.Seq < records[0].Seq && slices.Contains(flawTypes, o.Type) {
				old = append(old, o)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(old, func(a, b ledger.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return append(old, records...), nil
}

// readStream returns the records of a stream that Collect needs: those of the
// given types since readBack before from, preceded by the last older record of
// each type in old, and followed by the stream's last record, whose hash the
// digest shows.
func readStream(ctx context.Context, l Ledger, stream string, from time.Time, types, old []string) ([]ledger.Record, error) {
	after, err := entryBefore(ctx, l, stream, from.Add(-readBack))
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

var errStop = errors.New("enough was read")

// entryBefore returns the number of a stream's last entry before a time, or 0.
// The binary search assumes increasing times; if the clock was set back, the
// result is near that entry.
func entryBefore(ctx context.Context, l Ledger, stream string, t time.Time) (int64, error) {
	last, _, err := l.Head(ctx, stream)
	if err != nil {
		return 0, err
	}
	low, high := int64(0), last // the result is in this range
	for low < high {
		mid := (low + high + 1) / 2
		before := false
		err := l.Records(ctx, stream, mid-1, func(r ledger.Record) error {
			before = r.Time.Before(t)
			return errStop
		})
		if err != nil && !errors.Is(err, errStop) {
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
