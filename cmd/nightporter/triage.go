package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/triage"
)

// addDryRun lets `nightporter triage` sort an inbox as the first wave of a run would,
// without a run, a daemon or a ledger.
func addDryRun(cmd *cobra.Command) {
	var flags config.Overrides
	var dry bool
	last := cmd.RunE
	cmd.Use = "triage [INBOX]"
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "sort the inbox now, as the first wave of a run would, and change nothing")
	cmd.Flags().StringVar(&flags.Repo, "repo", "", "with --dry-run: the git repository")
	cmd.Flags().StringVar(&flags.Source, "source", "", "with --dry-run: the inbox, as bugs:PATH")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !dry && len(args) > 0:
			return fmt.Errorf("an inbox is sorted with --dry-run: nightporter triage --dry-run %s", strings.Join(args, " "))
		case !dry && (flags.Source != "" || flags.Repo != ""):
			return errors.New("--source and --repo go with --dry-run: add it to sort that inbox")
		case !dry:
			return last(cmd, args)
		case len(args) == 1 && flags.Source != "":
			return fmt.Errorf("name the inbox once: --source %s, or %s", flags.Source, args[0])
		case len(args) == 1:
			flags.Source = task.KindBugs + ":" + strings.TrimPrefix(args[0], task.KindBugs+":")
		}
		file, err := cmd.Flags().GetString("config")
		if err != nil {
			return err
		}
		return sortInbox(cmd, flags, file)
	}
}

// sortInbox prints what triage by rules says of an inbox. Exit code 3: it cannot be
// read.
func sortInbox(cmd *cobra.Command, flags config.Overrides, file string) error {
	fail := func(err error) error {
		printProblems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	snapshot, cfg, pr, err := readTasks(cmd.Context(), flags, file)
	if err != nil {
		return fail(err)
	}
	files, err := filesOf(pr.Repo)
	if err != nil {
		return fail(err)
	}
	kinds, err := config.Kinds(cfg, pr)
	if err != nil {
		return fail(err)
	}
	s := loop.PreviewReports(pr.Name, snapshot.Tasks, triage.Collect(maps.All(files), pr.Domains, cfg.DomainsOfOthers(*pr)), kinds, time.Now())
	for _, w := range snapshot.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "! %s\n", w)
	}
	fmt.Fprintln(cmd.OutOrStdout(), bot.Triage(s, time.Now()).Text(0))
	for _, t := range s.Project.Tasks.All() {
		if t.Aside != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s %s: %s\n", bot.SignAway, ledger.ShortID(t.Task.ID), bot.Cut(bot.Clean(t.Task.Title), 50), bot.Clean(t.Triage.Why))
		}
	}
	return nil
}

// filesOf returns the files of a checkout that have words of the project, by path.
func filesOf(repo string) (map[string][]byte, error) {
	files := map[string][]byte{}
	root := os.DirFS(repo)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() || !triage.Reads(name):
			return nil
		}
		f, err := os.Open(filepath.Join(repo, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		files[name], err = io.ReadAll(io.LimitReader(f, triage.MostRead))
		return err
	})
	return files, err
}
