// Package task holds the sources: where a run's tasks come from, and where
// their statuses are written back to.
//
//	kind.go            Kind, the row of one kind of source, and the table of all of them
//	source.go          Source, what an open one does; places of files
//	plan_kind.go       the row of plans
//	plan*.go           reading and writing a Markdown plan
//	lint.go            what is odd in a plan
//	progress.go        the progress log beside a plan
//	stamp.go           marks that travel in a task's commit
//	file.go watch.go   a file that people edit at the same time
//
// To add a kind, implement Source, write its row in a file of its own, and name
// the row in the table. Whoever lists kinds (the configuration, init, tasks
// --lint) reads the table.
//
// A source reads a file of the user, in the user's checkout, and changes
// nothing in it but the characters of a task's status. The file says what
// people want; what is done is decided by the ledger and is not known here. A
// source never runs a program and never follows a link out of the repository.
//
// The tests hold that every cell of every built row is filled, and that every
// kind passes one conformance suite: reading changes nothing, a mark changes
// nothing but its status, two writers lose nothing of the other's text, and a
// change is noticed however an editor saves.
package task
