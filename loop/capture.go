package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// capture asks for the session's work folder to be written to a tree, limited to the
// scope of the task and hat. The result is a TreeCaptured.
func (d *decision) capture(t TaskState, s Session, hat ledger.Hat) {
	r, w := d.run(), t.Attempt
	var resolve []string
	if r.merging(t) && hat.Expect == ledger.ExpectPass {
		resolve = r.Base.Upkeep.Conflicts
	}
	d.effect(s.ID, ledger.EffectCapture{Request: ledger.CaptureRequest{
		Run: r.ID, Session: s.ID, Lane: w.Lane, Input: w.Tree, Start: w.Start, StartRev: w.Base,
		Ref:   fmt.Sprintf("refs/nightporter/%s/%s/%s/a%d/%s", d.in.Project, r.ID, refPart(t.Task.ID), w.N, strings.TrimPrefix(s.ID, r.ID+"-")),
		Scope: d.State.scope(t, hat), Cleared: d.Project.Cleared, Hold: w.Leaks > 0 && w.Event != nil,
		Proof: d.proofRequest(t), Resolve: resolve,
		MaxNew: r.Settings.MaxNewFiles, TakeAll: t.TakeAll, LeaveOut: t.LeftOut,
	}})
}

// treeCaptured continues an attempt after its work folder was captured. It refuses
// what git cannot hold, handles paths out of scope and sessions that changed
// nothing, and begins verification (docs/spec 2.3).
func (d *decision) treeCaptured(b TreeCaptured) {
	r := d.run()
	t, ok := d.workOf(b.Session)
	if !ok || t.Attempt.Stage != ledger.StageCapture {
		return
	}
	w, about := t.Attempt, scope{task: t.Task.ID, session: b.Session}
	files := b.Taken.Files // all of them; entries have the first ones
	b.Taken.Files, b.Taken.More = boundFiles(files)
	if b.Stopped {
		d.add(about, ledger.Redo{Why: ledger.RedoStopped, Tree: w.Tree})
		return
	}
	if w.Event == nil {
		if met := w.Met; met != nil && len(b.Taken.Refused) == 0 && len(b.Taken.Secrets) == 0 {
			d.add(about, ledger.TakenOver{Taken: b.Taken, Ref: b.Ref})
			d.add(about, ledger.Redo{Why: ledger.RedoBudget, Tree: b.Taken.Tree, Note: budgetNote})
			t, _ = d.task(t.Task.ID)
			d.metBudget(t, *met)
			return
		}
		d.add(about, ledger.TreeKept{Ref: b.Ref, Tree: b.Taken.Tree, Files: b.Taken.Files, More: b.Taken.More})
		d.afterNothing(t, b)
		return
	}
	hat := r.Settings.Hats[w.Hat]
	b.Taken.Outside, b.Taken.Dropped, b.Taken.RunsItself = fewOf(b.Taken.Outside), fewOf(b.Taken.Dropped), fewOf(b.Taken.RunsItself)
	b.Taken.Unscanned = slices.Clip(b.Taken.Unscanned[:min(len(b.Taken.Unscanned), maxUndone)])
	d.add(about, ledger.TakenOver{Taken: b.Taken, Ref: b.Ref})
	if len(b.Taken.Refused) > 0 {
		d.redo(t, ledger.Redo{Why: ledger.RedoViolation, Failed: true, Tree: w.Tree,
			Note: "What the session before left cannot be taken over: " + b.Taken.Refused[0].String()})
		return
	}
	if len(b.Taken.Secrets) > 0 {
		t, _ = d.task(t.Task.ID)
		d.secretFound(t, b.Taken.Secrets)
		return
	}
	if w.Event.Type == ledger.EventQuestion {
		d.routeEvent(t, b.Taken.Tree)
		return
	}
	if len(b.Taken.TooMany) > 0 {
		t, _ = d.task(t.Task.ID)
		d.askNewFiles(t, b.Taken.TooMany)
		return
	}
	if b.Taken.Tree != w.Tree {
		d.changed(about, files, 0)
	}
	// What a session left that asked, or was ended at its budget, is claimed by this event.
	changed := b.Taken.Tree != cmp.Or(w.Unclaimed, w.Tree)
	noChange := payload.String(w.Event.Data, "no_change") != ""
	unjudged := !r.Settings.For(t.Task).JudgedAfter(w.Hat) && !t.looked() && payload.ManualVerify(w.Event.Data) == ""
	explained := w.Guarded != "" && !w.GuardOK && payload.String(w.Event.Data, "checks_changed") != "" // it says why the start's checks fail on this very tree
	if !changed && !explained && (noChange && unjudged || !noChange && hat.Expect == ledger.ExpectPass) {
		note := "The session before said it was done, but it changed no file that counts. Change the files, or say no_change with the reason."
		if unjudged {
			note = "The session before changed no file that counts, and no review follows that could judge a no_change. Change the files. If nothing has to change, end with task.blocked: a person decides."
		}
		if len(b.Taken.Outside) > 0 {
			note = "The session before changed only files out of scope, and they were undone: " + joinFew(b.Taken.Outside) + runsItselfNote(b.Taken.RunsItself)
		}
		t, _ = d.task(t.Task.ID)
		if paths := t.strayedAgain(); len(paths) > 0 {
			d.add(about, ledger.Redo{Why: ledger.RedoScope, Tree: w.Tree, Note: note})
			t, _ = d.task(t.Task.ID)
			d.askAllow(t, paths, d.in.Time.Add(r.Settings.QuestionTimeout.D()))
			return
		}
		d.redo(t, ledger.Redo{Why: ledger.RedoUnchanged, Failed: true, Tree: w.Tree, Note: note})
		return
	}
	// checks leaves out commands that the changed files do not concern. That is
	// safe only if the input tree is known to be green; without the list of
	// files every command runs.
	if w.Tree != w.Start && !w.green(w.Tree) || w.Unclaimed != "" {
		files = nil
	}
	c := d.checks(t, hat, b.Taken.Tree, files, b.Taken.Lock)
	if len(c.Commands) == 0 {
		t, _ = d.task(t.Task.ID)
		d.stands(t, b.Taken.Tree)
		return
	}
	d.add(about, c)
	d.nextCheck(about, false)
}

