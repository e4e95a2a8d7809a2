// Package digest makes the digests of nights. maker.go reads their facts from the
// ledger, picture.go renders them, due.go sends them by the clock, wave.go draws the
// waves of runs on bug reports, figures.go the figures of a ledger, and fault.go
// converts panics while drawing to errors.
//
// The core decides whether a digest is due; this package only proposes it. A
// failed picture must not suppress the text, and no panic ends the daemon. The
// tests hold both, and that each local day and ISO week has exactly one digest,
// across restarts and changes of the clock.
package digest
