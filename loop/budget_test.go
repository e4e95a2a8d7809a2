package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// spends is a night whose run has a budget, with its first session planned.
func spends(t *testing.T, tasks string, change func(*ledger.Settings, *ledger.DayBudget)) *director {
	t.Helper()
	d := playing(t, "tasks "+tasks)
	var day ledger.DayBudget
	change(&d.settings, &day)
	d.input(StartRun{Settings: d.settings, MaxSessions: min(max(d.settings.Parallel, 1), 2), Day: day})
	d.play("preflight")
	for len(d.s.Project.Sessions) > 0 && d.session().Planned.Kind != ledger.KindAgent {
		d.exit(nil)
	}
	return d
}

// asked returns the only open question, which is about a budget.
func (d *director) asked() ledger.Question {
	d.t.Helper()
	q := d.s.Project.Questions
	if len(q) != 1 || q[0].Kind != ledger.AskBudget || q[0].Short == nil {
		d.t.Fatalf("open questions: %+v", q)
	}
	return q[0]
}

// TestRunBudget: a session that does not fit is not planned, a person is asked once, and
// the answer lets the work go on where it was.
func TestRunBudget(t *testing.T) {
	d := spends(t, "1 2 3 4 5", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun, s.Stays = 2.6, true })
	for range 3 {
		d.play("task") // three sessions of 0.25
	}
	d.play("plan")
	q := d.asked()
	want := ledger.BudgetShort{Limit: ledger.BudgetRun, Of: 2.6, Spent: 2.5, Needs: 0.25, Agent: "claude", Step: budgetStep}
	if *q.Short != want || q.Task != "Task 4" || q.Hat != "builder" {
		t.Errorf("asked: %+v %+v", q, *q.Short)
	}
	if r := d.s.Project.Run; r.State != ledger.RunWaiting || len(d.s.Project.Sessions) != 0 {
		t.Errorf("the run is %s with the sessions %+v", r.State, d.s.Project.Sessions)
	}
	if t5, _ := d.s.Project.Find("Task 5"); t5.Attempt != nil {
		t.Error("task 5 was begun, and does not fit either")
	}
	d.play("/answer " + q.ID + " more ten")
	d.asked()
	d.play("/answer " + q.ID + " more 0.3")
	if s := d.session(); s.Task != "Task 4" || s.Planned.Hat != "builder" || d.s.Project.Run.ExtraUSD != 0.3 {
		t.Errorf("after the answer: %+v, %v more", s, d.s.Project.Run.ExtraUSD)
	}
	if got := d.session().Planned.Reserved; got.USD != 0.25 || got.Limit != ledger.BudgetRun || got.MaxUSD < 0.39 || got.MaxUSD > 0.41 {
		t.Errorf("reserved: %+v", got)
	}
}

// TestBudgetEndsRun: a run that does not stay ends at its budget, as at any limit, and
// does not call its tasks blocked.
func TestBudgetEndsRun(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 })
	d.play("plan")
	r := d.s.Project.Run
	if r.Ended == nil || r.Ended.Reason != ledger.ReasonBudget || r.Ended.Exit != ledger.ExitLimit {
		t.Fatalf("the run: %+v", r.Ended)
	}
	if len(d.s.Project.Questions) != 0 {
		t.Errorf("still asked: %+v", d.s.Project.Questions)
	}
	if t1, _ := d.s.Project.Find("1"); t1.Status != ledger.Ready {
		t.Errorf("the task is %s", t1.Status)
	}
	if !strings.Contains(r.Ended.Text, "$0.25 of $0.30 spent in this run") {
		t.Errorf("the end says %q", r.Ended.Text)
	}
}

// TestBudgetStop: the answer "stop" ends the run, and leaves a task that the next run
// takes up.
func TestBudgetStop(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun, s.Stays = 0.3, true })
	d.play("plan")
	d.play("/answer " + d.asked().ID + " stop")
	if r := d.s.Project.Run; r.Ended == nil || r.Ended.Reason != ledger.ReasonStopped {
		t.Errorf("the run is %s, %+v", r.State, r.Ended)
	}
	if t1, _ := d.s.Project.Find("1"); t1.Status != ledger.Ready || t1.Attempt == nil {
		t.Errorf("the task is %s", t1.Status)
	}
}

