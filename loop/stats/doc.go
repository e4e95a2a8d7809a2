// Package stats folds a project's ledger to the figures that say how well its work goes:
// how many tasks are done and how many of them at the first pass, how often a review
// sends work back or finds that it contradicts a plan or a decision, and what tasks and
// sessions take (docs/spec 10.9).
//
//   - figures.go: Figures, which add up, and the rates that follow from them.
//   - flaw.go: Flawed, the rule of the first pass, which the digest shares.
//   - fold.go: Fold, which takes entries one by one.
//   - task.go: what a Fold remembers of tasks until they are over.
//   - report.go: Since and Report, the figures of a span.
//
// # What a fold keeps
//
// Sums of each day and of the last run, in all and for each hat, agent, model and size;
// sessions in flight; tasks at work. Each of these has a limit, so a fold of any ledger
// has a bounded size. A task counts on the day of its last outcome, so it stays open
// until many others were worked on since: one that was blocked may be done later.
//
// # What it must not do
//
// It has no I/O, clock, goroutine or random number, and it reads no prose. What nobody
// reported is counted as unknown and never as zero.
package stats
