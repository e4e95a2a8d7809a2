package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/workspace"
)

// promptFlags are those of `nightporter prompt`: where the state is, and the
// flags of `run` that have a say in what a session is told.
type promptFlags struct {
	askFlags
	config.Overrides
	hat    string
	asJSON bool
}

// promptSettings are the flags that change what a run works by.
var promptSettings = []string{"repo", "source", "profile", "pattern", "agent"}

func promptCommand() *cobra.Command {
	var f promptFlags
	cmd := &cobra.Command{
		Use:   "prompt TASK [--hat HAT]",
		Short: "Show what a task's next session would be sent",
		Long: `Show what a task's next session would be sent if it were planned now: the prompt
on standard output, the size of its parts on standard error. Sizes are estimates.
A run that has not ended is gone on from; without one, it is what a new run from
HEAD would begin with. Nothing is started, and nothing is changed.

Exit codes: 0 shown · 3 no such task or hat, or settings that cannot be used`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error { return f.run(cmd, strings.Join(words, " ")) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.hat, "hat", "", "hat of the session (default: the one that comes next)")
	fl.StringVar(&f.Repo, "repo", "", "git repository (default: this folder, or the config's project)")
	fl.StringVar(&f.Source, "source", "", "where the tasks come from, as KIND:PATH")
	fl.StringVar(&f.Profile, "profile", "", "review or overnight")
	fl.StringVar(&f.Pattern, "pattern", "", "which hats a task goes through")
	fl.StringVar(&f.Agent, "agent", "", "agent that sessions run")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON: the parts with their sizes, and the text")
	return cmd
}

// promptJSON is `nightporter prompt --json`. Fields are added, never renamed.
type promptJSON struct {
	Project string       `json:"project"`
	Run     string       `json:"run,omitempty"` // "" = of no run
	Task    string       `json:"task"`
	Hat     string       `json:"hat"`
	Tokens  int          `json:"tokens"` // estimated
	Max     int          `json:"max_tokens"`
	Over    bool         `json:"over"` // longer than max_tokens, with all cut that may be
	Parts   []promptPart `json:"parts"`
	Text    string       `json:"text"`
}

type promptPart struct {
	Title  string `json:"title"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"` // estimated
	Whole  int    `json:"whole"`  // with nothing cut
	Cut    bool   `json:"cut"`
}

func (f *promptFlags) run(cmd *cobra.Command, task string) error {
	fail := func(err error) error {
		problems(cmd.ErrOrStderr(), err)
		return exitCode(exitUsage)
	}
	view := api.View{Name: "prompt", Project: f.project, Args: map[string]string{"task": task, "hat": f.hat}}
	cfg, settings, trouble := f.settings()
	switch {
	case cfg == nil:
		return fail(trouble)
	case trouble != nil && f.given(cmd):
		return fail(trouble)
	case trouble == nil:
		raw, err := json.Marshal(settings)
		if err != nil {
			return err
		}
		view.Args["settings"] = string(raw)
		if f.given(cmd) {
			view.Args["given"] = "yes"
		}
	}
	state, err := config.StateDir(f.state)
	if err != nil {
		return fail(err)
	}
	if _, err := os.Stat(filepath.Join(state, "nightporter.db")); err != nil {
		// Looking must not leave a state folder behind.
		if state, err = os.MkdirTemp("", "nightporter-prompt-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(state) }()
	}
	var reply api.Reply
	err = withAsker(cmd.Context(), state, cfg, func(a asker) (err error) {
		reply, err = a.View(cmd.Context(), view)
		return err
	})
	switch {
	case err != nil:
		return fail(err)
	case !reply.OK && reply.Text == "" && trouble != nil: // it knows no run either
		return fail(trouble)
	case !reply.OK:
		return fail(errors.New(reply.Text))
	}
	if f.asJSON {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), string(reply.Data))
		return err
	}
	var p promptJSON
	if err := json.Unmarshal(reply.Data, &p); err != nil {
		return fmt.Errorf("read the prompt: %w", err)
	}
	p.table(cmd.ErrOrStderr())
	_, err = io.WriteString(cmd.OutOrStdout(), p.Text)
	return err
}