// TestFits: a task whose session does not fit waits, and others go on.
func TestFits(t *testing.T) {
	d := spends(t, "1 2", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDTask, s.Stays = 0.3, true })
	d.play("plan")
	if q := d.asked(); q.Task != "Task 1" || q.Short.Limit != ledger.BudgetTask {
		t.Fatalf("asked: %+v", q)
	}
	if s := d.session(); s.Task != "Task 2" {
		t.Fatalf("planned: %+v", s)
	}
	d.play("/answer q1 task")
	d.play("plan") // of task 2, which does not fit either
	if s := d.session(); s.Task != "Task 1" || s.Planned.Reserved.MaxUSD != 0 {
		t.Errorf("without a limit: %+v", s)
	}
}

// TestMetBudget: a session that is ended at a limit loses nothing: its tree is gone on
// with, and it is no failure.
func TestMetBudget(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ledger.Settings, *ledger.DayBudget)
		limit  ledger.BudgetLimit
	}{
		"of the run":     {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 2 }, ledger.BudgetRun},
		"of the day":     {func(_ *ledger.Settings, d *ledger.DayBudget) { d.USD = 2 }, ledger.BudgetDay},
		"of one session": {func(s *ledger.Settings, _ *ledger.DayBudget) { capHat(s, "builder", 1.5) }, ledger.BudgetSession},
	} {
		t.Run(name, func(t *testing.T) {
			d := spends(t, "1", func(s *ledger.Settings, day *ledger.DayBudget) {
				s.Stays = true
				c.change(s, day)
			})
			d.play("plan")
			first := d.session()
			if first.Planned.Reserved.Limit != c.limit || first.Planned.Reserved.MaxUSD < 1.4 {
				t.Fatalf("reserved: %+v", first.Planned.Reserved)
			}
			d.exit(func(x *ledger.Exit) { x.OverBudget, x.Code, x.CostUSD = true, 1, 1.8 })
			q := d.asked()
			if q.Short.Limit != c.limit {
				t.Errorf("asked: %+v", q.Short)
			}
			d.play("/answer " + q.ID + " more")
			s := d.session()
			w := d.task("1").Attempt
			if s.Planned.Hat != "builder" || s.Planned.Tree == first.Planned.Tree || !strings.Contains(s.Planned.Note, "spent its budget") || s.Planned.Replaces != first.ID {
				t.Errorf("goes on as %+v, after %+v", s.Planned, first.Planned)
			}
			if w.FailedRow != 0 {
				t.Errorf("%d failures", w.FailedRow)
			}
			if s.Planned.Reserved.MaxUSD < 4.5 {
				t.Errorf("it may spend %v", s.Planned.Reserved.MaxUSD)
			}
			d.play("build")
			d.play("greens")
			d.play("ok")
			if got, _ := d.s.Project.Find("1"); got.Status != ledger.Done {
				t.Errorf("the task is %s", got.Status)
			}
		})
	}
}

// TestMetBudgetOfEach: each task whose session met the limit of one session asks for
// itself. While one asked, the next one was begun again, and spent its limit, for ever.
func TestMetBudgetOfEach(t *testing.T) {
	d := spends(t, "1 2", func(s *ledger.Settings, _ *ledger.DayBudget) {
		s.Stays = true
		capHat(s, "builder", 1.5)
	})
	for _, id := range []string{"1", "2"} {
		if s := d.session(); s.Task != "Task "+id || s.Planned.Hat != "planner" {
			t.Fatalf("at work: %+v", s)
		}
		d.play("plan")
		d.exit(func(x *ledger.Exit) { x.OverBudget, x.Code, x.CostUSD = true, 1, 1.5 })
	}
	if n := len(d.s.Project.Sessions); n != 0 || len(d.s.Project.Questions) != 2 {
		t.Fatalf("%d sessions are at work, %d questions are open", n, len(d.s.Project.Questions))
	}
	d.play("/answer q2 more")
	if s := d.session(); s.Task != "Task 2" || s.Planned.Reserved.MaxUSD < 6 {
		t.Errorf("after the answer: %+v", s)
	}
}

