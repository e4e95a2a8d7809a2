package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestHangingRepository puts a pipe in the place of the repository's configuration:
// git waits in it for ever. That is a fault of the repository, which is over when the
// file is back, and a slow git gets more time with each try.
func TestHangingRepository(t *testing.T) {
	repo, w, _, _ := oneTask(t)
	config := filepath.Join(repo, ".git", "config")
	must(t, os.Rename(config, config+".aside"))
	must(t, syscall.Mkfifo(config, 0o600))
	ask := func(ctx context.Context) error {
		_, err := w.gitUser(ctx, userRepo{gitDir: filepath.Join(repo, ".git")}, "rev-parse", "HEAD")
		return err
	}
	for _, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond} {
		began := time.Now()
		err := w.inTime(t.Context(), 100*time.Millisecond, ask)
		if said, ok := errors.AsType[*ledger.RepositoryError](err); !ok || fault.Of(err) != ledger.FaultRepository || said.Remedy == "" {
			t.Fatalf("%v, want a fault of the repository", err)
		}
		if took := time.Since(began); took < want {
			t.Errorf("ended after %v, want %v", took, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.inTime(ctx, time.Minute, ask); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	must(t, os.Remove(config))
	must(t, os.Rename(config+".aside", config))
	must(t, w.inTime(t.Context(), time.Minute, ask))
	if n := w.slow.Load(); n != 0 {
		t.Errorf("the time stays doubled %d times", n)
	}
}
