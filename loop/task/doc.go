// Package task reads a run's tasks from their source and writes their statuses
// back to it.
//
//	kind.go            Kind, a row of the table of source kinds
//	source.go          Source, the interface of an open one; paths of files
//	plan_kind.go       the row of plans
//	plan*.go           reading and writing a Markdown plan
//	lint.go            warnings about a plan's size and order
//	progress.go        the progress log beside a plan
//	stamp.go           marks that are part of a task's commit
//	file.go watch.go   a file that people edit at the same time
//
// To add a kind, implement Source, write its row in a file of its own, and name
// the row in the table. Code that lists kinds (the configuration, init, tasks
// --lint) reads the table.
//
// A source reads a file in the user's checkout, and changes nothing in it but
// the characters of a task's status. The file states what people want; the
// ledger decides what is done, and a source does not know it. A source never
// runs a program and never follows a link out of the repository.
//
// The tests hold that every cell of every built row is filled, and that every
// kind passes one conformance suite: reading changes nothing, a mark changes
// nothing but its status, two writers lose nothing of each other's text, and
// every change is noticed, however an editor saves.
package task
