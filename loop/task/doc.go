// Package task holds the sources: where a run's tasks come from, and where
// their statuses are written back to (SPEC 3.2).
//
// A source reads a file of the user, in the user's checkout, and changes
// nothing in it but the characters of a task's status. What a file says is
// what people want; what is done is decided by the ledger and is not known
// here. Every source passes the same conformance suite.
package task