// afterNothing continues an attempt after a session that counted as nothing. Files
// that it left may show that it has failed instead.
func (d *decision) afterNothing(t TaskState, b TreeCaptured) {
	if !d.refuteLimit(t, b) && !d.settleEarlyEnd(t, b) {
		d.add(scope{task: t.Task.ID, session: b.Session}, ledger.StageSet{Stage: ledger.StageReady})
	}
}

// stands routes the session's event on a tree that passed verification or
// needed none. It asks about paths out of scope that were undone repeatedly.
func (d *decision) stands(t TaskState, tree string) {
	if paths := t.strayedAgain(); len(paths) > 0 {
		d.askAllow(t, paths, time.Time{}) // no expiry: the tree is good without these paths, and nothing waits for the answer
	}
	d.routeEvent(t, tree)
}

// routeEvent moves the attempt along the route of its pattern for the session's
// event, on the given tree.
func (d *decision) routeEvent(t TaskState, tree string) {
	r, w := d.run(), t.Attempt
	ev, about := w.Event, scope{task: t.Task.ID, session: w.Session}
	switch ev.Type {
	case ledger.EventBlocked:
		d.submit(t, ledger.Submit{Result: "fail", Outcome: ledger.OutcomeBlocked, Reason: payload.String(ev.Data, "reason")})
		d.add(about, ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeBlocked, Why: payload.String(ev.Data, "reason")})
		d.block(t.Task.ID, blockage{reason: payload.String(ev.Data, "reason"), tried: payload.String(ev.Data, "tried"), needs: payload.String(ev.Data, "needs"), work: w})
		return
	case ledger.EventQuestion:
		if d.askedAgain(t, tree) {
			return
		}
		d.add(about, ledger.Routed{From: w.Hat, On: ev.Type, To: w.Hat, Tree: tree, Round: w.Rounds, Why: "asked"})
		d.askAgent(t)
		return
	}
	to, above := d.next(t)
	switch ev.Type {
	case ledger.EventReview:
		th := d.Project.ThresholdOf(r.Settings, t.Task)
		kind, _ := t.review()
		by := ""
		if t.Task.SecondReview {
			by = w.Agent
		}
		d.add(about, ledger.Evidence{Kind: "review", Type: cmp.Or(kind, w.Hat), Agent: by, Looks: payload.Review(ev.Data), Passes: w.Rounds + 1, Verdict: verdict(above), Issues: d.issues(t), Threshold: th.Severities, Learned: th.question()})
		t, _ = d.task(t.Task.ID)
		if why := stalled(w, t.Attempt.Found, tree); above && why != "" {
			d.failAttempt(t.Task.ID, ledger.OutcomeStalled, why)
			return
		}
	case ledger.EventCritique:
		w := *w
		w.argue(*ev)
		c := w.Consensus.Rounds[len(w.Consensus.Rounds)-1]
		d.add(about, ledger.Evidence{Kind: "review", Type: w.Hat, Passes: len(w.Consensus.Rounds), Verdict: payload.String(ev.Data, "verdict"), Issues: c.AsIssues()})
	case ledger.EventPassed, ledger.EventFailed:
		d.add(about, ledger.Evidence{Kind: ledger.EvidenceVerification, Type: w.Hat, Criteria: d.judgedCriteria(t, ev.Data)})
	case ledger.EventRepro:
		d.add(about, ledger.Evidence{Kind: "investigation", Command: payload.String(ev.Data, "command"), RootCause: payload.String(ev.Data, "root_cause"), Affected: payload.Strings(ev.Data, "affected_files"), Strategy: payload.String(ev.Data, "strategy")})
	}
	if to == "" {
		d.add(about, ledger.StageSet{Stage: ledger.StageReady}) // or other lanes would drain for ever
		d.end(ledger.RunEnded{Reason: ledger.ReasonInternal, Text: fmt.Sprintf("pattern %s has no route for %s of %s", r.Settings.For(t.Task).Pattern.Name, ev.Type, w.Hat)})
		return
	}
	routed := ledger.Routed{From: w.Hat, On: ev.Type, To: to, Tree: tree, Round: w.Rounds}
	if to == w.Hat && !above && t.seconds() {
		routed.Why, routed.Second = "second review", true
	}
	d.add(about, routed)
	t, _ = d.task(t.Task.ID)
	switch {
	case ev.Type == ledger.EventPlan:
		d.effect(w.Session+" plan", ledger.EffectKeepPlan{Task: t.Task.ID, Plan: t.Attempt.Plan})
		switch {
		case to == hatCritic:
		case d.run().Settings.PlanApproval && t.Task.Parent == "":
			d.askPlan(t)
		case t.splits(d.run().Settings) && len(payload.Sections(t.Attempt.Plan)) > 1:
			d.makeParts(t, true)
		}
	case ev.Type == ledger.EventCritique && w.Hat == hatCritic:
		d.critiqued(t)
	case to == ledger.GivenUp:
		d.failAttempt(t.Task.ID, ledger.OutcomeStalled, reason("not mended in the rounds that the pattern has for it", openIssues(t.Attempt.Issues)))
	case ev.Type == ledger.EventFailed && t.Attempt.unmoved() && !rules(r.Settings.Hats[to]):
		d.askDispute(t)
	case ev.Type == ledger.EventFailed && r.Settings.For(t.Task).Pattern.Divides(w.Hat, ev.Type, to) && d.mendSections(t, to):
	case to == ledger.Converged && ev.Type == ledger.EventEvaluation:
		d.evaluated(t)
	case to == ledger.Converged && ev.Type == ledger.EventDraft && t.Task.Idea != "":
		d.drafted(t)
	case to == ledger.Converged && ev.Type == ledger.EventTriage && len(t.Task.Sorts) > 0:
		d.judgedReports(t)
	case to == ledger.Converged:
		d.converge(t)
	case above && t.Attempt.Upheld > 0 && t.Attempt.Upheld%2 == 0:
		d.askDispute(t)
	}
}

