package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// checkFile returns an ErrDisk if the database's file was deleted, moved away or
// replaced since it was opened. SQLite itself goes on writing into the old file,
// which nobody would find again. The same file in its place again is well. One that
// became shorter is an ErrBroken, because nothing here ever shortens it. It is called
// before each transaction and costs a microsecond. The caller has the turn.
func (s *Store) checkFile() error {
	if s.file == nil {
		return nil // not a file of the operating system (OpenOn)
	}
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was deleted or moved away while in use: put the same file back, or stop nightporter and restore a backup", ErrDisk, s.path)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDisk, err)
	case !os.SameFile(s.file, now):
		return fmt.Errorf("%w: %s was replaced while in use: stop nightporter, and start it again on the file that is to be used", ErrDisk, s.path)
	case now.Size() < s.file.Size():
		return wasCut(s.path, s.file.Size(), now.Size())
	}
	s.file = now
	return nil
}

// wasCut returns the error for a file that became shorter while it was in use.
func wasCut(path string, from, to int64) error {
	return damagedError{fmt.Errorf("%w: %s was cut from %d to %d bytes while in use", ErrBroken, path, from, to)}
}

// checkLogSize returns an ErrBroken if the write-ahead log was cut since the last
// commit. SQLite itself leaves a hole where the commits were that are lost, and
// writes on behind it: the next start believes nothing that follows a hole, so all
// of it would be acknowledged and lost. The caller has the turn.
func (s *Store) checkLogSize(ctx context.Context) error {
	if s.log == nil || s.writer == nil {
		return nil // not a file of the operating system (OpenOn), or not in use
	}
	now, err := os.Stat(s.path + logSuffix)
	if err != nil || !os.SameFile(s.log, now) || now.Size() >= s.log.Size() {
		return nil // checkLog begins one anew that was deleted or replaced
	}
	whole, err := s.logWhole(ctx, now.Size())
	switch {
	case err != nil:
		return err
	case !whole:
		return wasCut(s.path+logSuffix, s.log.Size(), now.Size())
	}
	s.log = now
	return nil
}

// Sizes in bytes of what a write-ahead log has beside pages: https://sqlite.org/fileformat2.html#the_write_ahead_log.
const (
	logHeader   = 32
	frameHeader = 24
)

// logWhole reports whether a write-ahead log of size bytes has every frame that
// SQLite would read from it. A shorter log than before is whole where another program
// copied it into the database file and cut it (wal_checkpoint(TRUNCATE), as tools for
// copies of databases do): then its index, which all programs share, says so. The
// caller has the turn.
func (s *Store) logWhole(ctx context.Context, size int64) (bool, error) {
	var page, busy, frames, copied int64
	if err := s.writer.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page); err != nil {
		return false, err
	}
	if err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &frames, &copied); err != nil {
		return false, err
	}
	return frames == 0 || size >= logHeader+frames*(frameHeader+page), nil
}

// noteLogSize remembers how long the write-ahead log is. The caller has the turn.
func (s *Store) noteLogSize() {
	if s.log == nil {
		return
	}
	if now, err := os.Stat(s.path + logSuffix); err == nil && os.SameFile(s.log, now) {
		s.log = now
	}
}

// checkLog begins a new write-ahead log if the one in use was deleted or replaced:
// SQLite itself goes on writing into the old file, and a crash would lose all that
// it acknowledged there. What the old one holds is copied into the database file
// before. Where that cannot be done the error is an ErrDisk, and the next call tries
// it again. The caller has the turn.
func (s *Store) checkLog(ctx context.Context) error {
	if s.log == nil {
		return nil // not a file of the operating system (OpenOn)
	}
	now, err := os.Stat(s.path + logSuffix)
	if err == nil && s.writer != nil && os.SameFile(s.log, now) {
		return s.checkLogSize(ctx)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	if err := s.renewLog(ctx); err != nil {
		return fmt.Errorf("%w: %s%s was deleted while in use, and cannot be begun anew: %w", ErrDisk, s.path, logSuffix, err)
	}
	return nil
}

// renewLog copies the write-ahead log into the database file and opens the writing
// connection anew.
func (s *Store) renewLog(ctx context.Context) error {
	if s.writer != nil {
		var busy, frames, copied int
		if err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied); err != nil {
			return err
		}
		if busy != 0 {
			return errors.New("a reader still uses it")
		}
	}
	// A reader that is kept open would go on with the old log.
	s.readers.SetMaxIdleConns(-1)
	if err := s.releaseWriter(); err != nil {
		return err
	}
	var err error
	if s.db, err = connectTo(writerDSN(s.path)); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if err = s.connect(ctx); err == nil {
		s.log, err = os.Stat(s.path + logSuffix)
	}
	if err != nil {
		err = errors.Join(err, s.releaseWriter())
	}
	return err
}
