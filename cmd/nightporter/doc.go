// Nightporter works through a task list in a git repository, one fresh
// coding-agent session at a time.
//
// This package contains flags, printing and exit codes. main.go lists the
// commands; each has a file of its name, such as up.go and pair.go. ask.go
// sends commands and views to the daemon, foreground.go runs one project on a
// terminal for run.go and demo.go, hats_catalog.go and hat_file.go serve
// hats.go, init_*.go serve init.go, whose questions dialog.go asks (init_look.go
// looks at the repository, init_ask.go and init_phone.go take flags and answers,
// init_write.go writes, init_finish.go tries and starts), and doctor_*.go contain
// the checks of doctor.go: doctor_context.go is what a check gets,
// doctor_finding.go what it returns. terminal.go, qr.go, exit.go and version.go
// are the helpers of all commands.
//
// The package contains no rules: packages loop and internal/daemon decide, and
// a command prints their answers. No command opens the database of a running
// daemon: it sends requests to the daemon's socket.
//
// The tests run the built program: commands with their output (packages below
// scripts), whole nights with fake platforms (e2e_*_test.go, with tag e2e), and
// a crash at every step that writes (package crash).
package main
