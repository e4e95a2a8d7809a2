package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCutWhileOpen cuts the log and the database file in place while they are in
// use: nothing is accepted any more, and closing changes neither.
func TestCutWhileOpen(t *testing.T) {
	for name, cut := range map[string]struct {
		suffix string
		to     func(size int64) int64
	}{
		"log to nothing":       {logSuffix, func(int64) int64 { return 0 }},
		"log within a frame":   {logSuffix, func(size int64) int64 { return size/2 + 100 }},
		"log by its last byte": {logSuffix, func(size int64) int64 { return size - 1 }},
		"file in half":         {"", func(size int64) int64 { return size / 8192 * 4096 }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openWithLog(t, dir)
			path := filepath.Join(dir, Name) + cut.suffix
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, cut.to(info.Size())); err != nil {
				t.Fatal(err)
			}
			before := [2][]byte{readFile(t, filepath.Join(dir, Name)), readFile(t, filepath.Join(dir, Name+logSuffix))}
			for range 2 {
				_, err := s.Commit(t.Context(), ledger.Batch{Records: []ledger.Record{rec(shop, "a")}})
				if !errors.Is(err, ErrBroken) || fault.Of(err) != ledger.FaultLedger || !strings.Contains(err.Error(), "was cut") {
					t.Errorf("a commit gives %v, want ErrBroken", err)
				}
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if !bytes.Equal(before[0], readFile(t, filepath.Join(dir, Name))) || !bytes.Equal(before[1], readFile(t, filepath.Join(dir, Name+logSuffix))) {
				t.Error("what is left was written over")
			}
		})
	}
}

// TestCutBeforeClose: a log that was cut since the last commit is not copied into
// the database file, of which half would be older than the rest.
func TestCutBeforeClose(t *testing.T) {
	dir := t.TempDir()
	s := openWithLog(t, dir)
	if err := os.Truncate(filepath.Join(dir, Name+logSuffix), 6*(4096+24)+32); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, filepath.Join(dir, Name))
	if err := s.Close(); !errors.Is(err, ErrBroken) {
		t.Errorf("close gives %v, want ErrBroken", err)
	}
	if !bytes.Equal(before, readFile(t, filepath.Join(dir, Name))) {
		t.Error("the log was copied")
	}
}

// TestLostEnd takes the end of the ledger away while no program has it open: it is
// not taken for whole, and can be used once the person has said so.
func TestLostEnd(t *testing.T) {
	for name, cut := range map[string]func(t *testing.T, log string) error{
		"log cut":     func(t *testing.T, log string) error { return os.Truncate(log, int64(len(readFile(t, log))/2)) },
		"log emptied": func(_ *testing.T, log string) error { return os.Truncate(log, 0) },
		"log deleted": func(_ *testing.T, log string) error { return os.Remove(log) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, at := t.TempDir(), t.TempDir()
			s := openWithLog(t, dir)
			for _, suffix := range []string{"", logSuffix, endSuffix} { // as a kill leaves them
				if err := os.WriteFile(filepath.Join(at, Name+suffix), readFile(t, filepath.Join(dir, Name+suffix)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := s.Close()
			if err != nil {
				t.Fatal(err)
			}
			if err := cut(t, filepath.Join(at, Name+logSuffix)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // refusing it changes nothing
				_, err = Open(at)
				lost, ok := errors.AsType[*LostEndError](err)
				if !ok || !errors.Is(err, ErrBroken) || lost.Last.Seq != 80 || lost.Last.Stream != shop || lost.End >= 80 {
					t.Fatalf("it opens with %v (%+v), want LostEndError", err, lost)
				}
			}
			if err := os.Remove(filepath.Join(at, Name+endSuffix)); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, at)
			mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(shop, "a")}})
			if got := breaks(t, s); got != "" {
				t.Errorf("what is left has breaks: %s", got)
			}
		})
	}
}

// TestFlippedPage changes each byte of the headers of all pages of the ledger, one
// at a time. Verify names what it finds and never fails; nothing is committed
// after it found a page that cannot be read.
func TestFlippedPage(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 400 {
		r := rec(shop, "a")
		r.Body = []byte(`{"text": "` + strings.Repeat("x", n%97) + `"}`)
		mustCommit(t, s, ledger.Batch{Records: []ledger.Record{r}})
	}
	var root int
	if err := s.readers.QueryRowContext(t.Context(), `SELECT rootpage FROM sqlite_schema WHERE name = 'entries'`).Scan(&root); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := readFile(t, filepath.Join(dir, Name))
	pages := treePages(whole, root)
	if len(pages) < 8 {
		t.Fatalf("the ledger has %d pages", len(pages))
	}
	found, unopened, harmless := 0, 0, 0
	for _, page := range pages {
		for _, at := range []int{0, 3, 4, 5, 6, 8, 11, 13, 2000, 4090} {
			dir := t.TempDir()
			text := bytes.Clone(whole)
			text[(page-1)*4096+at] ^= 0x11
			if err := os.WriteFile(filepath.Join(dir, Name), text, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(dir)
			if err != nil {
				unopened++
				if !errors.Is(err, ErrBroken) {
					t.Errorf("page %d, byte %d: opening gives %v, want ErrBroken", page, at, err)
				}
				continue
			}
			places, err := s.Verify(t.Context())
			switch {
			case err != nil:
				t.Errorf("page %d, byte %d: Verify fails: %v", page, at, err)
			case len(places) == 0:
				harmless++ // a byte that nothing reads
			default:
				found++
				_, err := s.Commit(t.Context(), ledger.Batch{Records: []ledger.Record{rec(shop, "a")}})
				if file := strings.Contains(places[0].String(), "file is damaged"); file && !errors.Is(err, ErrBroken) {
					t.Errorf("page %d, byte %d: %v, and a commit gives %v", page, at, places, err)
				}
			}
			_ = s.Close()
		}
	}
	t.Logf("%d pages: %d changes found by Verify, %d at the opening, %d harmless", len(pages), found, unopened, harmless)
	if found == 0 || unopened == 0 {
		t.Error("the test shows nothing")
	}
}

// openWithLog returns a store whose last 40 commits are in its write-ahead log alone.
func openWithLog(t *testing.T, dir string) *Store {
	t.Helper()
	for n := range 2 {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			mustCommit(t, s, ledger.Batch{Records: []ledger.Record{rec(shop, "a")}})
		}
		if n > 0 {
			return s
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return nil
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// treePages returns the numbers of all pages of the tree of an index or of a table
// without row ids (https://www.sqlite.org/fileformat2.html, section 1.6).
func treePages(file []byte, root int) []int {
	const interior = 2
	page := file[(root-1)*4096 : root*4096]
	pages := []int{root}
	if page[0] != interior {
		return pages
	}
	for n := range int(binary.BigEndian.Uint16(page[3:])) {
		cell := binary.BigEndian.Uint16(page[12+2*n:])
		pages = append(pages, treePages(file, int(binary.BigEndian.Uint32(page[cell:])))...)
	}
	return append(pages, treePages(file, int(binary.BigEndian.Uint32(page[8:])))...)
}
