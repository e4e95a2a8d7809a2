package bot

import (
	"context"
	"errors"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// fixReport answers /fix: a run under way works on that bug report next, whatever triage
// says of it. Without one, a run for it alone is offered.
func fixReport(ctx context.Context, d dispatch) (Message, error) {
	typed := strings.TrimSpace(d.c.Target)
	if typed == "" {
		m := refusal("fix.which", SignAsk+" /fix: which report?")
		m.add("Type for example /fix B37.")
		m.button("Triage", "/triage")
		return m, nil
	}
	r := d.s.Project.Run
	idle := r.Over() || r.Aside()
	t, known := FindTask(d.s, typed)
	if !idle && !known {
		return noTask(d.s, typed), nil
	}
	host, ok := d.service.(DaemonService)
	if idle && !ok {
		m := refusal("run.nohost", SignFailed+" /fix needs nightporter up")
		m.add("Without it: nightporter run --only " + idArg(typed) + ". Nothing was done.")
		return m, nil
	}
	if known {
		typed = t.Task.ID
	}
	if !idle {
		m, err := d.do(ctx, loop.FixReport{Task: typed})
		m.About = typed
		return m, err
	}
	if m, settled := notOpen(t); known && settled {
		return m, nil
	}
	if m, blocked := stillBlocked(ctx, d); blocked {
		return m, nil
	}
	offer, err := host.Offer(ctx, d.project, RunFlags{Only: typed})
	var input *ledger.InputError
	switch {
	case errors.As(err, &input):
		return NotStarted(d.project, input.Diagnostics), nil
	case err != nil:
		return Message{}, err
	case !offer.Settings.InWaves():
		m := refusal("fix.noinbox", SignFailed+" the source of "+d.project+" has no bug reports")
		m.add("A source of them is bugs:PATH or bugs:forge:LABEL. Nothing was started.")
		return m, nil
	case offer.Idle:
		return nothingReady(d.s), nil
	}
	return d.doAsking(ctx, ledger.AskStart, offer)
}

// notOpen returns the reply to /fix without a run for a report that no run would take up:
// a person decides about it first.
func notOpen(t loop.TaskState) (m Message, settled bool) {
	if t.Aside != "" || t.Status == ledger.Ready || t.Status == ledger.Pending {
		return m, false
	}
	m = refusal("fix.settled", SignAsk+" "+Cut(shortID(t.Task.ID), 14)+" is "+string(t.Status))
	m.add(Cut(Foreign(t.Task.Title), quoteWidth))
	m.add("/retry " + idArg(t.Task.ID) + " brings it back; then /fix. Nothing was done.")
	m.button("Retry", "/retry "+idArg(t.Task.ID))
	m.About = t.Task.ID
	return m, true
}

// spentFix is spentBy for /fix.
func spentFix(s loop.State, c Command) string {
	t, ok := FindTask(s, c.Target)
	switch {
	case !ok:
		return ""
	case t.Status == ledger.Active || t.Status == ledger.Done || t.Status == ledger.Withdrawn:
		return shortID(t.Task.ID) + " is " + string(t.Status) + " already"
	case !s.Project.Run.Over() && ledger.SameID(s.Project.Run.Next, t.Task.ID):
		return shortID(t.Task.ID) + " is next already"
	}
	return ""
}
