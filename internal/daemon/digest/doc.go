// Package digest makes the digests of nights: from the ledger for whoever asks
// (maker.go), and once a day and week for everybody (due.go). What goes wrong
// while one is drawn is told once and passed over (fault.go).
package digest
