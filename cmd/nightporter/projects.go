package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// configured returns a project of the configuration in force.
func (p *porter) configured(name string) (config.Project, bool) {
	for _, pr := range p.config().Projects {
		if pr.Name == name {
			return pr, true
		}
	}
	return config.Project{}, false
}

// workable lists the projects that `up` works on with the configuration in
// force; before are those it works on already, nil at its start. A project
// that is left out gets a remark that says why and what to do.
func (p *porter) workable(ctx context.Context, before []string) []string {
	var names []string
	for _, pr := range p.config().Projects {
		why := p.obstacle(ctx, pr, before)
		p.remarks.set(pr.Name, remarkProject, why)
		if why != "" {
			p.log.Warn("project is not worked on", "project", pr.Name, "why", why)
			continue
		}
		names = append(names, pr.Name)
	}
	for _, name := range before { // taken out of the configuration in mid-run
		if s, ok := p.engine.State(name); ok && !s.Project.Run.Over() && !slices.Contains(names, name) {
			names = append(names, name)
			p.remarks.set(name, remarkProject, fmt.Sprintf("! %s is no longer in the configuration; %s is brought to its end", name, s.Project.Run.ID))
		}
	}
	return names
}

// obstacle is what keeps a configured project from being worked on, "" for
// nothing.
func (p *porter) obstacle(ctx context.Context, pr config.Project, before []string) string {
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
		// What it has in hand is taken up when nightporter starts, and only then.
		return fmt.Sprintf("! %s has the unfinished %s: restart nightporter to take it up", pr.Name, r.ID)
	}
	if _, err := p.ports(ctx, r.Settings); err != nil {
		return fmt.Sprintf("! %s cannot be taken up: %s. Mend it, then restart nightporter", r.ID, oneLine(err))
	}
	return ""
}

// resolve makes the settings of a run that `up` starts now. What a person has
// to mend is a *ledger.InputError or *config.Error; what has no effect becomes a
// remark.
func (p *porter) resolve(project string, flags config.Overrides) (s ledger.Settings, err error) {
	pr, ok := p.configured(project)
	if !ok {
		return s, &ledger.InputError{Findings: []ledger.Finding{{
			File: p.config().File, Text: fmt.Sprintf("there is no project %q in the configuration", project), Fix: "Add a [[project]] with that name.",
		}}}
	}
	if !p.worksOn(project) {
		return s, &ledger.InputError{Findings: []ledger.Finding{{Text: strings.TrimPrefix(strings.Join(p.remarks.of(project), "; "), "! ")}}}
	}
	cfg := p.config()
	if s, err = pr.Settings(cfg, flags, time.Now()); err != nil {
		return s, err
	}
	if other, run := p.alsoAtWork(s); other != "" {
		return s, &ledger.InputError{Findings: []ledger.Finding{{
			Text: fmt.Sprintf("%s is still at work on %s, as %s", run, s.Source, other), Fix: "Wait for its end, or: nightporter stop --project " + other,
		}}}
	}
	s.Stays = true
	s.Operator = p.operatorFlags()
	s.Flags = s.Operator
	refused, warned := unbuilt(cfg, pr, s)
	if len(refused) > 0 {
		return s, &ledger.InputError{Findings: refused}
	}
	line := ""
	for _, f := range warned {
		line = strings.TrimPrefix(line+"; "+f.Text, "; ")
	}
	if line != "" {
		line = "! " + line
	}
	p.remarks.set(project, remarkUnbuilt, line)
	return s, nil
}

// alsoAtWork is another project whose unfinished run works on the same source,
// and that run: a project that was renamed in mid-run. Two runs would do each
// task twice. "" for none.
func (p *porter) alsoAtWork(s ledger.Settings) (project, run string) {
	for _, name := range p.engine.Projects() {
		st, _ := p.engine.State(name)
		r := st.Project.Run
		if name != s.Project && !r.Over() && r.Settings.Repo == s.Repo && r.Settings.Source == s.Source && p.worksOn(name) {
			return name, r.ID
		}
	}
	return "", ""
}

// operatorFlags are the flags with which another command finds this daemon.
func (p *porter) operatorFlags() string {
	flags := ""
	if usual, err := config.StateDir(""); err != nil || usual != p.state {
		flags = "--state " + quote(p.state)
	}
	if file := p.config().File; file != "" && file != config.DefaultFile() {
		flags = strings.TrimSpace(flags + " --config " + quote(file))
	}
	return flags
}

// oneLine is an error as it fits into a line: the first thing to mend.
func oneLine(err error) string {
	var in *ledger.InputError
	if errors.As(err, &in) && len(in.Findings) > 0 {
		return in.Findings[0].String()
	}
	var c *config.Error
	if errors.As(err, &c) && len(c.Items) > 0 {
		i := c.Items[0]
		text := i.Text
		if i.Line > 0 {
			text = fmt.Sprintf("line %d: %s", i.Line, text)
		}
		return text
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
