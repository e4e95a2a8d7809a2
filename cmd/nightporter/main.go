// Nightporter works through a task list in a git repository, one fresh
// coding-agent session at a time. This package is flags and wiring only, one
// file a command.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/multicall"
	"github.com/nightporter/nightporter/internal/nearest"
)

func main() { os.Exit(Main()) }

// limitHeap collects garbage twice as often as Go does by default. Preflight
// leaves 14 MB of heap behind, of which an idle night needs half, and nightporter
// allocates little after it. GOGC in the environment comes first.
func limitHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// Main runs the program and returns its exit code. Under the name hat it is
// the agents' client, under that of a denied program its wrapper; as shim it
// supervises one session.
func Main() int {
	if code, is := multicall.Run(); is {
		return code
	}
	limitHeap()
	all := root()
	cmd, err := all.ExecuteC()
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	problems(os.Stderr, mistyped(all, cmd, os.Args[1:], err))
	return exitUsage
}

// mistyped says which command was meant, or how one is typed, where cobra only
// counts words. An unknown command explains all that follows it: its flags are
// not the mistake.
func mistyped(all, cmd *cobra.Command, args []string, err error) error {
	if group, rest, _ := all.Find(args); group.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && group.ValidateArgs(rest[:1]) != nil {
		return unknownCommand(group, rest[0])
	}
	if cmd.ValidateArgs(cmd.Flags().Args()) == nil {
		return err
	}
	return fmt.Errorf("type it like this: %s", cmd.UseLine())
}

// unknownCommand names the command of group that word probably means.
func unknownCommand(group *cobra.Command, word string) error {
	var names []string
	for _, c := range group.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if near := nearest.Of(word, names); near != "" {
		return fmt.Errorf("unknown command %q for %q; meant %q?", word, group.CommandPath(), near)
	}
	return fmt.Errorf("unknown command %q for %q; %s --help lists them", word, group.CommandPath(), group.CommandPath())
}

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

// askCommands are the commands that have a line of chat as their twin.
func askCommands() []*cobra.Command {
	cmds := []*cobra.Command{
		viewCommand("status", "Where every project stands", cobra.NoArgs),
		tasksCommand(),
	}
	for verb, twin := range bot.Twins() {
		cmds = append(cmds, lineCommand(twin.Name, "/"+string(verb), twin.Args, twin.Short))
	}
	return cmds
}
