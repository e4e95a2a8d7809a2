// Package post delivers what was committed for people: it takes messages out
// of the durable outbox and brings them to one platform, in order per chat, at
// the platform's rate, through restarts and outages (SPEC 6.7).
//
// # The once-rule
//
// No platform can be asked whether a message arrived. So each sending is first
// marked in the outbox (Trying), then made, then settled. Where the platform
// answered, the answer decides: Sent, Drop, or Unsent for what certainly never
// left. Where it did not (an unclear error, or a mark that an earlier process
// left behind), chatter is dropped and everything else is sent again, marked
// "↻" with a line that says why: better twice and said so than never. Edits and
// deletions are simply repeated, because twice is the same as once.
//
// How often is bounded: the waits between copies grow to an hour, after three
// copies the next is only made once some other call has proved that the
// platform answers at all, and after a day the message is given up. After three
// copies, too, the rest of its chat goes past it.
//
// # Chats
//
// Each chat with something to do has a goroutine of its own, so that a dead
// one slows neither the others nor the loop. What is wrong with the platform
// as a whole (no connection, a refused token) is kept in one place, and a
// single call finds out when it is over. Everything that waits hangs on
// package time alone, so all of it runs in a testing/synctest bubble.
package delivery