// TestMetBudgetOfSections: an answer about the limit of a session is about the whole task,
// so it settles what its other sections ask.
func TestMetBudgetOfSections(t *testing.T) {
	for answer, usd := range map[string]float64{"more 3": 4.5, "task": 0} {
		d := playing(t, "set parallel=2 pattern=ultrawork")
		capHat(&d.settings, "builder", 1.5)
		d.settings.Stays = true
		for _, line := range []string{"tasks 1", "go quiet", "sections a b"} {
			d.play(line)
		}
		for _, part := range []string{"Task 1/a", "Task 1/b"} {
			d.on = part
			d.exit(func(x *ledger.Exit) { x.OverBudget, x.Code, x.CostUSD = true, 1, 1.5 })
		}
		d.on = ""
		if n := len(d.s.Project.Questions); n != 2 {
			t.Fatalf("%d questions are open", n)
		}
		d.play("/answer q1 " + answer)
		if n := len(d.s.Project.Questions); n != 0 || len(d.s.Project.Sessions) != 2 {
			t.Errorf("%s: %d questions are open, %d sessions are at work", answer, n, len(d.s.Project.Sessions))
		}
		for _, s := range d.s.Project.Sessions {
			if s.Planned.Reserved.MaxUSD != usd {
				t.Errorf("%s: %s may spend %g, want %g", answer, s.Task, s.Planned.Reserved.MaxUSD, usd)
			}
		}
	}
}

// TestUnclaimedWork: what a session wrote that was ended at its budget, or that asked, is
// there for the next one, which may find nothing left to change and says so. No review
// follows that could judge it.
func TestUnclaimedWork(t *testing.T) {
	for name, end := range map[string]func(d *director){
		"at its budget": func(d *director) {
			d.exit(func(x *ledger.Exit) { x.OverBudget, x.Code, x.CostUSD = true, 1, 1.5 })
		},
		"with a question": func(d *director) { d.play(`ask {"text":"which?","options":["A","B"]}`) },
	} {
		t.Run(name, func(t *testing.T) {
			d := playing(t, "set pattern=single")
			capHat(&d.settings, "builder", 1.5)
			d.settings.Stays = true
			for _, line := range []string{"tasks 1", "go quiet"} {
				d.play(line)
			}
			begun := d.session().Planned.Tree
			end(d)
			d.play("/answer q1 " + map[string]string{"at its budget": "more", "with a question": "a"}[name])
			if s := d.session(); s.Planned.Tree == begun {
				t.Fatalf("the next session begins with %s again", begun)
			}
			d.play("next same=")
			d.play(`build ,"no_change":"it is there already"`)
			d.play("greens")
			if got, _ := d.s.Project.Find("1"); got.Status != ledger.Done {
				t.Errorf("the task is %s\n%s", got.Status, d.out.String())
			}
		})
	}
}

func capHat(s *ledger.Settings, hat string, usd float64) {
	h := s.Hats[hat]
	h.MaxCostUSD = usd
	s.Hats[hat] = h
}

// TestProjectsShareDay: sessions of several projects together keep to the day's budget, also
// if each spends all that it may, and the first leaves something for the others.
func TestProjectsShareDay(t *testing.T) {
	s := State{Shared: Shared{MaxSessions: 4, Purse: Purse{Day: ledger.DayBudget{USD: 10}}}}
	sum := 0.0
	for _, project := range []string{"shop", "blog", "map", "till"} {
		s.Project = Project{Name: project, Run: &Run{}}
		d := &decision{State: s, in: Input{Time: time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC), Project: project}}
		r, short := d.reserve(TaskState{}, ledger.Hat{}, "claude")
		if short != nil || r.Limit != ledger.BudgetDay || r.MaxUSD < 2.4 || r.MaxUSD > 2.6 {
			t.Errorf("%s: %+v, %+v", project, r, short)
		}
		sum += r.MaxUSD
		s.Shared.Leases = append(s.Shared.Leases, ledger.LeaseGranted{Session: project, Project: project, Reserved: r})
	}
	if sum > 10.001 {
		t.Errorf("they may spend $%.2f of $10", sum)
	}
	// A session that may spend all that is left lets no other begin. Nobody is asked before
	// it has ended.
	s.Shared.Leases = []ledger.LeaseGranted{{Session: "r1-1", Project: "blog", Reserved: ledger.Reservation{USD: 0.5, MaxUSD: 10}}}
	d := &decision{State: s, in: Input{Time: time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC), Project: "till"}}
	if r, short := d.reserve(TaskState{}, ledger.Hat{}, "claude"); short == nil || !mayFit(*short) {
		t.Errorf("beside a session that may spend all: %+v, %+v", r, short)
	}
}

