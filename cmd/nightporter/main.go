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

// limitHeap makes the garbage collector run twice as often as by default. The
// heap that a start has grown stays resident while a night is idle; it is
// 1.4 MB smaller this way. The environment variable GOGC has priority.
func limitHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// Main runs the program and returns its exit code. The name of the executable
// selects the program, see package multicall.
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
	printProblems(os.Stderr, argumentError(all, cmd, os.Args[1:], err))
	return exitUsage
}

// argumentError replaces cobra's errors about the number of arguments by the
// probable command or its usage. It checks for an unknown command first,
// because the flags after it would cause errors of their own.
func argumentError(all, cmd *cobra.Command, args []string, err error) error {
	if group, rest, _ := all.Find(args); group.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && group.ValidateArgs(rest[:1]) != nil {
		return unknownCommand(group, rest[0])
	}
	if cmd.ValidateArgs(cmd.Flags().Args()) == nil {
		return err
	}
	return fmt.Errorf("type it like this: %s", cmd.UseLine())
}

// unknownCommand returns an error that names the closest command of group.
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
	cmd.AddCommand(initCommand(), doctorCommand(), agentsCommand(), loginCommand(), runCommand(), demoCommand(), versionCommand(), verifyCommand(), evidenceCommand(), upCommand(), pairCommand(), replayCommand())
	cmd.AddCommand(backupCommand(), restoreCommand(), promptCommand(), hatsCommand(), watchCommand(), digestCommand(), statsCommand(), forecastCommand(), duCommand(), tickCommand(), mcpCommand(), netCommand())
	cmd.AddCommand(askCommands()...)
	return cmd
}

// askCommands returns the commands that are answered by the daemon, one for
// each chat command with a shell form.
func askCommands() []*cobra.Command {
	cmds := []*cobra.Command{
		viewCommand("status", "Where every project stands", cobra.NoArgs),
		tasksCommand(),
	}
	for verb, twin := range bot.Twins() {
		cmd := lineCommand(twin.Name, "/"+string(verb), twin.Args, twin.Short)
		if verb == bot.VerbTriage {
			addDryRun(cmd)
		}
		cmds = append(cmds, cmd)
	}
	return cmds
}
