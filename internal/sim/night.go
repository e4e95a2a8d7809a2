package main

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// drawSettings chooses the settings of the night's runs.
func (w *site) drawSettings() {
	s := scenario.New(w.name, w.wall()).Settings()
	hat := func(name string, writes bool, emits ...string) {
		h := ledger.Hat{Name: name, Emits: emits, Expect: ledger.ExpectNone, Timeout: ledger.Duration(time.Hour), StallTimeout: ledger.Duration(15 * time.Minute), Shipped: true}
		if writes {
			h.WriteAllowed, h.Expect = []string{"**"}, ledger.ExpectPass
		}
		s.Hats[name] = h
	}
	hat("critic", false, ledger.EventCritique)
	hat("architect", false, ledger.EventAdvice)
	hat("verifier", false, "verification.passed", ledger.EventFailed)
	hat("refactorer", true, "refactor.complete")
	hat("arbiter", false, ledger.EventUpheld, ledger.EventDismissed)
	if w.adds != nil {
		hat("drafter", false, ledger.EventDraft)
	}
	for name, h := range s.Hats {
		h.MaxTokens, h.Role, h.Prompt = 40000, "Role of the "+name, "You are the "+name+"."
		h.MayAdd = w.adds != nil
		s.Hats[name] = h
	}
	route := func(from, on, to string) ledger.Route { return ledger.Route{From: from, On: on, To: to} }
	review := []ledger.Route{{From: "reviewer", On: ledger.EventReview, When: ledger.Above, To: "fixer"}, route("fixer", ledger.EventFix, "reviewer")}
	switch w.rnd.IntN(6) {
	case 0:
		s.Pattern.Name, s.Pattern.Start, s.Pattern.Routes = "single", "builder", []ledger.Route{route("builder", "build.complete", ledger.Converged)}
	case 1:
		s.Pattern.Name = "full-cycle"
		s.Pattern.Routes = append(slices.Clone(review), route("planner", ledger.EventPlan, "builder"), route("builder", "build.complete", "reviewer"),
			ledger.Route{From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: "verifier"},
			route("verifier", "verification.passed", ledger.Converged), route("verifier", ledger.EventFailed, "fixer"))
	case 2:
		s.Pattern.Name, s.Pattern.Start = "build-review-refactor", "builder"
		s.Pattern.Routes = append(slices.Clone(review), route("builder", "build.complete", "reviewer"),
			ledger.Route{From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: "refactorer", Once: true},
			ledger.Route{From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: ledger.Converged},
			route("refactorer", "refactor.complete", "reviewer"))
	}
	s.Repo, s.Source = "/srv/"+w.name, ledger.SourceRef{Kind: "plan", Path: planPath}
	s.Timezone = "Europe/Berlin"
	if w.hosts != nil {
		s.Network.Mode = ledger.NetworkNone
	}
	s.OnBlocked = pick(w, ledger.OnBlockedContinue, ledger.OnBlockedContinue, ledger.OnBlockedStop)
	s.Profile = pick(w, "overnight", "overnight", "review")
	s.MaxTasks = pick(w, 0, 0, 0, 5)
	s.Fallback = pick(w, "", "codex")
	s.Stays = w.one(2)
	s.QuestionThen = pick(w, "", ledger.ThenContinue, ledger.ThenPause, ledger.ThenAbort)
	s.Consensus, s.PlanApproval = w.one(8), w.one(16)
	if w.seed%3 == 0 { // by the seed alone, so that all other seeds draw what they drew
		s.ReplanAfter = 1 + int(w.seed/3)%ledger.MaxAttempts
	}
	if w.divides() {
		for n, r := range s.Pattern.Routes {
			if r.On == ledger.EventPlan {
				s.Pattern.Routes = slices.Clone(s.Pattern.Routes)
				s.Pattern.Routes[n].Each = ledger.EachSection
			}
		}
		w.testsSections(&s)
	}
	s.Parallel, s.MaxLoad = w.lanes(), w.maxLoad()
	switch w.seed % 7 { // as above
	case 2:
		s.Budget.USDRun = 0.5 + float64(w.seed%4)
	case 5:
		s.Budget.USDTask, s.Budget.TokensRun = 0.6, 8000
	}
	if w.one(3) {
		s.Setup = []ledger.Command{{Run: "npm ci"}}
	}
	if w.one(3) {
		s.Verify = append(s.Verify, ledger.Command{Run: "lint"})
	}
	w.parallelCommands(s.Verify)
	if w.one(4) {
		s.Queue, s.Batch = ledger.QueueBatch, 1+w.rnd.IntN(5)
	}
	if w.one(4) {
		s.Proof = ledger.ProofOff
	}
	if w.one(4) {
		s.Until = w.wall().Add(w.between(time.Hour, 10*time.Hour))
	}
	w.drawDraft(&s)
	if w.pushes != nil {
		s.Push = []string{ledger.PushEnd, ledger.PushTask}[w.pushes.IntN(2)]
	}
	w.settings = s
}

