package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// endSuffix is appended to the database's path for the file that names the entry
// which was committed last.
const endSuffix = "-end"

// endSize is the size of that file. It is written at once, within one sector.
const endSize = 256

// LostEndError is the error of a database that no longer has the entry that was
// committed last. Its write-ahead log was cut or deleted while no program had it
// open, an older file was put in its place, or a disk lost what it had confirmed.
// SQLite takes such a database for whole. Unwrap gives ErrBroken.
type LostEndError struct {
	Last Anchor // the entry that was committed last; its Source is the file that names it
	End  int64  // the last entry of that stream now; 0 for none
}

// Error names both entries.
func (e *LostEndError) Error() string {
	return fmt.Sprintf("%v: its end is lost: %s ends with entry %d, and entry %d was committed (%s)", ErrBroken, e.Last.Stream, e.End, e.Last.Seq, e.Last.Source)
}

// Unwrap returns ErrBroken.
func (e *LostEndError) Unwrap() error { return ErrBroken }

// Fault makes LostEndError a fault.Error of internal/fault.
func (e *LostEndError) Fault() ledger.Fault { return ledger.FaultLedger }

// lastCommitted is the file beside the database that names the entry which was
// committed last. It is written after each commit and never synced: it may name an
// earlier entry, and never one that is not durable. A file that is missing or
// cannot be read names none. Close removes it with the write-ahead log: without a log,
// no end can be lost that SQLite would not miss itself.
type lastCommitted struct{ file *os.File }

// openEnd opens the file, and returns a LostEndError if the database lacks the
// entry that it names. A ledger without entries is not compared.
func (s *Store) openEnd(ctx context.Context) (err error) {
	path := s.path + endSuffix
	text, err := os.ReadFile(path)
	if err == nil {
		if last, err := ParseAnchor(strings.TrimSpace(string(text))); err == nil {
			last.Source = filepath.Base(path)
			if err := s.checkEnd(ctx, last); err != nil && !damaged(err) { // a page that cannot be read shows when it is
				return err
			}
		}
	}
	if s.end.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return nil
}

func (s *Store) checkEnd(ctx context.Context, last Anchor) error {
	hash, err := s.Hash(ctx, last.Stream, last.Seq)
	if err != nil || string(hash) == string(last.Hash) {
		return err
	}
	streams, err := s.Streams(ctx)
	if err != nil || len(streams) == 0 {
		return err
	}
	end, _, err := s.Head(ctx, last.Stream)
	if err != nil {
		return err
	}
	return &LostEndError{Last: last, End: end}
}

// write names the last of the records that were committed. A failure leaves an
// earlier one.
func (l *lastCommitted) write(records []ledger.Record) {
	if len(records) == 0 || l.file == nil {
		return
	}
	r := records[len(records)-1]
	line := Anchor{Stream: r.Stream, Seq: r.Seq, Hash: r.Hash}.String()
	_, _ = l.file.WriteAt([]byte(line+strings.Repeat(" ", max(0, endSize-1-len(line)))+"\n"), 0)
}

func (l *lastCommitted) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// remove removes the file, once the database file alone is complete.
func (l *lastCommitted) remove() error {
	if l.file == nil {
		return nil
	}
	return os.Remove(l.file.Name())
}
