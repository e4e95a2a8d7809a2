package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// Defaults of a project (docs/spec 2.4, 4.3, 7).
const (
	defaultPattern = "plan-build-review"
	bugPattern     = "bug"

	profileReview    = "review"
	profileOvernight = "overnight"

	unprovedAllow = "allow"

	defaultWaves   = 5
	reviewTasks    = 5
	reviewSessions = 100
	nightSessions  = 500
)

// Overrides holds the flags of nightporter run that change settings (docs/spec
// 17). A zero field means that the flag was not given.
type Overrides struct {
	Repo          string // --repo, relative to the caller's folder
	Source        string // --source KIND:PATH
	Profile       string
	Pattern       string
	Agent         string
	From          string // id of a task
	Only          string // id of a task
	MaxTasks      *int
	MaxIterations *int
	MaxWaves      *int
	Batch         *int
	Parallel      *int
	Push          string
	Until         string // HH:MM
	Verify        []string
	Setup         []string
	YesDemo       bool // the scripted agent may mark tasks
}

// flagChecker collects mistakes in flags.
type flagChecker struct{ problems []ledger.Diagnostic }

func (f *flagChecker) bad(flag, text, meant string) {
	f.problems = append(f.problems, ledger.Diagnostic{Text: "--" + flag + ": " + text, Meant: meant})
}

func (f *flagChecker) oneOf(flag, v string, words []string) {
	if v != "" && !slices.Contains(words, v) {
		f.bad(flag, fmt.Sprintf("%q is not one of %s", v, list(words)), nearest.Of(v, words))
	}
}

func (f *flagChecker) count(flag string, n *int, least int) {
	if n != nil && *n < least {
		f.bad(flag, fmt.Sprintf("%d is less than %d", *n, least), "")
	}
}

// Pick returns the project that the flags of run select. With --repo it is the
// configured project with that repository, or else a project made of the flags
// alone, so that run needs no config file. Without --repo it is the project
// whose repository contains dir, or the only configured one. dir is the working
// directory of the person who typed the flags.
func (c *Config) Pick(flags Overrides, dir string) (Project, error) {
	if flags.Repo != "" {
		repo := flags.Repo
		if !filepath.IsAbs(repo) {
			repo = filepath.Join(dir, repo)
		}
		for _, p := range c.Projects {
			if samePath(p.Repo, repo) {
				return p, nil
			}
		}
		return c.fromRepo(repo)
	}
	for _, p := range c.Projects {
		if within(dir, p.Repo) {
			return p, nil
		}
	}
	if len(c.Projects) == 1 {
		return c.Projects[0], nil
	}
	problem := ledger.Diagnostic{Text: "which repository? This folder is in none that the config names", Remedy: "Name it: --repo DIR"}
	if len(c.Projects) == 0 {
		problem.Text = "which repository? There is no config that names one"
	}
	return Project{}, newError([]ledger.Diagnostic{problem})
}

// FromFlags returns the project that the flags of run describe without a config
// file. dir is the working directory of the person who typed them.
func FromFlags(flags Overrides, dir string) (Project, error) {
	if flags.Repo == "" {
		flags.Repo = dir
	}
	return Empty().Pick(flags, dir)
}

// fromRepo makes a project of a repository alone. Its name comes from the
// folder's name, with a number added where a configured project has that name.
func (c *Config) fromRepo(repo string) (Project, error) {
	if text := checkRepo(repo); text != "" {
		return Project{}, newError([]ledger.Diagnostic{{Text: "--repo: " + text}})
	}
	real, err := filepath.EvalSymlinks(repo)
	if err != nil {
		return Project{}, newError([]ledger.Diagnostic{{Text: "--repo: " + systemText(err)}})
	}
	base := sanitise(filepath.Base(real))
	name := base
	for n := 2; slices.ContainsFunc(c.Projects, func(p Project) bool { return p.Name == name }); n++ {
		tail := fmt.Sprintf("-%d", n)
		name = base[:min(len(base), 32-len(tail))] + tail
	}
	return Project{Name: name, Repo: real}, nil
}

