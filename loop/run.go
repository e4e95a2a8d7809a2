package loop

import (
	"fmt"
	"strings"
	"time"
)

// startRun plans a run, or takes up the one that has not ended (SPEC 17).
func (d *decision) startRun(b StartRun) {
	if b.MaxSessions > 0 && b.MaxSessions != d.House.MaxSessions {
		d.house(HouseSet{MaxSessions: b.MaxSessions})
	}
	r := d.run()
	if !r.Over() && !b.New && r.Settings.Source == b.Settings.Source {
		if r.State == RunPlanning {
			d.answer = Answer{OK: true, Code: "resumed", ID: r.ID}
			return // its preflight is under way, or comes again from the outbox
		}
		for _, q := range d.Project.Questions {
			if q.Kind == AskReview {
				d.add(on{}, QuestionAnswered{ID: q.ID, Choice: "resume", By: d.by()})
			}
		}
		d.add(on{}, RunResumed{Settings: b.Settings})
		d.answer = Answer{OK: true, Code: "resumed", ID: r.ID}
		return
	}
	if !r.Over() {
		if d.Project.busy() {
			d.refuse("busy", "%s is at work; stop it first: /stop now", r.ID)
			return
		}
		d.end(RunEnded{Reason: ReasonReplaced, Exit: 2, Text: "replaced by a new run"})
	}
	id := d.issue("r")
	plan := RunPlanned{Run: id, Settings: b.Settings, Check: b.Check, Fresh: b.New}
	if tip, ok := d.Project.Branches[b.Settings.Source.String()]; ok && !b.New {
		plan.Previous = tip.Branch
	}
	d.add(on{}, plan)
	d.effect(id, EffectPreflight{Run: id})
	d.answer = Answer{OK: true, Code: "planned", ID: id}
}

// preflighted starts the run's first commands, or ends it (SPEC 2.0).
func (d *decision) preflighted(b Preflighted) {
	r := d.run()
	if r.Over() || r.State != RunPlanning || r.Base.Commit != "" {
		return
	}
	if len(b.Problems) > 0 {
		d.add(on{}, PreflightFailed{Problems: b.Problems})
		d.end(RunEnded{Reason: ReasonPreflight, Exit: 3, Text: b.Problems[0].Text})
		return
	}
	d.add(on{}, PreflightDone{Base: b.Base, Warnings: b.Warnings})
	d.takeSource(b.Snapshot)
	r = d.run()
	if cmds, setup := r.Settings.commands(KindBaseline, nil, true); len(cmds) > 0 {
		d.add(on{}, ChecksBegun{Kind: KindBaseline, Tree: b.Base.Tree, Setup: setup, Commands: cmds})
		d.nextCheck(on{}, true)
		return
	}
	d.begin(nil)
}

// commands lists what is run for a check: setup first where it is due, then
// the verification commands that apply to the changed files.
func (s Settings) commands(kind Kind, files []FileChange, setup bool) (cmds []Command, setups int) {
	if setup {
		cmds = append(cmds, s.Setup...)
	}
	setups = len(cmds)
	for _, c := range s.Verify {
		switch {
		case c.When == "final" && kind != KindFinal:
		case c.When == "code" && kind == KindVerify && onlyProse(files):
		default:
			cmds = append(cmds, c)
		}
	}
	return cmds, setups
}

// onlyProse reports whether nothing but documents changed.
func onlyProse(files []FileChange) bool {
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".md") && !strings.HasSuffix(f.Path, ".txt") && !strings.HasPrefix(f.Path, "docs/") {
			return false
		}
	}
	return len(files) > 0
}

