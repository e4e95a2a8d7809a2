package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent/demo"
	"github.com/nightporter/nightporter/loop/ledger"
)

func demoCommand() *cobra.Command {
	var fast bool
	var state string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a sample repository, a scripted agent, no account, no cost",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runDemo(cmd, fast, state) },
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "no waits: a few seconds instead of 40")
	cmd.Flags().StringVar(&state, "state", "", "folder for the sample repository and its state (default ~/nightporter-demo)")
	return cmd
}

func runDemo(cmd *cobra.Command, fast bool, dir string) error {
	if !interactive(cmd.InOrStdin()) || !interactive(os.Stdout) {
		fast = true
	}
	began := time.Now()
	home, state, err := demoFolders(dir)
	if err != nil {
		return err
	}
	repo := filepath.Join(home, "tea-shop")
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, "nightporter demo · a sample repository, a scripted agent · no account, no cost")
	fmt.Fprintln(out)
	if err := prepareDemo(cmd.Context(), home, state, repo); err != nil {
		return err
	}
	fmt.Fprintf(out, " 0:00  repository %s, plan first-week, 4 tasks\n", tildePath(repo))

	cfg := config.Empty()
	project, err := cfg.Pick(config.Overrides{Repo: repo}, home)
	if err != nil {
		return err
	}
	settings, err := project.Settings(cfg, config.Overrides{
		Repo: repo, Source: "plan:.agents/plans/in-progress/first-week.md", Profile: "overnight", Agent: "demo", Verify: []string{"./test.sh"},
	}, began)
	if err != nil {
		printProblems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	pace := demoPace
	settings.QuestionTimeout = demoQuestion
	if fast {
		pace = demoFast
		settings.QuestionTimeout = ledger.Duration(time.Second)
	}
	settings.CoAuthor, settings.ScriptedMarks = "", ledger.ScriptedWritten
	w := foreground{
		out: out, in: cmd.InOrStdin(), err: cmd.ErrOrStderr(), zone: time.Local, demo: true, began: began,
		start: loop.StartRun{Settings: settings, MaxSessions: 1}, script: &demoTypist{fast: fast},
	}
	err = w.runAndShow(cmd.Context(), daemon.Options{Version: Version, State: state, Config: cfg, Agents: builtin(pace), Person: personName()})
	if err != nil {
		return err
	}
	picture := filepath.Join(home, "digest.png")
	err = withAsker(cmd.Context(), state, cfg, func(a asker) error { // as nightporter digest --out does
		r, err := a.View(cmd.Context(), api.View{Name: "digest", Args: map[string]string{"look": "dark"}})
		if err != nil {
			return err
		}
		return writePicture(picture, &r, ofDigest)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n  Picture   %s\n", tildePath(picture))
	fmt.Fprintf(out, "  Commits   git -C %s log nightporter/tea-shop/r1\n", tildePath(repo))
	fmt.Fprintf(out, "  Evidence  nightporter evidence 2 --state %s\n", tildePath(state))
	fmt.Fprintln(out, "  Yours     cd YOUR-REPO && nightporter init      a few questions, then: nightporter up --pair")
	return nil
}

// demoTypist types the demo's guidance unless a person has given some.
type demoTypist struct {
	fast         bool
	personGuided bool // a person has given guidance
}

// Observe waits for the planner of the task that the guidance is for: guidance
// typed during its session reaches the builder after it.
func (p *demoTypist) Observe(e ledger.Entry) (hint string, wait time.Duration, act bool) {
	switch b := e.Body.(type) {
	case ledger.GuidanceQueued:
		p.personGuided = true
	case ledger.SessionPlanned:
		if p.personGuided || b.Hat != demo.GuidanceHat || e.Task != demo.GuidanceTask {
			return "", 0, false
		}
		if p.fast {
			return "", 0, true
		}
		return "Your turn. Type:  /guidance " + demo.Guidance, demoTurn, true
	}
	return "", 0, false
}

// NextLine returns the guidance unless a person was faster.
func (p *demoTypist) NextLine() string {
	if p.personGuided {
		return ""
	}
	return "/guidance " + demo.Guidance
}

// demoFolders returns the folders of the sample repository and of its state.
func demoFolders(dir string) (home, state string, err error) {
	if dir == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", "", fmt.Errorf("no home folder for the demo; name one: --state DIR: %w", err)
		}
		dir = filepath.Join(user, "nightporter-demo")
	}
	home, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	return home, filepath.Join(home, "state"), nil
}

// Times of the demo: a step of the scripted agent, the person's turn, and the
// wait for an answer to its question.
const (
	demoFast     = 40 * time.Millisecond // long enough for the guidance to precede the builder
	demoPace     = 800 * time.Millisecond
	demoTurn     = demo.TypedAfter * demoPace
	demoQuestion = ledger.Duration(5 * time.Second)
)

// demoMark is the file that marks a folder as the demo's own, which may be
// emptied.
const demoMark = ".nightporter-demo"

// prepareDemo empties the demo's folder and creates the sample repository. It
// refuses a folder that is neither empty nor the demo's own.
func prepareDemo(ctx context.Context, home, state, repo string) error {
	mark := filepath.Join(home, demoMark)
	entries, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("demo: %w", err)
	}
	if _, err := os.Stat(mark); err != nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty and not of an earlier demo; name another folder: --state DIR", home)
	}
	for _, dir := range []string{state, repo} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := os.WriteFile(mark, []byte("The folder of `nightporter demo`; it may be removed.\n"), 0o644); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return demo.WriteRepository(ctx, repo)
}
