// Package daemon is the running program: it holds a state folder, decides
// inputs in one engine and serves the operator, the chats and the sessions. A
// Daemon has one of three modes: it answers the command that started it, it works
// on one run (Options.Run), or it works on all configured projects and connects
// the chats (Options.Stays).
//
// Files: daemon.go has the type and its options, lifecycle.go its start and stop,
// stay.go the services of Options.Stays, reload.go the change of the
// configuration, engine.go the measured engine, damage.go the check for a damaged
// ledger and what to type then, lost.go the check for a lost one, retention.go the
// removal of what is old, disk.go the warning of a disk that fills up, awake.go the
// lock against sleep, update.go the copy of the ledger before an update, ask.go the choice between a running daemon and this
// process, state.go the lock of the state folder, attachment.go what a crash left of files
// that people sent, transcribe.go the program that turns speech into words. The components are packages
// below:
//
//	project    the configuration in force: settings, adapters, warnings
//	session    runners and sockets of sessions, and the answers to hats
//	operator   commands and views of the operator
//	chat       the conversation on all platforms
//	platform   the table of chat platforms
//	digest     the digests of nights, on request and by the clock
//	autostart  runs that start by themselves
//	intake     bug reports that sites post
//	mirror     the copy of each ledger in its project's checkout
//	cloudagent steps of cloud agents
//	metrics, logging, systemd
//
// # Lifecycle
//
// Everything that runs implements service.Service: Start(ctx) error and Stop().
// Daemon.Start returns when the socket answers; chats connect and unfinished
// runs resume afterwards. ctx limits Start alone.
//
// Daemon.Stop may be called twice, at any time, and before Start. It ends the
// parts in this order: long polls, reports to the service manager and timed
// work, automatic starts, chats, the operator's socket, the engine, the journal,
// the copies in checkouts, the sockets of sessions, the store, the log, the lock of the state folder. It
// waits for each and leaves no goroutine of its own behind; the log's library
// leaves an idle one. A request of the operator and a
// call to a platform delay it by at most 5 s each. Sessions are not part of the
// daemon: they continue, and the next daemon resumes them.
//
// # Rules
//
// A component never imports this package or package main, and receives other
// components through its Options. No decision depends on a text for people.
//
// Invariants held by tests: Stop leaves no goroutine (leak_test.go); a refused
// reload leaves the old settings in force (reload_test.go); a hanging engine
// stops the signal to the watchdog (watchdog_test.go); metrics have bounded labels
// (metrics_test.go).
package daemon
