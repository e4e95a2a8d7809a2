// Package terminal is the live screen of `nightporter watch`: what one project
// is at, by keys alone. It knows a Scene, the read model that the daemon makes
// of a project's state, and nothing of sockets or of the ledger.
package tui
