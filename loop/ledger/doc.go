// Package ledger holds the types that the core, the store and the adapters
// share: what the ledger records, and the vocabulary that its records are
// written in.
//
//   - entry.go: Entry, and its encoding.
//   - entries.go: the list of entry types with their names; entry_run.go,
//     entry_task.go, entry_attempt.go, entry_session.go and others: the types
//     with their JSON. They are a contract: fields and types are only added,
//     never renamed or removed.
//   - record.go: an entry as the store keeps it, and a batch, the unit of one
//     transaction.
//   - effect.go: the effects with their classes, which say what happens to an
//     effect whose outcome is unknown after a crash.
//   - answer.go, code.go: the reply to the sender of an input, and its code for
//     programs.
//   - outgoing.go: messages to people, and the cursor of a chat.
//   - diagnostic.go: what a check found, with its remedy.
//   - failure.go, task.go, settings.go, hat.go, question.go, session.go, person.go and
//     others: the values that entries and effects are made of.
//
// The package decides nothing and does no I/O. It imports guidance and the
// standard library. Adapters import it instead of package loop, so that a
// change of the core's state or decisions cannot reach them.
//
// Tests hold that each entry type has its golden JSON, that an older entry is
// read by every later release, and that each effect kind has a class.
package ledger
