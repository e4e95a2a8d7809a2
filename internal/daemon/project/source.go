package project

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// OpenSource opens the source of a project with the configuration in force, which cfg
// returns. The project is the configured one of that name, or else of that repository.
// Mistakes in the source's path or kind are a *ledger.InputError.
func OpenSource(cfg func() *config.Config, name, repo, remote string, source ledger.SourceRef, opts task.Options) (task.Source, error) {
	at := &issues{cfg: cfg, project: config.Project{Name: name, Repo: repo, Remote: remote}}
	opts.Tracker = at.open
	pr := at.find()
	opts.KeepOpen = pr.CloseIssues != nil && !*pr.CloseIssues
	return task.Open(source.Kind, source.Path, repo, opts)
}

// OpenSource opens the source of a run with these settings.
func (c *Catalog) OpenSource(s ledger.Settings, opts task.Options) (task.Source, error) {
	return OpenSource(c.Config, s.Project, s.Repo, s.Remote, s.Source, opts)
}

// issues opens the issues of a project's forge by the configuration in force, so that a
// token or an address that a person corrects is used by the next try.
type issues struct {
	cfg     func() *config.Config
	project config.Project // as it is called where the configuration lacks it
	opened  openedForge
}

// find returns the project.
func (i *issues) find() config.Project {
	all := i.cfg().Projects
	n := slices.IndexFunc(all, func(p config.Project) bool { return p.Name == i.project.Name && p.Name != "" })
	if n < 0 {
		n = slices.IndexFunc(all, func(p config.Project) bool { return p.Repo == i.project.Repo })
	}
	if n < 0 {
		return i.project
	}
	return all[n]
}

// open implements task.Options.Tracker. What a person has to correct is a
// *ledger.ForgeError.
func (i *issues) open(ctx context.Context) (task.Tracker, error) {
	pr := i.find()
	w, err := workspace.Outside(pr.Repo)
	if err != nil {
		return nil, err
	}
	_, f, err := openRemote(ctx, i.cfg(), pr, w, &i.opened)
	if in, wrong := errors.AsType[*ledger.InputError](err); wrong {
		err = &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: in.Diagnostics[0].Text, Remedy: in.Diagnostics[0].Remedy}
	}
	if err != nil {
		return nil, err
	}
	tracker, ok := trackerOf(f)
	if !ok {
		return nil, noIssues(ctx, i.cfg(), pr, w)
	}
	return redacting{tracker}, nil
}

// trackerOf returns the issues of a forge.
func trackerOf(f engine.Forge) (forge.Tracker, bool) {
	of, ok := f.(forgeOf)
	if watched, is := f.(watchedForge); is {
		of, ok = watched.forgeOf, true
	}
	if !ok {
		return nil, false
	}
	tracker, ok := of.Forge.(forge.Tracker)
	return tracker, ok
}

// noIssues says why a remote shows no issues: it has none, or there is no token.
func noIssues(ctx context.Context, cfg *config.Config, pr config.Project, w *workspace.Workspace) error {
	none := &ledger.ForgeError{
		Failure: ledger.ForgeRefused, Text: "the remote is no GitHub, Gitea or Forgejo, and has no issues",
		Remedy: `If it is one of them, say so: forge = "github" or "gitea"`,
	}
	addr, err := w.RemoteURL(ctx, pr.Remote)
	if err != nil {
		return none
	}
	at, err := forge.Parse(addr)
	if err != nil || pr.ForgeKind(at) == ledger.ForgePlain {
		return none
	}
	kind := forge.KindOf(pr.ForgeKind(at))
	none.Failure, none.Text = ledger.ForgeLogin, fmt.Sprintf("there is no token for %s (%s)", kind.Title, cfg.ForgeAt(kind.Kind).TokenFile)
	none.Remedy = kind.Remedy
	return none
}

// redacting removes secrets from what agents wrote before it leaves the machine.
type redacting struct{ forge.Tracker }

// CommentIssue implements forge.Tracker.
func (r redacting) CommentIssue(ctx context.Context, c ledger.IssueComment) error {
	c.Body = secret.Redact(c.Body)
	return r.Tracker.CommentIssue(ctx, c)
}

// CreateIssue implements forge.Tracker.
func (r redacting) CreateIssue(ctx context.Context, d ledger.IssueDraft) (ledger.ForgeIssue, error) {
	d.Title, d.Body = secret.Redact(d.Title), secret.Redact(d.Body)
	return r.Tracker.CreateIssue(ctx, d)
}
