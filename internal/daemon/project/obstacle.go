package project

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// Obstacle is why a project cannot be worked on now. The zero value is none.
type Obstacle struct {
	Why   string // for people, in one line: "line 8: /srv/shop is missing"
	Rests bool   // its unfinished run is not worked on meanwhile
	Hangs bool   // its repository's file system does not answer
	// Config reports that only a changed configuration removes the obstacle. All
	// others are looked at again.
	Config bool
}

// answerTime is how long a look at one project may take. A file system that is
// not reachable can keep a process for hours, and all other projects work.
const answerTime = 5 * time.Second

// closeTime is how long Close waits for looks.
const closeTime = 2 * time.Second

// obstacles are what the last look at each project found, and the looks that
// have not ended.
type obstacles struct {
	mu      sync.Mutex
	found   map[string]Obstacle
	since   map[string]time.Time
	pending map[string]chan Obstacle
}

// Obstacle returns what the last look found to keep a project from being worked
// on, and since when.
func (c *Catalog) Obstacle(project string) (o Obstacle, since time.Time) {
	c.obstacles.mu.Lock()
	defer c.obstacles.mu.Unlock()
	return c.obstacles.found[project], c.obstacles.since[project]
}

// Blocked returns the projects with an obstacle that can end by itself, sorted.
func (c *Catalog) Blocked() []string {
	c.obstacles.mu.Lock()
	defer c.obstacles.mu.Unlock()
	var names []string
	for name, o := range c.obstacles.found {
		if !o.Config {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Lacks returns the paths near which a change can end an obstacle of a project.
func (c *Catalog) Lacks() []string {
	var paths []string
	for _, name := range c.Blocked() {
		pr, configured := c.Find(name)
		if o, _ := c.Obstacle(name); !configured || o.Hangs {
			continue
		}
		paths = append(paths, pr.Repo, filepath.Join(pr.Repo, filepath.Dir(pr.Source.Path)))
		for _, file := range []string{pr.SetupEnvFile, pr.VerifyEnvFile, pr.SetupHome} {
			if file != "" {
				paths = append(paths, filepath.Dir(file))
			}
		}
	}
	return paths
}

// setObstacle stores what a look found and reports whether that is new.
func (c *Catalog) setObstacle(project string, o Obstacle) (changed bool) {
	c.obstacles.mu.Lock()
	defer c.obstacles.mu.Unlock()
	x := &c.obstacles
	if x.found[project] == o {
		return false
	}
	if x.found == nil {
		x.found, x.since = map[string]Obstacle{}, map[string]time.Time{}
	}
	if o == (Obstacle{}) {
		delete(x.found, project)
		delete(x.since, project)
		return true
	}
	if x.found[project] = o; x.since[project].IsZero() {
		x.since[project] = time.Now()
	}
	return true
}

// Look looks at one configured project, for at most answerTime, and sets its
// warning.
func (p *Planner) Look(ctx context.Context, pr config.Project) Obstacle {
	o, ok := p.judge(ctx, pr)
	if !ok { // the caller has gone
		o, _ = p.Obstacle(pr.Name)
		return o
	}
	changed := p.setObstacle(pr.Name, o)
	p.Warn(pr.Name, AboutProject, o.line(pr.Name))
	if changed && o.Why != "" {
		p.log.Warn("project cannot be worked on", "project", pr.Name, "why", o.Why, "rests", o.Rests)
	} else if changed {
		p.log.Info("project can be worked on again", "project", pr.Name)
	}
	return o
}

// Clear notes that a project's source could be read, so that a run can start. Whether
// git still hangs in the repository the next look says: a source is read without it.
func (p *Planner) Clear(project string) {
	if o, _ := p.Obstacle(project); o.Why != "" && !o.Rests && !o.Hangs && p.setObstacle(project, Obstacle{}) {
		p.Warn(project, AboutProject, "")
	}
}

// line returns the obstacle as the warning of a project, "" for none.
func (o Obstacle) line(project string) string {
	switch {
	case o.Why == "":
		return ""
	case o.Config:
		return "! " + project + ": " + o.Why
	case o.Rests:
		return "! " + project + " waits: " + o.Why + ". It goes on by itself when that is mended"
	}
	return "! " + project + ": " + o.Why + ". Looked at again by itself"
}

// judge is look within answerTime, and returns false if ctx ended before. A look
// that hangs goes on, and no other one begins before it has ended.
func (p *Planner) judge(ctx context.Context, pr config.Project) (o Obstacle, ok bool) {
	p.obstacles.mu.Lock()
	done := p.obstacles.pending[pr.Name]
	if done == nil {
		done = make(chan Obstacle, 1)
		if p.obstacles.pending == nil {
			p.obstacles.pending = map[string]chan Obstacle{}
		}
		p.obstacles.pending[pr.Name] = done
		go func() {
			o := p.look(p.looks, pr)
			p.obstacles.mu.Lock()
			delete(p.obstacles.pending, pr.Name)
			p.obstacles.mu.Unlock()
			done <- o
		}()
	}
	p.obstacles.mu.Unlock()
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case o := <-done:
		return o, true
	case <-late.C:
	case <-ctx.Done():
		return Obstacle{}, false
	}
	return Obstacle{Why: pr.Repo + " does not answer: its file system hangs", Rests: p.unfinished(pr.Name) != "", Hangs: true}, true
}

// Close ends all looks at projects and their processes, and waits a moment for
// them: one at a file system that hangs cannot be ended.
func (p *Planner) Close() {
	p.endLooks()
	late := time.NewTimer(closeTime)
	defer late.Stop()
	p.obstacles.mu.Lock()
	pending := slices.Collect(maps.Values(p.obstacles.pending))
	p.obstacles.mu.Unlock()
	for _, done := range pending {
		select {
		case <-done:
		case <-late.C:
			return
		}
	}
}

// look returns what keeps a configured project from being worked on.
func (p *Planner) look(ctx context.Context, pr config.Project) Obstacle {
	if p.engine.Unread(pr.Name) != nil { // the log has the error, verify the places
		return Obstacle{Why: "its ledger cannot be read, see: nightporter verify", Rests: true}
	}
	s, _ := p.engine.State(pr.Name)
	r := s.Project.Run
	if r != nil && r.Settings.Repo != pr.Repo {
		return Obstacle{Why: fmt.Sprintf("it is %s in this state folder, not %s: give this one another name", r.Settings.Repo, pr.Repo), Rests: true, Config: true}
	}
	unfinished := p.unfinished(pr.Name)
	rests := unfinished != ""
	if err := pr.Check(p.Config(), p.State()); err != nil {
		return Obstacle{Why: brief(err), Rests: rests}
	}
	if err := p.Claim(ctx, pr.Repo); err != nil {
		return Obstacle{Why: brief(err), Rests: true}
	}
	if rests {
		if _, err := p.Ports(ctx, r.Settings); err != nil {
			return Obstacle{Why: unfinished + " cannot be taken up: " + brief(err), Rests: true}
		}
		return Obstacle{}
	}
	if err := p.readSource(ctx, pr); err != nil {
		return Obstacle{Why: brief(err)}
	}
	return Obstacle{}
}

// unfinished returns a project's run that has not ended, "" for none.
func (p *Planner) unfinished(project string) string {
	s, ok := p.engine.State(project)
	if !ok || s.Project.Run.Over() {
		return ""
	}
	return s.Project.Run.ID
}

// readSource reads the task source of a project. An unfinished run reads its own.
func (p *Planner) readSource(ctx context.Context, pr config.Project) error {
	s, err := pr.Settings(p.Config(), config.Overrides{}, time.Now())
	if err != nil {
		return err
	}
	source, err := p.OpenSource(s, task.Options{CommitStatus: s.CommitStatus, BdWrite: s.BdWrite})
	if err != nil {
		return err
	}
	_, err = source.Read(ctx)
	return err
}

// brief formats an error for the line of an obstacle: the first mistake without
// its remedy, and without a full stop.
func brief(err error) string {
	line, _, _ := strings.Cut(OneLine(err), "\n")
	return strings.TrimSuffix(strings.TrimSpace(line), ".")
}

// Workable looks at all configured projects and returns those that can be worked
// on. before are those that the daemon works on already: they stay, because their
// sessions and effects are in its hands. A project that is left out, or cannot
// start a run, has a warning.
func (p *Planner) Workable(ctx context.Context, before []string) []string {
	projects := p.Config().Projects
	found := make([]Obstacle, len(projects))
	var looks sync.WaitGroup
	for n, pr := range projects {
		looks.Go(func() { found[n] = p.Look(ctx, pr) })
	}
	looks.Wait()
	var names []string
	for n, pr := range projects {
		if !found[n].Rests || slices.Contains(before, pr.Name) && !found[n].Config {
			names = append(names, pr.Name)
		}
	}
	for _, name := range before { // removed from the configuration during a run
		if run := p.unfinished(name); run != "" && !slices.Contains(names, name) {
			names = append(names, name)
			if _, configured := p.Find(name); !configured {
				p.Warn(name, AboutProject, fmt.Sprintf("! %s is no longer in the configuration; %s is brought to its end", name, run))
			}
		}
	}
	var repos []string
	for _, pr := range projects {
		repos = append(repos, pr.Repo)
	}
	for _, name := range names {
		if s, ok := p.engine.State(name); ok && !s.Project.Run.Over() {
			repos = append(repos, s.Project.Run.Settings.Repo)
		}
	}
	p.keepClaims(repos)
	for _, name := range p.Blocked() {
		if _, configured := p.Find(name); !configured {
			p.setObstacle(name, Obstacle{})
		}
	}
	return names
}

// refusal is the error of a start that an obstacle prevents.
func refusal(project string, o Obstacle) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: strings.TrimPrefix(o.line(project), "! ")}}}
}
