// Package markdown reads tasks from Markdown files and writes their statuses and new
// tasks into them (docs/spec 3.3).
//
//	any.go             Any, which finds out which of the three forms a file is
//	plan*.go           a plan: boxes with a bold id and title, and fields below them
//	heading.go         a heading for each task, with boxes below it
//	checklist*.go      boxes, with an id or without
//	document*.go       what the last two have in common: boxes, headings, fields, marks
//	section.go         what a heading says of the boxes below it
//	add*.go            new tasks
//	companion.go       documents that belong to a list
//	status.go          how a status is written
//
// The tests hold that a mark changes nothing but its status, that the marked text
// reads back as intended, and that no line which was meant as a task is overlooked.
package markdown
