package store

import (
	"context"
	"fmt"
	"net/url"
	"path"
)

// FileSystem is a file system of SQLite with the folder of one database.
type FileSystem interface {
	VFS() string // its name, which the caller has registered
	Dir() string
	// Rewrite writes what a file shows again and syncs it, as rewriteLog does. A
	// file that does not exist needs nothing.
	Rewrite(name string) error
}

// OpenOn opens a database on another file system of SQLite, for simulations. It
// leaves out what a file system without shared memory cannot do: there is one
// connection in exclusive locking mode, and a read waits for a commit instead of
// running beside it. It does not check that the file is nightporter's, and Backup
// fails. All else, such as the write-ahead log, its recovery, and every statement, is
// that of Open.
func OpenOn(files FileSystem) (*Store, error) {
	name := path.Join(files.Dir(), Name)
	s, err := openOn(files, name)
	if err != nil {
		return nil, fail("open "+name, err)
	}
	return s, nil
}

func openOn(files FileSystem, name string) (_ *Store, err error) {
	ctx := context.Background()
	if err := files.Rewrite(name + logSuffix); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	s := &Store{path: name, turn: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			_ = s.release()
		}
	}()
	if s.db, err = connectTo(exclusiveDSN(files.VFS(), name)); err != nil {
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
		"_stmt_cache_size":    {statementCache},
	})
}
