package loop

import (
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// init fills questionEffects, the table of what the answers to each kind of
// question do.
func init() {
	apply := func(does func(*decision, answerGiven), verbs ...string) map[string]answerEffect {
		out := map[string]answerEffect{}
		for _, v := range verbs {
			out[v] = answerEffect{apply: does}
		}
		return out
	}
	questionEffects = map[ledger.QuestionKind]questionEffect{
		ledger.AskBaseline: {verbs: apply(applyBaseline, "fix", "go", "stop"), expire: (*decision).expireBaseline, drop: (*decision).withdraw},
		ledger.AskReview: {verbs: map[string]answerEffect{
			"resume": {apply: func(d *decision, _ answerGiven) { d.resume("") }},
			"stop":   {apply: func(d *decision, _ answerGiven) { d.stop(Stop{}) }},
		}, expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskPlan:  {verbs: apply(applyPlan, "approve", "reject"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskAgent: {verbs: apply(applySkipTask, "skip"), own: applyAnswer, expire: (*decision).expireAgent, drop: (*decision).withdraw},
		ledger.AskBlocked: {verbs: map[string]answerEffect{
			"retry": {apply: func(d *decision, a answerGiven) { d.retryTask(a.q.Task) }},
			"skip":  {apply: applySkipTask},
			"guide": {check: checkGuidance, apply: func(d *decision, a answerGiven) {
				d.queueGuidance(a.words, guidance.Address{Task: a.q.Task})
				d.retryTask(a.q.Task)
			}},
		}, expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskUnticked: {verbs: apply(applyUnticked, "keep", "redo"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskAllow:    {verbs: apply(applyAllow, "deny", "allow"), expire: (*decision).expireAllow, drop: (*decision).withdraw},
		ledger.AskSecret:   {verbs: apply(applySecret, "again", "harmless"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskNewFiles: {verbs: apply(applyNewFiles, "ignore", "take"), expire: (*decision).expireNewFiles, drop: (*decision).withdraw},
		ledger.AskChecks:   {verbs: apply(applyChecks, "allow", "redo"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskManual:   {verbs: apply(applyManual, "pass", "fail"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskSkip: {verbs: map[string]answerEffect{
			"wait": {apply: func(*decision, answerGiven) {}},
			"skip": {along: func(d *decision, q ledger.Question) []string { return d.needing(q.Tasks) }, apply: applySkip},
		}, expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskLate:      {verbs: apply(applyLate, "no", "yes"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskStart:     {verbs: apply(applyStart, "start", "parallel", "review", "cancel"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskIdea:      {verbs: apply(applyIdea, "start", "change", "drop"), expire: (*decision).expireIdea, drop: (*decision).withdraw},
		ledger.AskRemake:    {verbs: apply(applyRemake, "drop", "cancel"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskMerge:     {verbs: apply(applyMerge, "merge", "cancel"), expire: (*decision).expireMerge, drop: (*decision).withdraw},
		ledger.AskThreshold: {verbs: apply(applyThreshold, "use", "keep"), expire: (*decision).expireQuietly, drop: (*decision).withdraw},
		ledger.AskHost:      {verbs: apply(applyHost, "once", "run", "always", "no"), expire: (*decision).expireHost, drop: (*decision).withdraw},
		ledger.AskBudget: {verbs: map[string]answerEffect{
			"more": {check: checkAmount, apply: applyBudget},
			"task": {apply: applyBudget},
			"stop": {apply: applyBudget},
		}, expire: (*decision).expireBudget, drop: (*decision).dropBudget},
		ledger.AskNow: {verbs: apply(applyNow, "queue", "rerun"), expire: (*decision).expireNow, drop: (*decision).settleNow},
	}
}

func applySkipTask(d *decision, a answerGiven) { d.skipTask(a.q.Task) }

func applyAnswer(d *decision, a answerGiven) { d.answerAgent(a.q, a.choice, a.words) }

func applyBaseline(d *decision, a answerGiven) { d.settleBaseline(a.choice) }

func applyManual(d *decision, a answerGiven) { d.judged(a.q, a.choice == "pass", a.words) }

func applyPlan(d *decision, a answerGiven) { d.settlePlan(a.q, a.choice == "approve", a.words) }

func applyUnticked(d *decision, a answerGiven) {
	for _, id := range a.q.Tasks {
		if a.choice == "keep" {
			d.mark(id, ledger.MarkDone)
		} else if t, ok := d.task(id); ok && t.Status == ledger.Done && t.Task.Mark != markGone {
			d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "redo", By: d.by(), Fresh: true})
		}
	}
}

func applySkip(d *decision, a answerGiven) {
	for _, id := range a.along {
		if t, ok := d.task(id); ok {
			d.putAway(t)
		}
	}
}

func applyStart(d *decision, a answerGiven) {
	if a.choice == "cancel" {
		d.say("%s not started", d.in.Project)
		return
	}
	s := *a.q.Offer
	if a.choice == "review" {
		s = s.WithLimits(*a.q.Review)
	}
	if a.choice == "parallel" {
		s = d.startParallel(s, a.q.Lanes.Parallel)
	}
	d.startRun(StartRun{Settings: s})
	d.say("%s starts %s", d.answer.ID, d.in.Project)
}

func applyAllow(d *decision, a answerGiven) {
	if d.settleAllow(a.q, a.choice == "allow", d.by()) {
		d.goOn()
	}
}

func applyLate(d *decision, a answerGiven) {
	if a.choice == "yes" {
		d.act(a.q.Do)
	} else {
		d.say("%s not done", a.q.Text)
	}
}

func applyNow(d *decision, a answerGiven) {
	item := d.queueNow(a.q)
	if s, ok := d.Project.Session(a.q.Session); a.choice == "rerun" && ok && s.Event == nil {
		d.cut(s, "/now")
		d.say("%s goes into the session that starts now", item)
	}
}

// expireQuietly settles a question that changes nothing if nobody answers.
func (d *decision) expireQuietly(q ledger.Question) { d.withdraw(q, "nothing was done") }

func (d *decision) expireBaseline(q ledger.Question) {
	choice, then := "stop", "not started"
	if d.run().Settings.Profile == "overnight" {
		choice, then = "go", "goes on; what fails now is shown, not counted"
	}
	d.add(scope{task: q.Task}, ledger.QuestionExpired{ID: q.ID, Choice: choice, Then: then})
	d.settleBaseline(choice)
}

func (d *decision) expireAgent(q ledger.Question) {
	about, then := scope{task: q.Task}, d.run().Settings.QuestionThen
	if then == ledger.ThenAbort {
		d.add(about, ledger.QuestionExpired{ID: q.ID, Then: ledger.ShortID(q.Task) + " is blocked"})
		d.abort(q)
		return
	}
	if q.Choice == "" || then == ledger.ThenPause {
		d.add(about, ledger.QuestionExpired{ID: q.ID, Then: ledger.ShortID(q.Task) + " waits; answer any time"})
		// The question is asked again without an end, so that it stays
		// answerable.
		q.Expires, q.Remind = time.Time{}, time.Time{}
		d.add(about, ledger.QuestionAsked{Question: q})
		return
	}
	d.add(about, ledger.QuestionExpired{ID: q.ID, Choice: q.Choice, Then: q.Choice})
	d.answered(q, q.Choice+" (nobody answered in time; your own choice stands)", "")
}

func (d *decision) expireNow(q ledger.Question) { d.settleNow(q, "queued, nothing is stopped") }

func (d *decision) expireAllow(q ledger.Question) {
	d.add(scope{task: q.Task}, ledger.QuestionExpired{ID: q.ID, Choice: "deny", Then: "stays out"})
	d.settleAllow(q, false, "nobody answered in time")
}
