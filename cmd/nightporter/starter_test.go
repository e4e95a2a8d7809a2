package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop"
)

// house is a configuration of one repository whose agent is not there: a run
// that is begun ends at its preflight, and no session is ever started.
func house(t *testing.T, start string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("repo/plan.md", "- [ ] **Task 1: One**\n")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit", "-q", "-m", "First"},
	} {
		cmd := exec.Command("git", append([]string{"-C", filepath.Join(dir, "repo")}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	cfg, err := config.Load(write("nightporter.toml", fmt.Sprintf(`timezone = "Europe/Berlin"
[agents.gone]
command = ["/nowhere/agent"]
[[project]]
name = "shop"
repo = %q
source = "plan:plan.md"
agent = "gone"
start = %q
`, filepath.Join(dir, "repo"), start)))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestSchedules(t *testing.T) {
	for text, want := range map[string]string{
		"0 22 * * 1-5": "", "@daily": "", "manual": "", "auto": "", "": "",
		"61 22 * * *": "no cron expression", "0 0 30 2 *": "it never comes", "TZ=X": "no cron expression", "a b c d e": "no cron expression",
	} {
		_, err := schedulesOf(&config.Config{Projects: []config.Project{{Name: "shop", Start: config.Start(text)}}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseCron("0 22 * * *")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		t.Helper()
		v, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ since, now, want string }{
		{"2026-11-19 21:59", "2026-11-19 22:00", "2026-11-19 22:00"},
		{"2026-11-19 22:00", "2026-11-20 21:59", ""},
		{"2026-11-16 22:00", "2026-11-20 21:59", "2026-11-19 22:00"},
		{"2026-10-24 23:00", "2026-10-25 23:00", "2026-10-25 22:00"}, // a night of 25 hours
		{"2001-01-01 00:00", "2026-11-20 21:59", "2026-11-19 22:00"},
	} {
		got := lastDue(s, at(c.since), at(c.now))
		if c.want == "" != got.IsZero() || c.want != "" && !got.Equal(at(c.want)) {
			t.Errorf("%s to %s: %v, want %q", c.since, c.now, got, c.want)
		}
	}
}

// TestDaylightSaving: the night in which a clock is changed has one start, as
// any other.
func TestDaylightSaving(t *testing.T) {
	for _, c := range []struct {
		zone, cron, from string
		want             []string
	}{
		{"Europe/Berlin", "30 2 * * *", "2027-03-26 12:00", []string{"2027-03-27 02:30 CET", "2027-03-28 03:30 CEST", "2027-03-29 02:30 CEST"}},
		{"Europe/Berlin", "30 2 28 3 *", "2026-07-01 12:00", []string{"2027-03-28 03:30 CEST", "2028-03-28 02:30 CEST"}},
		{"Europe/Berlin", "30 2 * * 1", "2027-03-26 12:00", []string{"2027-03-29 02:30 CEST", "2027-04-05 02:30 CEST"}},
		{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00", []string{"2026-10-25 02:30 CEST", "2026-10-26 02:30 CET"}},
		{"Europe/Berlin", "*/30 2 * * *", "2026-10-24 12:00", []string{"2026-10-25 02:00 CEST", "2026-10-25 02:30 CEST", "2026-10-26 02:00 CET"}},
		{"Europe/Berlin", "30 * * * *", "2026-10-25 01:00", []string{"2026-10-25 01:30 CEST", "2026-10-25 02:30 CEST", "2026-10-25 02:30 CET", "2026-10-25 03:30 CET"}},
		{"Europe/Berlin", "30 * * * *", "2027-03-28 01:00", []string{"2027-03-28 01:30 CET", "2027-03-28 03:30 CEST"}},
		{"Europe/Berlin", "0 3 * * *", "2027-03-27 12:00", []string{"2027-03-28 03:00 CEST", "2027-03-29 03:00 CEST"}},
		{"America/Havana", "0 0 * * *", "2027-03-13 12:00", []string{"2027-03-14 01:00 CDT", "2027-03-15 00:00 CDT"}},
		{"Australia/Lord_Howe", "45 1 * * *", "2027-04-03 12:00", []string{"2027-04-04 01:45 +11", "2027-04-05 01:45 +1030"}},
		{"UTC", "30 2 * * *", "2027-03-27 12:00", []string{"2027-03-28 02:30 UTC", "2027-03-29 02:30 UTC"}},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseCron(c.cron)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.ParseInLocation("2006-01-02 15:04", c.from, zone)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range c.want {
			at = next(s, at)
			got = append(got, at.Format("2006-01-02 15:04 MST"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s in %s:\n got %q\nwant %q", c.cron, c.zone, got, c.want)
		}
	}
}

// TestTickedOverDaylightSaving: looked at every minute, as the daemon does, a
// night in which the clock is changed has each start once, too.
func TestTickedOverDaylightSaving(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cron string
		from time.Time
		want []string
	}{
		{"30 2 * * *", time.Date(2027, 3, 27, 12, 0, 3, 0, berlin), []string{"03-28 03:30 CEST", "03-29 02:30 CEST"}},
		{"*/20 2 * * *", time.Date(2027, 3, 27, 12, 0, 3, 0, berlin), []string{"03-28 03:00 CEST", "03-28 03:20 CEST", "03-28 03:40 CEST", "03-29 02:00 CEST", "03-29 02:20 CEST", "03-29 02:40 CEST"}},
		{"30 2 * * *", time.Date(2026, 10, 24, 12, 0, 3, 0, berlin), []string{"10-25 02:30 CEST", "10-26 02:30 CET"}},
	} {
		s, err := parseCron(c.cron)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for n := range 48 * 60 {
			seen := c.from.Add(time.Duration(n) * time.Minute)
			if due := lastDue(s, seen, seen.Add(time.Minute)); !due.IsZero() {
				got = append(got, due.Format("01-02 15:04 MST"))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.cron, got, c.want)
		}
	}
}

// TestCron: a tick starts what is due in the configuration's zone; what came
// while nobody was there, or while the machine slept, is told and not made up.
func TestCron(t *testing.T) {
	p, _ := opened(t, house(t, "0 22 * * *"))
	plans, err := schedulesOf(p.config())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s := newStarter(p, plans, now.Add(-48*time.Hour))
	if got := strings.Join(p.remarks.of("shop"), "\n"); !strings.Contains(got, "22:00 missed: nightporter was off") || !strings.Contains(got, "/run shop") {
		t.Errorf("remarks: %q", got)
	}
	state := func() *loop.Run { st, _ := p.engine.State("shop"); return st.Project.Run }
	berlin, _ := p.config().Zone()
	due := time.Date(2027, 3, 1, 22, 0, 0, 0, berlin)
	s.seen = due.Add(-90 * time.Second)
	s.tick(t.Context(), due.Add(-30*time.Second))
	if state() != nil {
		t.Fatal("started before it was due")
	}
	s.tick(t.Context(), due.Add(30*time.Second))
	if r := state(); r == nil || !r.Settings.Stays {
		t.Fatalf("not started: %+v %q", r, p.remarks.of("shop"))
	}
	if got := p.remarks.of("shop"); len(got) > 0 {
		t.Errorf("remarks after a start: %q", got)
	}
	ended := func() {
		t.Helper()
		late := time.After(patienceHere)
		for {
			rung := p.changes.Next()
			if state().Over() {
				return
			}
			select {
			case <-rung:
			case <-late:
				t.Fatal("the run has not ended")
			}
		}
	}
	ended()
	if r := state(); r.Ended.Reason != loop.ReasonPreflight {
		t.Fatalf("%+v", r.Ended)
	}
	s.tick(t.Context(), due.Add(90*time.Second))
	if r := state(); r.ID != "r1" {
		t.Error("one tick started two runs")
	}
	s.tick(t.Context(), due.Add(33*time.Hour)) // it was 22:00 nine hours ago
	if r := state(); r.ID != "r1" {
		t.Error("a missed start was made up")
	}
	if got := strings.Join(p.remarks.of("shop"), "\n"); !strings.Contains(got, "asleep") {
		t.Errorf("remarks: %q", got)
	}
	if err := os.WriteFile(filepath.Join(p.config().Projects[0].Repo, "plan.md"), []byte("- [x] **Task 1: One**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.tick(t.Context(), due.Add(48*time.Hour))
	if r := state(); r.ID != "r1" {
		t.Error("started though nothing is ready")
	}
}

// TestAuto: it begins at its start, and a start that failed is tried again
// when the source changes and not before.
func TestAuto(t *testing.T) {
	p, _ := opened(t, house(t, "auto"))
	s := newStarter(p, nil, time.Time{})
	state := func() *loop.Run { st, _ := p.engine.State("shop"); return st.Project.Run }
	ctx := t.Context()
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() { defer close(done); s.run(ctx) }()
	until := func(what string, ok func() bool) {
		t.Helper()
		late := time.After(patienceHere)
		for !ok() {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-late:
				t.Fatalf("%s: %+v", what, state())
			}
		}
	}
	until("r1 ends", func() bool { r := state(); return r != nil && r.Over() })
	// Many looks later it is still the only one.
	for range 20 {
		if _, err := p.do(ctx, loop.Input{Actor: "console", Body: loop.OfferPairing{Hash: "h", Role: loop.RoleAdmin}}); err != nil {
			t.Fatal(err)
		}
	}
	until("it was looked at", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		x := s.projects["shop"]
		return !x.look && !x.again.IsZero() && x.source != ""
	})
	if state().ID != "r1" {
		t.Fatal("started in a circle")
	}
	if err := os.WriteFile(filepath.Join(p.config().Projects[0].Repo, "plan.md"), []byte("- [ ] **Task 1: One**\n- [ ] **Task 2: Two**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	until("r2 ends", func() bool { r := state(); return r.ID == "r2" && r.Over() })
}

// TestAutoLater: a plan that is not there yet, as init proposes one, is found
// when it comes, though nothing of it could be watched.
func TestAutoLater(t *testing.T) {
	cfg := house(t, "auto")
	plan := filepath.Join(cfg.Projects[0].Repo, "plan.md")
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(plan); err != nil {
		t.Fatal(err)
	}
	p, _ := opened(t, cfg)
	s := newStarter(p, nil, time.Time{})
	s.consider(t.Context(), "shop")
	if got := strings.Join(p.remarks.of("shop"), "\n"); !strings.Contains(got, "no such file") {
		t.Errorf("remarks %q", got)
	}
	if again := s.projects["shop"].again; !again.Before(time.Now().Add(time.Minute)) || again.IsZero() {
		t.Fatalf("looked at again at %v", again)
	}
	if err := os.WriteFile(plan, []byte("- [x] **Task 1: One**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.projects["shop"].again = time.Now()
	s.consider(t.Context(), "shop")
	if got := p.remarks.of("shop"); len(got) > 0 {
		t.Errorf("remarks %q", got)
	}
	if err := os.WriteFile(plan, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.projects["shop"].look = true // its watch may have said so already
	s.mu.Unlock()
	s.consider(t.Context(), "shop")
	if st, _ := p.engine.State("shop"); st.Project.Run == nil {
		t.Error("it was not started")
	}
	s.projects["shop"].follow(nil)
	s.watches.Wait()
}

// TestMetrics: what an operator's dashboard needs is there, and by bounded
// labels only.
func TestMetrics(t *testing.T) {
	p, _ := opened(t, house(t, "manual"))
	p.metrics.queued = func() (int, error) { return 3, nil }
	p.metrics.connected = func() map[string]bool { return map[string]bool{"telegram": true} }
	s := newStarter(p, nil, time.Time{})
	settings, err := p.resolve("shop", config.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	s.start(t.Context(), "shop", settings)
	for r := (*loop.Run)(nil); r == nil || !r.Over(); {
		rung := p.changes.Next()
		st, _ := p.engine.State("shop")
		if r = st.Project.Run; r.Over() {
			break
		}
		<-rung
	}
	// The state is there before its last entry was seen; the next input is
	// taken when it was.
	if err := p.alive(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := loop.State{Project: loop.Project{Name: "shop", Sessions: []loop.Session{{ID: "r1-1", Planned: loop.SessionPlanned{Hat: "builder"}}}}}
	p.metrics.entry(before, loop.Entry{Session: "r1-1", Body: loop.SessionEnded{Kind: loop.KindAgent, End: loop.EndedEvent, Counts: loop.CountsAsSuccess, Exit: loop.Exit{CostUSD: 0.5, Tokens: 1200}}})
	p.metrics.entry(before, loop.Entry{Session: "r1-1", Body: loop.SessionEnded{Kind: loop.KindAgent, End: loop.EndedSilent, Counts: loop.CountsAsFailed, Exit: loop.Exit{CostUSD: -1, Tokens: -1}}})
	p.metrics.entry(before, loop.Entry{Session: "r1-c1", Body: loop.SessionEnded{Kind: loop.KindVerify}})
	text, err := p.gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`nightporter_run_state{project="shop",state="ended"} 1`,
		`nightporter_runs_ended_total{project="shop",reason="could not start"} 1`,
		`nightporter_sessions_total{counts="success",end="event",hat="builder",project="shop"} 1`,
		`nightporter_sessions_total{counts="failed session",end="no event",hat="builder",project="shop"} 1`,
		`nightporter_cost_usd_total{hat="builder",project="shop"} 0.5`,
		`nightporter_tokens_total{hat="builder",project="shop"} 1200`,
		`nightporter_sessions_unpriced_total{project="shop"} 1`,
		`nightporter_input_seconds_count{kind="start_run"} 1`,
		`nightporter_questions_open{project="shop"} 0`,
		`nightporter_outbox_queued 3`,
		`nightporter_chat_connected{platform="telegram"} 1`,
		`nightporter_build_info{`,
		`nightporter_commit_seconds_count `,
		`go_goroutines `, `process_open_fds `,
	} {
		if !strings.Contains(string(text), "\n"+want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(string(text))
	}
}

// TestReload: a configuration that is wrong leaves the old one in force and
// is told; one that is right is taken over, unfinished runs excepted.
func TestReload(t *testing.T) {
	cfg := house(t, "manual")
	p, _ := opened(t, cfg)
	u := &upService{file: cfg.File, porter: p, starter: newStarter(p, nil, time.Time{})}
	text, err := os.ReadFile(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(cfg.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		u.reload(t.Context())
	}
	write(string(text) + "protectd = [\"main\"]\n")
	if got := strings.Join(p.remarks.of("shop"), "\n"); got != "! settings not reloaded: line 10" || p.config() != cfg {
		t.Errorf("remarks %q", got)
	}
	if m, err := p.gather(t.Context()); err != nil || !strings.Contains(string(m), "\nnightporter_config_reload_failed 1") {
		t.Errorf("metrics: %v", err)
	}
	write(strings.Replace(string(text), "manual", "99 22 * * *", 1))
	if got := strings.Join(p.remarks.of(""), "\n"); !strings.Contains(got, "settings not reloaded") {
		t.Errorf("remarks %q", got)
	}
	write(strings.ReplaceAll(strings.Replace(string(text), `name = "shop"`, `name = "market"`, 1), "manual", "0 22 * * *"))
	if p.worksOn("shop") || !p.worksOn("market") || len(p.remarks.of("")) > 0 || len(u.starter.plans) != 1 {
		t.Errorf("works on %v, remarks %q", *p.working.Load(), p.remarks.of(""))
	}
	// Chats begin with the process. Of a token that is named meanwhile no
	// session sees anything, nor of the one in use.
	token := filepath.Join(filepath.Dir(cfg.File), "token")
	if err := os.WriteFile(token, []byte("1:x"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(string(text) + "[telegram]\ntoken_file = \"token\"\n")
	if got := strings.Join(p.remarks.of(""), "\n"); got != "! the new [telegram] takes effect when nightporter is started again" {
		t.Errorf("remarks %q", got)
	}
	started := *cfg
	started.Telegram = &config.Telegram{TokenFile: "/first"}
	if hide := p.agentOptions(porterOptions{cfg: &started}, p.config()).Hide; !slices.Equal(hide, []string{"/first", token}) {
		t.Errorf("hidden: %q", hide)
	}
	write(string(text))
	if got := p.remarks.of(""); len(got) > 0 {
		t.Errorf("remarks %q", got)
	}
	write(strings.ReplaceAll(strings.Replace(string(text), `name = "shop"`, `name = "market"`, 1), "manual", "0 22 * * *"))
	// The old name is in the ledger for another repository.
	p.log = slog.New(slog.DiscardHandler)
	if _, err := p.resolve("shop", config.Overrides{}); err == nil || !strings.Contains(err.Error(), "no project") {
		t.Errorf("resolve: %v", err)
	}
}
