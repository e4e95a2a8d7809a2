package project

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Planner compares the configuration with the ledger: it finds the projects
// that can be worked on and resolves the settings of a new run.
type Planner struct {
	*Catalog
	engine Engine
	log    *slog.Logger
	reopen atomic.Pointer[func(ctx context.Context)]

	looks    context.Context // of all looks at projects: they outlive whoever asks for them
	endLooks context.CancelFunc
}

// Engine returns the state of every project in the ledger.
type Engine interface {
	State(project string) (loop.State, bool)
	Projects() []string
	// Unread returns why a project's entries could not be folded, nil for none.
	Unread(project string) error
}

// NewPlanner returns the planner of a catalog's projects.
func NewPlanner(c *Catalog, e Engine, log *slog.Logger) *Planner {
	p := &Planner{Catalog: c, engine: e, log: log}
	p.looks, p.endLooks = context.WithCancel(context.Background())
	return p
}

// Reopen sets what LookAgain does. It must be called before the daemon answers
// requests.
func (p *Planner) Reopen(f func(ctx context.Context)) { p.reopen.Store(&f) }

// LookAgain looks at all projects and begins to work on those that can be worked
// on now. Before Reopen it does nothing.
func (p *Planner) LookAgain(ctx context.Context) {
	if f := p.reopen.Load(); f != nil {
		(*f)(ctx)
	}
}

// NameFor returns a name for the project of a run in the foreground. It appends
// a number if the ledger knows another repository by the same name, because two
// folders called "app" are two projects. It does not change a configured name:
// the start then refuses the run.
func (p *Planner) NameFor(s ledger.Settings) string {
	if _, configured := p.Find(s.Project); configured {
		return s.Project
	}
	name := s.Project
	for n := 2; ; n++ {
		known, ok := p.engine.State(name)
		if !ok || known.Project.Run == nil || known.Project.Run.Settings.Repo == s.Repo {
			return name
		}
		tail := fmt.Sprintf("-%d", n)
		name = s.Project[:min(len(s.Project), 32-len(tail))] + tail
	}
}

// Resolve returns the settings of a run that the daemon starts now. Mistakes
// that a person has to correct are a *ledger.InputError or *config.Error;
// settings without effect become a warning.
func (p *Planner) Resolve(project string, flags config.Overrides) (s ledger.Settings, err error) {
	pr, ok := p.Find(project)
	if !ok {
		return s, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			File: p.Config().File, Text: fmt.Sprintf("there is no project %q in the configuration", project), Remedy: "Add a [[project]] with that name.",
		}}}
	}
	if !p.Works(project) { // a person who asks for a run may have mended the reason just now
		p.LookAgain(context.Background())
	}
	if !p.Works(project) {
		o, _ := p.Obstacle(project)
		return s, refusal(project, o)
	}
	cfg := p.Config()
	if err := pr.Check(cfg, p.State()); err != nil {
		return s, err
	}
	if s, err = pr.Settings(cfg, flags, time.Now()); err != nil {
		return s, err
	}
	if other, run := p.alsoAtWork(s); other != "" {
		return s, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: fmt.Sprintf("%s is still at work on %s, as %s", run, s.Source, other), Remedy: "Wait for its end, or: nightporter stop --project " + other,
		}}}
	}
	s.Stays = true
	s.Operator = p.operatorFlags()
	s.Flags = s.Operator
	refused, warned := Unbuilt(cfg, pr, s)
	refused = append(refused, p.owner.Unpriced(cfg, s)...)
	if len(refused) > 0 {
		return s, &ledger.InputError{Diagnostics: refused}
	}
	s.Barred = p.owner.Barred(cfg, s)
	line := ""
	for _, f := range append(warned, p.owner.Overcommitted(cfg, s)...) {
		line = strings.TrimPrefix(line+"; "+f.Text, "; ")
	}
	if line != "" {
		line = "! " + line
	}
	p.Warn(project, AboutUnbuilt, line)
	return s, nil
}

// alsoAtWork returns another project whose unfinished run uses the same source,
// and that run; "" for none. This happens when a project is renamed during a
// run, and two runs would do each task twice.
func (p *Planner) alsoAtWork(s ledger.Settings) (project, run string) {
	for _, name := range p.engine.Projects() {
		st, _ := p.engine.State(name)
		r := st.Project.Run
		if name != s.Project && !r.Over() && r.Settings.Repo == s.Repo && r.Settings.Source == s.Source && p.Works(name) {
			return name, r.ID
		}
	}
	return "", ""
}
