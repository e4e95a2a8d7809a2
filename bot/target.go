package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// aboutTarget handles the commands whose argument is a task or a run. If the
// argument is missing, some of them use the run or the active task, and the
// others ask for the task.
func aboutTarget(ctx context.Context, d dispatch) (Message, error) {
	typed, part := strings.TrimSpace(d.c.Target), ""
	if d.c.Verb == VerbLog {
		typed, part = cutLogPart(typed)
	}
	if typed == "" {
		if d.c.Verb == VerbLog {
			return d.look(ctx, "", part)
		}
		t, ok := activeTask(d.s)
		if d.c.Verb == VerbWhy {
			if t, ok = failedTask(d.s); !ok {
				return nothingFailed(d.s), nil
			}
		} else if !ok || (d.c.Verb != VerbTask && d.c.Verb != VerbEvidence) {
			m := refusal("cmd.whichtask", SignAsk+" /"+string(d.c.Verb)+": which task?")
			m.add("Type for example /" + string(d.c.Verb) + " " + exampleTask(d.s) + ".")
			m.button("Tasks", "/tasks")
			return m, nil
		}
		typed = t.Task.ID
	}
	if d.c.Verb == VerbRetry {
		var again bool
		if typed, again = cutAgain(typed); !again {
			if m, done := askAgain(d.s, typed); done {
				return m, nil
			}
		}
	}
	attempt, read := "", part
	if d.c.Verb == VerbNext {
		typed, read = nextTarget(typed)
	}
	t, ok := FindTask(d.s, typed)
	if !ok && runForm.MatchString(typed) {
		if d.c.Verb == VerbLog {
			return d.logOfRun(ctx, strings.ToLower(typed), part)
		}
	}
	if !ok && d.c.Verb == VerbEvidence {
		if t, attempt, ok = FindAttempt(d.s, typed); !ok {
			if run, n, is := FindWave(d.s, typed); is {
				return d.lookAtWave(ctx, run, n)
			}
		}
	}
	if !ok {
		if ids := strings.Fields(typed); len(ids) > 1 && (d.c.Verb == VerbSkip || d.c.Verb == VerbRetry) {
			return d.several(ctx, ids)
		}
		return noTask(d.s, typed), nil
	}
	m, err := d.about(ctx, t, orElse(attempt, read))
	m.About = t.Task.ID
	return m, err
}

// FindAttempt returns the task, and the attempt at it, that is typed as "7.2".
func FindAttempt(s loop.State, typed string) (t loop.TaskState, attempt string, ok bool) {
	id, n, dotted := strings.Cut(typed, ".")
	if !dotted || !digits.MatchString(n) {
		return t, "", false
	}
	t, ok = FindTask(s, id)
	return t, "a" + n, ok
}

// cutAgain cuts the word off a /retry that says that done tasks are meant.
func cutAgain(typed string) (ids string, again bool) {
	words := strings.Fields(typed)
	if n := len(words); n > 1 && strings.EqualFold(words[n-1], "again") {
		return strings.Join(words[:n-1], " "), true
	}
	return typed, false
}

// askAgain asks back before a task is done again that is done: its two new attempts
// cost what the first ones did, and an id is easily mistyped. done reports whether
// one of the tasks is.
func askAgain(s loop.State, typed string) (m Message, done bool) {
	ids := []string{typed}
	if _, ok := FindTask(s, typed); !ok {
		ids = strings.Fields(typed)
	}
	for _, id := range ids {
		t, ok := FindTask(s, id)
		if !ok || t.Status != ledger.Done {
			continue
		}
		m = refusal("cmd.again", SignAsk+" "+Cut(shortID(t.Task.ID), 14)+" is done. Do it again?")
		m.add(Cut(Foreign(t.Task.Title), quoteWidth))
		m.add("What it did stays, two new attempts go on from there; /redo takes it out first. No answer: it stays done.")
		m.button("Do it again", "/retry "+typed+" again")
		m.About = t.Task.ID
		return m, true
	}
	return m, false
}

// about handles a command about one task. which is the attempt that /evidence shows, ""
// for the last one, the text that /next takes, or the part of a log.
func (d dispatch) about(ctx context.Context, t loop.TaskState, which string) (Message, error) {
	switch d.c.Verb {
	case VerbTask:
		records, err := d.service.Records(ctx, d.project, t.Task.ID)
		if err != nil {
			return Message{}, err
		}
		return Task(d.s, t, HistoryOf(records), d.r.Time), nil
	case VerbWhy:
		records, err := d.service.Records(ctx, d.project, t.Task.ID)
		if err != nil {
			return Message{}, err
		}
		return Failure(d.s, t, records, d.r.Terminal, d.r.Time), nil
	case VerbSkip:
		return d.do(ctx, loop.SkipTask{Task: t.Task.ID})
	case VerbRetry:
		return d.do(ctx, loop.RetryTask{Task: t.Task.ID})
	case VerbNext:
		return d.next(ctx, t, which)
	}
	return d.look(ctx, t.Task.ID, which)
}

// look renders ledger records of a task, or of the last run where task is "": as
// a log or the part of it that which names, or as the evidence of the attempt which.
func (d dispatch) look(ctx context.Context, task, which string) (Message, error) {
	attempt := which
	if d.c.Verb == VerbLog {
		attempt = ""
	}
	t, known := d.s.Project.Find(task)
	var records []ledger.Record
	var err error
	if known {
		records, err = TaskRecords(ctx, d.service, d.project, t, attempt)
	} else {
		records, err = d.service.Records(ctx, d.project, task)
	}
	if d.c.Verb == VerbLog {
		if err != nil {
			return Message{}, err
		}
		return d.logPart(Log(d.project, task, records, d.r.Time), task, records, which), nil
	}
	check := d.service.CheckChain(ctx, d.project)
	if err != nil && check.Break == nil { // otherwise the break says why a record cannot be read
		return Message{}, err
	}
	return Evidence(records, check, d.r.Time.Location()), nil
}

// several skips or retries several tasks. It looks up all ids first: otherwise
// a mistyped last id would leave only the first tasks changed.
func (d dispatch) several(ctx context.Context, ids []string) (Message, error) {
	var tasks []loop.TaskState
	for _, id := range ids {
		t, ok := FindTask(d.s, id)
		if !ok {
			return noTask(d.s, id), nil
		}
		tasks = append(tasks, t)
	}
	var inputs []loop.InputBody
	for _, t := range tasks {
		if d.c.Verb == VerbRetry {
			inputs = append(inputs, loop.RetryTask{Task: t.Task.ID})
			continue
		}
		inputs = append(inputs, loop.SkipTask{Task: t.Task.ID})
	}
	return d.each(ctx, inputs)
}

// each carries out several inputs and returns one reply.
func (d dispatch) each(ctx context.Context, inputs []loop.InputBody) (Message, error) {
	var whole Message
	for n, body := range inputs {
		one := d
		if d.r.Key != "" { // each input gets a key derived from the message's: the key itself is for the reply
			one.r.Key = fmt.Sprintf("%s/%d", d.r.Key, n+1)
		}
		m, err := one.do(ctx, body)
		if err != nil {
			return whole, err
		}
		if n == 0 {
			whole = m
			continue
		}
		whole.Lines = append(whole.Lines, m.Lines...)
		if m.Refused { // without a Cause, so that a terminal shows the refusal too
			whole.Cause, whole.Refused = "", true
		}
	}
	return whole, nil
}
