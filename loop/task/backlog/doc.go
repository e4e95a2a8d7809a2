// Package backlog reads tasks from Markdown tables and from the specs that their rows
// link, and writes statuses into both (docs/spec 3.4).
//
//	cells.go    a line of a table in cells
//	table.go    the tables of a file that list tasks, and their columns
//	row.go      a row in values
//	status.go   the words of a status
//	list.go     all rows of a file; the form of a table without its specs
//	mark.go     statuses written into rows
//	add.go      rows added
//	spec.go     a spec: its head and its sections
//	scope.go    the files that a spec allows
//	spec_write.go  a spec's status, its log, a new spec
//
// The package is pure: text in, text out. Package task knows where specs are.
//
// The tests hold that a mark changes one word of one cell, that a row is found by its
// id cell alone, and that a row which a person would take for a task is read or is an
// error.
package backlog
