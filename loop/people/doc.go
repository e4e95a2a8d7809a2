// Package people decides who may steer nightporter, when their chats are quiet,
// and which digest is due. It is the part of the pure core that belongs to no
// project: nothing here depends on a run, a task or a session.
//
//	Decide(State, time, Sender, Input) → entries of the shared stream + Answer
//	Apply(State, Entry)                → State
//
// Package loop embeds State in its Shared state, hands every Input of this
// package to Decide, adds the entries to the shared stream and folds them with
// Apply. It asks for two more things: CheckRole, whether the sender of any input
// has lost the role that let it in, and Due and Expire, which close a pairing
// code that nobody used.
//
// Files:
//
//   - state.go: State and the open pairing code; apply.go folds entries into it.
//   - decide.go: Decide and what every decision is made with; input.go: the inputs.
//   - role.go: roles, and the audit of strangers and of refused commands.
//   - pairing.go: codes, and the end of a pairing.
//   - quiet.go: quiet hours of chats.
//   - digest.go: digests of days and weeks, and absences of the daemon.
//   - clock.go: jumps of the clock.
//
// # What it must not do
//
// Like package loop it does no I/O, reads no clock and never changes a State
// that it is given. It imports package ledger and the standard library. It
// decides and sends no message: bot/notify, bot/inbound and the adapters tell
// people. An answer that gives the reason for a wrong code is for the audit and
// the host; the sender of a wrong code never sees it.
//
// # Invariants
//
// Tests hold these after every decision of random sequences of inputs
// (TestInvariants):
//
//   - Nothing that comes from a chat takes away the last admin. Only the host
//     can remove that person.
//   - A code is open for at most PairingTime and PairingTries-1 wrong tries, and
//     pairs one person. At most one code is open.
//   - A person is paired once, and has one role.
//   - An answer that claims a pairing, a removal, quiet hours or a digest comes
//     with the entries that make it true, and a refusal changes nobody's role
//     and no quiet hours.
//   - Strangers cannot fill the ledger: one entry an hour for each, and a fixed
//     number an hour for all. Nor can a paired person by commands that the role does
//     not include: one entry an hour for each command.
//   - A day and a week have at most one digest, whatever the clock does. The
//     digests of days leave out no time between them and cover none twice.
package people
