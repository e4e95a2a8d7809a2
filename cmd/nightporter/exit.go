package main

import (
	"fmt"
	"io"

	"github.com/nightporter/nightporter/internal/daemon/project"
)

// Exit codes besides those of a run's end (SPEC 2.4).
const (
	exitUsage    = 3 // usage, config, source, preflight, state folder in use
	exitInternal = 4
)

// exitCode ends the program with a code when everything was said already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// problems prints what a person has to mend, each with the remedy.
func problems(w io.Writer, err error) { fmt.Fprint(w, project.Problems(err)) }
