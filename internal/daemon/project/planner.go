package project

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
}

// Engine returns the state of every project in the ledger.
type Engine interface {
	State(project string) (loop.State, bool)
	Projects() []string
}

// NewPlanner returns the planner of a catalog's projects.
func NewPlanner(c *Catalog, e Engine, log *slog.Logger) *Planner {
	return &Planner{Catalog: c, engine: e, log: log}
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

// Workable returns the configured projects that can be worked on. before are
// those that the daemon works on already, nil at its start. A project that is
// left out gets a warning with reason and remedy.
func (p *Planner) Workable(ctx context.Context, before []string) []string {
	var names []string
	for _, pr := range p.Config().Projects {
		why := p.obstacle(ctx, pr, before)
		p.Warn(pr.Name, AboutProject, why)
		if why != "" {
			p.log.Warn("project is not worked on", "project", pr.Name, "why", why)
			continue
		}
		names = append(names, pr.Name)
	}
	for _, name := range before { // removed from the configuration during a run
		if s, ok := p.engine.State(name); ok && !s.Project.Run.Over() && !slices.Contains(names, name) {
			names = append(names, name)
			p.Warn(name, AboutProject, fmt.Sprintf("! %s is no longer in the configuration; %s is brought to its end", name, s.Project.Run.ID))
		}
	}
	return names
}

// obstacle returns the reason why a configured project cannot be worked on, ""
// for none.
func (p *Planner) obstacle(ctx context.Context, pr config.Project, before []string) string {
	s, known := p.engine.State(pr.Name)
	if !known || s.Project.Run == nil {
		return ""
	}
	r := s.Project.Run
	switch {
	case r.Settings.Repo != pr.Repo:
		return fmt.Sprintf("! %s is %s in this state folder, not %s: give this one another name", pr.Name, r.Settings.Repo, pr.Repo)
	case r.Over() || slices.Contains(before, pr.Name):
		return ""
	case before != nil:
		// Only the start of the daemon resumes sessions in progress.
		return fmt.Sprintf("! %s has the unfinished %s: restart nightporter to take it up", pr.Name, r.ID)
	}
	if _, err := p.Ports(ctx, r.Settings); err != nil {
		return fmt.Sprintf("! %s cannot be taken up: %s. Mend it, then restart nightporter", r.ID, OneLine(err))
	}
	return ""
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
	if !p.Works(project) {
		return s, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: strings.TrimPrefix(strings.Join(p.WarningsOf(project), "; "), "! ")}}}
	}
	cfg := p.Config()
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
	if len(refused) > 0 {
		return s, &ledger.InputError{Diagnostics: refused}
	}
	line := ""
	for _, f := range warned {
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
