// Package jsonform reads tasks from the JSON files of other tools and writes
// statuses and new tasks into them (docs/spec 3.5).
//
//	document.go    a text with the places of its values, and what is wrong with it
//	object.go      the fields of one object, with their types
//	task.go        what the formats share: tasks, statuses, dependencies
//	mark.go        writing a status
//	add.go         writing new tasks, style.go: as the file's own are written
//	tasks.go       KIND tasks: which tool's file it is
//	wreckit.go     wreck-it's tasks.json
//	taskmaster.go  Task Master's tasks.json
//	prd.go         KIND prd: user stories
//	beads.go       KIND beads: issues.jsonl, which is read only
//	bugs.go        KIND bugs: reports as sites send them
//
// No file is ever printed anew: a change replaces the bytes of one value, or inserts
// bytes behind the last task, or a status in front of a report's fields. The tests hold that every other byte stays.
package jsonform
