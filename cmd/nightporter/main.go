// Nightporter works through a task list in a git repository, one fresh
// coding-agent session at a time. This package is flags and wiring only, one
// file a command.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/multicall"
)

// Version is set by the build; a plain `go build` leaves it at devel.
var Version = "devel"

func main() { os.Exit(Main()) }

// Main runs the program and returns its exit code. Under the name hat it is
// the agents' client, under that of a denied program its wrapper; as shim it
// supervises one session.
func Main() int {
	if code, is := multicall.Run(); is {
		return code
	}
	cmd, err := root().ExecuteC()
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	problems(os.Stderr, mistyped(cmd, err))
	return exitUsage
}

// mistyped says how a command is typed, or which was meant, where cobra only
// counts words.
func mistyped(cmd *cobra.Command, err error) error {
	args := cmd.Flags().Args()
	if cmd.Args == nil || cmd.Args(cmd, args) == nil {
		return err
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("type it like this: %s", cmd.UseLine())
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%w; meant %q?", err, near[0])
	}
	return err
}

// Exit codes besides those of a run's end (SPEC 2.4).
const (
	exitUsage    = 3 // usage, config, source, preflight, state folder in use
	exitInternal = 4
)

// exitCode ends the program with a code when everything was said already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "nightporter",
		Short:         "Works through your task list at night, one fresh agent session at a time",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(initCommand(), doctorCommand(), loginCommand(), runCommand(), demoCommand(), versionCommand(), verifyCommand(), evidenceCommand(), upCommand(), pairCommand(), replayCommand())
	cmd.AddCommand(backupCommand(), restoreCommand(), promptCommand(), hatsCommand(), watchCommand(), digestCommand())
	cmd.AddCommand(askCommands()...)
	return cmd
}

// problems prints what a person has to mend, each with the remedy.
func problems(w io.Writer, err error) { fmt.Fprint(w, project.Problems(err)) }

// quote quotes a word for a shell where it needs that.
func quote(s string) string { return project.Quote(s) }
