// Package history keeps what agent sessions and finished tasks took, as far back as an
// estimate needs it. The core folds it from the ledger (loop.Project.History).
//
//   - history.go: History, its rings of samples, and how entries get into them.
//   - task.go: Effort, which adds up a task until it is finished; Size.
//   - estimate.go: Lookup, which answers what a session or a task probably takes.
//   - prior.go: what is assumed until a ledger has samples.
//
// # What is kept
//
// Of each key (hat, agent, model, size of the task) the last SamplesKept sessions, of each
// kind of task (pattern, size) the last SamplesKept tasks, and of both the KeysKept keys
// that were used last. So a ledger of any length has a history of bounded size. Sessions
// that count as nothing, such as those that a limit cut off, say nothing of what a session
// takes: they are no samples, but their task has paid for them.
//
// A history is one project's. A Lookup takes several, and asks the first one that has
// enough samples: the own project, then the others of the same machine, then the shipped
// priors.
//
// # What it must not do
//
// It has no I/O, clock, goroutine or random number. A cost that an agent did not report is
// Unknown and never counts as zero.
package history
