package main

import (
	"fmt"
	"io"

	"github.com/nightporter/nightporter/internal/daemon/project"
)

// Exit codes besides those of a run, which loop.Outcome returns.
const (
	exitUsage    = 3 // usage, config, source, preflight, state folder in use
	exitInternal = 4
)

// exitCode is an error that ends the program with a code and prints nothing
// more.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// printProblems prints the mistakes that a person has to correct, each with its
// remedy.
func printProblems(w io.Writer, err error) { fmt.Fprint(w, project.Problems(err)) }
