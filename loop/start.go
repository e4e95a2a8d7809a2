package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// startRun plans a run, or resumes the unfinished one (docs/spec 17).
func (d *decision) startRun(b StartRun) {
	r := d.run()
	if r != nil && r.Settings.Repo != b.Settings.Repo {
		d.refuse(ledger.CodeOtherRepository, "project %s is %s in this state folder, not %s. Give this one a name of its own in a configuration ([[project]] name), or a state folder (--state DIR)", d.in.Project, r.Settings.Repo, b.Settings.Repo)
		return
	}
	besideCheck := !r.Over() && r.Check && !b.Check
	if besideCheck && !b.Alone { // its process waits for what it finds
		d.refuseBesideCheck()
		return
	}
	if m := remakeOf(r); m != nil && r.Over() && m.Stage != RemakeChecking {
		d.refuse(ledger.CodeBusy, "%s is being made again; start the run in a moment", r.branchName())
		return
	}
	d.setShared(b.MaxSessions, b.Day)
	if b.Alone {
		for _, l := range d.Shared.Leases {
			if l.Project != d.in.Project {
				d.addShared(freed(l))
			}
		}
	}
	// A person who starts work again has repaired the agent.
	for _, name := range sortedKeys(d.Shared.Agents) {
		if d.Shared.Agents[name].Unusable && !b.Check {
			d.addShared(ledger.AgentUsable{Agent: name})
		}
	}
	if !r.Over() && r.Aside() {
		d.yield(b)
		return
	}
	if !r.Over() && b.Check && !r.Check {
		d.refuse(ledger.CodeUnfinished, "%s has not ended; --check looks at what a new run would meet. Go on with it, or end it: /stop", r.ID)
		return
	}
	if besideCheck { // it was cut off with its process: nobody waits for it
		d.cutAll("a run")
		d.end(ledger.RunEnded{Reason: ledger.ReasonReplaced, Text: "replaced by a run"})
		r = d.run()
	}
	if !r.Over() && !b.New && r.Settings.Source == b.Settings.Source {
		if r.State == ledger.RunPlanning {
			d.answer = ledger.Answer{OK: true, Code: ledger.CodeResumed, ID: r.ID}
			return // the preflight is under way, or will be repeated after a crash
		}
		for _, q := range d.Project.Questions {
			if q.Kind == ledger.AskReview {
				d.add(scope{}, ledger.QuestionAnswered{ID: q.ID, Choice: "resume", By: d.by()})
			}
		}
		d.resumed(b.Settings)
		d.askBudgetsAnew()
		if !b.Settings.Scripted() {
			d.reopenScripted()
		}
		if b.Snapshot != nil { // changes that people made while no run read the source
			d.takeSource(reading{Snapshot: *b.Snapshot, first: true})
		}
		d.answer = ledger.Answer{OK: true, Code: ledger.CodeResumed, ID: r.ID}
		return
	}
	if !r.Over() {
		if d.Project.busy() {
			d.refuse(ledger.CodeBusy, "%s is at work; stop it first: /stop now", r.ID)
			return
		}
		d.end(ledger.RunEnded{Reason: ledger.ReasonReplaced, Text: "replaced by a new run"})
	}
	d.closeOwn()
	for _, t := range d.Project.Tasks.All() {
		merged := t.Status == ledger.Pending && t.Attempt != nil // waits for its parts
		if now, _ := d.task(t.Task.ID); now.Attempt == nil || now.Status == ledger.Withdrawn && t.Status != now.Status {
			continue // it went with the task that it was a part of
		}
		if b.New && (merged || t.Status == ledger.Ready || t.Status == ledger.Withdrawn) { // a new run starts from HEAD and does not continue the attempt
			d.add(scope{task: t.Task.ID}, ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: "a new run from HEAD"})
			d.planAnew(*t, "a new run from HEAD")
		}
	}
	if m := remakeOf(r); m != nil && m.Stage == RemakeChecking {
		d.cutRemakeCheck("a run was started, which verifies it first")
	}
	d.withdrawOffers("a run was started")
	d.withdrawRemakes("a run was started")
	if d.Project.Source != b.Settings.Source.String() {
		d.unasked()
	}
	kind := "r"
	if b.Check { // a check is no run, and takes no number from them
		kind = "c"
	}
	id := d.nextID(kind)
	begin := ledger.Begin{Run: id, Fresh: b.New}
	if b.Check {
		begin.As = fmt.Sprintf("r%d", d.Shared.Issued["r"]+1)
	}
	if tip, ok := d.Project.Branches[b.Settings.Source.String()]; ok && !b.New {
		begin.Previous, begin.Tip = tip.Branch, tip.Commit
	}
	d.add(scope{}, ledger.RunPlanned{Run: id, Settings: b.Settings, Check: b.Check, Fresh: b.New, Previous: begin.Previous})
	if !b.Check {
		d.reopenScripted()
	}
	d.effect(id, ledger.EffectPreflight{Begin: begin})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodePlanned, ID: id}
}

