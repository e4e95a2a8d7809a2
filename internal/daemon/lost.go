package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/internal/backup"
	"github.com/nightporter/nightporter/store"
)

// LostLedgerError is the error of a start in a state folder that was worked in
// and that has no ledger any more. Starting with an empty ledger would hide the
// loss, and do everything once more.
type LostLedgerError struct {
	State  string   // state folder
	Reason string   // what became of the database: "is missing"
	Traces []string // paths in the state folder that show that there was a ledger
	Err    error    // of the database; may be nil
}

// Error names the traces and says what to do.
func (e *LostLedgerError) Error() string {
	return fmt.Sprintf("the ledger is gone: %s %s, beside %s\n", filepath.Join(e.State, store.Name), e.Reason, strings.Join(e.Traces, ", ")) + RestoreAdvice(e.State)
}

// Unwrap returns the database's error.
func (e *LostLedgerError) Unwrap() error { return e.Err }

// checkDatabase returns a LostLedgerError if the state folder's database is
// missing or empty although the folder has an operator's key, which is made
// after the database, or shows work. Call it before the database is opened,
// because that would make a new one.
func checkDatabase(state string) error {
	reason := "is missing"
	info, err := os.Stat(filepath.Join(state, store.Name))
	switch {
	case err == nil && info.Size() > 0, err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil // store.Open reports what is wrong with it
	case err == nil:
		reason = "is empty"
	}
	traces := workTraces(state)
	if _, err := os.Stat(filepath.Join(state, backup.Key)); err == nil {
		traces = append([]string{backup.Key}, traces...)
	}
	if len(traces) == 0 {
		return nil
	}
	return &LostLedgerError{State: state, Reason: reason, Traces: traces}
}

// checkEntries returns a LostLedgerError if the ledger has no entry although
// the state folder shows work, and a NotMountedError if repositories of a daemon
// that stays show it.
func (d *Daemon) checkEntries(ctx context.Context) error {
	streams, err := d.Store.Streams(ctx)
	if err != nil {
		return damaged(ctx, d.o.State, d.Store, err)
	}
	if len(streams) > 0 {
		return nil
	}
	if traces := workTraces(d.o.State); len(traces) > 0 {
		return &LostLedgerError{State: d.o.State, Reason: "has no entries", Traces: traces}
	}
	if d.o.Stays {
		return checkMounted(ctx, d.o.State, d.o.Config)
	}
	return nil
}

// unopened returns err of store.Open, as a LostLedgerError if the file in place of
// the database is none and the state folder shows work, and as a DamagedError if it
// is damaged.
func unopened(ctx context.Context, state string, err error) error {
	if !errors.Is(err, store.ErrForeign) {
		return damaged(ctx, state, nil, err)
	}
	traces := workTraces(state)
	if len(traces) == 0 {
		return err
	}
	return &LostLedgerError{State: state, Reason: "is no database of nightporter", Traces: traces, Err: err}
}

// workTraces returns paths in the state folder that exist only after a run was
// recorded in a ledger, at most one of each kind. A repository without refs is
// no trace: it is made before a run is recorded, and one that is refused leaves
// it behind.
func workTraces(state string) (traces []string) {
	for _, kind := range []struct {
		dir string
		is  func(path string, e fs.DirEntry) bool
	}{
		{backup.Repositories, func(path string, e fs.DirEntry) bool { return filepath.Ext(path) == ".git" && hasRefs(path) }},
		{"runs", func(_ string, e fs.DirEntry) bool { return e.IsDir() }},
		{"sessions", func(_ string, e fs.DirEntry) bool { return e.IsDir() }},
	} {
		entries, _ := os.ReadDir(filepath.Join(state, kind.dir)) // one that cannot be read shows nothing
		for _, e := range entries {
			if kind.is(filepath.Join(state, kind.dir, e.Name()), e) {
				traces = append(traces, kind.dir+"/"+e.Name())
				break
			}
		}
	}
	return traces
}

// hasRefs reports whether a bare repository has a ref.
func hasRefs(dir string) bool {
	found := false
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	if found {
		return true
	}
	f, err := os.Open(filepath.Join(dir, "packed-refs"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}
