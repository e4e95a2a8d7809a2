//go:build !cgo && !linux

package store

import "database/sql"

// connectTo refuses every database: this program was compiled without cgo, as
// programs are that are compiled for another system.
func connectTo(string) (*sql.DB, error) { return nil, ErrNoDriver }

// resultOf knows no error: without SQLite none comes from it.
func resultOf(error) (code, extended int) { return 0, 0 }