// refuseBesideCheck refuses a run while a check is at work.
func (d *decision) refuseBesideCheck() {
	d.refuse(ledger.CodeBusy, "%s checks what a run would meet; start the run when it has ended, or stop it: /stop", d.run().ID)
}

// closeOwn settles what belongs to the tasks that the last run added itself.
func (d *decision) closeOwn() {
	for _, t := range d.Project.Tasks.All() {
		if t.Task.Own {
			d.closeQuestions(t.Task.ID, "its run is over")
			d.expireGuidance(t.Task.ID, "its task went with its run")
		}
	}
}

// giveBack queues the comments again that a task of nightporter's own has in force,
// where its run gives way to another one: the next on that branch takes them.
func (d *decision) giveBack() {
	for _, i := range d.Project.Guidance.Items {
		if t, ok := d.task(i.Bound); ok && t.Task.Own && i.Origin != nil && i.Open() {
			d.add(scope{task: t.Task.ID}, ledger.GuidanceExpired{ID: i.ID, Why: "another run was started"})
			d.add(scope{task: t.Task.ID}, ledger.GuidanceKept{ID: i.ID})
		}
	}
}

// preflighted starts the baseline after a preflight, or ends the run if the
// preflight found problems (docs/spec 2.0).
func (d *decision) preflighted(b Preflighted) {
	r := d.run()
	if r.Over() || r.State != ledger.RunPlanning || r.Base.Commit != "" || (b.Run != "" && b.Run != r.ID) {
		return
	}
	if len(b.Problems) > 0 {
		if len(b.Snapshot.Tasks) > 0 && !r.Aside() { // the tasks are there, though no run works on them
			d.takeSource(reading{Snapshot: b.Snapshot, first: true})
		}
		d.add(scope{}, ledger.PreflightFailed{Problems: b.Problems})
		if i, ok := d.Project.Idea(r.Idea); ok {
			d.add(scope{}, ledger.IdeaEnded{ID: i.ID, Outcome: ledger.IdeaFailed, Text: b.Problems[0].Text, Remedy: b.Problems[0].Remedy})
		}
		d.end(ledger.RunEnded{Reason: ledger.ReasonPreflight, Text: b.Problems[0].Text})
		return
	}
	if r.Upkeep != nil {
		d.upkeepPreflighted(b)
		return
	}
	if r.Idea != "" {
		d.ideaPreflighted(b)
		return
	}
	warnings := d.unsaid(b)
	if w, small := NoRoom(d.State, r.Settings, d.Shared.Purse.Day, b.Snapshot, d.in.Time); small {
		warnings = append(warnings, w)
	}
	d.add(scope{}, ledger.PreflightDone{Base: b.Base, Warnings: warnings})
	d.missedByAgents(b.Wanted)
	d.takeSource(reading{Snapshot: b.Snapshot, first: true})
	r = d.run()
	if c := newCheck(r.Settings, ledger.KindBaseline, b.Base.Tree, true, d.startCommands()); len(c.Commands) > 0 {
		// advance plans the first command: sessions of a run that was stopped
		// before its start may still be ending.
		d.add(scope{}, c)
		return
	}
	d.begin(ledger.RunStarted{})
}

// baselined acts on the result of the baseline. Green starts the run, red asks
// a person or begins a repair, and a failing setup command ends the run.
func (d *decision) baselined(v ledger.Verified) {
	d.missed(v)
	red := redResults(v.Results)
	for _, res := range red {
		if res.Setup {
			f := ledger.Diagnostic{Text: fmt.Sprintf("setup command %q fails on the start commit%s: %s", res.Run, exitNote(res), whyRed(res)), Remedy: trimJoin("Make it work in a fresh clone, then run again.", roomFilesHint(d.run().Base))}
			d.add(scope{}, ledger.PreflightFailed{Problems: []ledger.Diagnostic{f}})
			d.end(ledger.RunEnded{Reason: ledger.ReasonPreflight, Text: f.Text})
			return
		}
	}
	if len(red) == 0 {
		d.begin(ledger.RunStarted{Baseline: v.Results})
		return
	}
	d.redBaseline(v)
}

