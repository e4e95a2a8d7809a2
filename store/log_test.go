package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRewriteLog: every byte of the log is written again, and none changes.
func TestRewriteLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	if err := rewriteLog(path); err != nil {
		t.Fatalf("without a log: %v", err)
	}
	for _, size := range []int{0, 1, 1 << 18, 1<<20 + 4096} {
		want := bytes.Repeat([]byte("frame 1."), size/8+1)[:size]
		if err := os.WriteFile(path+logSuffix, want, 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Unix(1, 0)
		if err := os.Chtimes(path+logSuffix, old, old); err != nil {
			t.Fatal(err)
		}
		if err := rewriteLog(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path + logSuffix)
		if err != nil {
			t.Fatal(err)
		}
		if written := !info.ModTime().Equal(old); written != (size > 0) {
			t.Errorf("a log of %d bytes: written %v", size, written)
		}
		if got, err := os.ReadFile(path + logSuffix); err != nil || !bytes.Equal(got, want) {
			t.Errorf("a log of %d bytes has %d and other content: %v", size, len(got), err)
		}
	}
	if err := os.Remove(path + logSuffix); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+logSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := rewriteLog(path); !errors.Is(err, ErrDisk) {
		t.Errorf("a log that cannot be written: %v", err)
	}
}
