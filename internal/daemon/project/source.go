package project

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// Sources opens sources of projects with the configuration in force. All that it opens
// of one project share what the forge said last: a daemon opens the same source for
// several purposes.
type Sources struct {
	Config func() *config.Config

	trackers sync.Map // *issues, by project and repository
}

// Open opens a source of the configured project of that name, or else of that
// repository. Mistakes in the source's path or kind are a *ledger.InputError.
func (o *Sources) Open(name, repo, remote string, source ledger.SourceRef, opts task.Options) (task.Source, error) {
	one := &issues{cfg: o.Config, project: config.Project{Name: name, Repo: repo, Remote: remote}}
	pr := one.find()
	shared, _ := o.trackers.LoadOrStore(pr.Name+"\x00"+pr.Repo, one)
	opts.Tracker, opts.Self = shared.(*issues).open, self()
	opts.KeepOpen = pr.CloseIssues != nil && !*pr.CloseIssues
	return task.Open(source.Kind, source.Path, repo, opts)
}

// OpenSource opens the source of a run with these settings.
func (c *Catalog) OpenSource(s ledger.Settings, opts task.Options) (task.Source, error) {
	return c.sources.Open(s.Project, s.Repo, s.Remote, s.Source, opts)
}

// Sources returns what opens sources of this catalog's projects.
func (c *Catalog) Sources() *Sources { return c.sources }

// issues opens the issues of a project's forge by the configuration in force, so that a
// token or an address that a person corrects is used by the next try.
type issues struct {
	cfg     func() *config.Config
	project config.Project // as it is called where the configuration lacks it
	opened  openedForge

	mu      sync.Mutex
	of      forge.Tracker // that last comes from
	label   string
	last    ledger.IssueList
	read    time.Time          // when all of last was read
	count   int                // of lists that differed; the tag of last for sources
	limited *ledger.ForgeError // until its RetryAt
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
// *ledger.ForgeError, and so is a limit that lasts: nothing is sent before its end.
func (i *issues) open(ctx context.Context) (task.Tracker, error) {
	if err := i.pause(); err != nil {
		return nil, err
	}
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
	return tracked{tracker, i}, nil
}

// believed is how long an unchanged list is believed (docs/spec 3.10). It does not show
// whose right to write was taken away, nor an issue that was deleted.
const believed = 10 * time.Minute

// pause returns the error of a limit that lasts, nil = none does.
func (i *issues) pause() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.limited == nil || !time.Now().Before(i.limited.RetryAt) {
		return nil
	}
	return i.limited
}

// noted remembers a pause that the forge asks for, and returns err.
func (i *issues) noted(err error) error {
	if e, ok := errors.AsType[*ledger.ForgeError](err); ok && e.Failure == ledger.ForgeLimited {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.limited = e
	}
	return err
}

// list answers a query with the list that another one has read, if nothing changed
// since.
func (i *issues) list(ctx context.Context, tracker forge.Tracker, q ledger.IssueQuery) (ledger.IssueList, error) {
	asked := q.Tag
	i.mu.Lock()
	mine := i.of == tracker && i.label == q.Label
	if q.Tag = ""; mine && time.Since(i.read) < believed {
		q.Tag = i.last.Tag
	}
	i.mu.Unlock()
	list, err := tracker.Issues(ctx, q)
	if err != nil {
		return list, i.noted(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !list.Unchanged {
		if !mine || !reflect.DeepEqual(list.Issues, i.last.Issues) {
			i.count++
		}
		i.of, i.label, i.last, i.read = tracker, q.Label, list, time.Now()
	}
	tag := strconv.Itoa(i.count)
	if asked == tag {
		return ledger.IssueList{Tag: tag, Unchanged: true}, nil
	}
	return ledger.IssueList{Issues: i.last.Issues, Tag: tag}, nil
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

// tracked is the issues of a project. It removes secrets from what agents wrote before
// that leaves the machine.
type tracked struct {
	forge.Tracker
	project *issues
}

// Issues implements forge.Tracker.
func (r tracked) Issues(ctx context.Context, q ledger.IssueQuery) (ledger.IssueList, error) {
	return r.project.list(ctx, r.Tracker, q)
}

// Issue implements forge.Tracker.
func (r tracked) Issue(ctx context.Context, number int) (ledger.ForgeIssue, error) {
	i, err := r.Tracker.Issue(ctx, number)
	return i, r.project.noted(err)
}

// ChangeIssue implements forge.Tracker.
func (r tracked) ChangeIssue(ctx context.Context, c ledger.IssueChange) error {
	return r.project.noted(r.Tracker.ChangeIssue(ctx, c))
}

// CommentIssue implements forge.Tracker.
func (r tracked) CommentIssue(ctx context.Context, c ledger.IssueComment) error {
	c.Body = secret.Redact(c.Body)
	return r.project.noted(r.Tracker.CommentIssue(ctx, c))
}

// CreateIssue implements forge.Tracker.
func (r tracked) CreateIssue(ctx context.Context, d ledger.IssueDraft) (ledger.ForgeIssue, error) {
	d.Title, d.Body = secret.Redact(d.Title), secret.Redact(d.Body)
	i, err := r.Tracker.CreateIssue(ctx, d)
	return i, r.project.noted(err)
}
