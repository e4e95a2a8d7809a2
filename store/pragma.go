package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
)

// busyMillis is how long a statement waits for a lock that another program
// holds. Among our own connections nothing waits: there is one writer, and
// WAL readers wait for nobody.
const busyMillis = "5000"

// writerPragmas must be in force on the writing connection. The driver
// ignores a misspelt key of its address in silence, so they are read back.
var writerPragmas = map[string]string{
	"journal_mode":       "wal",
	"synchronous":        "2", // FULL: what was acknowledged survives a power cut
	"foreign_keys":       "1",
	"recursive_triggers": "1", // else INSERT OR REPLACE deletes past the triggers
	"busy_timeout":       busyMillis,
}

// readerPragmas must be in force on the connections of the read-only pool.
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
	})
}

func readerDSN(path string) string {
	return dsn(path, url.Values{
		"mode":          {"ro"},
		"_query_only":   {"on"},
		"_busy_timeout": {busyMillis},
	})
}

// copierDSN is for a connection that reads the database into another file:
// the file is read-only for it, the connection as such is not.
func copierDSN(path string) string {
	return dsn(path, url.Values{"mode": {"ro"}, "_busy_timeout": {busyMillis}})
}

// dsn escapes path, so that a folder may have '?', '#' or '%' in its name.
func dsn(path string, params url.Values) string {
	return (&url.URL{Scheme: "file", Path: path, RawQuery: params.Encode()}).String()
}

// querier is what *sql.DB, *sql.Conn and *sql.Tx have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// checkPragmas reads settings back and names one that is not as wanted.
func checkPragmas(ctx context.Context, q querier, want map[string]string) error {
	for name, value := range want {
		var got string
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
