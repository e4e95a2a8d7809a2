// Nightporter works through a task list in a git repository, one fresh
// coding-agent session at a time. This package is flags and wiring only, one
// file a command.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/hatcli"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/demo"
)

// Version is set by the build; a plain `go build` leaves it at devel.
var Version = "devel"

func main() { os.Exit(Main()) }

// Main runs the program and returns its exit code. Under the name hat it is
// the agents' client, under that of a denied program its wrapper; as shim it
// supervises one session.
func Main() int {
	if w, is := guard.Find(os.Args[0]); is {
		return w.Main(os.Args[1:], os.Stderr)
	}
	if filepath.Base(os.Args[0]) == "hat" {
		return hatcli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	}
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "shim":
			return agent.ShimMain(os.Args[2])
		case "shim-inner":
			return agent.ShimInner(os.Args[2])
		}
	}
	if len(os.Args) > 1 && os.Args[1] == demo.Command {
		return demo.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
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