// baselined goes on after the baseline: green starts the run, red is asked
// about, and a setup that does not work starts nothing.
func (d *decision) baselined(v Verified, setups int) {
	r := d.run()
	var red []Result
	for n, res := range v.Results {
		if res.OK {
			continue
		}
		if n < setups {
			f := Finding{Text: fmt.Sprintf("setup command %q fails on the start commit (exit %d): %s", res.Run, res.Exit, lastLine(res.Tail)), Fix: "Make it work in a fresh clone, then run again."}
			d.add(on{}, PreflightFailed{Problems: []Finding{f}})
			d.end(RunEnded{Reason: ReasonPreflight, Exit: 3, Text: f.Text})
			return
		}
		red = append(red, res)
	}
	if len(red) == 0 {
		d.begin(v.Results)
		return
	}
	q := Question{
		ID: d.issue("q"), Kind: AskBaseline, Run: r.ID, Title: "The baseline is red",
		Text:  fmt.Sprintf("%s fails before anything was changed: %s", red[0].Run, lastLine(red[0].Tail)),
		Asked: d.in.Time, Expires: d.in.Time.Add(r.Settings.BaselineTimeout.D()),
	}
	d.add(on{}, QuestionAsked{Question: q})
	d.add(on{}, RunStateSet{State: RunPlanning, Wait: WaitQuestion, Until: q.Expires, Text: q.Text})
}

// settleBaseline acts on what a person, or the profile, says of a red baseline.
func (d *decision) settleBaseline(choice string) {
	r := d.run()
	v := r.Red
	if r.Over() || v == nil {
		return
	}
	switch choice {
	case "go":
		d.begin(v.Results)
	case "fix":
		d.begin(v.Results)
		d.add(on{}, SourceRead{Name: r.Name, Path: r.Settings.Source.Path, Order: d.order(), Own: []Task{baselineTask(*v)}})
	default:
		f := Finding{Text: fmt.Sprintf("the baseline is red: %s", firstRed(*v)), Fix: "Make the verification commands pass on HEAD, or answer \"go\" to run with it."}
		d.add(on{}, PreflightFailed{Problems: []Finding{f}})
		d.end(RunEnded{Reason: ReasonPreflight, Exit: 3, Text: f.Text})
	}
}

// BaselineTaskID is the id of the task that nightporter adds when a person
// wants a red baseline mended first.
const BaselineTaskID = "Baseline"

func baselineTask(v Verified) Task {
	t := Task{ID: BaselineTaskID, Title: "Make the verification commands pass", Own: true, Mark: MarkOpen,
		Body: "They fail on the start commit, before anything of the plan was done. Mend what is broken; do not weaken a test."}
	for _, res := range v.Results {
		if !res.OK {
			t.Acceptance = append(t.Acceptance, fmt.Sprintf("`%s` passes", res.Run))
		}
	}
	return t
}

func firstRed(v Verified) string {
	for _, res := range v.Results {
		if !res.OK {
			return res.Run + " (" + lastLine(res.Tail) + ")"
		}
	}
	return ""
}

func (d *decision) order() []string {
	var ids []string
	for _, t := range d.Project.Tasks {
		if t.Status != Withdrawn && t.Task.Mark != markGone && !t.Task.Own {
			ids = append(ids, t.Task.ID)
		}
	}
	return ids
}

// begin is the moment from which agents are started.
func (d *decision) begin(baseline []Result) {
	r := d.run()
	var advisory []string
	for _, res := range baseline {
		if !res.OK {
			advisory = append(advisory, res.Run)
		}
	}
	if r.Check {
		d.end(RunEnded{Reason: ReasonChecked, Exit: 0, Text: "nothing was started"})
		return
	}
	_, total := d.Project.Count()
	d.settleReady()
	first := ""
	if t, ok := d.firstReady(); ok {
		first = t.Task.ID
	}
	d.add(on{}, RunStarted{Tasks: total, First: first, Baseline: baseline, Advisory: advisory})
}

func (d *decision) pause(b Pause) {
	r := d.run()
	switch {
	case r.Over():
		d.refuse("idle", "%s is idle: nothing to pause", d.in.Project)
		return
	case r.State == RunPaused:
		d.say("%s is paused already", d.in.Project)
		return
	}
	if b.Now {
		d.cutAll("pause now")
	}
	state := RunPausing
	if r.State == RunPlanning {
		d.refuse("starting", "%s is being checked before its start; pause it once it runs", r.ID)
		return
	}
	d.add(on{}, RunStateSet{State: state, Wait: WaitPerson})
	if t, ok := d.Project.inHand(); ok && d.Project.busy() {
		if b.Now {
			d.say("%s pauses; %s %s reruns on /resume", d.in.Project, ShortID(t.Task.ID), t.Work.Hat)
		} else {
			d.say("%s pauses after %s %s", d.in.Project, ShortID(t.Task.ID), t.Work.Hat)
		}
		return
	}
	d.say("%s paused; /resume goes on", d.in.Project)
}

