// Package store keeps what was decided: one SQLite database in the state
// folder, and nothing else in the program imports database/sql.
//
// The ledger (table entries) is append-only. The database itself refuses
// every UPDATE and DELETE, and every INSERT that is not the next entry of its
// stream, so that no fault of this program can rewrite history; the chain of
// hashes makes visible what somebody does past the database (SPEC 8.3). Around
// it lie the inbox (inputs: what was answered to which natural key; cursors:
// how far chats were read), the outbox (effects, messages) and snapshots, which
// can be made again from the ledger.
//
// One input is one transaction (DESIGN 2): Commit writes all of a Batch or
// nothing. Store is the real thing, Memory its twin for tests; one conformance
// suite runs over both. One process at a time has the folder: package
// internal/statelock sees to that, not this one.
package store
