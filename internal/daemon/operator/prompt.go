package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
	"github.com/nightporter/nightporter/loop/workspace"
)

// Prompt is the output of `nightporter prompt --json`. Fields are added, never
// renamed.
type Prompt struct {
	Project string       `json:"project"`
	Run     string       `json:"run,omitempty"` // "" = the prompt belongs to no run
	Task    string       `json:"task"`
	Hat     string       `json:"hat"`
	Tokens  int          `json:"tokens"` // estimated
	Max     int          `json:"max_tokens"`
	Over    bool         `json:"over"` // longer than max_tokens although every optional part was cut
	Parts   []PromptPart `json:"parts"`
	Text    string       `json:"text"`
}

// PromptPart is one section of the prompt.
type PromptPart struct {
	Title  string `json:"title"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"` // estimated
	Whole  int    `json:"whole"`  // tokens before the cut, estimated
	Cut    bool   `json:"cut"`
}

// prompt answers with the prompt that a session would get if it were planned
// now. It records nothing. Args: task, hat, settings (JSON, optional) and
// given, which is set when flags override the run's settings.
func (svc *Service) prompt(ctx context.Context, v api.View) (api.Reply, error) {
	var set *ledger.Settings
	if raw := v.Args["settings"]; raw != "" {
		set = &ledger.Settings{}
		if err := json.Unmarshal([]byte(raw), set); err != nil {
			return api.Reply{}, fmt.Errorf("settings: %w", err)
		}
	}
	refused := func(err error) (api.Reply, error) {
		return api.Reply{Text: strings.TrimPrefix(strings.TrimSpace(project.Problems(err)), bot.SignFailed+" ")}, nil
	}
	name := v.Project
	if name == "" && set != nil {
		name = svc.o.Projects.NameFor(*set)
	}
	name = svc.project(name)
	s, _ := svc.o.Engine.State(name)
	s.Project.Name = name
	r := s.Project.Run
	switch {
	case r == nil && set == nil:
		if names := svc.Projects(); v.Project == "" && len(names) > 1 {
			return api.Reply{Text: "which project? --project " + strings.Join(names, " | ")}, nil
		}
		return api.Reply{}, nil
	case r != nil && set != nil && set.Repo != r.Settings.Repo: // another repository with the same name
		s, r = loop.State{Shared: s.Shared}, nil
		s.Project.Name = name
	case set == nil:
		set = &r.Settings
	}
	set.Project = name
	ports, err := svc.o.Projects.Ports(ctx, *set)
	if err != nil {
		return refused(err)
	}
	files, run := ports.Files, ""
	switch {
	case !r.Over() && r.Base.Commit != "" && r.Settings.Source == set.Source:
		if run = r.ID; v.Args["given"] != "" { // as if the run were resumed with these flags
			s = loop.Apply(s, ledger.Entry{Stream: ledger.ProjectStream(name), Run: r.ID, Time: r.LastEvent, Body: ledger.RunResumed{Settings: *set}})
		}
	default:
		if s, files, err = svc.newRun(ctx, s, *set, ports); err != nil {
			return refused(err)
		}
	}
	s, session, err := loop.Preview(s, v.Args["task"], v.Args["hat"])
	if err != nil {
		return refused(err)
	}
	m, err := engine.Material(ctx, s, session, files, ports.Notebook, svc.o.Attachments)
	if err != nil {
		return refused(err)
	}
	p, err := prompt.Build(s, session, m)
	if err != nil {
		return refused(err)
	}
	ses, _ := s.Project.Session(session)
	out := Prompt{Project: name, Run: run, Task: ses.Task, Hat: ses.Planned.Hat, Tokens: p.Tokens, Max: p.Max, Over: p.Over, Text: p.Text}
	for _, part := range p.Parts {
		out.Parts = append(out.Parts, PromptPart(part))
	}
	return reply("", out)
}

// newRun returns the state and files with which a run with these settings would
// start from HEAD.
func (svc *Service) newRun(ctx context.Context, s loop.State, set ledger.Settings, ports engine.Ports) (loop.State, engine.Files, error) {
	snapshot, err := ports.Source.Read(ctx)
	if err != nil {
		return s, nil, err
	}
	w, err := svc.o.Projects.Workspace(ctx, set, ports.Source.Owned())
	if err != nil {
		return s, nil, err
	}
	base, err := w.Look(ctx)
	if err != nil {
		return s, nil, err
	}
	theirs, err := w.UserRepo(ctx)
	if err != nil {
		return s, nil, err
	}
	base.Commit, base.Tree = base.Head, base.Head // git accepts a commit where a tree is expected
	return loop.PreviewRun(s, set, snapshot, base), unfetched{ports.Files, theirs}, nil
}

// unfetched reads files of commits, also of those that only the user's
// repository has.
type unfetched struct {
	engine.Files
	theirs workspace.UserRepo
}

// Read tries our repository first: only it may have the tree of a parked
// attempt.
func (u unfetched) Read(ctx context.Context, commit, path string) ([]byte, error) {
	if data, err := u.Files.Read(ctx, commit, path); err == nil {
		return data, nil
	}
	return u.theirs.Read(ctx, commit, path)
}
