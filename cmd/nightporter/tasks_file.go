package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// tellFile prints what a file or folder of tasks is, what shows that, and which
// tasks it has. Nothing is changed, and no project needs to be set up. Exit codes: 0
// it can be worked on, 3 it cannot.
func tellFile(cmd *cobra.Command, file string, asJSON bool) error {
	fail := func(err error) error {
		printProblems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return fail(&ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: file + ": there is no such file or folder", Remedy: "Check the path"}}})
	}
	repo := repositoryOf(path)
	rel, err := filepath.Rel(repo, path)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	kind, _, err := task.Resolve(cmd.Context(), repo, task.KindAuto, rel)
	if err != nil {
		return fail(err)
	}
	found, err := task.Recognise(cmd.Context(), repo, rel)
	if err != nil {
		return fail(err)
	}
	source, err := task.Open(kind, rel, repo, task.Options{})
	if err != nil {
		return fail(err)
	}
	why := ""
	for _, f := range found {
		if f.Kind.Name == kind {
			why = f.Why
		}
	}
	out := cmd.OutOrStdout()
	if !asJSON {
		fmt.Fprintf(out, "%s: kind %s (%s)\n", rel, kind, why)
	}
	snapshot, err := source.Read(cmd.Context())
	if err != nil {
		return fail(err)
	}
	if asJSON {
		return json.NewEncoder(out).Encode(fileJSON(rel, kind, why, snapshot))
	}
	printTasks(out, snapshot)
	fmt.Fprintf(out, "To work on it: nightporter run --source %s\n", quote(kind+":"+rel))
	return nil
}

// listJSON is a list of tasks as tasks FILE --json prints it.
type listJSON struct {
	File     string     `json:"file"` // below its repository
	Kind     string     `json:"kind"`
	Why      string     `json:"why"` // what in the file shows the kind
	Tasks    []taskJSON `json:"tasks"`
	Warnings []string   `json:"warnings"`
}

type taskJSON struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Mark       ledger.Mark `json:"mark"`
	Line       int         `json:"line,omitempty"`
	Scope      string      `json:"scope,omitempty"`
	DependsOn  []string    `json:"depends_on,omitempty"`
	Acceptance []string    `json:"acceptance,omitempty"`
	Priority   int         `json:"priority,omitempty"` // larger comes first
	Phase      int         `json:"phase,omitempty"`
}

func fileJSON(file, kind, why string, s ledger.Snapshot) listJSON {
	list := listJSON{File: file, Kind: kind, Why: why, Tasks: []taskJSON{}, Warnings: []string{}}
	for _, t := range s.Tasks {
		list.Tasks = append(list.Tasks, taskJSON{t.ID, t.Title, t.Mark, t.Line, t.Scope, t.DependsOn, t.Acceptance, t.Priority, t.Phase})
	}
	for _, w := range s.Warnings {
		list.Warnings = append(list.Warnings, fmt.Sprint(w))
	}
	return list
}

// repositoryOf returns the innermost folder around path that has a .git, or the
// folder of path.
func repositoryOf(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return filepath.Dir(path)
		}
	}
}

// How much of a task a line of printTasks has.
const (
	maxShownTitle = 200 // columns
	maxShownNeeds = 20  // ids
)

// printTasks lists the tasks as their source has them, and what is doubtful in it.
func printTasks(out io.Writer, s ledger.Snapshot) {
	signs := map[ledger.Mark]string{ledger.MarkOpen: bot.SignLater, ledger.MarkDone: bot.SignDone, ledger.MarkBlocked: bot.SignBlocked, ledger.MarkManualVerify: bot.SignAsk}
	open := 0
	for _, t := range s.Tasks {
		if t.Mark != ledger.MarkDone {
			open++
		}
	}
	fmt.Fprintf(out, "%s, %d open\n", countNoun(len(s.Tasks), "task"), open)
	for _, t := range s.Tasks {
		needs := ""
		if len(t.DependsOn) > 0 {
			var ids []string
			for _, id := range t.DependsOn[:min(len(t.DependsOn), maxShownNeeds)] {
				ids = append(ids, ledger.ShortID(id))
			}
			if n := len(t.DependsOn) - maxShownNeeds; n > 0 {
				ids = append(ids, fmt.Sprintf("and %d more", n))
			}
			needs = " (after " + strings.Join(ids, " ") + ")"
		}
		fmt.Fprintf(out, "%s %s %s%s\n", signs[t.Mark], ledger.ShortID(t.ID), bot.Cut(bot.Clean(t.Title), maxShownTitle), needs)
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(out, "%s %s\n", bot.SignLook, w)
	}
}
