package store

import (
	"context"
	"database/sql"
	"net/url"
	"path"
)

// OpenOn opens a database on another file system of SQLite, which the caller has
// registered, for simulations. It leaves out what a file system without shared
// memory cannot do: there is one connection in exclusive locking mode, and a read
// waits for a commit instead of running beside it. It does not check that the
// file is nightporter's, and Backup fails. All else, such as the write-ahead log,
// its recovery, and every statement, is that of Open.
func OpenOn(vfs, dir string) (*Store, error) {
	s, err := openOn(vfs, path.Join(dir, Name))
	if err != nil {
		return nil, fail("open "+path.Join(dir, Name), err)
	}
	return s, nil
}

func openOn(vfs, name string) (_ *Store, err error) {
	ctx := context.Background()
	s := &Store{path: name, turn: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			_ = s.release()
		}
	}()
	if s.db, err = sql.Open("sqlite3", exclusiveDSN(vfs, name)); err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(1)
	// The driver sets the journal mode before the locking mode, and without
	// shared memory WAL needs the latter first.
	if _, err = s.db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return nil, err
	}
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
	if s.readers, err = s.turnReaders(); err != nil {
		return nil, err
	}
	s.turn <- struct{}{}
	return s, nil
}

// exclusiveDSN is the address for OpenOn.
func exclusiveDSN(vfs, name string) string {
	return dsn(name, url.Values{
		"vfs":                 {vfs},
		"_locking_mode":       {"EXCLUSIVE"},
		"_synchronous":        {"FULL"},
		"_txlock":             {"immediate"},
		"_foreign_keys":       {"on"},
		"_recursive_triggers": {"on"},
		"_busy_timeout":       {busyMillis},
	})
}
