// Package autostart begins runs by themselves: by a cron expression
// (schedule.go), when work is ready, and where an earlier process left one
// unfinished (autostart.go). Whether work is ready is decided by the core.
package autostart