func (f *promptFlags) given(cmd *cobra.Command) bool {
	for _, name := range promptSettings {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// settings are what `run` with the same flags would work by. Without a
// configuration that can be read there is none either.
func (f *promptFlags) settings() (*config.Config, loop.Settings, error) {
	cfg, err := loadConfig(f.config)
	if err != nil {
		return nil, loop.Settings{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, loop.Settings{}, err
	}
	flags := f.Overrides
	if flags.Repo == "" && len(cfg.Projects) == 0 {
		flags.Repo = dir
	}
	project, err := cfg.Pick(flags, dir)
	for _, pr := range cfg.Projects {
		if pr.Name == f.project {
			project, err = pr, nil
		}
	}
	if err != nil {
		return cfg, loop.Settings{}, err
	}
	s, err := project.Settings(cfg, flags, time.Now())
	return cfg, s, err
}

// table prints the size of each part.
func (p promptJSON) table(out io.Writer) {
	of := "before any run"
	if p.Run != "" {
		of = "as " + p.Run + " stands"
	}
	fmt.Fprintf(out, "%s %s, %s; tokens are estimated\n", loop.ShortID(p.Task), p.Hat, of)
	for _, part := range p.Parts {
		note := ""
		if part.Cut {
			note = fmt.Sprintf("  cut, whole %d", part.Whole)
		}
		fmt.Fprintf(out, "  %-22s %6d%s\n", part.Title, part.Tokens, note)
	}
	of = ""
	if p.Max > 0 {
		of = fmt.Sprintf("  of %d", p.Max)
	}
	fmt.Fprintf(out, "  %-22s %6d%s\n", "all", p.Tokens, of)
	if p.Over {
		fmt.Fprintf(out, "%s longer than the hat's max_tokens, and nothing more can be cut: it is sent as it is\n", bot.SignLook)
	}
	fmt.Fprintln(out)
}

// prompt answers the view: what a session would be sent if it were planned
// now. It reads, and records nothing.
func (d *operatorService) prompt(ctx context.Context, v api.View) (api.Reply, error) {
	var set *loop.Settings
	if raw := v.Args["settings"]; raw != "" {
		set = &loop.Settings{}
		if err := json.Unmarshal([]byte(raw), set); err != nil {
			return api.Reply{}, fmt.Errorf("settings: %w", err)
		}
	}
	refused := func(err error) (api.Reply, error) {
		var text strings.Builder
		problems(&text, err)
		return api.Reply{Text: strings.TrimPrefix(strings.TrimSpace(text.String()), bot.SignFailed+" ")}, nil
	}
	name := v.Project
	if name == "" && set != nil {
		name = d.porter.nameFor(*set)
	}
	name = d.project(name)
	s, _ := d.porter.engine.State(name)
	s.Project.Name = name
	r := s.Project.Run
	switch {
	case r == nil && set == nil:
		if names := d.Projects(); v.Project == "" && len(names) > 1 {
			return api.Reply{Text: "which project? --project " + strings.Join(names, " | ")}, nil
		}
		return api.Reply{}, nil
	case r != nil && set != nil && set.Repo != r.Settings.Repo: // another repository by the same name
		s, r = loop.State{Shared: s.Shared}, nil
		s.Project.Name = name
	case set == nil:
		set = &r.Settings
	}
	set.Project = name
	ports, err := d.porter.ports(ctx, *set)
	if err != nil {
		return refused(err)
	}
	files, run := ports.Files, ""
	switch {
	case !r.Over() && r.Base.Commit != "" && r.Settings.Source == set.Source:
		if run = r.ID; v.Args["given"] != "" { // flags count for it, as where it is resumed with them
			s = loop.Apply(s, loop.Entry{Stream: loop.ProjectStream(name), Run: r.ID, Time: r.LastEvent, Body: loop.RunResumed{Settings: *set}})
		}
	default:
		if s, files, err = d.newRun(ctx, s, *set, ports); err != nil {
			return refused(err)
		}
	}
	s, session, err := loop.Preview(s, v.Args["task"], v.Args["hat"])
	if err != nil {
		return refused(err)
	}
	m, err := engine.Material(ctx, s, session, files, ports.Notebook)
	if err != nil {
		return refused(err)
	}
	p, err := loop.BuildPrompt(s, session, m)
	if err != nil {
		return refused(err)
	}
	ses, _ := s.Project.Session(session)
	out := promptJSON{Project: name, Run: run, Task: ses.Task, Hat: ses.Planned.Hat, Tokens: p.Tokens, Max: p.Max, Over: p.Over, Text: p.Text}
	for _, part := range p.Parts {
		out.Parts = append(out.Parts, promptPart(part))
	}
	return reply("", out)
}

// newRun is what a run with these settings would begin with, from HEAD.
func (d *operatorService) newRun(ctx context.Context, s loop.State, set loop.Settings, ports engine.Ports) (loop.State, engine.Files, error) {
	snapshot, err := ports.Source.Read(ctx)
	if err != nil {
		return s, nil, err
	}
	w, err := d.porter.workspace(ctx, set, ports.Source.Owned())
	if err != nil {
		return s, nil, err
	}
	base, err := w.Look(ctx)
	if err != nil {
		return s, nil, err
	}
	theirs, err := w.Theirs(ctx)
	if err != nil {
		return s, nil, err
	}
	base.Commit, base.Tree = base.Head, base.Head // git takes a commit where it wants a tree
	return loop.PreviewRun(s, set, snapshot, base), unfetched{ports.Files, theirs}, nil
}

// unfetched reads commits that our repository may not have yet.
type unfetched struct {
	engine.Files
	theirs workspace.Theirs
}

// Read looks in our repository first: what an attempt was parked on can be
// there alone.
func (u unfetched) Read(ctx context.Context, commit, path string) ([]byte, error) {
	if data, err := u.Files.Read(ctx, commit, path); err == nil {
		return data, nil
	}
	return u.theirs.Read(ctx, commit, path)
}
