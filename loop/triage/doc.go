// Package triage decides which bug reports are work for a project, and in which order
// (docs/spec 7.1 to 7.3).
//
//	Collect(files, domains) → Vocabulary: what the project calls its things
//	Sort(Inputs)            → one ledger.Triage for each report
//	Batch(list, n)          → the next n of them to fix
//
// # Files
//
//   - triage.go: what goes in, the way of a report through the gates, Batch.
//   - text.go, lexicon.go, reading.go: a report as the rules see it.
//   - gate.go, index.go: gates 1, 2, 3 and 5; the vocabulary for look-ups.
//   - duplicate.go: gate 4. Reports meet in buckets, never each with each.
//   - score.go: scores, kinds of fixes and tiers.
//   - vocabulary.go: Collect, language by language.
//
// # What it must not do
//
// It has no I/O, clock, goroutine or random number. Text of a report is data: no rule
// reads an instruction in it.
//
// # Invariants
//
// Tests hold these for random inboxes: the order of the source does not matter; an
// unrelated report changes no other verdict; a duplicate names a report that is kept or
// known; what a person brought back is kept.
package triage