// do sends an input to the daemon as the console does, and returns false if no
// daemon took it.
func (w *site) do(body loop.InputBody) (ledger.Answer, bool) {
	d := w.daemon
	if d == nil {
		return ledger.Answer{}, false
	}
	var a ledger.Answer
	var err error
	answered := make(chan struct{})
	d.life.Go(func() {
		a, err = d.engine.Do(background, loop.Input{Project: w.name, Actor: "console", Name: "Mira", Body: body})
		close(answered)
	})
	_ = w.all.Wait(background, time.Minute, answered)
	return a, closed(answered) && err == nil
}

// state is the project's state, as the daemon of the moment has it.
func (w *site) state() (loop.State, bool) {
	if w.daemon == nil {
		return loop.State{}, false
	}
	return w.daemon.engine.State(w.name)
}

// operator starts runs. Under run it does so again after each end of the daemon;
// under up a run goes on by itself.
func (w *site) operator() {
	boots, began, night := 0, false, 0
	for {
		if w.long.night != night { // a new plan
			began, night = false, w.long.night
		}
		s, _ := w.state()
		again := !w.settings.Stays && boots != w.boots
		switch {
		case w.daemon == nil:
		case !began, s.Project.Run.Over() && (w.calm || w.one(30)), again && !s.Project.Run.Over():
			if w.calm && began && s.Project.Run.Over() && w.audit.calmRun {
				break
			}
			set := w.settings
			if w.calm {
				set.Until, set.MaxTasks, set.OnBlocked = time.Time{}, 0, ledger.OnBlockedContinue
			}
			a, took := w.do(loop.StartRun{Settings: set, MaxSessions: max(w.sessions, set.Parallel)})
			if took && w.daemon != nil {
				began, boots = true, w.boots
				w.tell("operator", "nightporter run: %s", ok(a))
				w.audit.calmRun = w.audit.calmRun || w.calm
			}
		}
		w.all.sleep(w.between(30*time.Second, 90*time.Second))
	}
}

func ok(a ledger.Answer) string {
	if a.OK {
		return "✓ " + a.Text
	}
	return "✗ " + a.Text
}

// fate is the course of the night, or of one after the other.
func (w *world) fate() {
	for w.oneNight(); w.long.night+1 < w.opt.nights; w.oneNight() {
		w.morning()
		w.evening()
	}
	w.over = true
}

// oneNight is what happens to the machine, the clock, the disk and the plan. At last
// it calms down, and the night has to come to its end.
func (w *world) oneNight() {
	stormy := w.between(4*time.Hour, 9*time.Hour)
	if w.opt.tasks < 4 {
		stormy /= 3 // a small plan is soon done
	}
	for w.inNight() < stormy {
		w.all.sleep(w.around(25 * time.Minute))
		if w.intensity > 0 {
			w.happen()
		}
		if w.inNight() > stormy/2 && w.runsOver() {
			break
		}
	}
	w.calm, w.full, w.down = true, false, nil
	if w.disk != nil {
		w.disk.heal(w.s.now)
	}
	w.tell("night", "nothing goes wrong from now on")
	for began := w.s.now; ; w.all.sleep(time.Minute) {
		if w.quiet() || w.over {
			return
		}
		if w.s.now.Sub(began) > 100*time.Hour {
			w.fail("liveness", "the night has no end, though nothing goes wrong and people answer\n%s", w.dump())
		}
	}
}

