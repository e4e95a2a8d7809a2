// Package task reads a run's tasks from their source and writes their statuses
// back to it.
//
//	kind.go            Kind, a row of the table of source kinds
//	source.go          Source, the interface of an open one; paths of files
//	plan_kind.go       the row of plans; tasks_kind.go, prd_kind.go and beads_kind.go
//	                   those of JSON files, find.go where they look for them
//	bugs_kind.go       the row of inboxes of bug reports
//	reports_*.go       a source of a folder of reports; report_text.go those without JSON
//	beads_source.go    issues closed through bd
//	file_source.go     a source whose tasks are all in one file, whatever its form
//	backlog_kind.go    the row of backlogs
//	backlog_*.go       a source of a backlog, its specs and its diary
//	folder_*.go        a source of a folder of Backlog.md
//	forge_kind.go      the row of issues of a forge
//	forge_*.go         a source of issues, as tasks or as bug reports, and their texts
//	claim.go           who works on a bug report
//	progress.go        the progress log beside a file
//	stamp.go           marks that are part of a task's commit
//	file.go watch.go   a file that people edit at the same time
//
// Forms of files are in packages of their own, below: form has what they share,
// markdown the plans, backlog the tables with specs, backlogmd the folders, jsonform the JSON files of other
// tools.
//
// To add a kind, implement form.Form or Source, write its row in a file of its own, and name
// the row in the table. Code that lists kinds (the configuration, init, tasks
// --lint) reads the table.
//
// A source reads a file in the user's checkout, and changes nothing in it but
// the characters of a task's status, and of who works on a bug report. The file states what people want; the
// ledger decides what is done, and a source does not know it. A source never
// follows a link out of the repository, and runs no program but bd, where the user
// says so.
//
// The tests hold that every cell of every built row is filled, and that every
// kind passes one conformance suite: reading changes nothing, a mark changes
// nothing but its status, two writers lose nothing of each other's text, and
// every change is noticed, however an editor saves.
package task
