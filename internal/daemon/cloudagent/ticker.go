package cloudagent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/ledger"
)

// stepTime limits one step. A forge that does not answer ends each call before.
const stepTime = 5 * time.Minute

// Ticker makes the steps of all projects with a cloud agent while the daemon runs.
// What it did stands in the state files and in the log; the ledger knows nothing
// of it. A step that needs a person is a warning of its project until it does not.
type Ticker struct {
	Config  func() *config.Config // in force
	Warn    func(project string, about project.About, line string) bool
	Changes *service.Broadcast
	Log     *slog.Logger

	next map[string]time.Time // when a project's next step is due
}

// Run makes steps until ctx ends. It looks once a minute which are due.
func (t *Ticker) Run(ctx context.Context) {
	due, stop := service.Minutely()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-due:
			t.steps(ctx, time.Now())
		}
	}
}

// steps makes the steps that are due, one after the other.
func (t *Ticker) steps(ctx context.Context, now time.Time) {
	if t.next == nil {
		t.next = map[string]time.Time{}
	}
	cfg := t.Config()
	for _, p := range cfg.Projects {
		if p.Cloud == nil || now.Before(t.next[p.Name]) || ctx.Err() != nil {
			continue
		}
		every := p.Cloud.Every
		if every == 0 {
			every = config.DefaultEvery
		}
		t.next[p.Name] = now.Add(every.D())
		outcome, err := step(ctx, cfg, p)
		if ctx.Err() != nil {
			return
		}
		var failed *ledger.ForgeError
		if errors.As(err, &failed) && failed.RetryAt.After(t.next[p.Name]) {
			t.next[p.Name] = failed.RetryAt
		}
		t.tell(p.Name, outcome, err)
	}
	for _, p := range cfg.Projects {
		if p.Cloud == nil {
			t.Warn(p.Name, project.AboutCloud, "")
		}
	}
}

// step makes one step of a project.
func step(ctx context.Context, cfg *config.Config, p config.Project) (cloud.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	settings, err := Resolve(cfg, p, Flags{})
	if err != nil {
		return cloud.Outcome{}, err
	}
	options, err := settings.Open(ctx)
	if err != nil {
		return cloud.Outcome{}, err
	}
	return cloud.Tick(ctx, options)
}

// tell logs a step and sets the project's warning. What passes by itself is no
// warning: it ends the one before only once a step was made.
func (t *Ticker) tell(name string, o cloud.Outcome, err error) {
	line := ""
	var changed *cloud.ChangedError
	var failed *ledger.ForgeError
	switch {
	case errors.As(err, &failed) && failed.Passes(), errors.As(err, &changed):
		t.Log.Warn("cloud agent, tried again later", "project", name, "error", err)
		return
	case err != nil:
		t.Log.Error("cloud agent", "project", name, "error", err)
		line = "! " + name + ", cloud agent: " + project.OneLine(err)
	case o.NeedsPerson():
		line = "! " + name + ", cloud agent: " + o.Text()
		if o.URL != "" && o.Request != 0 {
			line += " " + o.URL
		}
	}
	if err == nil && o.From != o.To {
		t.Log.Info("cloud agent", "project", name, "from", o.From, "to", o.To, "reason", o.Reason, "task", o.Task, "issue", o.Issue, "request", o.Request)
	}
	if t.Warn(name, project.AboutCloud, line) {
		t.Changes.Ring()
	}
}