// TestSharedBudget: what the session of another project has reserved is not there any
// more, and the day has room again once the spending is a day old.
func TestSharedBudget(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, day *ledger.DayBudget) { day.USD, s.Stays, s.Parallel = 2, true, 2 })
	shared := func(body ledger.Body) {
		d.s.Shared = applyShared(d.s.Shared, ledger.Entry{Stream: ledger.SharedStream, Time: d.now, Body: body})
	}
	d.trusts = true // entries of another project come between the decisions
	beside := &decision{State: d.s, in: Input{Time: d.now, Project: "blog"}}
	if _, short := beside.reserve(TaskState{}, ledger.Hat{}, "claude"); short != nil {
		t.Errorf("beside the first session: %+v", short)
	}
	shared(ledger.LeaseGranted{Session: "r9-1", Project: "blog", Agent: "claude", Reserved: ledger.Reservation{USD: 1.8}})
	beside.State = d.s
	if _, short := beside.reserve(TaskState{}, ledger.Hat{}, "claude"); short == nil || short.Limit != ledger.BudgetDay || short.Spent < 1.9 || short.Spent > 2 {
		t.Errorf("beside two sessions: %+v", short)
	}
	shared(ledger.LeaseReleased{Session: "r9-1", Spent: &ledger.Spending{USD: 1.9}})
	shared(ledger.LeaseReleased{Session: "r9-1", Spent: &ledger.Spending{USD: 1.9}}) // it was counted
	d.play("plan")
	if q := d.asked(); q.Short.Limit != ledger.BudgetDay || q.Short.Spent != 2.15 {
		t.Fatalf("asked: %+v", q.Short)
	}
	d.input(Tick{})
	d.asked()
	d.now = d.now.Add(dayWindow + windowSlot)
	d.input(Tick{})
	if len(d.s.Project.Questions) != 0 || d.session().Planned.Hat != "builder" {
		t.Errorf("a day later: %+v", d.s.Project.Questions)
	}
}

// TestUnknownCounts: a session whose cost stays unknown spent what was reserved for it.
func TestUnknownCounts(t *testing.T) {
	d := spends(t, "1 2", func(s *ledger.Settings, _ *ledger.DayBudget) {
		s.Budget.USDRun, s.Budget.TokensRun, s.Stays = 0.3, 10_000_000, true
	})
	expected := d.session().Planned.Reserved
	d.exit(func(x *ledger.Exit) { x.Reason, x.CostUSD, x.Tokens = ledger.ExitLost, -1, -1 })
	r := d.s.Project.Run
	if r.CostUSD != 0 || r.AssumedUSD != expected.USD || expected.USD == 0 || r.Tokens != priorTokens || r.Unpriced != 1 {
		t.Errorf("spent %v, assumed %v, %d tokens, %d unknown", r.CostUSD, r.AssumedUSD, r.Tokens, r.Unpriced)
	}
	d.exit(func(x *ledger.Exit) { x.Reason, x.CostUSD = ledger.ExitLost, -1 })
	if q := d.asked(); q.Short.Spent != 2*expected.USD {
		t.Errorf("asked: %+v", q.Short)
	}
}

