package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

func tasksCommand() *cobra.Command {
	var flags config.Overrides
	var lint, why bool
	asked := map[string]string{}
	cmd := argsViewCommand("tasks", "The tasks of a project and what became of them; of a file, what it is and which tasks it has", cobra.MaximumNArgs(1), asked)
	cmd.Use = "tasks [FILE]"
	view := cmd.RunE
	cmd.Flags().BoolVar(&lint, "lint", false, "read the source and say what is wrong or unwise in it")
	cmd.Flags().BoolVar(&why, "why", false, "the order in which tasks are taken, and what decides it")
	cmd.Flags().StringVar(&flags.Repo, "repo", "", "with --lint: the git repository")
	cmd.Flags().StringVar(&flags.Source, "source", "", "with --lint: the source, as KIND:PATH")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if why {
			asked["why"] = "yes"
		}
		switch {
		case len(args) == 1 && lint && flags.Source == "":
			flags.Source = task.KindAuto + ":" + args[0]
		case len(args) == 1 && lint:
			return fmt.Errorf("name the list once: --source %s, or %s", flags.Source, args[0])
		case len(args) == 1:
			asJSON, err := cmd.Flags().GetBool("json")
			if err != nil {
				return err
			}
			return tellFile(cmd, args[0], asJSON)
		case !lint:
			return view(cmd, args)
		}
		file, err := cmd.Flags().GetString("config")
		if err != nil {
			return err
		}
		return lintTasks(cmd, flags, file)
	}
	return cmd
}

// tellEvaluations says how open tasks are judged that their source wants judged
// (docs/spec 3.5).
func tellEvaluations(w io.Writer, s ledger.Snapshot) {
	var judged []string
	for _, t := range s.Tasks {
		switch {
		case t.Mark == ledger.MarkDone:
		case t.Verifier:
			judged = append(judged, ledger.ShortID(t.ID))
		case t.Evaluation != "":
			fmt.Fprintf(w, "○ %s is proved by its command, beside the project's: %s\n", ledger.ShortID(t.ID), t.Evaluation)
		}
	}
	if len(judged) > 0 {
		fmt.Fprintf(w, "○ A verifier judges at the end, by acceptance criteria or else by the text: %s\n", strings.Join(judged, ", "))
	}
}

// readTasks reads the tasks of the source that flags and the configuration file name,
// as a run would, and returns the project that they belong to.
func readTasks(ctx context.Context, flags config.Overrides, file string) (ledger.Snapshot, *config.Config, *config.Project, error) {
	fail := func(err error) (ledger.Snapshot, *config.Config, *config.Project, error) {
		return ledger.Snapshot{}, nil, nil, err
	}
	cfg, err := loadConfig(file)
	if err != nil {
		return fail(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return fail(err)
	}
	if flags.Repo == "" && len(cfg.Projects) == 0 {
		flags.Repo = dir
	}
	pr, err := cfg.Pick(flags, dir)
	if err != nil {
		return fail(err)
	}
	ref := pr.Source
	if flags.Source != "" {
		if err := ref.UnmarshalText([]byte(flags.Source)); err != nil {
			return fail(err)
		}
	}
	if ref.Kind == "" {
		return fail(errors.New("which source? Name it: --source plan:PATH"))
	}
	if ref.Kind, ref.Path, err = task.Resolve(ctx, pr.Repo, ref.Kind, ref.Path); err != nil {
		return fail(err)
	}
	source, err := (&project.Sources{Config: func() *config.Config { return cfg }}).Open(pr.Name, pr.Repo, pr.Remote, ledger.SourceRef{Kind: ref.Kind, Path: ref.Path}, task.Options{})
	if err != nil {
		return fail(err)
	}
	snapshot, err := source.Read(ctx)
	if err != nil {
		return fail(err)
	}
	return snapshot, cfg, &pr, nil
}

// lintTasks reads a task source and prints the warnings of a run. Exit codes: 0
// no warnings, 1 warnings, 3 no run could start with it.
func lintTasks(cmd *cobra.Command, flags config.Overrides, file string) error {
	snapshot, _, _, err := readTasks(cmd.Context(), flags, file)
	if err != nil {
		printProblems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	defer tellEvaluations(cmd.OutOrStdout(), snapshot)
	if len(snapshot.Warnings) == 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "✓ %s: %d tasks, nothing to say\n", snapshot.Path, len(snapshot.Tasks))
		return nil
	}
	for _, w := range snapshot.Warnings {
		fmt.Fprintf(cmd.OutOrStdout(), "! %s\n", w)
	}
	return exitCode(1)
}
