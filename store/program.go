package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// Program is what opens a database.
type Program struct {
	Version string // of the program, for people
	// Format is the version of what the program reads from entries. A database
	// that a program of a later format wrote is refused, because this one would
	// fold its entries to something else. 0 opens every format and records none.
	Format int
	// BeforeChange is called before a database with entries is changed to a
	// later schema or format, with the program that wrote it and a function that
	// copies it as it is. An error ends the opening, and nothing is changed. May
	// be nil.
	BeforeChange func(ctx context.Context, by Program, copyTo func(path string) error) error
}

// NewerError is the ErrNewer for a database that a later program wrote.
type NewerError struct {
	By, This     Program
	Schema, Have int // schema of the database, and the latest that this program knows
}

// Error names both programs.
func (e *NewerError) Error() string {
	by, install := "a later nightporter", "a later one"
	if e.By.Version != "" {
		by = "nightporter " + e.By.Version
		install = by + " or a later one"
	}
	return fmt.Sprintf("%v: %s wrote it in form %d.%d, and this program (%s) knows %d.%d: install %s",
		ErrNewer, by, e.Schema, e.By.Format, e.This.Version, e.Have, e.This.Format, install)
}

// Unwrap returns ErrNewer.
func (e *NewerError) Unwrap() error { return ErrNewer }

// OpenAs is Open for a program that says its version and format. It records
// both, so that an earlier program can name them when it refuses the database.
func OpenAs(dir string, p Program) (*Store, error) {
	s, err := open(dir, p)
	if err != nil {
		return nil, fail("open "+filepath.Join(dir, Name), err)
	}
	return s, nil
}

// written is what a database says about the programs that wrote it.
type written struct {
	by      Program // version and format
	schema  int
	entries bool
}

// readWritten reads a database before anything is changed in it. A new one gives
// the zero value.
func readWritten(ctx context.Context, path string) (w written, err error) {
	db, err := connectTo(readerDSN(path))
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name IN (?, 'meta', 'entries')", versions).Scan(&tables); err != nil || tables < 3 {
		return w, err
	}
	if err := db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0), EXISTS (SELECT 1 FROM entries) FROM "+versions).Scan(&w.schema, &w.entries); err != nil {
		return w, err
	}
	return w, visitRows(ctx, db, func(rows *sql.Rows) error {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		switch key {
		case "program":
			w.by.Version = value
		case "format":
			w.by.Format, err = strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("its format cannot be read: %w: %w", err, ErrBroken)
			}
		}
		return nil
	}, "SELECT key, value FROM meta")
}

// admit refuses a database of a later program, and lets BeforeChange look at an
// earlier one before it is changed.
func (p Program) admit(ctx context.Context, path string) error {
	known, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	w, err := readWritten(ctx, path)
	if err != nil {
		return err
	}
	if w.schema > len(known) || p.Format > 0 && w.by.Format > p.Format {
		return &NewerError{By: w.by, This: p, Schema: w.schema, Have: len(known)}
	}
	changes := w.schema < len(known) || w.by.Format < p.Format
	if !changes || !w.entries || p.BeforeChange == nil {
		return nil
	}
	return p.BeforeChange(ctx, w.by, func(to string) error { return (&Store{path: path}).Backup(ctx, to) })
}

// record notes the program in the database, unless its format is 0.
func (p Program) record(ctx context.Context, db *sql.DB) error {
	if p.Format == 0 {
		return nil
	}
	_, err := db.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES ('program', ?), ('format', ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`, p.Version, strconv.Itoa(p.Format))
	return err
}
