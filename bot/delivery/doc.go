// Package delivery sends the committed messages of the outbox to one chat
// platform: in order for each chat, within the platform's rate limits, through
// restarts and outages.
//
// # At least once, and marked
//
// No platform tells afterwards whether a message arrived. So the outbox marks
// each attempt before it is made (BeginDelivery) and settles it afterwards. A certain
// answer decides: Sent, Drop, or AbortDelivery for a message that certainly did not
// arrive. After an uncertain one, such as a broken connection or the mark of a
// process that died, chatter is dropped and any other message is sent again
// with the sign "↻" and a line that says why: the reply to a look once, unless
// a later one to the same line waits, and any other until it arrives. A marked
// copy is better than a lost question. Edits and deletions are repeated without a mark, because
// repeating them changes nothing.
//
// Copies are limited: the waits between them grow to an hour; after three
// copies the next one needs proof that the platform answers other calls; after
// a day the message is given up. From the third copy on, the other messages of
// the chat overtake it, and a look in doubt at once.
//
// # Chats and the circuit
//
// Each chat with work has its own goroutine, so that an unresponsive chat
// delays neither the others nor the loop. A problem of the platform as a whole
// (no connection, a rejected token) opens the circuit, which all chats share,
// and a single trial call finds out when it is over.
//
// # Files
//
//   - dispatcher.go: Dispatcher, its Options and its lifecycle
//   - outbox.go: the interfaces that the Dispatcher needs
//   - chat.go: the goroutine of one chat
//   - schedule.go: which queued message is next
//   - deliver.go: sending and editing one message, sounds
//   - joined.go: receipts that share one message
//   - live.go: status messages that are kept up to date, deleted and pinned
//   - look.go: replies to looks that wait, and what they say by then
//   - doubt.go: messages that may have arrived, and when they are sent again
//   - annotation.go: lines added to messages that are late or sent again
//   - outage.go: the announcement after an outage or a restart
//   - closedchat.go: chats that accept nothing, or have another address
//   - call.go, circuit.go, throttle.go: one call, the shared connection, rates
//
// # Rules
//
// The package never blocks the loop, never composes what a message says beyond
// those annotations and receipts that share a message, and knows no platform but its rate limits. All waits use
// package time, so that tests run in a testing/synctest bubble.
//
// The tests hold these invariants, with random faults and crashes: no message
// but chatter is lost, nor a look before its second copy; chatter is never sent
// twice, a look at most twice; any other message that comes again is marked; each chat's order is kept, except for messages set
// aside; no window of time exceeds a rate limit.
package delivery
