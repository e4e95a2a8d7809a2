package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/fsutil"
)

// Backup writes a consistent copy of the database to the new file path, while
// commits go on. The copy needs no write-ahead log beside it, is readable by
// its owner only, and is synced to disk when Backup returns. Backup fails if
// path exists. After an error, no copy is left.
func (s *Store) Backup(ctx context.Context, path string) error {
	return fail("back up to "+path, s.backup(ctx, path))
}

func (s *Store) backup(ctx context.Context, path string) (err error) {
	// SQLite writes into an existing empty file; if it created the file, the
	// umask would decide its mode.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	// VACUUM INTO needs a connection that may write; those of the pool may not.
	db, err := connectTo(copierDSN(s.path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return fsutil.SyncDir(filepath.Dir(path))
}

// Check checks a copy made by Backup without changing it: that it is complete,
// that this program can read it, and that every chain in it is unbroken. It
// returns the heads of its streams, sorted by stream, and the breaks that
// Verify would return.
//
// Errors: ErrNewer, ErrForeign and ErrBroken for a file that cannot be checked.
func Check(ctx context.Context, path string) (heads []Anchor, breaks []Break, err error) {
	heads, breaks, err = checkCopy(ctx, path)
	if err != nil {
		return nil, nil, fail("check "+path, err)
	}
	return heads, breaks, nil
}

func checkCopy(ctx context.Context, path string) (heads []Anchor, breaks []Break, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	s := &Store{path: path}
	if s.readers, err = connectTo(readerDSN(path)); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.readers.Close()) }()
	var id, version int
	if err := s.readers.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return nil, nil, err
	}
	if id != applicationID {
		return nil, nil, fmt.Errorf("%w: application id %d", ErrForeign, id)
	}
	if err := s.readers.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versions).Scan(&version); err != nil {
		return nil, nil, err
	}
	known, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, nil, err
	}
	if version > len(known) {
		return nil, nil, fmt.Errorf("%w: the database has version %d, this program knows %d", ErrNewer, version, len(known))
	}
	if breaks, err = s.verify(ctx, nil); err != nil {
		return nil, nil, err
	}
	heads, err = s.heads(ctx)
	return heads, breaks, err
}

// Heads returns the heads of the streams of a copy made by Backup, sorted by
// stream, without checking anything: a database of years is checked in minutes.
func Heads(ctx context.Context, path string) (heads []Anchor, err error) {
	s := &Store{path: path}
	if s.readers, err = connectTo(readerDSN(path)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.readers.Close()) }()
	heads, err = s.heads(ctx)
	return heads, fail("heads of "+path, err)
}

func (s *Store) heads(ctx context.Context) (heads []Anchor, err error) {
	err = s.rows(ctx, func(rows *sql.Rows) error {
		var a Anchor
		err := rows.Scan(&a.Stream, &a.Seq, &a.Hash)
		heads = append(heads, a)
		return err
	}, "SELECT stream, seq, hash FROM heads ORDER BY stream")
	return heads, err
}
