package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-sqlite3"

	"github.com/nightporter/nightporter/loop/ledger"
)

// faultError is an error of the machine: the same call succeeds once its cause is
// gone.
type faultError struct {
	fault ledger.Fault
	text  string
}

func (e *faultError) Error() string { return e.text }

// Fault makes faultError a fault.Error of internal/fault.
func (e *faultError) Fault() ledger.Fault { return e.fault }

// damagedError is an error of a database that was damaged or replaced while it was
// open, or before.
type damagedError struct{ error }

func (e damagedError) Unwrap() error { return e.error }

// Fault makes damagedError a fault.Error of internal/fault.
func (damagedError) Fault() ledger.Fault { return ledger.FaultLedger }

// Remedy is what whoever asked is told.
func (damagedError) Remedy() string {
	return "the ledger's file is damaged: stop nightporter, then nightporter verify says what to restore"
}

// Errors that callers act on, to be tested with errors.Is.
var (
	// ErrDisk: the disk is full, failing or not writable. Nothing of the batch
	// is in force; the caller stops work until a Commit succeeds.
	ErrDisk error = &faultError{ledger.FaultDisk, "the state folder cannot be written"}
	// ErrBusy: something on the machine is in the way for now. Nothing of the
	// batch is in force.
	ErrBusy error = &faultError{ledger.FaultMachine, "the database cannot be used for now"}
	// ErrBroken: the ledger is not the one that this program wrote. The store
	// refuses to append to it, because new entries would hide the break.
	ErrBroken = errors.New("the ledger is broken")
	// ErrEffect: an effect of this kind and key was committed before. It is a
	// bug of the core.
	ErrEffect = errors.New("effect was committed before")
	// ErrNewer: the database was written by a later release.
	ErrNewer = errors.New("written by a newer nightporter")
	// ErrForeign: the file is not a nightporter database.
	ErrForeign = errors.New("not a nightporter database")
)

// classify wraps a driver's error in the matching error of this package, with a
// remedy where a person has one.
func classify(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrFull:
		return fmt.Errorf("%w: the disk is full, make room on it: %w", ErrDisk, err)
	case sqlite3.ErrIoErr:
		return fmt.Errorf("%w: the disk reports an error: %w", ErrDisk, err)
	case sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm:
		return fmt.Errorf("%w: check its owner and mode: %w", ErrDisk, err)
	case sqlite3.ErrNotADB:
		return damagedError{fmt.Errorf("%w: %w", ErrForeign, err)}
	case sqlite3.ErrCorrupt:
		return damagedError{fmt.Errorf("%w: the database file is damaged: %w", ErrBroken, err)}
	case sqlite3.ErrConstraint:
		if e.ExtendedCode == sqlite3.ErrConstraintTrigger {
			return fmt.Errorf("%w: see \"nightporter verify\": %w", ErrBroken, err)
		}
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fmt.Errorf("%w: another program keeps the database locked, close it: %w", ErrBusy, err)
	case sqlite3.ErrNomem:
		return fmt.Errorf("%w: memory is short: %w", ErrBusy, err)
	}
	return err
}

// damaged reports whether the file is malformed, cut, or no database at all.
func damaged(err error) bool {
	if _, is := errors.AsType[damagedError](err); is {
		return true
	}
	e, is := errors.AsType[sqlite3.Error](err)
	return is && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB)
}

// unreadable returns the error of a row's Scan as a damagedError if a column does
// not have the type that the schema gives it: SQLite checks no page that it reads.
// database/sql has no other mark of such an error than its text.
func unreadable(err error) error {
	if err != nil && strings.HasPrefix(err.Error(), "sql: Scan error") {
		return damagedError{fmt.Errorf("%w: the database file is damaged: %w", ErrBroken, err)}
	}
	return err
}

// fail prefixes err with the operation that failed. It returns nil for nil.
func fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %s: %w", op, classify(err))
}
