package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Started announces that a run has begun (docs/spec 23.2). most is the number of sessions
// that the configuration allows at a time, 0 for any.
func Started(s loop.State, b ledger.RunStarted, most int, now time.Time) Message {
	r := s.Project.Run
	m := newMessage("run.started", firstLine(SignNow, s.Project.Name, r.ID+" started, "+Plural(b.Tasks, "task"), ""))
	m.Project, m.Run = s.Project.Name, r.ID
	began, first := now.Format("15:04"), ""
	if b.First != "" {
		first = "first: " + shortID(b.First)
		if t, ok := FindTask(s, b.First); ok {
			first += " " + Cut(Foreign(t.Task.Title), 34)
		}
	}
	if a, ok := StartOf(s.Project); ok {
		m.add(began + ", by " + answeredBy(a.By))
		m.add(upper(first))
	} else {
		m.add(strings.TrimSuffix(began+" · "+first, " · "))
		if loop.WorthTelling(b.Outlook) { // the question before it would have said it
			m.add(outlookSum(*b.Outlook, now))
			if limit := outlookLimit(*b.Outlook, now); limit != "" {
				m.add(limit + ".")
			}
			if budget := outlookBudget(*b.Outlook); budget != "" && b.Outlook.Budget.Needs == 0 { // the preflight warned of that
				m.add(upper(budget) + ".")
			}
		}
		if p := loop.ProposedLanes(s, most, now); p != nil {
			m.add(LanesProposed(*p) + fmt.Sprintf(" Another night: parallel = %d in its [[project]].", p.Parallel))
		}
	}
	if r.Base.Branch != "" {
		m.add("Branch " + Foreign(r.Base.Branch))
	}
	if on := StartedOn(r.Base); on != "" {
		m.add("Starts from " + on)
	}
	if b.Repair != nil {
		m.add(SignLook + " " + Cut(r.ID+" begins with the repair of "+Foreign(b.Repair.String()), 2*quoteWidth))
	}
	switch {
	case len(b.Exempt) > 0:
		m.add(SignLook + " " + Cut("Failed before any work, only shown: "+ExemptText(b.Exempt), 2*quoteWidth))
	case len(b.Advisory) > 0: // of an earlier release
		m.add(SignLook + " Failed before any work, only shown: " + Cut(strings.Join(commandNames(b.Advisory), ", "), quoteWidth))
	case b.Repair != nil:
	case len(b.Baseline) > 0:
		m.add("At the start: " + strings.Join(passedNames(b.Baseline), ", ") + " passes.")
	default:
		m.add(SignLook + " No verification commands: nothing checks what is built.")
	}
	m.boundary(r.Base)
	m.add(ScriptedStart(r))
	if n := len(r.Base.Dirty); n > 0 {
		m.add(SignLook + " " + Cut("Not included, changed in your checkout: "+Foreign(strings.Join(r.Base.Dirty, ", ")), 2*quoteWidth))
	}
	last := "Works alone from here."
	if !r.Settings.Until.IsZero() {
		last = "Works alone from here, until " + Clock(r.Settings.Until, now) + "."
	}
	m.add(last)
	m.button("Status", "/status")
	m.button("Pause", "/pause")
	m.button("Stop", "/stop")
	return m
}

// StartOf returns the answer that confirmed the start of the run, and whether the state
// still has it. A run that began otherwise, or later than its answer, has none.
func StartOf(p loop.Project) (loop.Answered, bool) {
	n := slices.IndexFunc(p.Answered, func(a loop.Answered) bool {
		starts := a.Choice == "start" || a.Choice == "review"
		return a.Subject.Kind == ledger.AskStart && starts && p.Run != nil && a.At.Equal(p.Run.Planned)
	})
	if n < 0 {
		return loop.Answered{}, false
	}
	return p.Answered[n], true
}

// StartedOn names the branch that a run starts from in place of HEAD, and its commit;
// "" stands for HEAD.
func StartedOn(b ledger.Base) string {
	if !b.Set {
		return ""
	}
	where := "of your repository"
	if b.Fetched {
		where = "of the remote"
	}
	return fmt.Sprintf("%s %s, %.10s", Foreign(b.HeadName), where, b.Head)
}

// boundary adds the level of the boundary around sessions (docs/spec 12.1), where
// 0 is unknown, and whether rooms are copies.
func (m *Message) boundary(b ledger.Base) {
	text := upper(ShutIn(b.Boundary)) + "."
	if b.Boundary == 1 {
		text = SignLook + " " + text
	}
	if b.Copies {
		text += " Rooms are copies."
	}
	m.add(text)
}

// ShutIn says how far sessions are shut in at a level of the boundary around them; 0
// is unknown.
func ShutIn(level int) string {
	switch level {
	case 0:
		return "how far sessions are shut in is unknown"
	case 1:
		return "sessions are not shut in; what they write is compared afterwards"
	case 2:
		return "sessions write only into their own folders, but see other processes"
	}
	return "sessions write only into their own folders"
}

// Degraded reports whether the run has boundary level 1, which only compares the
// work folder after each session.
func Degraded(r *loop.Run) bool { return r != nil && r.Base.Boundary == 1 }

func commandNames(commands []string) []string {
	out := make([]string, len(commands))
	for n, c := range commands {
		out[n] = CommandName(c)
	}
	return out
}