// TestEstimate: usd_estimate counts until the ledger knows better, and a hat's limit
// always.
func TestEstimate(t *testing.T) {
	hat := ledger.Hat{Name: "builder", Model: "m"}
	d := &decision{State: State{Project: Project{Run: &Run{Settings: ledger.Settings{Budget: ledger.Budget{Estimates: map[string]float64{"mine": 0.7}}}}}}}
	check := func(what, agent string, want float64) {
		t.Helper()
		if got, _ := d.estimate(TaskState{}, hat, agent); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("nothing is known", "another", priorUSD)
	check("by the configuration", "mine", 0.7)
	for range 3 {
		d.Project.History = d.Project.History.WithSession(history.Key{Hat: "builder", Agent: "mine", Model: "m"}, history.Session{USD: history.Unknown, Tokens: 40_000})
	}
	check("the ledger knows tokens alone", "mine", 0.7)
	for _, usd := range []float64{1, 2, 3, 4, 10} {
		d.Project.History = d.Project.History.WithSession(history.Key{Hat: "builder", Agent: "mine", Model: "m"}, history.Session{USD: usd, Tokens: history.Unknown})
	}
	check("by sessions like it", "mine", 4)
	hat.MaxCostUSD = 2.5
	check("no more than it may", "mine", 2.5)
	d.Project.Run.TaskBudgets = map[string]TaskBudget{"": {Session: 1}}
	check("a person added to its limit", "mine", 3.5)
	d.Project.Run.TaskBudgets = map[string]TaskBudget{"": {Lifted: true}}
	check("a person lifted its limit", "mine", 4)
}

// TestLifted: a task without a limit still keeps to the budget of a day, which belongs to
// all projects, unless it was that one that a person was asked about.
func TestLifted(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, day *ledger.DayBudget) { s.Budget.USDTask, day.USD, s.Stays = 0.3, 0.635, true })
	d.play("plan")
	if q := d.asked(); q.Short.Limit != ledger.BudgetTask {
		t.Fatalf("asked: %+v", q.Short)
	}
	d.play("/answer " + d.asked().ID + " task")
	if s := d.session(); s.Planned.Hat != "builder" || s.Planned.Reserved.Limit != ledger.BudgetDay || s.Planned.Reserved.MaxUSD > 0.39 {
		t.Fatalf("after the answer: %+v", s.Planned)
	}
	d.play("build")
	d.exit(nil) // its checks
	if q := d.asked(); q.Short.Limit != ledger.BudgetDay {
		t.Fatalf("asked: %+v", q.Short)
	}
	d.play("/answer " + d.asked().ID + " task")
	if s := d.session(); s.Planned.Hat != "reviewer" || s.Planned.Reserved.MaxUSD != 0 {
		t.Errorf("after the answer about the day: %+v", s.Planned)
	}
}

// TestBudgetInWaves: a wave whose next fix does not fit waits with its run, and goes on
// with the answer.
func TestBudgetInWaves(t *testing.T) {
	for _, stays := range []bool{true, false} {
		d := playing(t, "tasks 1[priority=1,says=label] 3[says=total] 6[says=crash] 7[says=date]", "set waves=5 batch=4 pattern=single verify=")
		d.settings.Budget.USDRun, d.settings.Stays = 0.75, stays
		d.play("go quiet")
		d.play("build")
		d.play("build") // two fixes of 0.25; the third is expected to take more than is left
		r := d.s.Project.Run
		if !stays {
			if r.Ended == nil || r.Ended.Reason != ledger.ReasonBudget || r.Wave != nil {
				t.Errorf("the run: %s, %+v", r.State, r.Ended)
			}
			continue
		}
		q := d.asked()
		if r.State != ledger.RunWaiting || r.Wave == nil || len(d.s.Project.Sessions) != 0 {
			t.Fatalf("the run is %s, its wave %+v", r.State, r.Wave)
		}
		d.play("/answer " + q.ID + " more")
		d.play("build")
		d.play("build")
		if n, _ := d.s.Project.Count(); n != 4 || len(d.s.Project.Run.Waves) != 1 {
			t.Errorf("%d fixed in %d waves", n, len(d.s.Project.Run.Waves))
		}
	}
}