// askBaseline asks what to do about commands that fail before any work, of which
// first is the first one.
func (d *decision) askBaseline(first ledger.Exemption) {
	r := d.run()
	cause := ""
	for _, res := range r.Red.Results {
		if res.Run == first.Run {
			cause = whyRed(res)
		}
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskBaseline, Run: r.ID, Title: "The checks fail at the start",
		Text:  trimJoin(fmt.Sprintf("%s fails before anything was changed: %s", first.Run, cause), roomFilesHint(r.Base)),
		Asked: d.in.Time, Expires: d.in.Time.Add(r.Settings.BaselineTimeout.D()),
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.add(scope{}, ledger.RunStateSet{State: ledger.RunPlanning, Wait: ledger.WaitQuestion, Until: q.Expires, Text: q.Text})
}

// roomFilesHint proposes room_files if the checkout has files that tests may need
// and no room gets.
func roomFilesHint(b ledger.Base) string {
	if len(b.EnvFiles) == 0 {
		return ""
	}
	return fmt.Sprintf("Your checkout has %s, which is not in git, so not here. If tests need it: room_files = [%q]", b.EnvFiles[0], b.EnvFiles[0])
}

// settleBaseline applies the choice about a red baseline, made by a person or
// by the profile: "go", "fix", or anything else to end the run.
func (d *decision) settleBaseline(choice string) {
	r := d.run()
	v := r.Red
	if r.Over() || v == nil {
		return
	}
	switch choice {
	case "go":
		_, theirs := r.whose()
		d.beginRepair(theirs)
	case "fix":
		// Nothing is exempt: the task that fixes the baseline is done only when
		// all commands pass.
		d.add(scope{}, ledger.SourceRead{Name: r.Name, Path: r.Settings.Source.Path, Order: d.order(), Own: []ledger.Task{baselineTask(*v)}})
		d.begin(ledger.RunStarted{Baseline: v.Results})
	default:
		f := ledger.Diagnostic{Text: fmt.Sprintf("the checks fail at the start: %s", firstRed(*v)), Remedy: "Make the verification commands pass on HEAD, or answer \"go\" to run with it."}
		f.Remedy = trimJoin(f.Remedy, roomFilesHint(r.Base))
		d.add(scope{}, ledger.PreflightFailed{Problems: []ledger.Diagnostic{f}})
		d.end(ledger.RunEnded{Reason: ledger.ReasonPreflight, Text: f.Text})
	}
}

// BaselineTaskID is the id of the task that nightporter adds when a person
// wants a red baseline fixed first.
const BaselineTaskID = "Baseline"

func baselineTask(v ledger.Verified) ledger.Task {
	t := ledger.Task{ID: BaselineTaskID, Title: "Make the verification commands pass", Own: true, Mark: ledger.MarkOpen,
		Body: "They fail on the start commit, before anything of the plan was done. Mend what is broken; do not weaken a test."}
	for _, res := range v.Results {
		if !res.OK {
			t.Acceptance = append(t.Acceptance, fmt.Sprintf("`%s` passes", res.Run))
		}
	}
	return t
}

// begin starts the run: agent sessions can be planned from here on. It fills in
// what b does not say. A run with --check ends instead.
func (d *decision) begin(b ledger.RunStarted) {
	r := d.run()
	if r.Check {
		d.end(ledger.RunEnded{Reason: ledger.ReasonChecked, Text: "nothing was started"})
		return
	}
	_, b.Tasks = d.Project.Count()
	d.settleParts()
	d.settleRepeats()
	d.settleReady()
	if t, ok := d.firstReady(); ok {
		b.First = t.Task.ID
	}
	b.Advisory = commandsOf(b.Exempt)
	if !r.Aside() {
		b.Outlook = SaidOf(OutlookOf(d.State, d.in.Time))
	}
	d.add(scope{}, b)
}

// goOn starts the next run after a person's answer made a task ready. It does
// so only if the last run has ended and the process stays (`nightporter up`).
// For a run that is finishing, it only records who asked.
func (d *decision) goOn() {
	r := d.run()
	if d.in.Idle || r == nil || !r.Settings.Stays {
		return
	}
	if e := r.Finishing; e != nil && (e.Reason == ledger.ReasonManual || e.Reason == ledger.ReasonNothing || e.Reason == ledger.ReasonBlocked) {
		// The run still ends once its branch tip is verified. The entry records
		// who asked for the next run.
		next := *e
		next.By = d.by()
		d.add(scope{}, ledger.RunFinishing{Ending: next, Drains: r.Drains})
		d.answer.Text += "; the next run starts with it"
	}
	text := d.answer.Text
	switch {
	case r.Over():
	case r.Aside() && d.Project.Aside != nil && d.readies():
		r = d.Project.Aside
		s := r.upcoming()
		s.Until, s.From, s.Only = time.Time{}, "", ""
		d.yield(StartRun{Settings: s})
		d.answer.Text = strings.TrimPrefix(text+"; "+d.answer.Text, "; ")
		return
	default:
		return
	}
	s := r.upcoming()
	s.Until, s.From, s.Only = time.Time{}, "", "" // these settings were meant for the last run alone
	d.startRun(StartRun{Settings: s})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeStarted, ID: d.answer.ID, Text: strings.TrimPrefix(text+"; "+d.answer.ID+" starts with it", "; ")}
}

// readies reports whether the decision makes a task of the source ready.
func (d *decision) readies() bool {
	return slices.ContainsFunc(d.entries, func(e ledger.Entry) bool {
		b, is := e.Body.(ledger.TaskSet)
		t, known := d.task(e.Task)
		return is && known && b.To == ledger.Ready && !t.Task.Own
	})
}