// Settings resolves the settings of one run. Flags override the project, the
// project overrides its profile, and the profile overrides the defaults
// (docs/spec 16); the core adds a task's own fields later. now is the start of
// the run. Invalid or missing flags are an *Error.
func (p Project) Settings(cfg *Config, flags Overrides, now time.Time) (ledger.Settings, error) {
	f := &flagChecker{}
	zone, err := cfg.Zone()
	if err != nil {
		return ledger.Settings{}, newError([]ledger.Diagnostic{{Text: err.Error()}})
	}
	cat, problems := cfg.catalogue(&p)
	f.problems = problems

	f.oneOf("profile", flags.Profile, []string{profileReview, profileOvernight})
	f.oneOf("agent", flags.Agent, cfg.AgentNames())
	f.oneOf("push", flags.Push, []string{"never", "end", "task"})
	f.oneOf("pattern", flags.Pattern, slices.Sorted(maps.Keys(cat.patterns)))
	f.count("max-tasks", flags.MaxTasks, 0)
	f.count("max-iterations", flags.MaxIterations, 0)
	f.count("max-waves", flags.MaxWaves, 0)
	f.count("batch", flags.Batch, 1)
	if n := flags.Parallel; n != nil && *n < 1 {
		f.bad("parallel", fmt.Sprintf("%d tasks at a time would do nothing; 1 is one after another", *n), "")
	}

	s := ledger.Settings{
		Domains: p.Domains, Elsewhere: cfg.DomainsOfOthers(p),
		Project: p.Name, Repo: p.Repo,
		Source:    p.source(flags, f),
		Profile:   cmp.Or(flags.Profile, p.Profile, profileReview),
		Agent:     cmp.Or(flags.Agent, p.Agent, adapter.Default),
		From:      strings.TrimSpace(flags.From),
		Only:      strings.TrimSpace(flags.Only),
		Setup:     p.setup(flags, f),
		Verify:    p.verify(flags, f),
		Protected: p.Protected,
		Allow:     p.Allow,
		Layout:    p.Layout.Write,
		Remote:    p.Remote,
		Base:      p.Base,
		Requests:  ledger.Requests{Draft: p.PR.Draft, Labels: p.PR.Labels, Reviewers: p.PR.Reviewers, Watch: ledger.WatchMode(p.WatchPR)},

		QuestionTimeout: cmp.Or(cfg.QuestionTimeout.After, ledger.DefaultQuestionTimeout),
		QuestionThen:    cfg.QuestionTimeout.Then,
		BaselineTimeout: ledger.DefaultBaselineTimeout,
		Grace:           ledger.DefaultGrace,
		Timezone:        zone.String(),
		CommitStatus:    p.CommitStatus,
		BdWrite:         p.BdWrite,
		Consensus:       p.Consensus,
		PlanApproval:    p.PlanApproval,
		ReplanAfter:     p.ReplanAfter,
		Proof:           ledger.ProofMode(p.Proof),
		Queue:           ledger.QueueMode(p.Queue),
		Tests:           p.Tests,
		RoomFiles:       p.RoomFiles,
		Screenshot:      p.Screenshot.settings(),
		Sign:            p.Sign,
		Hooks:           p.Hooks,
		AllowUnproved:   p.Unproved == unprovedAllow,
		NoLearning:      !deref(p.Learn, true),
	}
	if s.Protected == nil {
		s.Protected = []string{"main", "master"}
	}
	if cfg.Boundary == "required" {
		s.Boundary = cfg.Boundary
	}
	if s.ScriptedMarks = ledger.ScriptedWithheld; flags.YesDemo {
		s.ScriptedMarks = ledger.ScriptedWritten
	}
	s.Others = cfg.otherAgents(s.Agent)
	s.MCP = cfg.agentsWith(func(a Agent) bool { return a.MCP })
	s.EventBlocks = cfg.agentsWith(func(a Agent) bool { return a.EventBlock })
	s.CoAuthor = deref(cfg.Agents[s.Agent].CoAuthor, ledger.DefaultCoAuthor(s.Agent))
	p.limits(&s, flags)
	if until, ok := p.until(flags, f); ok {
		s.Until = until.Next(now, zone)
	}

	s.Requests.PerTask = p.PR.Per == "task" || p.PR.Per == "" && s.InWaves() // reports have nothing to do with each other
	s.Requests.Apart = s.Requests.PerTask && s.InWaves()
	name := cmp.Or(flags.Pattern, p.Pattern, usualPattern(s.Source.Kind))
	if pattern, ok := cat.patterns[name]; ok {
		s.Pattern = pattern.pattern
		wrong := pattern.check(cat)
		f.problems = append(f.problems, wrong...)
		if len(wrong) == 0 && !pattern.hasReported(cat) {
			for _, problems := range p.checkPlans(pattern.pattern, cat.hats) {
				f.problems = append(f.problems, problems...)
			}
		}
	} else if flags.Pattern == "" {
		f.problems = append(f.problems, ledger.Diagnostic{Text: fmt.Sprintf("no pattern %q", name)})
	}
	s.Roles = roles(cat, s.Pattern.Name)
	s.Hats = p.hats(cfg, s, flags, cat.hats)
	s.Budget.Estimates = cfg.estimates()
	s.MaxLoad, s.AgentSessions = cfg.MaxLoad, cfg.agentSessions()
	cfg.choices(&s)
	s.Network = p.network(cfg, s)
	if err := newError(f.problems); err != nil {
		return ledger.Settings{}, err
	}
	return s, nil
}

