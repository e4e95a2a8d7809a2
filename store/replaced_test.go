package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// TestReplacedFile takes the database away from a store, and puts others in its
// place: nothing is accepted until the file that it opened is back.
func TestReplacedFile(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	path, aside := filepath.Join(dir, store.Name), filepath.Join(dir, "aside")
	commit := func() error {
		r, err := ledger.Entry{Stream: ledger.SharedStream, Time: time.Now(), Body: ledger.SharedSet{MaxSessions: 2}}.Record()
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Commit(t.Context(), ledger.Batch{Time: time.Now(), Records: []ledger.Record{r}})
		return err
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(why string) {
		t.Helper()
		if err := commit(); !errors.Is(err, store.ErrDisk) || fault.Of(err) != ledger.FaultDisk || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want ErrDisk: %s", err, why)
		}
	}
	do(commit())
	do(os.Rename(path, aside))
	refused("moved away")
	data, err := os.ReadFile(aside)
	do(err)
	do(os.WriteFile(path, data, 0o600))
	refused("replaced")
	do(os.Rename(aside, path))
	do(commit())
	n := 0
	do(s.Records(t.Context(), ledger.SharedStream, 0, func(ledger.Record) error { n++; return nil }))
	if n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}
