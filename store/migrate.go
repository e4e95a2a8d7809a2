package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID is the SQLite application id of our databases, set by the first
// migration.
const applicationID = 1852863092

// versions is the table that records the applied migrations.
const versions = "migrations"

// rollBack lets SQLite undo a transaction that was interrupted before the database had
// a write-ahead log, as a kill during the first start leaves one. A read-only
// connection cannot, and all that follows begins with one.
func rollBack(ctx context.Context, path string) (err error) {
	if _, err := os.Lstat(path + "-journal"); err != nil {
		return nil //nolint:nilerr // without a journal there is nothing to undo
	}
	db, err := connectTo(dsn(path, url.Values{"mode": {"rw"}, "_busy_timeout": {busyMillis}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var tables int
	return db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
}

// refuseForeign returns ErrForeign for another program's database. A file
// without tables is accepted: an interrupted first start leaves one. The check
// opens the file read-only, because setting the journal mode would change it.
func refuseForeign(ctx context.Context, path string) (err error) {
	db, err := connectTo(readerDSN(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var id, tables int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if id == applicationID {
		return nil
	}
	err = db.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> ?",
		versions).Scan(&tables)
	if err != nil {
		return err
	}
	if id != 0 || tables != 0 {
		return fmt.Errorf("%w: it is another program's (application id %d, %d tables): choose another state folder", ErrForeign, id, tables)
	}
	return nil
}

// migrate brings the schema to this program's version. Each migration is one
// transaction, so an interrupted one starts over.
func migrate(ctx context.Context, db *sql.DB) error {
	p, err := provider(db)
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx) // Program.admit has refused a later one
	if err != nil {
		return err
	}
	if have < want {
		if _, err := p.Up(ctx); err != nil {
			return err
		}
	}
	var chain string
	if err := db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'chain'").Scan(&chain); err != nil {
		return err
	}
	if chain != chainVersion {
		return fmt.Errorf("%w: its entries are chained by rule %q, this program knows %q", ErrNewer, chain, chainVersion)
	}
	return nil
}

// provider returns goose with the migrations as Go functions. SQLite executes a
// whole script itself; goose's own SQL parser would keep 12 MB of buffers in
// the memory of an idle night.
func provider(db *sql.DB) (*goose.Provider, error) {
	all, err := scripts()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, nil,
		goose.WithGoMigrations(all...),
		goose.WithTableName(versions),
		goose.WithDisableGlobalRegistry(true), // no global state: only the embedded migrations
	)
}

// scripts returns the embedded migrations. A file's version is the number that
// its name begins with.
func scripts() ([]*goose.Migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []*goose.Migration
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		script, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		up := func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, string(script))
			return err
		}
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: up}, nil))
	}
	return all, nil
}
