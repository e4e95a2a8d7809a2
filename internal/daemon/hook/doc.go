// Package hook posts what happens to addresses that a person chose ([[hook]],
// docs/spec 6.9).
//
//	event.go    which entries of the ledger are events, and their JSON
//	hook.go     one hook: its place in the ledger, its posts, their repetition
//	place.go    the places of all hooks, in a file
//	alive.go    the sign of life every five minutes
//
// A hook follows the ledger by itself and keeps the place up to which it has posted.
// Hooks do not wait for each other, and the sign of life waits for none of them.
// So nothing that is committed is missed while nightporter or the other side is down,
// and the loop never waits for a hook. A post that fails is made again with growing
// pauses, in order, for a day; then it is left out and the log says so. The other
// side sees an event again if its answer was lost: each has an id.
package hook