func (d *decision) resume() {
	r := d.run()
	if r.Over() {
		d.refuse("idle", "%s is idle; start it with: nightporter run", d.in.Project)
		return
	}
	for _, name := range sortedKeys(d.House.Agents) { // "try now"
		d.house(AgentUsable{Agent: name})
	}
	switch r.State {
	case RunPausing, RunPaused, RunStopping:
		for _, q := range d.Project.Questions {
			if q.Kind == AskReview {
				d.add(on{}, QuestionAnswered{ID: q.ID, Choice: "resume", By: d.by()})
			}
		}
		if r.Wait == WaitReview {
			d.add(on{}, RunResumed{Settings: r.Settings})
		} else {
			d.add(on{}, RunStateSet{State: RunRunning})
		}
		d.say("%s goes on", d.in.Project)
	case RunWaiting:
		d.add(on{}, RunStateSet{State: RunRunning})
		d.say("%s tries now", d.in.Project)
	default:
		if t, ok := d.Project.inHand(); ok {
			d.say("%s is at work: %s %s", d.in.Project, ShortID(t.Task.ID), t.Work.Hat)
		} else {
			d.say("%s is at work", d.in.Project)
		}
	}
}

// stop ends the run after what is in hand, or at once. A signal that cuts
// leaves the run unfinished: the same command resumes it (SPEC 2.4).
func (d *decision) stop(b Stop) {
	r := d.run()
	if r.Over() {
		d.refuse("idle", "%s is idle: nothing to stop", d.in.Project)
		return
	}
	if r.State == RunPlanning {
		d.cutAll("stop")
		d.end(RunEnded{Reason: ReasonStopped, Exit: signalExit(b.Signal), By: d.by(), Text: "before its start"})
		d.say("%s stops; nothing was started", r.ID)
		return
	}
	if b.Now {
		d.cutAll("stop now")
	}
	d.add(on{}, RunStateSet{State: RunStopping, Signal: b.Signal, Now: b.Now})
	t, ok := d.Project.inHand()
	switch {
	case ok && b.Now:
		d.say("stopped; %s starts afresh next time", ShortID(t.Task.ID))
	case ok && d.Project.busy():
		d.say("%s ends after %s %s", d.in.Project, ShortID(t.Task.ID), t.Work.Hat)
	default:
		d.say("%s ends now", d.in.Project)
	}
}

// cutAll asks for the end of every session in flight that has not emitted.
func (d *decision) cutAll(why string) {
	for _, s := range d.Project.Sessions {
		if s.Event != nil || s.Cut {
			continue
		}
		d.add(on{task: s.Task, session: s.ID}, SessionCut{Why: why})
		d.effect(d.fresh(s.ID), EffectEnd{Session: s.ID})
	}
}

// finish parks what is in hand and ends the run; where commits were made, the
// branch tip is verified once in a clean folder first (SPEC 2.3).
func (d *decision) finish(e RunEnded) {
	r := d.run()
	if r.Over() || r.Finishing != nil {
		return
	}
	d.park(string(e.Reason))
	r = d.run()
	cmds, setups := r.Settings.commands(KindFinal, nil, true)
	if r.Commits > 0 && len(cmds) > 0 && r.FinalTip != r.Tip && !r.StopNow {
		d.add(on{}, RunFinishing{Ending: e})
		d.add(on{}, ChecksBegun{Kind: KindFinal, Tree: r.Tip, Setup: setups, Commands: cmds})
		d.nextCheck(on{}, true)
		return
	}
	d.end(e)
}

// park keeps attempts that are in hand for the next run: a limit, a pause for
// review or a stop is not a failure.
func (d *decision) park(why string) {
	for _, t := range d.Project.Tasks {
		if t.Status == Active {
			if t.Work != nil {
				d.add(on{task: t.Task.ID}, AttemptEnded{Why: why})
			}
			d.setTask(t.Task.ID, Ready, "goes on from its tree")
		}
	}
}

