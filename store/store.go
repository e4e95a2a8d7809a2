package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

// Name is the database's file name in the state folder (SPEC 17).
const Name = "nightporter.db"

// Store is the ledger in a state folder, with what lies around it. Its methods
// may be called from several goroutines: commits take turns, reads run beside
// them and see what was committed before they began.
type Store struct {
	path    string    // of the database file, absolute
	db      *sql.DB   // holds the one writing connection
	writer  *sql.Conn // guarded by turn
	stmts   statements
	readers *sql.DB

	turn   chan struct{} // one token: whoever has it may use writer. A channel, so that waiting ends with a context
	closed bool          // guarded by turn
}

var errClosed = errors.New("the store is closed")

// Open opens the database of a state folder, making folder and file (readable
// by their owner only) where there are none, and brings an older one up to
// date. The caller has the folder to itself (statelock.Take).
//
// Errors: ErrNewer for a database of a later release, ErrForeign for a file
// that is not ours, ErrDisk where the folder cannot be written or is full.
func Open(dir string) (*Store, error) {
	s, err := open(dir)
	if err != nil {
		return nil, fail("open "+filepath.Join(dir, Name), err)
	}
	return s, nil
}

func open(dir string) (_ *Store, err error) {
	ctx := context.Background()
	path, err := create(dir)
	if err != nil {
		return nil, err
	}
	if err := recognise(ctx, path); err != nil {
		return nil, err
	}
	s := &Store{path: path, turn: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			_ = s.release()
		}
	}()

	if s.db, err = sql.Open("sqlite3", writerDSN(path)); err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(1)
	if err = migrate(ctx, s.db); err != nil {
		return nil, err
	}
	if s.writer, err = s.db.Conn(ctx); err != nil {
		return nil, err
	}
	if err = checkPragmas(ctx, s.writer, writerPragmas); err != nil {
		return nil, err
	}
	if err = s.stmts.prepare(ctx, s.writer); err != nil {
		return nil, err
	}

	if s.readers, err = sql.Open("sqlite3", readerDSN(path)); err != nil {
		return nil, err
	}
	// No upper limit: a read may be made from within another one's yield, and
	// a limit would turn that into a deadlock.
	s.readers.SetMaxIdleConns(2)
	if err = checkPragmas(ctx, s.readers, readerPragmas); err != nil {
		return nil, err
	}
	s.turn <- struct{}{}
	return s, nil
}

// create makes the folder and an empty database file, 0600, where there are
// none, and returns the file's absolute path. An existing database is never
// opened here: closing it again would drop the locks that SQLite may hold on
// it in this process.
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

// Close writes the log of recent commits back into the database file, so that
// the file alone is whole, and closes it. A second Close does nothing.
func (s *Store) Close() error {
	<-s.turn
	defer func() { s.turn <- struct{}{} }()
	if s.closed {
		return nil
	}
	s.closed = true
	return fail("close", s.release())
}

// release closes what is open. Readers go first: a checkpoint cannot pass one.
func (s *Store) release() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		_, err := s.writer.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err, s.stmts.close(), s.writer.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// write runs do in one transaction on the writing connection: committed when
// it returns nil and true, otherwise undone. Once begun, it is not cut off by
// ctx: a cancelled COMMIT would leave open whether it happened.
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
	ctx = context.WithoutCancel(ctx)

	if _, err := s.stmts.begin.ExecContext(ctx); err != nil {
		return err
	}
	keep, err := do(ctx)
	if err == nil && keep {
		_, err = s.stmts.commit.ExecContext(ctx)
		if err == nil {
			return nil
		}
	}
	// After some errors SQLite has rolled back by itself; then this one fails
	// and has nothing to say.
	_, _ = s.stmts.rollback.ExecContext(ctx)
	return err
}
