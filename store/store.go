package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// Name is the file name of the database in the state folder.
const Name = "nightporter.db"

// Store is the database of a state folder. Its methods are safe for concurrent
// use: writes are serialized, and reads run beside them on a snapshot.
type Store struct {
	path    string      // path of the database file, absolute
	file    os.FileInfo // the file at the last look; nil for OpenOn. Guarded by turn
	log     os.FileInfo // its write-ahead log at the last look; nil for OpenOn. Guarded by turn
	db      *sql.DB     // holds the one writing connection
	writer  *sql.Conn   // guarded by turn
	stmts   statements
	end     lastCommitted
	readers *sql.DB

	turn   chan struct{} // holds one token, whose owner may use writer. Unlike a mutex, a channel lets a waiting caller give up when its context ends
	closed bool          // guarded by turn

	damage atomic.Pointer[error] // how the file was found damaged while it was open; nil = it was not
}

var errClosed = errors.New("the store is closed")

// Open opens the database of a state folder and migrates it to this program's
// version. It creates folder and file, readable by their owner only, if they do
// not exist. The caller must hold the folder's lock (statelock.Take) and call
// Close.
//
// What the store then shows is durable, also after a process that died on a disk
// whose syncs failed.
//
// Errors: ErrNewer for a database of a later release, ErrForeign for another
// program's file, ErrDisk for a folder that is full or not writable.
func Open(dir string) (*Store, error) { return OpenAs(dir, Program{}) }

func open(dir string, p Program) (_ *Store, err error) {
	ctx := context.Background()
	path, err := create(dir)
	if err != nil {
		return nil, err
	}
	if err := rewriteLog(path); err != nil {
		return nil, err
	}
	if err := rollBack(ctx, path); err != nil {
		return nil, err
	}
	if err := refuseForeign(ctx, path); err != nil {
		return nil, err
	}
	if err := p.admit(ctx, path); err != nil {
		return nil, err
	}
	s := &Store{path: path, turn: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			_ = s.release()
		}
	}()

	if s.db, err = connectTo(writerDSN(path)); err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(1)
	if err = migrate(ctx, s.db); err != nil {
		return nil, err
	}
	if err = p.record(ctx, s.db); err != nil {
		return nil, err
	}
	if err = s.connect(ctx); err != nil {
		return nil, err
	}

	if s.readers, err = connectTo(readerDSN(path)); err != nil {
		return nil, err
	}
	// No limit of open connections: a yield that reads would wait for its own
	// reader.
	s.readers.SetMaxIdleConns(2)
	if err = checkPragmas(ctx, s.readers, readerPragmas); err != nil {
		return nil, err
	}
	if s.file, err = os.Stat(path); err != nil {
		return nil, err
	}
	if s.log, err = os.Stat(path + logSuffix); err != nil {
		return nil, err
	}
	if err = s.openEnd(ctx); err != nil {
		return nil, err
	}
	s.turn <- struct{}{}
	return s, nil
}

// connect takes the writing connection of db and prepares it.
func (s *Store) connect(ctx context.Context) (err error) {
	if s.writer, err = s.db.Conn(ctx); err != nil {
		return err
	}
	if err = checkPragmas(ctx, s.writer, writerPragmas); err != nil {
		return err
	}
	return s.stmts.prepare(ctx, s.writer)
}

// create creates the folder and an empty database file with mode 0600, if they
// do not exist, and returns the file's absolute path. It never opens an
// existing database: closing that descriptor would drop the POSIX locks that
// SQLite holds in this process.
func create(dir string) (string, error) {
	path, err := filepath.Abs(filepath.Join(dir, Name))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", ErrDisk, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case err == nil:
		return path, f.Close()
	case !errors.Is(err, os.ErrExist):
		return "", fmt.Errorf("%w: %w", ErrDisk, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrDisk, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%w: it is no regular file", ErrForeign)
	}
	return path, nil
}

// Close copies the write-ahead log into the database file, so that the file
// alone is complete, and closes it. Further calls do nothing.
//
// A database that was found damaged stays as it is: the writing connection stays
// open until the process ends, because SQLite copies the log when the last one is
// closed, and what is left of a log would make a half of the file newer than the rest.
func (s *Store) Close() error {
	<-s.turn
	defer func() { s.turn <- struct{}{} }()
	if s.closed {
		return nil
	}
	s.closed = true
	var found error
	if s.damage.Load() == nil {
		found = s.noting(errors.Join(s.checkFile(), s.checkLogSize(context.Background())))
	}
	if s.damage.Load() != nil && s.file != nil {
		return fail("close", errors.Join(found, s.readers.Close(), s.end.close()))
	}
	err := s.release()
	if err == nil {
		_ = s.end.remove() // one that stays names an entry that is there
	}
	return fail("close", err)
}

// release closes the connections. Readers close first: they block a checkpoint.
func (s *Store) release() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	return errors.Join(append(errs, s.end.close(), s.releaseWriter())...)
}

// releaseWriter copies the write-ahead log into the database file and closes the
// writing connection.
func (s *Store) releaseWriter() error {
	var errs []error
	if s.writer != nil {
		_, err := s.writer.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err, s.stmts.close(), s.writer.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	s.writer, s.db, s.stmts = nil, nil, statements{}
	return errors.Join(errs...)
}

// write runs do in a transaction on the writing connection. It commits if do
// returns true and nil, and otherwise rolls back. ctx only ends the wait for
// the turn: cancelling a COMMIT would leave its outcome unknown.
func (s *Store) write(ctx context.Context, do func(ctx context.Context) (keep bool, err error)) error {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { s.turn <- struct{}{} }()
	if s.closed {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := s.damage.Load(); err != nil {
		return *err
	}
	if err := s.checkFile(); err != nil {
		return s.noting(err)
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.checkLog(ctx); err != nil {
		return s.noting(err)
	}

	if _, err := s.stmts.begin.ExecContext(ctx); err != nil {
		return s.noting(err)
	}
	keep, err := do(ctx)
	if err == nil && keep {
		_, err = s.stmts.commit.ExecContext(ctx)
		if err == nil {
			s.noteLogSize()
			return nil
		}
	}
	// SQLite has already rolled back after some errors; this error adds
	// nothing.
	_, _ = s.stmts.rollback.ExecContext(ctx)
	return s.noting(err)
}

// noting returns err, and keeps one that shows a damaged file. Nothing is written to
// such a file any more: SQLite would still take what touches none of the damaged
// pages, and acknowledge it.
func (s *Store) noting(err error) error {
	if damaged(err) {
		s.damage.CompareAndSwap(nil, &err)
	}
	return err
}
