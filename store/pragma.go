package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"slices"
)

// busyMillis is how long a statement waits for another program's lock. Our own
// connections never wait for each other: there is one writer, and readers in
// WAL mode do not block.
const busyMillis = "5000"

// statementCache is the number of statements that a connection keeps prepared. It
// covers every query of this package that a night repeats.
const statementCache = "32"

// writerPragmas are the required settings of the writing connection. The driver
// silently ignores a misspelt parameter, so checkPragmas reads the settings
// back.
var writerPragmas = map[string]string{
	"journal_mode":       "wal",
	"synchronous":        "2", // FULL: an acknowledged commit survives a power cut
	"foreign_keys":       "1",
	"recursive_triggers": "1", // without it INSERT OR REPLACE deletes past the triggers
	"busy_timeout":       busyMillis,
}

// readerPragmas are the required settings of the read-only pool.
var readerPragmas = map[string]string{
	"query_only":   "1",
	"busy_timeout": busyMillis,
}

func writerDSN(path string) string {
	return dsn(path, url.Values{
		"_journal_mode":       {"WAL"},
		"_synchronous":        {"FULL"},
		"_txlock":             {"immediate"},
		"_foreign_keys":       {"on"},
		"_recursive_triggers": {"on"},
		"_busy_timeout":       {busyMillis},
		"_stmt_cache_size":    {statementCache},
	})
}

func readerDSN(path string) string {
	return dsn(path, url.Values{
		"mode":             {"ro"},
		"_query_only":      {"on"},
		"_busy_timeout":    {busyMillis},
		"_stmt_cache_size": {statementCache},
	})
}

// copierDSN is the address for VACUUM INTO: the database is read-only, but the
// connection may write another file.
func copierDSN(path string) string {
	return dsn(path, url.Values{"mode": {"ro"}, "_busy_timeout": {busyMillis}})
}

// dsn escapes path, because a folder's name may contain '?', '#' or '%'.
func dsn(path string, params url.Values) string {
	return (&url.URL{Scheme: "file", Path: path, RawQuery: params.Encode()}).String()
}

// querier has the query methods of *sql.DB, *sql.Conn and *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// checkPragmas returns an error for a setting that differs from want.
func checkPragmas(ctx context.Context, q querier, want map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, got := want[name], ""
		if err := q.QueryRowContext(ctx, "PRAGMA "+name).Scan(&got); err != nil {
			return fmt.Errorf("read pragma %s: %w", name, err)
		}
		if got == value {
			continue
		}
		if name == "journal_mode" {
			return fmt.Errorf("journal mode is %q where %q is needed: the file system cannot do it, put the state folder on a local disk", got, value)
		}
		return fmt.Errorf("pragma %s is %q, wanted %q", name, got, value)
	}
	return nil
}
