// Package operator answers the requests of the operator, the person at the
// host: command lines (Service.Command) and read models (Service.View). They
// arrive through the operator's socket or, where no daemon runs, from a command
// in the same process. Host adds the queries and commits that chats need.
//
// Files: service.go has the dependencies and the state that all requests share;
// command.go the command lines; view.go the table of views. Each view stands in
// a file of its name: status.go, evidence.go, verify.go, replay.go, digest.go, stats.go,
// prompt.go, pairing.go, export.go, backup.go, watch.go, the live screen, and pane.go,
// the parts of a large one, with pane_content.go and timeline.go. records.go and
// diff.go read one run or task; host.go and hats.go serve chats.
//
// This package never writes to the ledger except through Engine and Chats, and
// it contains no rules: loop decides. A view changes nothing; "pair" and
// "unpair" are commands in the form of views.
//
// Invariants held by tests: the live screen and its panes wait for news and never
// miss an entry (watch_test.go, pane_test.go); an offer shows the settings that the run gets
// (host_test.go); every long poll ends when the daemon closes (package daemon).
package operator
