package main

import (
	"fmt"
	"io"

	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Exit codes besides those of a run, see runExit.
const (
	exitUsage    = 3 // usage, config, source, preflight, state folder in use
	exitInternal = 4
)

// runExit returns the exit code of `nightporter run` once loop.Settled holds for
// s (docs/spec 2.4).
func runExit(s loop.State) exitCode {
	switch r := s.Project.Run; {
	case r == nil:
		return exitUsage
	case r.Over():
		return exitCode(r.Ended.Exit)
	case r.State == ledger.RunPaused:
		return exitCode(ledger.ExitLimit)
	default: // a signal cut it off
		return exitCode(ledger.SignalExitCode(r.Signal))
	}
}

// exitCode is an error that ends the program with a code and prints nothing
// more.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// printProblems prints the mistakes that a person has to correct, each with its
// remedy.
func printProblems(w io.Writer, err error) { fmt.Fprint(w, project.Problems(err)) }
