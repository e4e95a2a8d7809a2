package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// replayed is the result of folding one stream from its first entry.
type replayed struct {
	Stream   string `json:"stream"`
	Entries  int64  `json:"entries"`
	Snapshot int64  `json:"snapshot"`          // last entry in the stored snapshot, 0 for none
	Same     bool   `json:"same"`              // the fold and the snapshot lead to the same state
	Altered  bool   `json:"altered,omitempty"` // the snapshot is not the one that was saved, and is not used
}

// replay folds the project's stream and the shared stream from their first
// entries, compares the results with the snapshots, and answers with the status
// at the entry or time to.
func (svc *Service) replay(ctx context.Context, s loop.State, to string) (api.Reply, error) {
	var streams []replayed
	text, same := "", true
	for _, stream := range []string{ledger.SharedStream, ledger.ProjectStream(s.Project.Name)} {
		r, err := svc.compare(ctx, stream)
		if err != nil {
			return api.Reply{}, err
		}
		streams = append(streams, r)
		switch {
		case r.Altered:
			same = false
			text += fmt.Sprintf("✗ %s: the stored snapshot was altered; it is not used, %d entries were folded\n", stream, r.Entries)
		case !r.Same:
			same = false
			text += fmt.Sprintf("✗ %s: %d entries folded anew differ from the snapshot at %d\n", stream, r.Entries, r.Snapshot)
		case r.Snapshot == 0:
			text += fmt.Sprintf("✓ %s: %d entries folded; no snapshot to compare with\n", stream, r.Entries)
		default:
			text += fmt.Sprintf("✓ %s: %d entries folded anew, as from the snapshot at %d\n", stream, r.Entries, r.Snapshot)
		}
	}
	until, err := svc.upTo(to)
	if err != nil {
		return api.Reply{Text: "✗ " + err.Error()}, nil //nolint:nilerr // the reply says so
	}
	state, last, err := svc.stateAt(ctx, s.Project.Name, until)
	if err != nil {
		return api.Reply{}, err
	}
	if last.Seq == 0 {
		return api.Reply{Text: text + "✗ there was no entry of " + s.Project.Name + " yet"}, nil
	}
	at := last.Time.In(svc.o.Projects.Zone())
	text += fmt.Sprintf("After entry %d, %s, %s:\n%s", last.Seq, last.Type, at.Format("2006-01-02 15:04:05"), bot.Status(state, at).Text(80))
	r, err := reply(text, struct {
		Streams []replayed `json:"streams"`
		Seq     int64      `json:"seq"`
		Time    time.Time  `json:"time"`
		Status  statusJSON `json:"status"`
	}{streams, last.Seq, last.Time, svc.statusOf(state)})
	r.OK = same
	return r, err
}

// compare folds a stream from its first entry and from its snapshot.
func (svc *Service) compare(ctx context.Context, stream string) (replayed, error) {
	out := replayed{Stream: stream, Same: true}
	row, err := svc.o.Store.Snapshot(ctx, stream, loop.StateVersion)
	switch {
	case errors.Is(err, ledger.ErrSnapshotAltered):
		out.Altered, out.Same = true, false
	case err != nil:
		return out, err
	}
	var snapshot loop.State
	if row.Seq > 0 && json.Unmarshal(row.Body, &snapshot) == nil {
		out.Snapshot = row.Seq
	}
	anew, onwards := loop.NewFolder(loop.State{}), loop.NewFolder(snapshot)
	err = svc.o.Store.Records(ctx, stream, 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if err != nil {
			return err
		}
		anew.Add(e)
		if out.Snapshot > 0 && r.Seq > out.Snapshot {
			onwards.Add(e)
		}
		out.Entries = r.Seq
		return nil
	})
	if err != nil || out.Snapshot == 0 {
		return out, err
	}
	a, err := canonical(anew.State())
	if err != nil {
		return out, err
	}
	b, err := canonical(onwards.State())
	out.Same = bytes.Equal(a, b)
	return out, err
}

// canonical encodes a state as a snapshot would, so that equal states have equal
// bytes. It omits the project's name, which is missing in a stream before its
// first run, and gives all times in UTC: an entry has its time in the project's
// zone when it is decided, and in UTC when it is read.
func canonical(s loop.State) ([]byte, error) {
	s.Project.Name = ""
	raw, err := json.Marshal(s)
	return encodedTime.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		t, err := time.Parse(time.RFC3339Nano, string(quoted[1:len(quoted)-1]))
		if err != nil {
			return quoted
		}
		return []byte(`"` + t.UTC().Format(time.RFC3339Nano) + `"`)
	}), err
}

// encodedTime matches a time in JSON.
var encodedTime = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"`)

// upTo parses the flag --to, an entry's number or a time, into a predicate of
// records.
func (svc *Service) upTo(to string) (func(ledger.Record) bool, error) {
	if to == "" {
		return func(ledger.Record) bool { return true }, nil
	}
	if seq, err := strconv.ParseInt(to, 10, 64); err == nil {
		return func(r ledger.Record) bool { return r.Seq <= seq }, nil
	}
	zone := svc.o.Projects.Zone()
	now := time.Now().In(zone)
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "15:04"} {
		t, err := time.ParseInLocation(form, to, zone)
		if err != nil {
			continue
		}
		if form == "15:04" { // the last time at which the clock showed this time of day
			t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, zone)
			if t.After(now) {
				t = t.AddDate(0, 0, -1)
			}
		}
		return func(r ledger.Record) bool { return !r.Time.After(t) }, nil
	}
	return nil, fmt.Errorf("%q is neither the number of an entry nor a time like 02:30 or 2026-11-20 02:30", to)
}

// errPastLimit ends a fold before the last entry.
var errPastLimit = errors.New("far enough")

// stateAt returns the project's state after the last project entry that until
// accepts, together with the shared state at that entry's time, and that entry.
func (svc *Service) stateAt(ctx context.Context, project string, until func(ledger.Record) bool) (s loop.State, last ledger.Record, err error) {
	folder := loop.NewFolder(s)
	fold := func(stream string, until func(ledger.Record) bool) error {
		err := svc.o.Store.Records(ctx, stream, 0, func(r ledger.Record) error {
			if !until(r) {
				return errPastLimit
			}
			e, err := r.Entry()
			if err != nil {
				return err
			}
			folder.Add(e)
			if stream != ledger.SharedStream {
				last = r
			}
			return nil
		})
		if errors.Is(err, errPastLimit) {
			return nil
		}
		return err
	}
	if err = fold(ledger.ProjectStream(project), until); err == nil {
		err = fold(ledger.SharedStream, func(r ledger.Record) bool { return !r.Time.After(last.Time) })
	}
	s = folder.State()
	s.Project.Name = project
	return s, last, err
}
