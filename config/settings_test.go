package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/loop/ledger"
)

var testNow = time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)

func settings(t *testing.T, cfg *Config, p Project, flags Overrides) ledger.Settings {
	t.Helper()
	s, err := p.Settings(cfg, flags, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScriptedMarks: the scripted agent marks nothing unless a person says so.
func TestScriptedMarks(t *testing.T) {
	dir := setupSite(t)
	for yes, want := range map[bool]ledger.ScriptedMarks{false: ledger.ScriptedWithheld, true: ledger.ScriptedWritten} {
		flags := Overrides{Repo: "shop", Source: "plan:checkout.md", Agent: ledger.ScriptedAgent, YesDemo: yes}
		p, err := FromFlags(flags, dir)
		if err != nil {
			t.Fatal(err)
		}
		if s := settings(t, Empty(), p, flags); s.ScriptedMarks != want || !s.Scripted() {
			t.Errorf("yes %v: %q, %v", yes, s.ScriptedMarks, s.Scripted())
		}
	}
}

// TestSettingsFromFlags resolves a run's settings without any config file.
func TestSettingsFromFlags(t *testing.T) {
	dir := setupSite(t)
	flags := Overrides{Repo: "shop", Source: "plan:checkout.md", Verify: []string{"go test ./..."}, From: "Task 5"}
	p, err := FromFlags(flags, dir)
	if err != nil {
		t.Fatal(err)
	}
	got := settings(t, Empty(), p, flags)
	want := ledger.Settings{
		Project: "shop", Repo: dir + "/shop", Source: ledger.SourceRef{Kind: "plan", Path: "checkout.md"}, Profile: "review",
		Agent: "claude", OnBlocked: "stop", MaxTasks: 5, MaxIterations: 100, MaxWaves: 5, Batch: 5, From: "Task 5",
		Setup:  []ledger.Command{{Run: ledger.ProposedSetup}},
		Verify: []ledger.Command{{Run: "go test ./..."}}, Protected: []string{"main", "master"}, Push: "never",
		Order:           ledger.OrderDocument,
		QuestionTimeout: ledger.DefaultQuestionTimeout, BaselineTimeout: ledger.DefaultBaselineTimeout, Grace: ledger.DefaultGrace,
		Timezone: time.Local.String(), CoAuthor: "claude <claude@localhost>", ScriptedMarks: ledger.ScriptedWithheld,
		Models: map[string]ledger.Tiers{"claude": {Strong: "opus", Fast: "sonnet", Light: "haiku"}},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(ledger.Settings{}, "Pattern", "Hats", "Roles", "Network")); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
	if got.Pattern.Name != "plan-build-review" || len(got.Hats) != 18 {
		t.Errorf("pattern %s, hats %d", got.Pattern.Name, len(got.Hats))
	}
	if h := got.Hats["planner"]; h.Model != "opus" || h.Tier != ledger.ModelStrong || h.Pinned {
		t.Errorf("the shipped planner has model %q, tier %q, pinned %v", h.Model, h.Tier, h.Pinned)
	}
}

// TestSourceHasOneName: every spelling of a path gives the run the same source,
// because a run continues only with the same source.
func TestSourceHasOneName(t *testing.T) {
	dir := setupSite(t)
	if err := os.WriteFile(dir+"/shop/plan.md", []byte("- [ ] the only list of shop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := dir + "/link"
	if err := os.Symlink(dir+"/shop", link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ repo, source, want string }{
		{"/shop", "plan:plan.md", "plan:plan.md"},
		{"/shop", "plan:./plan.md", "plan:plan.md"},
		{"/shop", "plan:docs//../plan.md", "plan:plan.md"},
		{"/shop", "plan:" + dir + "/shop/plan.md", "plan:plan.md"},
		{"/shop", "plan:" + dir + "/shop/./docs/../plan.md", "plan:plan.md"},
		{"/shop", "plan:.agents/plans/a.md", "plan:.agents/plans/a.md"},
		{"/link", "plan:" + dir + "/link/plan.md", "plan:plan.md"},
		{"/link", "plan:" + dir + "/shop/plan.md", "plan:plan.md"},
		{"/shop", "backlog", "backlog:ai/backlog.md"},
		{"/shop", "auto", "plan:plan.md"},
		{"/shop", "auto:plan.md", "plan:plan.md"},
		{"/shop", "auto:docs/../plan.md", "plan:plan.md"},
		{"/link", "auto:" + dir + "/shop/plan.md", "plan:plan.md"},
		// These stay as written: a path outside, the repository itself, a path
		// that only begins like it, and labels.
		{"/shop", "plan:" + dir + "/plan.md", "plan:" + dir + "/plan.md"},
		{"/shop", "plan:" + dir + "/shop", "plan:" + dir + "/shop"},
		{"/shop", "plan:" + dir + "/shop-2/plan.md", "plan:" + dir + "/shop-2/plan.md"},
		{"/shop", "forge:./a//b", "forge:./a//b"},
		{"/shop", "bugs:forge:./a//b", "bugs:forge:./a//b"},
	} {
		var configured Source
		if err := configured.UnmarshalText([]byte(c.source)); err != nil {
			t.Fatal(err)
		}
		project := Project{Name: "shop", Repo: dir + c.repo}
		flag := settings(t, Empty(), project, Overrides{Source: c.source})
		project.Source = configured
		key := settings(t, Empty(), project, Overrides{})
		for from, got := range map[string]ledger.SourceRef{"--source": flag.Source, "the key source": key.Source} {
			if got.String() != c.want {
				t.Errorf("%s %q in %s: %q, want %q", from, c.source, c.repo, got, c.want)
			}
		}
	}
}

// TestPrecedence: flags override the project, the project its profile, and the
// profile the defaults (docs/spec 16).
func TestPrecedence(t *testing.T) {
	setupFullExample(t)
	cfg := load(t)
	shop, blog := cfg.Projects[0], cfg.Projects[1]
	for name, c := range map[string]struct {
		project Project
		flags   Overrides
		want    ledger.Settings // only the fields compared below
	}{
		"project over profile": {shop, Overrides{}, ledger.Settings{
			Profile: "overnight", OnBlocked: "stop", MaxTasks: 7, MaxIterations: 70, MaxWaves: 2, Batch: 3, Push: "end",
			Agent: "mine", Fallbacks: map[string][]string{"mine": {"codex", "claude"}}, CoAuthor: "Mine <mine@example.com>"}},
		"flags over project": {shop, Overrides{
			Profile: "review", MaxTasks: ptr(0), MaxIterations: ptr(9), MaxWaves: ptr(1), Batch: ptr(1), Push: "never", Agent: "demo"}, ledger.Settings{
			Profile: "review", OnBlocked: "stop", MaxTasks: 0, MaxIterations: 9, MaxWaves: 1, Batch: 1, Push: "never",
			Agent: "demo", CoAuthor: "demo <demo@localhost>"}},
		"profile over built-in, bugs are pushed": {blog, Overrides{Profile: "overnight"}, ledger.Settings{
			Profile: "overnight", OnBlocked: "continue", MaxTasks: 0, MaxIterations: 500, MaxWaves: 5, Batch: 5, Push: "task",
			Agent: "claude", CoAuthor: "claude <claude@localhost>"}},
		"backlog overnight": {Project{Name: "x"}, Overrides{Profile: "overnight", Source: "backlog"}, ledger.Settings{
			Profile: "overnight", OnBlocked: "continue", MaxTasks: 20, MaxIterations: 500, MaxWaves: 5, Batch: 5, Push: "never",
			Agent: "claude", CoAuthor: "claude <claude@localhost>"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t, cfg, c.project, c.flags)
			got := ledger.Settings{Profile: s.Profile, OnBlocked: s.OnBlocked, MaxTasks: s.MaxTasks, MaxIterations: s.MaxIterations,
				MaxWaves: s.MaxWaves, Batch: s.Batch, Push: s.Push, Agent: s.Agent, CoAuthor: s.CoAuthor}
			if s.Agent == "mine" {
				got.Fallbacks = s.Fallbacks
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	s := settings(t, cfg, shop, Overrides{})
	if want := []ledger.Command{{Run: ledger.HooksCommand}, {Run: "npm test"}, {Run: "npm run e2e", When: "final", Timeout: ledger.Duration(20 * time.Minute), Parallel: true}}; !cmp.Equal(s.Verify, want) {
		t.Errorf("verify %v", s.Verify)
	}
	if want := map[string]int{"mine": 2}; s.MaxLoad != 6.5 || !cmp.Equal(s.AgentSessions, want) {
		t.Errorf("max_load %v, max_sessions of agents %v", s.MaxLoad, s.AgentSessions)
	}
	if s.QuestionTimeout.D() != 45*time.Minute || s.Boundary != "required" || s.Pattern.Name != "quick" || s.Timezone != "Europe/Berlin" {
		t.Errorf("%v %q %q %q", s.QuestionTimeout, s.Boundary, s.Pattern.Name, s.Timezone)
	}
	// now is 00:10 in Berlin (23:10 UTC), so 07:00 is later on the same day.
	if want := time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC); !s.Until.Equal(want) {
		t.Errorf("until %v", s.Until)
	}
	if s := settings(t, cfg, shop, Overrides{Verify: []string{"make"}, Setup: []string{}, Until: "00:10"}); len(s.Verify) != 2 || !s.Sign || len(s.Setup) != 0 ||
		!s.Until.Equal(time.Date(2026, 11, 20, 23, 10, 0, 0, time.UTC)) {
		t.Errorf("flags: %v %v %v", s.Verify, s.Setup, s.Until)
	}
}

// TestHatsOfARun checks agent, model and effort of each hat, and the limit on
// its cost.
func TestHatsOfARun(t *testing.T) {
	setupFullExample(t)
	cfg := load(t)
	shop := cfg.Projects[0]
	type row struct {
		Agent, Model, Effort string
		Max                  float64
	}
	check := func(name string, s ledger.Settings, want map[string]row) {
		t.Helper()
		got := map[string]row{}
		for n := range want {
			h := s.Hats[n]
			got[n] = row{h.Agent, h.Model, h.Effort, h.MaxCostUSD}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	check("as configured", settings(t, cfg, shop, Overrides{}), map[string]row{
		"planner":  {"", "big-1", "", 1.25},          // shipped tier, looked up with the project's agent
		"builder":  {"codex", "gpt-x", "high", 1.25}, // the project's override of its repository's hat
		"reviewer": {"codex", "gpt-y", "low", 1.25},  // the hat beside the config, capped
		"fixer":    {"", "small-1", "", 1.25},
	})
	check("--agent claude", settings(t, cfg, shop, Overrides{Agent: "claude"}), map[string]row{
		"planner": {"", "opus", "", 1.25}, "builder": {"", "", "high", 1.25}, "reviewer": {"", "", "low", 1.25},
	})
	if h := settings(t, cfg, shop, Overrides{}).Hats["builder"]; h.Shipped || !cmp.Equal(h.WriteAllowed, []string{"src/**", "lib/**"}) || h.Prompt != h.Role {
		t.Errorf("the repository's builder: %+v", h)
	}
}

func TestBadFlags(t *testing.T) {
	dir := setupSite(t)
	_, err := Project{Name: "x"}.Settings(Empty(), Overrides{
		Source: "plans:x", Profile: "overnigth", Pattern: "singel", Agent: "cluade", Push: "sometimes", Until: "7",
		MaxTasks: ptr(-1), Batch: ptr(0), Parallel: ptr(0), Verify: []string{" "},
	}, testNow)
	want := `✗ --agent: "cluade" is not one of claude, codex, copilot, demo, gemini, opencode, pi, qwen; meant "claude"?
✗ --batch: 0 is less than 1
✗ --max-tasks: -1 is less than 0
✗ --parallel: 0 tasks at a time would do nothing; 1 is one after another
✗ --pattern: "singel" is not one of bug, build-review-refactor, builder-writer-reviewer, draft, evaluator, full-cycle, ideas, plan-build-review, single, team, triage, ultrawork; meant "single"?
✗ --profile: "overnigth" is not one of review, overnight; meant "overnight"?
✗ --push: "sometimes" is not one of never, end, task
✗ --source: "plans:x" is not a source: write KIND:PATH, KIND one of plan, backlog, tasks, prd, beads, bugs, forge, auto; meant "plan:x"?
✗ --until: "7" is not a time of day: write it like "07:30"
✗ --verify: the command is empty`
	if err == nil {
		t.Fatal("no error")
	}
	if d := cmp.Diff(want, err.Error()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := (Project{Name: "x"}).Settings(Empty(), Overrides{}, testNow); err == nil || !strings.Contains(err.Error(), "--source: missing") {
		t.Errorf("no source: %v", err)
	}
	for source, want := range map[string]string{
		"auto":         `source = "auto", and ` + dir + `/shop has no list of tasks where they usually are`,
		"auto:gone.md": "gone.md  there is no such file",
	} {
		p := Project{Name: "x", Repo: dir + "/shop"}
		if _, err := p.Settings(Empty(), Overrides{Source: source}, testNow); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

// TestPlans: a project's settings about plans reach the run. They are refused
// with a pattern that makes no plan, whether the config or a flag names it.
func TestPlans(t *testing.T) {
	setupFullExample(t)
	cfg := load(t)
	shop, blog := cfg.Projects[0], cfg.Projects[1]
	if s := settings(t, cfg, shop, Overrides{}); !s.Consensus || !s.PlanApproval || !s.Pattern.Consensus {
		t.Errorf("shop: %v %v %v", s.Consensus, s.PlanApproval, s.Pattern.Consensus)
	}
	// The pattern's own setting stays with the pattern, so that a changed file
	// takes effect.
	if s := settings(t, cfg, blog, Overrides{Pattern: "quick"}); s.Consensus || s.PlanApproval || !s.Pattern.Consensus {
		t.Errorf("blog: %v %v %v", s.Consensus, s.PlanApproval, s.Pattern.Consensus)
	}
	_, err := shop.Settings(cfg, Overrides{Pattern: "single"}, testNow)
	want := `✗ consensus needs a plan, and no hat of pattern single ends with plan.complete
    Take a pattern with a planner, such as plan-build-review, or leave consensus out
✗ plan_approval needs a plan, and no hat of pattern single ends with plan.complete
    Take a pattern with a planner, such as plan-build-review, or leave plan_approval out`
	if err == nil {
		t.Fatal("no error")
	}
	if d := cmp.Diff(want, err.Error()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPick(t *testing.T) {
	dir := setupFullExample(t)
	cfg := load(t)
	write(t, dir+"/other/shop/.git/HEAD", "ref: refs/heads/main\n")
	write(t, dir+"/My Übung!/.git/HEAD", "ref: refs/heads/main\n")
	if err := os.Symlink(dir+"/shop", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg        *Config
		repo, from string
		want       string
	}{
		"the project of --repo":                   {cfg, "blog", dir, "blog"},
		"through a link":                          {cfg, "link", dir, "shop"},
		"the folder one stands in":                {cfg, "", dir + "/blog/src", "blog"},
		"flags alone":                             {Empty(), "shop", dir, "shop"},
		"flags alone, the folder of the person":   {Empty(), ".", dir + "/shop", "shop"},
		"another repository of a project's name":  {cfg, "other/shop", dir, "shop-2"},
		"a folder whose name is no project's":     {Empty(), "My Übung!", dir, "my-bung"},
		"only one project, so there is no choice": {&Config{Projects: cfg.Projects[1:2]}, "", dir, "blog"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := c.cfg.Pick(Overrides{Repo: c.repo}, c.from)
			if err != nil || p.Name != c.want {
				t.Errorf("%q, %v; want %q", p.Name, err, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		cfg  *Config
		repo string
		want string
	}{
		"none named":       {cfg, "", "which repository?"},
		"missing":          {cfg, "nowhere", "is missing"},
		"not a repository": {cfg, "hats", "is not a git repository"},
	} {
		_, err := c.cfg.Pick(Overrides{Repo: c.repo}, dir)
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWeekTime(t *testing.T) {
	for text, want := range map[string]string{"Mon 08:00": "", "Sat 00:00": "", "Sun 23:59": "",
		"mon 08:00": "Mon 08:00", "Monday 08:00": "Mon 08:00", "TUES 08:00": "Tue 08:00", "Mon  08:00": "Mon 08:00", " Mon 08:00": "Mon 08:00",
		"Mon 8:00": "none", "Mon 24:00": "none", "Mo 08:00": "none", "Mond 08:00 CET": "none", "Montag 08:00": "none", "08:00 Mon": "none", "08:00": "none", "Mon": "none", "": "none", "1 08:00": "none"} {
		var w WeekTime
		err := w.UnmarshalText([]byte(text))
		var bad *valueError
		switch {
		case want == "" && (err != nil || w.String() != text):
			t.Errorf("%q is read as %q, %v", text, w, err)
		case want == "":
		case !errors.As(err, &bad) || w != WeekTime{}:
			t.Errorf("%q is read as %q, %v", text, w, err)
		case want != "none" && bad.meant != want, want == "none" && bad.meant != "":
			t.Errorf("%q: meant %q, want %q", text, bad.meant, want)
		}
	}
}

func TestClockNext(t *testing.T) {
	const berlin = "Europe/Berlin"
	for _, c := range []struct{ zone, clock, now, want string }{
		{berlin, "07:00", "2026-11-19T23:10:00+01:00", "2026-11-20T07:00:00+01:00"},
		{berlin, "07:00", "2026-11-20T06:59:59+01:00", "2026-11-20T07:00:00+01:00"},
		{berlin, "07:00", "2026-11-20T07:00:00+01:00", "2026-11-21T07:00:00+01:00"},
		{berlin, "00:00", "2026-12-31T12:00:00+01:00", "2027-01-01T00:00:00+01:00"},
		{berlin, "07:00", "2026-10-24T23:00:00+02:00", "2026-10-25T07:00:00+01:00"}, // the clock goes back at night
		{berlin, "02:30", "2027-03-27T23:00:00+01:00", "2027-03-28T03:30:00+02:00"}, // the clock skips 02:30
		{berlin, "02:30", "2026-10-25T01:00:00+02:00", "2026-10-25T02:30:00+02:00"}, // 02:30 exists twice
		{berlin, "02:30", "2026-10-25T02:45:00+02:00", "2026-10-25T02:30:00+01:00"},
		{berlin, "02:30", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"},
		{"America/Havana", "00:00", "2027-03-13T23:30:00-05:00", "2027-03-14T01:00:00-04:00"}, // no midnight
		{"America/Havana", "00:30", "2026-11-01T00:45:00-04:00", "2026-11-01T00:30:00-05:00"}, // two of them
		{"Australia/Lord_Howe", "02:15", "2026-10-03T23:00:00+10:30", "2026-10-04T02:45:00+11:00"},
		{"Australia/Lord_Howe", "01:45", "2027-04-04T01:50:00+11:00", "2027-04-04T01:45:00+10:30"},
		{"Africa/Casablanca", "02:30", "2027-02-07T01:00:00+01:00", "2027-02-07T02:30:00+01:00"}, // Ramadan begins
		{"Africa/Casablanca", "02:30", "2027-02-07T02:45:00+01:00", "2027-02-07T02:30:00Z"},
		{"Africa/Casablanca", "02:30", "2027-03-14T01:00:00+00:00", "2027-03-14T03:30:00+01:00"},
		{"Pacific/Apia", "07:30", "2011-12-29T20:00:00-10:00", "2011-12-31T07:30:00+14:00"}, // no 30 December
		{"Pacific/Apia", "23:00", "2011-12-29T20:00:00-10:00", "2011-12-29T23:00:00-10:00"},
		{"Pacific/Kwajalein", "12:00", "1993-08-20T13:00:00-12:00", "1993-08-22T12:00:00+12:00"},
	} {
		var clock Clock
		if err := clock.UnmarshalText([]byte(c.clock)); err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := clock.Next(now, zone).Format(time.RFC3339); got != c.want {
			t.Errorf("%s after %s: %s, want %s", c.clock, c.now, got, c.want)
		}
	}
}

// TestDomains: triage knows the hosts of the project and those of the others, and what
// two of them name is both's.
func TestDomains(t *testing.T) {
	cfg := &Config{Projects: []Project{
		{Name: "shop", Domains: []string{"shop.example", "both.example"}},
		{Name: "stock", Domains: []string{"stock.example", "both.example"}},
		{Name: "attic", Domains: []string{"attic.example", "stock.example"}},
	}}
	if got, want := cfg.DomainsOfOthers(cfg.Projects[0]), []string{"attic.example", "stock.example"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s, err := cfg.Projects[0].Settings(cfg, Overrides{Source: "bugs:bugs.json"}, time.Now())
	if err != nil || !slices.Equal(s.Domains, cfg.Projects[0].Domains) || !slices.Equal(s.Elsewhere, []string{"attic.example", "stock.example"}) {
		t.Errorf("%q, %q, %v", s.Domains, s.Elsewhere, err)
	}
}

// TestStaleClaim: how long claims are respected reaches the run.
func TestStaleClaim(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "nightporter.toml")
	for value, want := range map[string]time.Duration{"": 0, "stale_claim = \"36h\"\n": 36 * time.Hour} {
		text := "[[project]]\nname = \"shop\"\nrepo = " + strconv.Quote(dir) + "\nsource = \"bugs:bugs.json\"\n" + value
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cfg.Projects[0].Settings(cfg, Overrides{}, time.Now())
		if err != nil || s.StaleClaim != want {
			t.Errorf("%q: %s, %v; want %s", value, s.StaleClaim, err, want)
		}
	}
}
