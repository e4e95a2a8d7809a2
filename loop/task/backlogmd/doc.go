// Package backlogmd reads and writes the tasks of a folder of Backlog.md
// (github.com/MrLesk/Backlog.md), which has a Markdown file with front matter for each
// task (docs/spec 3.4).
//
//	config.go   statuses and ids, as the folder's config.yml has them
//	front.go    front matter: its keys, and where their values stand
//	section.go  the sections below it, and lists of criteria
//	file.go     a task's file
//	id.go       ids: which name one task, which is the next
//	folder.go   the tasks of all files together
//	write.go    a status written, a new file
//
// The package is pure: text in, text out. Package task knows where the files are.
//
// The tests hold that a mark changes the characters of a status and of criteria's
// boxes alone, and that what is written reads back.
package backlogmd
