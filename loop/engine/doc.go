// Package engine runs the pure core of package loop: it takes inputs, lets the
// core decide, commits each decision in one transaction and carries out its
// effects.
//
// One goroutine, in Run, owns every State. All inputs of all projects pass
// through it: their commits share one single-writer transaction anyway, and some
// decisions change the shared state and a project's state together, such as a
// lease for a planned session. Everything slow is an effect. Each effect has its
// own goroutine, and its result is the next input.
//
// Recovery after a crash needs nothing else: Open folds the committed entries,
// and Run repeats every effect without a result. A repeatable effect is simply
// repeated; a findable one, such as starting a session, first looks for its
// earlier result.
//
// # Files
//
//   - engine.go: Engine, Options, and the reading of states
//   - input.go: Do, DoWith and Say, by which inputs arrive
//   - run.go: Run, and the handling of one input: decide, compose, commit
//   - fold.go: Open, folding and snapshots
//   - preparation.go: sessions that are cut off before they have a process
//   - effect.go, session.go, preflight.go, repository_settings.go, chain.go: carrying out effects
//   - write.go: what is said of a file before a session writes it
//   - triage.go, claim.go: sorting bug reports, and branches that claim some
//   - attachment.go: pictures for prompts, and erasing them
//   - retry.go: trying again what a fault of the machine keeps back
//   - stall.go: inputs that the ledger does not take
//   - clock.go: jumps of the clock, and machine sleep
//   - watch.go: changes of sources and hats by people
//   - requests.go, merge.go: looks at open requests, replies to comments, and merges
//   - adapters.go, ports.go: a project's adapters and their interfaces
//   - place.go: the interfaces of the machine on which sessions run
//   - counter.go: waiting for writes into people's files
//
// # Rules
//
// The package decides nothing about runs and tasks, which is the core's part,
// and knows no database, git or agent but through its ports.
//
// The tests hold that a restart after any entry neither starts a session nor
// makes a commit twice, that an input's effect, its reply and a chat's cursor
// are committed together and once, and that a decision that panics stops nothing
// but its input.
package engine