// runsOver reports whether each project had a run, and has none now.
func (w *world) runsOver() bool {
	return !slices.ContainsFunc(w.sites, func(p *site) bool {
		s, up := p.state()
		return !up || s.Project.Run == nil || !s.Project.Run.Over()
	})
}

// quiet reports whether all that was begun has come to its end.
func (w *world) quiet() bool {
	if !w.runsOver() || slices.ContainsFunc(w.sites, func(s *site) bool { return !s.audit.calmRun }) {
		return false
	}
	if slices.ContainsFunc(w.sites, func(p *site) bool { s, _ := p.state(); return len(s.Project.Ideas) > 0 }) {
		return false
	}
	pending, err := w.store.Pending(background)
	if err != nil || len(pending) > 0 {
		return false
	}
	queued, err := w.store.QueueLength(background)
	if err != nil || queued > 0 {
		return false
	}
	for _, p := range w.chats {
		if next, err := p.next(); next != nil || err != nil {
			return false
		}
	}
	return true
}

// happen is one blow of fate.
func (w *world) happen() {
	switch n := w.rnd.IntN(20); {
	case n < 4 && w.daemon != nil:
		w.count(daemonKill)
		w.kill("kill -9")
	case n < 5 && w.daemon != nil:
		w.count(daemonStop)
		w.terminate()
	case n < 7:
		if !w.on() || w.disk != nil {
			return
		}
		w.count(diskFull)
		d := w.around(10 * time.Minute)
		w.tell("disk", "is full for %s", d.Round(time.Second))
		w.full = true
		w.all.sleep(d)
		w.full, w.freed = false, w.s.now
		w.tell("disk", "has space again")
	case n < 8:
		w.count(clockBack)
		d := w.between(time.Minute, 24*time.Hour)
		w.shift -= d
		w.tell("clock", "jumps back by %s", d.Round(time.Second))
	case n < 9:
		w.count(clockSleep)
		d := w.between(time.Minute, 8*time.Hour)
		w.shift += d
		w.tell("clock", "the machine has slept for %s", d.Round(time.Second))
	case n < 10:
		w.anySite().moveBranch()
	case n < 11:
		if w.on() {
			w.breakDown(w.around(10 * time.Minute))
		}
	case n < 17:
		w.anySite().edit()
	case n < 18:
		w.withhold(repoAway, "the user's repository is away")
	case n < 19:
		w.withhold(branchHeld, "the run's branch is checked out")
	}
}

// breakDown lets git and new processes fail for a while.
func (w *world) breakDown(d time.Duration) {
	w.count(machineDown)
	w.down = pick[error](w, syscall.EMFILE, syscall.EIO, syscall.ENOSPC, syscall.EROFS)
	w.tell("machine", "fails for %s: %v", d.Round(time.Second), w.down)
	w.all.sleep(d)
	w.down = nil
	w.tell("machine", "works again")
}

// withhold keeps the user's repository from taking commits for a while.
func (w *world) withhold(f fault, why string) {
	if !w.on() || w.unusable != nil {
		return
	}
	w.count(f)
	w.unusable = &ledger.RepositoryError{Text: why, Remedy: "Look at it."}
	d := w.around(10 * time.Minute)
	w.tell("git", "%s for %s", why, d.Round(time.Second))
	w.all.sleep(d)
	w.unusable = nil
	w.tell("git", "the user's repository takes commits again")
}

// moveBranch commits on the run's branch, as a person may.
func (w *site) moveBranch() {
	s, up := w.state()
	if !up || s.Project.Run.Over() || s.Project.Run.Base.Branch == "" || !w.on() {
		return
	}
	w.count(branchMoved)
	branch := s.Project.Run.Base.Branch
	tip := w.repo.branches[branch]
	f := files{}
	for path, text := range w.objects.at(tip) {
		f[path] = text
	}
	w.audit.version++
	f[pick(w, "README.md", "src/old1.go", "src/task-3.go")] = fmt.Sprintf("good %d", w.audit.version)
	tree := w.objects.add(f)
	c := id("c", tip, tree, "a person's")
	w.objects.commits[c] = commit{tree: tree, parent: tip}
	w.repo.branches[branch] = c
	w.tell("git", "a person commits %s on %s", c, branch)
}

