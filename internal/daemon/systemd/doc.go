// Package systemd talks to the two managers of a machine: the service manager that
// started the daemon, and logind. It reports the daemon's condition by the protocol
// of sd_notify (systemd.go), and keeps the machine from going to sleep while a run
// works (inhibitor.go) by logind's locks (logind.go).
//
// A manager must never delay the daemon: each message has a time limit. The
// watchdog is fed only after a round through the engine and the database, never
// by a timer alone. A lock ends with the process at the latest. The tests hold all
// three.
//
// The end-to-end tests (make e2e) boot Debian's systemd on a machine of its own
// (boot_e2e_test.go, machine_e2e_test.go) and install the units of deploy/ there.
package systemd