func passedNames(results []ledger.Result) []string {
	var out []string
	for _, r := range results {
		if name := CommandName(r.Run); r.OK && len(out) < 3 {
			out = append(out, name)
		}
	}
	return out
}

// Problems announces that the preflight found reasons against the run, which
// therefore does not start (docs/spec 2.0).
func Problems(s loop.State, found []ledger.Diagnostic) Message {
	return NotStarted(s.Project.Name, found)
}

// Warnings announces findings of the preflight in spite of which the run starts.
func Warnings(s loop.State, found []ledger.Diagnostic) Message {
	m := newMessage("run.warnings", firstLine(SignLook, s.Project.Name, runID(s)+": "+Plural(len(found), "thing")+" to look at", ""))
	m.Project = s.Project.Name
	m.findings(found)
	m.add("It starts all the same.")
	m.keepOpen(found)
	return m
}

// DiskFull announces that a run waits because the disk is full.
func DiskFull(s loop.State, now time.Time) Message {
	m := newMessage("disk.full", firstLine(SignLook, s.Project.Name, "waits: the disk is full", ""))
	m.Project = s.Project.Name
	m.add(strings.TrimSuffix(now.Format("15:04")+" · "+Count(s).String()+" · "+Doing(s), " · "))
	m.add("Goes on by itself once there is room on the host. Nothing is lost.")
	m.button("Status", "/status")
	m.button("Stop", "/stop")
	return m
}

// BaselineBroke announces that verification commands that passed when the run
// began now fail on the start commit itself. No task caused that, so no task
// fails for it.
func BaselineBroke(s loop.State, b ledger.BaselineBroke, now time.Time) Message {
	m := newMessage("baseline.broke", firstLine(SignLook, s.Project.Name, "checks fail without us", " · "+now.Format("15:04")))
	m.Project = s.Project.Name
	m.add("Passed when the run began: " + Foreign(strings.Join(b.Commands, ", ")))
	m.quote(b.Text)
	only := "Every commit from here says so"
	if tasks := exemptTasks(b); tasks != "" {
		only = "Not counted for " + tasks + " alone: the next task looks again"
	}
	m.add("The run goes on. " + only + "; pause it to mend that first.")
	m.button("Status", "/status")
	m.button("Pause", "/pause")
	return m
}

// NotMarked announces that a task's status could not be written into the user's
// plan file.
func NotMarked(s loop.State, b ledger.EffectFailed, now time.Time) Message {
	m := newMessage("mark.failed", firstLine(SignLook, s.Project.Name, "cannot write a mark", " · "+now.Format("15:04")))
	m.Project = s.Project.Name
	m.quote(b.Text)
	m.add("What is done is known all the same: /tasks. Mend the file by hand; nothing waits for it.")
	m.button("Tasks", "/tasks")
	return m
}

// Poisoned announces a fault in nightporter: an input could not be decided or,
// with b.Done, was decided but its messages could not be composed.
func Poisoned(project string, b ledger.InputPoisoned, now time.Time) Message {
	m := newMessage("poisoned", SignFailed+" A fault in nightporter · "+now.Format("15:04"))
	m.Project = project
	kind := Cut(strings.ReplaceAll(Foreign(b.Kind), "_", " "), 24)
	if b.Done {
		m.add("What came of an input (" + kind + ") cannot be told here. It is done: /status shows how all stands.")
	} else {
		m.add("An input (" + kind + ") was put aside; the ledger keeps it with its cause.")
	}
	m.add("All else goes on.")
	return m
}

// Lost announces that the outcome of a session is unknown because a restart of
// the machine removed its traces, or that it was stopped for what it used. again reports that the session is run again;
// otherwise the attempt has failed.
func Lost(s loop.State, task, hat, session string, b ledger.SessionEnded, again bool, now time.Time) Message {
	word, why := "unknown", "Nobody knows how session "+Clean(session)+" ended."
	if b.Exit.OverLimits() {
		word, why = "stopped", "Session "+Clean(session)+" "+EndText(b)+": "+Cut(Foreign(b.Exit.Text), 120)+"."
	}
	m := newMessage("session.lost", firstLine(SignLook, s.Project.Name, strings.TrimSpace(shortID(task)+" "+Cut(Clean(hat), 10))+" "+word, " · "+now.Format("15:04")))
	m.Project, m.About = s.Project.Name, task
	m.add(why + " Nothing of it is taken over.")
	last := "It is run again; nothing is done twice."
	if !again {
		last = "The second in a row: the attempt failed with it."
	}
	m.add(last)
	return m
}

// Throttled announces that a session does not heed that its calls are refused.
func Throttled(s loop.State, task, hat, session string, b ledger.SessionThrottled, now time.Time) Message {
	m := newMessage("session.throttled", firstLine(SignLook, s.Project.Name, strings.TrimSpace(shortID(task)+" "+Cut(Clean(hat), 10))+" floods", " · "+now.Format("15:04")))
	m.Project, m.About = s.Project.Name, task
	m.add("Session " + Clean(session) + " calls nightporter without pause: " + thousands(b.Refused) + " calls refused so far.")
	m.add("All else goes on, and the session until its time is up.")
	m.button("Stop", "/stop now")
	return m
}