// answers are what people answer once nothing goes wrong.
var answers = map[ledger.QuestionKind]string{
	ledger.AskBlocked: "skip", ledger.AskManual: "pass", ledger.AskBaseline: "go", ledger.AskReview: "resume", ledger.AskUnticked: "keep",
	ledger.AskSkip: "skip", ledger.AskNow: "queue", ledger.AskAgent: "a", ledger.AskStart: "cancel", ledger.AskLate: "no", ledger.AskPlan: "approve",
	ledger.AskAllow: "deny", ledger.AskSecret: "harmless", ledger.AskChecks: "allow",
	ledger.AskBudget: "more", ledger.AskRemake: "cancel", ledger.AskIdea: "start",
}

// settle answers what is asked, and lets go on what a person holds.
func (p *person) settle() {
	for _, s := range p.w.sites {
		p.settleIn(s)
	}
}

func (p *person) settleIn(w *site) {
	s, up := w.state()
	if !up || p.role != ledger.RoleAdmin || s.Project.Run == nil {
		return
	}
	for _, q := range s.Project.Questions {
		answer := loop.AnswerQuestion{Question: q.ID, Choice: answers[q.Kind]}
		if q.Kind == ledger.AskAgent && len(q.Options) == 0 {
			answer = loop.AnswerQuestion{Question: q.ID, Words: "this"}
		}
		if i, is := s.Project.Idea(q.Idea); is {
			if _, err := w.readSource(); err != nil { // it takes nothing
				answer.Choice = "drop"
			}
			w.agrees(func(title string) bool {
				return slices.ContainsFunc(i.Tasks, func(t ledger.Task) bool { return t.Title == title })
			})
		}
		if a, took := w.do(answer); took {
			w.tell("person", "%s answers %s: %s", p.name, q.ID, ok(a))
		}
	}
	if r := s.Project.Run; !r.Over() && (r.State == ledger.RunPaused || r.State == ledger.RunPausing || r.State == ledger.RunStopping && r.Signal != "" || r.Wait == ledger.WaitAgent) {
		if a, took := w.do(loop.Resume{}); took {
			w.tell("person", "%s resumes: %s", p.name, ok(a))
		}
	}
}

// dump describes where the night stands, for a failure.
func (w *world) dump() string {
	out := fmt.Sprintf("daemon up: %v, disk full: %v\n", w.daemon != nil, w.diskFails())
	for _, s := range w.sites {
		out += s.dump()
	}
	if w.store != nil {
		pending, _ := w.store.Pending(background)
		for _, p := range pending {
			out += fmt.Sprintf("  pending: %d %s %s\n", p.ID, p.Kind, p.Key)
		}
		queued, _ := w.store.QueueLength(background)
		out += fmt.Sprintf("  %d messages wait\n", queued)
	}
	for _, p := range w.chats {
		for _, i := range p.inputs {
			if i.handled == 0 {
				out += fmt.Sprintf("  not confirmed: %s %q\n", i.Key, i.Text)
			}
		}
	}
	return out
}

// dump describes where the project stands.
func (w *site) dump() string {
	s, _ := w.state()
	out := ""
	if r := s.Project.Run; r != nil {
		out += fmt.Sprintf("%s is %s, waits for %q until %s, finishing %v, agents %v, due %s\n", r.ID, r.State, r.Wait, r.Until, r.Finishing != nil, s.Shared.Agents, loop.Due(s))
	}
	for _, t := range s.Project.Tasks.All() {
		out += fmt.Sprintf("  %s %s mark=%s why=%q", t.Task.ID, t.Status, t.Task.Mark, t.Why)
		if a := t.Attempt; a != nil {
			out += fmt.Sprintf(" a%d %s %s session=%s", a.N, a.Hat, a.Stage, a.Session)
		}
		out += "\n"
	}
	for _, x := range s.Project.Sessions {
		out += fmt.Sprintf("  in flight: %s cut=%v event=%v\n", x.ID, x.Cut, x.Event != nil)
	}
	for _, q := range s.Project.Questions {
		out += fmt.Sprintf("  open: %s %s %s\n", q.ID, q.Kind, q.Task)
	}
	return out
}
