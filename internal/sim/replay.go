package main

import (
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// folded is the audit's own fold of one stream.
type folded struct {
	folder *loop.Folder
	seq    int64
}

// fold adds an entry to the audit's own state.
func (a *audit) fold(e ledger.Entry, seq int64) {
	f := a.folds[e.Stream]
	if f == nil {
		f = &folded{folder: loop.NewFolder(loop.State{})}
		a.folds[e.Stream] = f
	}
	f.folder.Add(e)
	f.seq = seq
}

// replay holds that the daemon's state, which may have begun with a snapshot, is
// the fold of all entries from the first. The audit folds each as it is confirmed;
// with whole it reads them from the ledger again.
func (a *audit) replay(whole bool) {
	for _, stream := range a.w.streams() {
		has, seq := a.w.daemon.engine.Folded(stream)
		f := a.folds[stream]
		if whole || f == nil || f.seq != seq {
			f = a.read(stream, seq)
		}
		want := f.folder.State()
		if want.Project.Name == "" {
			want.Project.Name = has.Project.Name
		}
		got, all := asJSON(has), asJSON(want)
		if stream != ledger.SharedStream {
			a.stateSize = max(a.stateSize, len(got))
		}
		if got != all && inUTC(got) != inUTC(all) {
			got, want := inUTC(got), inUTC(all)
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			cut := func(s string) string { return s[max(0, min(at, len(s))-200):min(len(s), at+200)] }
			a.w.fail("replay equals state", "%s at entry %d:\n  state  … %s\n  replay … %s", stream, seq, cut(got), cut(want))
		}
	}
	if a.stateSize > maxState {
		a.w.fail("bounded memory", "the state takes %d bytes", a.stateSize)
	}
}

// read folds a stream from the ledger, up to an entry.
func (a *audit) read(stream string, seq int64) *folded {
	f := &folded{folder: loop.NewFolder(loop.State{}), seq: seq}
	err := a.w.store.Records(background, stream, 0, func(r ledger.Record) error {
		if r.Seq > seq {
			return nil
		}
		e, err := r.Entry()
		if err == nil {
			f.folder.Add(e)
		}
		return err
	})
	if err != nil {
		a.w.fail("ledger", "%s cannot be read: %v", stream, err)
	}
	return f
}

// timestamp is a time with a zone, as JSON has it.
var timestamp = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"`)

// inUTC writes every time of a state in one zone: the ledger keeps the time of an
// entry without the zone that the state of the moment has.
func inUTC(state string) string {
	return timestamp.ReplaceAllStringFunc(state, func(text string) string {
		t, err := time.Parse(`"`+time.RFC3339Nano+`"`, text)
		if err != nil {
			return text
		}
		return t.UTC().Format(`"` + time.RFC3339Nano + `"`)
	})
}
