// Package guidance is the pure part of human guidance: how a directive is
// addressed, queued, bound to a session, reported on and ended (SPEC 5).
//
// A Queue is a value. Every change gives a new one, so the core can fold it
// from entries and a crash at any point leaves no half-applied item.
package guidance
