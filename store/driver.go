//go:build cgo

package store

import (
	"database/sql"
	"errors"

	"github.com/mattn/go-sqlite3" // registers the driver "sqlite3"
)

// connectTo returns the connections of a database by its address.
func connectTo(dsn string) (*sql.DB, error) { return sql.Open("sqlite3", dsn) }

// resultOf returns SQLite's result code of an error, and the extended one; both are 0
// if the error did not come from SQLite.
func resultOf(err error) (code, extended int) {
	if e, is := errors.AsType[sqlite3.Error](err); is {
		return int(e.Code), int(e.ExtendedCode)
	}
	return 0, 0
}