// end closes the run.
func (d *decision) end(e RunEnded) {
	r := d.run()
	e.Done, e.Total = d.Project.Count()
	e.Branch, e.Tip = r.Base.Branch, r.Tip
	if e.By == "" && r.State == RunStopping {
		e.By = r.StopBy
	}
	if f := r.Final; f != nil && r.FinalTip == r.Tip && r.Commits > 0 {
		ok := f.OK
		e.Final, e.FinalOK = f.Results, &ok
		if !ok && e.Exit == 0 {
			e.Exit = 1
		}
	}
	if e.Reason != ReasonChecked && e.Reason != ReasonDone {
		e.Resume = r.Settings.ResumeCommand()
	}
	for _, q := range d.Project.Questions {
		if q.Kind == AskBaseline || q.Kind == AskReview || q.Kind == AskNow {
			d.add(on{}, QuestionExpired{ID: q.ID, Then: "the run ended"})
		}
	}
	d.add(on{}, RunEnded(e))
	used := map[string]bool{r.Settings.Pattern.Start: true}
	for _, route := range r.Settings.Pattern.Routes {
		used[route.To] = true
	}
	for _, i := range d.Project.Guidance.Waiting() {
		if i.Hat != "" && !used[i.Hat] {
			d.add(on{}, GuidanceExpired{ID: i.ID, Why: fmt.Sprintf("no %s session in %s", i.Hat, r.ID)})
		}
	}
}

// ResumeCommand is the exact command that goes on with a run.
func (s Settings) ResumeCommand() string {
	cmd := fmt.Sprintf("nightporter run --repo %s --source %s", shellWord(s.Repo), shellWord(s.Source.String()))
	if s.Profile != "" && s.Profile != "review" {
		cmd += " --profile " + s.Profile
	}
	if s.Flags != "" {
		cmd += " " + s.Flags
	}
	return cmd
}

func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@+,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Outcome reports whether `nightporter run` is through with the project's
// run, and with which exit code (SPEC 2.4). A pause for review and a signal
// that cut sessions off leave the run unfinished.
func Outcome(s State) (exit int, through bool) {
	r := s.Project.Run
	switch {
	case r == nil:
		return 3, true
	case r.State == RunOver:
		return r.Ended.Exit, true
	case r.State == RunPaused && r.Wait == WaitReview:
		return 2, true
	case r.State == RunStopping && r.StopNow && r.Signal != "" && !s.Project.busy():
		return signalExit(r.Signal), true
	}
	return 0, false
}

// signalExit is the exit code after a signal; 2, work is left, after /stop.
func signalExit(signal string) int {
	switch signal {
	case "SIGTERM":
		return 143
	case "SIGINT":
		return 130
	}
	return 2
}

// effectBroken holds everything while the state folder cannot be written, and
// otherwise fails the attempt that the effect belongs to.
func (d *decision) effectBroken(b EffectBroken) {
	r := d.run()
	d.add(on{task: b.Task}, EffectFailed{Kind: b.Kind, Key: b.Key, Text: b.Text, Disk: b.Disk})
	if r.Over() || b.Disk {
		return
	}
	if b.Kind == "preflight" {
		f := Finding{Text: b.Text}
		d.add(on{}, PreflightFailed{Problems: []Finding{f}})
		d.end(RunEnded{Reason: ReasonPreflight, Exit: 3, Text: b.Text})
		return
	}
	if t, ok := d.task(b.Task); ok && t.Work != nil && t.Status == Active {
		d.add(on{task: b.Task}, StageSet{Stage: StageReady})
		d.failAttempt(b.Task, b.Text, false)
		return
	}
	if b.Kind == "session.start" || b.Kind == "merge" || b.Kind == "commit" || b.Kind == "takeover" {
		d.end(RunEnded{Reason: ReasonInternal, Exit: 4, Text: b.Text})
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if line == "" {
		return "no output"
	}
	const most = 200
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

// lateBy is how long a wait for an agent without a known end lasts before it
// is tried again.
const lateBy = 15 * time.Minute
