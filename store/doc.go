// Package store keeps the ledger, the inbox, the outbox and the snapshots of a
// state folder in one SQLite database. No other package imports database/sql.
//
// Commit (commit.go, seal.go) writes a batch: everything that one input leads
// to, in one transaction. The rest of the package reads what batches wrote and
// marks messages as delivered:
//
//	store.go migrate.go pragma.go   open and close a database, bring an old one up to date
//	program.go                      programs that write it, and what happens before one changes it
//	chain.go anchor.go verify.go    hash chain of a stream, heads known from outside, Verify
//	read.go                         entries of a stream, a task, a run
//	prune.go                        deletion of old inputs, settled effects and messages
//	effect.go snapshot.go           pending effects; folded states
//	message.go delivery.go sent.go  messages: queue, delivery, messages that a chat shows
//	backup.go                       copies of the database, and their check
//	memory.go memory_message.go     Memory, a Store in memory for tests
//	log.go                          the write-ahead log that a crash left
//	replaced.go end.go              files that were replaced, cut or deleted; the last commit, named beside them
//	openon.go turnreader.go         OpenOn, a Store on another file system, for simulations
//	errors.go                       errors that a caller acts on
//
// The package never changes or removes an entry. Migrations go forward only and
// leave the table of entries alone. The package does not fold entries, and it
// does not lock the folder: the caller holds the lock of internal/statelock.
//
// The tests hold these invariants:
//
//   - A batch is committed as a whole or not at all, also through SIGKILL and a
//     full disk. A key that was committed before gets its first answer again.
//   - No power cut loses an acknowledged batch on a disk that keeps what it has
//     synced. On one that lies, the state is an older one, whole, or the loss is
//     found. A corrupt page is found, and a file or log that was cut: nothing is
//     committed after that. What a start shows is durable, also if a
//     commit's sync had failed before.
//   - The database refuses UPDATE and DELETE of entries and any INSERT that is
//     not the next entry of its stream, so that no fault of this program can
//     rewrite history. Verify finds a change made past the database.
//   - An outbox has at most one queued edit of a key, and a message in doubt
//     stays in doubt through a restart.
//   - Store and Memory behave alike: one conformance suite, and random schedules
//     that run on both.
//   - The database of every earlier release opens, verifies and can be appended to.
package store
