package store

import (
	"errors"
	"fmt"
	"strings"

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
	// ErrNoDriver: this program cannot open any database.
	ErrNoDriver = errors.New("built without cgo: SQLite is written in C; build with CGO_ENABLED=1 and a C compiler, on the system that it is for")
	// ErrForeign: the file is not a nightporter database.
	ErrForeign = errors.New("not a nightporter database")
)

// SQLite's result codes, https://www.sqlite.org/rescode.html.
const (
	resultPerm       = 3
	resultBusy       = 5
	resultLocked     = 6
	resultNoMem      = 7
	resultReadonly   = 8
	resultIOErr      = 10
	resultCorrupt    = 11
	resultFull       = 13
	resultCantOpen   = 14
	resultConstraint = 19
	resultNotADB     = 26

	resultConstraintTrigger = 1811
	resultConstraintUnique  = 2067
)

// classify wraps a driver's error in the matching error of this package, with a
// remedy where a person has one.
func classify(err error) error {
	code, extended := resultOf(err)
	switch code {
	case resultFull:
		return fmt.Errorf("%w: the disk is full, make room on it: %w", ErrDisk, err)
	case resultIOErr:
		return fmt.Errorf("%w: the disk reports an error: %w", ErrDisk, err)
	case resultReadonly, resultCantOpen, resultPerm:
		return fmt.Errorf("%w: check its owner and mode: %w", ErrDisk, err)
	case resultNotADB:
		return damagedError{fmt.Errorf("%w: %w", ErrForeign, err)}
	case resultCorrupt:
		return damagedError{fmt.Errorf("%w: the database file is damaged: %w", ErrBroken, err)}
	case resultConstraint:
		if extended == resultConstraintTrigger {
			return fmt.Errorf("%w: see \"nightporter verify\": %w", ErrBroken, err)
		}
	case resultBusy, resultLocked:
		return fmt.Errorf("%w: another program keeps the database locked, close it: %w", ErrBusy, err)
	case resultNoMem:
		return fmt.Errorf("%w: memory is short: %w", ErrBusy, err)
	}
	return err
}

// damaged reports whether the file is malformed, cut, or no database at all.
func damaged(err error) bool {
	if _, is := errors.AsType[damagedError](err); is {
		return true
	}
	code, _ := resultOf(err)
	return code == resultCorrupt || code == resultNotADB
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
