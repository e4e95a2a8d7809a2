package bot

import (
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxOutput is how many lines of a program's output stand in the message of /why. Of a
// longer one it quotes the last lines, and a chat shows all of it as a file.
const maxOutput = 16

// failure is what went wrong in a task's last attempt in which something did.
type failure struct {
	attempt string // run and attempt
	at      time.Time
	ended   *ledger.AttemptEnded
	red     *ledger.Verified
	refused *ledger.EventRefused // the last one that no accepted event followed
	by      string               // hat of the session whose event was refused
	session *ledger.SessionEnded // the last agent session, if it ended without an event
	hat     string               // of that session
}

// failureOf reads the records of one task.
func failureOf(records []ledger.Record) failure {
	var f, shown failure
	hats := map[string]string{}
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			continue
		}
		if of := e.Run + " " + e.Attempt; e.Attempt != "" && of != f.attempt {
			f = failure{attempt: of}
		}
		switch b := e.Body.(type) {
		case ledger.SessionPlanned:
			hats[e.Session] = b.Hat
		case ledger.EventRefused:
			f.refused, f.by = &b, hats[e.Session]
		case ledger.EventAccepted:
			f.refused = nil
		case ledger.SessionEnded:
			if b.Kind == ledger.KindAgent || b.Kind == "" {
				f.session, f.hat = nil, hats[e.Session]
				if b.End != ledger.EndedEvent {
					f.session = &b
				}
			}
		case ledger.Verified:
			f.red = nil
			if !b.OK && b.Kind != ledger.KindProof { // the new tests have to fail without the change
				f.red = &b
			}
		case ledger.AttemptEnded:
			if !b.Failed && b.Outcome != ledger.OutcomeBlocked {
				continue
			}
			f.ended = &b
		default:
			continue
		}
		if f.ended != nil || f.red != nil || f.refused != nil || f.session != nil {
			f.at = e.Time
			shown = f
		} else if shown.attempt == f.attempt {
			shown = failure{}
		}
	}
	return shown
}

// Failure says why a task's last attempt went wrong: the reason, the end of the failing
// command's output, what hat refused, and the last lines of a session that reported
// nothing. records are the task's, in ledger order; what looks like a secret was
// removed before they were written. On a terminal no output becomes a file.
func Failure(s loop.State, t loop.TaskState, records []ledger.Record, terminal bool, now time.Time) Message {
	f := failureOf(records)
	id := shortID(t.Task.ID)
	if f.at.IsZero() {
		m := newMessage("why", firstLine(SignLater, s.Project.Name, id+": nothing failed", ""))
		m.add(Cut(Clean(t.Task.Title), quoteWidth))
		m.add("No failure of it is in the ledger.")
		m.button("Task", "/task "+idArg(t.Task.ID))
		return m
	}
	m := newMessage("why", firstLine(StatusSign(t.Status), s.Project.Name, id+": why", ""))
	m.add(Cut(Clean(t.Task.Title), quoteWidth) + " · " + Clock(f.at, now))
	if f.ended != nil {
		m.labelled(orElse(upper(OutcomeWord(outcomeOf(*f.ended))), "It ended"), OutcomeWhy(outcomeOf(*f.ended), f.ended.Why))
	}
	if r, is := failedResult(f.red); is {
		line := CommandName(r.Run)
		switch {
		case r.Why != "":
			line += ": " + Clean(r.Why)
		default:
			line += exitText(r.Exit)
		}
		m.add(SignFailed + " " + line)
		m.output(r.Tail, terminal)
	}
	if f.refused != nil {
		m.labelled("hat refused the report"+hatName(" of the ", f.by), f.refused.Why)
	}
	if x := f.session; x != nil {
		m.add("The " + orElse(Clean(f.hat), "session") + ": " + EndText(*x))
		m.labelled("It says", x.Exit.Text)
		m.output(x.Exit.Words(), terminal)
	}
	m.button("Log", "/log "+idArg(t.Task.ID))
	m.button("Task", "/task "+idArg(t.Task.ID))
	return m
}

func hatName(before, hat string) string {
	if hat == "" {
		return ""
	}
	return before + Clean(hat)
}

// output adds a program's output: as it is, or if it is long enough for a file the last
// lines of it as a quote, above all of it.
func (m *Message) output(text string, terminal bool) {
	lines := slices.DeleteFunc(CleanLines(text), func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(lines) > maxOutput && !terminal {
		m.add("It ends with:")
		m.verbatim(ledger.LastLines(text))
	}
	for _, line := range lines {
		m.pre(line)
	}
}

// failedResult returns the first command of a red check that counts.
func failedResult(v *ledger.Verified) (ledger.Result, bool) {
	if v == nil {
		return ledger.Result{}, false
	}
	n := slices.IndexFunc(v.Results, func(r ledger.Result) bool { return !r.OK && !r.Advisory })
	if n < 0 {
		return ledger.Result{}, false
	}
	return v.Results[n], true
}

// nothingFailed is the reply to /why where no task is blocked or failed last.
func nothingFailed(s loop.State) Message {
	m := newMessage("why", firstLine(SignDone, s.Project.Name, "nothing is blocked or failed", ""))
	m.add("Of a task: for example /why " + exampleTask(s) + ".")
	m.button("Tasks", "/tasks")
	return m
}

// failedTask returns the task that /why is about without an id: the last one that is
// blocked, or else the last one whose last attempt failed.
func failedTask(s loop.State) (found loop.TaskState, ok bool) {
	for _, t := range s.Project.Tasks.All() {
		switch {
		case t.Status == ledger.Withdrawn, t.Status == ledger.Done:
			continue
		case t.Status != ledger.Blocked && t.LastFail == "":
			continue
		case ok && found.Status == ledger.Blocked && t.Status != ledger.Blocked:
			continue
		case ok && (found.Status == ledger.Blocked) == (t.Status == ledger.Blocked) && t.Last.Before(found.Last):
			continue
		}
		found, ok = *t, true
	}
	return found, ok
}
