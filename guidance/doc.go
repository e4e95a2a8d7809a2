// Package guidance is the queue of directives that people give to a project:
// how a directive is addressed, bound to a session, reported on and ended.
//
//	item.go   Item, its State, and Parse, which splits off an address
//	queue.go  Queue, and every change of it
//
// The package is pure: no I/O, no clock, no randomness; times are arguments. A
// Queue is a value, and every change returns a new one that shares nothing
// mutable with the old, so the core can fold a queue from entries.
//
// The tests hold these invariants: no directive is lost, doubled, reordered or
// revived by any sequence of changes; no change touches an older Queue; a plan
// stays within MaxTokens for new items and takes them in the order given.
package guidance
