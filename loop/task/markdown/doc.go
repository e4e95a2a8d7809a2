// Package markdown reads tasks from Markdown files and writes their statuses into
// them (docs/spec 3.3).
//
//	plan*.go    a plan: boxes with a bold id and title, and fields below them
//	status.go   how a status is written
//
// The tests hold that a mark changes nothing but its status, that the marked text
// reads back as intended, and that no line which was meant as a task is overlooked.
package markdown
