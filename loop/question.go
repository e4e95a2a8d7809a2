package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// askAgent passes an agent's question on to a person. The task waits with its
// tree while other tasks continue.
func (d *decision) askAgent(t TaskState) {
	data := t.Attempt.Event.Data
	d.holdTask(t, ledger.Question{
		Hat: t.Attempt.Hat, Text: payload.String(data, "text"), Options: payload.Strings(data, "options"), Choice: payload.String(data, "choice"),
	})
}

// askDispute asks a person to decide about issues that a review upheld twice
// although the fixer gave reasons against them (docs/spec 2.5).
func (d *decision) askDispute(t TaskState) {
	var b strings.Builder
	who := "review"
	if t.Attempt.Event.Type == ledger.EventFailed {
		who = "verifier"
		for _, s := range t.Attempt.History {
			if s.Event == ledger.EventFailed {
				who = s.Hat // a team has a tester
			}
		}
	}
	b.WriteString("The " + who + " upholds this a second time, and the " + t.Attempt.Hat + " sees nothing to change:")
	for _, i := range t.Attempt.Issues {
		b.WriteString("\n" + i.Describe())
	}
	for n := len(t.Attempt.History) - 1; n >= 0; n-- {
		if s := t.Attempt.History[n]; s.Hat == t.Attempt.Hat {
			b.WriteString("\n" + s.Hat + ": " + s.Summary)
			break
		}
	}
	d.holdTask(t, ledger.Question{Hat: t.Attempt.Hat, Text: b.String(), Options: []string{"Fix it as the " + who + " says", "Leave it as it is"}})
}

// askAllow asks whether a task may write paths outside its scope that its
// sessions write again and again (docs/spec 4.1). If expires is set, the task
// waits for the answer until then; if it is zero, the task goes on.
func (d *decision) askAllow(t TaskState, paths []string, expires time.Time) {
	for _, q := range d.Project.questionsAbout(t.Task.ID) {
		if q.Kind != ledger.AskAllow {
			continue
		}
		if expires.IsZero() {
			return
		}
		for _, p := range q.Paths {
			if !slices.Contains(paths, p) {
				paths = append(slices.Clip(paths), p)
			}
		}
		d.add(scope{task: t.Task.ID}, ledger.QuestionExpired{ID: q.ID, Then: "asked again: the task waits for it now"})
	}
	q := ledger.Question{
		Kind: ledger.AskAllow, Hat: t.Attempt.Hat, Paths: paths, RunsItself: common(t.Attempt.Captured.RunsItself, paths), Expires: expires,
		Text: fmt.Sprintf("allow %s for %s?", joinFew(paths), ledger.ShortID(t.Task.ID)),
	}
	if !expires.IsZero() {
		d.holdTask(t, q)
		return
	}
	q.ID, q.Run, q.Task, q.Session, q.Title, q.Asked = d.nextID("q"), d.run().ID, t.Task.ID, t.Attempt.Session, t.Task.Title, d.in.Time
	d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.QuestionAsked{Question: q})
}

// holdTask asks q about the task and lets the task wait with its tree. It fills
// in q's id, run, task, session and times. A q without a kind is an agent's
// question.
func (d *decision) holdTask(t TaskState, q ledger.Question) {
	w, id := t.Attempt, t.Task.ID
	q.ID, q.Run, q.Task, q.Session, q.Title, q.Asked = d.nextID("q"), d.run().ID, id, w.Session, t.Task.Title, d.in.Time
	if q.Kind == "" {
		q.Kind = ledger.AskAgent
		scheduleReminder(&q, d.in.Time, d.in.Time.Add(d.run().Settings.QuestionTimeout.D()))
	}
	about := scope{task: id, session: w.Session}
	d.add(about, ledger.StageSet{Stage: ledger.StageHeld})
	d.add(about, ledger.TaskSet{From: t.Status, To: ledger.Waiting, Why: "asks: " + firstLine(q.Text), Question: q.ID})
	d.add(about, ledger.QuestionAsked{Question: q})
}

// askManual asks a person to check a result that no agent can judge.
func (d *decision) askManual(t TaskState, instructions string) {
	list := slices.Clone(t.Task.Acceptance)
	if instructions != "" && instructions != payload.ManualAcceptance {
		list = append([]string{instructions}, list...)
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskManual, Run: d.run().ID, Task: t.Task.ID, Title: t.Task.Title,
		Text: strings.Join(list, "\n"), Asked: d.in.Time,
	}
	if t.Attempt != nil && d.pictured(t) || t.Attempt == nil && d.picturedTip(t) {
		q.Pictured = t.Pictured
	}
	if q.Text == "" {
		q.Text = t.Task.Title
	}
	d.add(scope{task: t.Task.ID}, ledger.TaskSet{From: t.Status, To: ledger.ManualVerify, Why: "needs a person", Question: q.ID})
	d.add(scope{task: t.Task.ID}, ledger.QuestionAsked{Question: q})
	d.mark(t.Task.ID, ledger.MarkManualVerify)
}
