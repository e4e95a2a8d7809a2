// Package autostart starts runs without a person: by cron, or when work is
// ready (start = "auto"). It also resumes unfinished runs at the start.
//
// Files: autostart.go has the Autostarter and the start of a run, lifecycle.go
// its loop, needs.go the files that a start needs, due.go the
// starts by cron, source.go the watched task sources, unfinished.go the runs that an
// earlier process left, schedule.go the cron expressions.
//
// A start that was missed is reported and never made up: by then it may be
// morning. A failed start is retried after growing pauses, and when the source or
// what it lacked changes.
// The tests hold both rules, and that a night in which the clock changes has
// exactly one start.
package autostart
