// Package systemd reports the daemon's condition to the service manager that
// started it, by the protocol of sd_notify (systemd.go).
//
// A manager must never delay the daemon: each message has a time limit. The
// watchdog is fed only after a round through the engine and the database, never
// by a timer alone. The tests hold both.
package systemd