// next returns the target of the attempt's event: a hat, ledger.Converged, or ""
// if the pattern has no route. above reports whether the review's issues reach the
// threshold in force.
func (d *decision) next(t TaskState) (to string, above bool) {
	s, w := d.run().Settings.For(t.Task), t.Attempt
	above = d.above(t, d.issues(t))
	to = cmp.Or(rulingHat(s, w), s.Pattern.Next(w.Hat, w.Event.Type, above, w.sessionsOf))
	if arguing := nextArguing(s, t); arguing != "" {
		return arguing, false
	}
	to = nextTrying(t, nextJudging(s, t, to))
	switch {
	case t.Task.Joins && payload.ChangesFiles(w.Event.Type): // the whole is judged
		to = ledger.Converged
	case !above && t.seconds():
		to = w.Hat
	case w.Event.Type == ledger.EventReview && !above && w.Rounds+1 < s.Pattern.MinRounds:
		to = w.Hat // min_rounds asks for another review of the same tree; there is nothing to fix
	case to == "" && w.Event.Type == ledger.EventPlan:
		to = s.Pattern.Start // a stalled attempt is planned anew even if its pattern has no planner and so no route for a plan
	}
	return to, above
}

// issues returns the issues of the session's review, and one for each guidance
// item that the review judged as not followed; nil for other events.
func (d *decision) issues(t TaskState) []ledger.Issue {
	ev := t.Attempt.Event
	if ev.Type != ledger.EventReview {
		return nil
	}
	issues := payload.Issues(ev.Data)
	for _, i := range d.Project.Guidance.Items {
		if j := i.Judged; j != nil && j.Session == t.Attempt.Session && !j.Followed {
			issues = append(issues, ledger.Issue{Severity: ledger.Major, Rule: ruleGuidance + i.ID, Text: fmt.Sprintf("The owner's guidance %s is not followed: %q. %s", i.ID, i.Text, j.Note)})
		}
	}
	return issues
}

// Verdicts of a review in Evidence.
const (
	verdictIssues    = "issues"
	verdictConverged = "converged"
)

func verdict(above bool) string {
	if above {
		return verdictIssues
	}
	return verdictConverged
}

// stalled returns the reason why another round would only repeat an earlier one,
// the same issues or the same tree, and "" otherwise (docs/spec 2.6).
func stalled(w *Attempt, issues []ledger.Issue, tree string) string {
	if w.contested(issues) {
		return "" // the reviewer upholds issues that the fixer disputes: a person decides if that happens twice
	}
	if slices.Contains(w.IssueSets, issueSet(issues)) {
		return reason("no progress, "+openIssues(issues), "the same issues as in an earlier round")
	}
	again := len(w.History) > 0 && w.History[len(w.History)-1].Event == ledger.EventReview // a second review by min_rounds has the same tree on purpose
	if w.NoChange == "" && !again && slices.Contains(w.Trees, tree) {
		return reason("no progress, "+openIssues(issues), "the same files as in an earlier round")
	}
	return ""
}