// TestWindowKeeps: a clock that is ahead for an hour does not make the day's spending
// forgotten.
func TestWindowKeeps(t *testing.T) {
	at := time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)
	window := addSlot(nil, SpentSlot{At: at, USD: 9})
	window = addSlot(window, SpentSlot{At: at.Add(48 * time.Hour), USD: 0.1})
	if got := sumSlots(window, at.Add(time.Hour)).USD; got < 9 {
		t.Errorf("spent %v, want 9", got)
	}
	for n := range 3 * slotsKept {
		window = addSlot(window, SpentSlot{At: at.Add(time.Duration(n) * windowSlot), USD: 1})
	}
	if len(window) != slotsKept {
		t.Errorf("%d slots", len(window))
	}
}

// TestNotStarted: a session whose agent could not be started spent nothing.
func TestNotStarted(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, _ *ledger.DayBudget) {
		s.Budget.USDRun, s.Budget.TokensRun, s.Stays = 3, 10_000_000, true
	})
	d.exit(func(x *ledger.Exit) { x.Reason, x.CostUSD, x.Tokens = ledger.ExitNotStarted, -1, -1 })
	if r := d.s.Project.Run; r.AssumedUSD != 0 || r.Tokens != 0 {
		t.Errorf("assumed $%v and %d tokens", r.AssumedUSD, r.Tokens)
	}
}

// TestBudgetIsDue: a run that stands at its budget looks again when a day's budget has
// room. One that waits for its agent while people are asked about a budget is woken by
// the agent: its own time would be due for ever once it is over.
func TestBudgetIsDue(t *testing.T) {
	until := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for wait, want := range map[ledger.WaitReason]time.Time{ledger.WaitQuestion: until, ledger.WaitLimit: {}} {
		var s State
		s.Project.Questions = []ledger.Question{{ID: "q1", Kind: ledger.AskBudget}}
		s.Project.Run = &Run{ID: "r1", State: ledger.RunWaiting, Wait: wait, Until: until}
		if got := Due(s); !got.Equal(want) {
			t.Errorf("a run that waits (%s) is due at %s, want %s", wait, got, want)
		}
	}
}

// TestBesidesFits: where the sessions of one task end at once, another task is tried
// first, but for one that does not fit into the budget: the two would let each other go
// first without end.
func TestBesidesFits(t *testing.T) {
	d := spends(t, "1 2 3 4 5", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun, s.Stays = 2.6, true })
	for range 3 {
		d.play("task")
	}
	d.play("plan")
	d.asked()
	beside := &decision{State: d.s, in: Input{Time: d.now, Project: d.s.Project.Name}}
	t4, _ := d.s.Project.Find("Task 4")
	if other, ok := beside.besides(t4); ok {
		t.Errorf("%s is tried first, and does not fit", other.Task.ID)
	}
}

// TestLanesShareBudget: sessions at the same time together keep to the budget, also if each
// spends all that it may.
func TestLanesShareBudget(t *testing.T) {
	d := spends(t, "1[scope=src/a] 2[scope=src/b] 3[scope=src/c]", func(s *ledger.Settings, _ *ledger.DayBudget) {
		s.Budget.USDRun, s.Parallel, s.Pattern = 3, 3, patterns["single"]
	})
	if n := len(d.s.Project.Sessions); n != 2 { // as many as may run at a time
		t.Fatalf("%d sessions are at work", n)
	}
	for _, s := range d.s.Project.Sessions {
		if got := s.Planned.Reserved.MaxUSD; got < 0.99 || got > 1.01 {
			t.Errorf("%s may spend $%.2f of $3 in one of three lanes", s.Task, got)
		}
	}
}

// TestBudgetAmount: an amount is read as people write it.
func TestBudgetAmount(t *testing.T) {
	for words, want := range map[string]float64{"": 5, "10": 10, "+$5": 5, "+ $ 7.50": 7.5, "500k": 500_000, "+1.5M": 1_500_000, "ten": -1, "k": -1, "-3": -1, "0": -1, "1e99": -1, "Inf": -1, "NaN": -1} {
		got, ok := budgetAmount(words, ledger.BudgetShort{Step: 5})
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %g, want %g", words, got, want)
		}
	}
}