// usualPattern returns the pattern of a project that names none: bug reports are made to
// fail again before they are fixed.
func usualPattern(kind string) string {
	if kind == task.KindBugs {
		return bugPattern
	}
	return defaultPattern
}

// roles returns the patterns that tasks can name as their role: all that are right,
// but for the run's own, which a task without a role has.
func roles(cat catalogue, own string) map[string]ledger.Pattern {
	out := map[string]ledger.Pattern{}
	for name, f := range cat.patterns {
		if name != own && len(f.check(cat)) == 0 && !f.hasReported(cat) {
			out[name] = f.pattern
		}
	}
	return out
}

// estimates returns what a session of an agent costs by the configuration, nil if it
// says nothing of that.
func (c *Config) estimates() map[string]float64 {
	out := map[string]float64{}
	for name, a := range c.Agents {
		if a.USDEstimate > 0 {
			out[name] = a.USDEstimate
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// agentSessions returns max_sessions of the agents that set it.
func (c *Config) agentSessions() map[string]int {
	var out map[string]int
	for name, a := range c.Agents {
		if a.MaxSessions != nil {
			if out == nil {
				out = map[string]int{}
			}
			out[name] = *a.MaxSessions
		}
	}
	return out
}

// Zone returns the configured time zone, or the host's.
func (c *Config) Zone() (*time.Location, error) {
	if c.Timezone == "" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(c.Timezone)
	if err != nil {
		return nil, fmt.Errorf("time zone: %w", err)
	}
	return zone, nil
}

// limits sets the values that depend on the profile and the source kind
// (docs/spec 2.4).
func (p Project) limits(s *ledger.Settings, flags Overrides) {
	kind := task.FindKind(s.Source.Kind)
	if kind == nil { // source has reported the missing name
		kind = task.Proposed()
	}
	tasks, sessions, blocked := reviewTasks, reviewSessions, ledger.OnBlockedStop
	if s.Profile == profileOvernight {
		tasks, sessions, blocked = kind.MaxTasks, nightSessions, ledger.OnBlockedContinue
	}
	s.MaxTasks = firstSet(tasks, flags.MaxTasks, p.MaxTasks)
	s.Order = ledger.Order(cmp.Or(p.Order, string(kind.Order)))
	s.MarksWorking, s.CountsTries = kind.MarksWorking() && !s.CommitStatus, kind.CountsTries() && !s.CommitStatus
	s.MaxIterations = firstSet(sessions, flags.MaxIterations, p.MaxIterations)
	s.MaxWaves = firstSet(defaultWaves, flags.MaxWaves, p.MaxWaves)
	if s.MaxNewFiles = firstSet(0, p.MaxNewFiles); p.MaxNewFiles != nil && s.MaxNewFiles == 0 {
		s.MaxNewFiles = -1 // the ledger's 0 is the default
	}
	s.StaleClaim = time.Duration(p.StaleClaim)
	s.Budget = ledger.Budget{USDRun: p.Budget.USDRun, USDTask: p.Budget.USDTask, TokensRun: p.Budget.TokensRun}
	if n := firstSet(1, flags.Parallel, p.Parallel); n > 1 {
		s.Parallel = n
	}
	s.Batch = firstSet(ledger.DefaultBatch, flags.Batch, p.Batch)
	s.OnBlocked = cmp.Or(p.OnBlocked, blocked)
	s.Push = cmp.Or(flags.Push, p.Push, kind.Push)
}

// hats returns all hats with their agent, model and effort for this run. A
// flag's agent replaces that of every hat: a person who tries another agent
// means the whole run.
func (p Project) hats(cfg *Config, s ledger.Settings, flags Overrides, hats map[string]ledger.Hat) map[string]ledger.Hat {
	out := map[string]ledger.Hat{}
	for name, h := range hats {
		o := p.Hat[name]
		own := cmp.Or(o.Agent, h.Agent)
		h.Effort = cmp.Or(o.Effort, h.Effort)
		h.Model = cmp.Or(o.Model, h.Model)
		switch {
		case flags.Agent == "":
			h.Agent = own
		case own != "" && own != flags.Agent && !ledger.IsTier(h.Model):
			h.Agent, h.Model = "", "" // the model belongs to the other agent
		default:
			h.Agent = ""
		}
		switch {
		case ledger.IsTier(h.Model):
			tiers, _ := cfg.TiersOf(cmp.Or(h.Agent, s.Agent))
			h.Tier = ledger.ModelTier(h.Model)
			h.Model = tiers.Model(h.Tier)
		case h.Model != "":
			h.Pinned = true
		}
		h.Escalate = deref(o.Escalate, h.Escalate)
		if len(o.Fallback) > 0 {
			h.Fallbacks = o.Fallback
		}
		if limit := p.Budget.USDSession; limit > 0 && (h.MaxCostUSD == 0 || h.MaxCostUSD > limit) {
			h.MaxCostUSD = limit
		}
		out[name] = h
	}
	return out
}

// source returns the source under its one name in the ledger. A run continues
// the previous one only if both sources have the same name.
func (p Project) source(flags Overrides, f *flagChecker) ledger.SourceRef {
	if flags.Source == "" {
		if p.Source.Kind == "" {
			f.bad("source", `missing: where are the tasks? Write it like "plan:.agents/plans/in-progress/checkout.md"`, "")
		}
		return p.resolved(p.Source, f)
	}
	var s Source
	if err := s.UnmarshalText([]byte(flags.Source)); err != nil {
		f.failed("source", err)
	}
	return p.resolved(s, f)
}

// resolved returns the source with the kind and path that "auto" stands for now. A
// run keeps them.
func (p Project) resolved(s Source, f *flagChecker) ledger.SourceRef {
	ref := p.sourceRef(s)
	if ref.Kind != task.KindAuto {
		return ref
	}
	kind, path, err := task.Resolve(context.Background(), p.Repo, ref.Kind, ref.Path)
	var input *ledger.InputError
	switch {
	case errors.As(err, &input):
		f.problems = append(f.problems, input.Diagnostics...)
		return ref
	case err != nil:
		f.failed("source", err)
		return ref
	}
	return p.sourceRef(Source{Kind: kind, Path: path})
}

// sourceRef returns a source whose path is relative to the repository, cleaned
// and with slashes. A path outside the repository stays as written and is
// refused when the source is opened. Links inside the repository are not
// resolved: each is a name of its own.
func (p Project) sourceRef(s Source) ledger.SourceRef {
	ref := ledger.SourceRef{Kind: s.Kind, Path: s.Path}
	if k := s.kind(); k != nil {
		ref.Foreign = k.Foreign
	}
	if !s.isPath() {
		return ref
	}
	path := s.Path
	if filepath.IsAbs(path) {
		if !filepath.IsAbs(p.Repo) {
			return ref
		}
		rel, err := filepath.Rel(p.Repo, path)
		if err != nil || !filepath.IsLocal(rel) {
			// The repository may be reachable under two names, one of them a
			// link.
			real, errReal := filepath.EvalSymlinks(p.Repo)
			if errReal != nil {
				return ref
			}
			rel, err = filepath.Rel(real, path)
		}
		if err != nil {
			return ref
		}
		path = rel
	}
	if path = filepath.Clean(path); path != "." && filepath.IsLocal(path) {
		ref.Path = filepath.ToSlash(path)
	}
	return ref
}

func (p Project) until(flags Overrides, f *flagChecker) (Clock, bool) {
	if flags.Until == "" {
		return p.Until, p.Until.Set
	}
	var c Clock
	if err := c.UnmarshalText([]byte(flags.Until)); err != nil {
		f.failed("until", err)
		return c, false
	}
	return c, true
}

func (p Project) setup(flags Overrides, f *flagChecker) []ledger.Command {
	lines := p.Setup
	switch {
	case flags.Setup != nil:
		lines = flags.Setup
	case lines == nil:
		lines = []string{ledger.ProposedSetup}
	}
	return commands("setup", lines, f)
}

func (p Project) verify(flags Overrides, f *flagChecker) []ledger.Command {
	var out []ledger.Command
	if p.Hooks {
		out = append(out, ledger.Command{Run: ledger.HooksCommand})
	}
	if flags.Verify != nil {
		return append(out, commands("verify", flags.Verify, f)...)
	}
	for _, v := range p.Verify {
		out = append(out, ledger.Command(v))
	}
	return out
}

func commands(flag string, lines []string, f *flagChecker) []ledger.Command {
	var out []ledger.Command
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			f.bad(flag, "the command is empty", "")
			continue
		}
		out = append(out, ledger.Command{Run: line})
	}
	return out
}

func (f *flagChecker) failed(flag string, err error) {
	meant := ""
	var ve *valueError
	if errors.As(err, &ve) {
		meant = ve.meant
	}
	f.bad(flag, err.Error(), meant)
}

// firstSet returns the first value that is set, or otherwise.
func firstSet(otherwise int, values ...*int) int {
	for _, v := range values {
		if v != nil {
			return *v
		}
	}
	return otherwise
}

// samePath reports whether two paths lead to the same folder.
func samePath(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// within reports whether dir is repo or lies below it.
func within(dir, repo string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if samePath(dir, repo) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// otherAgents returns the configured agents except the given one. A person can
// continue with them while that agent is unavailable.
func (c *Config) otherAgents(agent string) []string {
	names := slices.Sorted(maps.Keys(c.Agents))
	return slices.DeleteFunc(names, func(name string) bool { return name == agent })
}

// agentsWith returns the names of the agents whose section is as is says, sorted.
func (c *Config) agentsWith(is func(Agent) bool) []string {
	names := slices.Sorted(maps.Keys(c.Agents))
	return slices.DeleteFunc(names, func(name string) bool { return !is(c.Agents[name]) })
}
