package bot

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ButtonSpent reports whether the command of a button can do nothing any more, and why, for
// the person who presses it: its run is over, its task has begun, its guidance is in use
// (docs/spec 6.2). A look is never spent. A command that fails for a reason that may pass
// is answered as if it were typed.
func ButtonSpent(service Service, r Request) (why string, spent bool) {
	c, err := Parse(r.Text)
	if err != nil {
		return "", false
	}
	project, problem := pickProject(service, &c, r)
	if problem != nil {
		return "", false
	}
	s, ok := stateOf(service, project)
	if !ok {
		return "", false
	}
	why = spentBy(s, c, r.Time)
	return why, why != ""
}

// spentBy says why a command can do nothing any more at a time, "" if it can.
func spentBy(s loop.State, c Command, now time.Time) string {
	switch c.Verb {
	case VerbRun:
		if r := s.Project.Run; !r.Over() && !r.Aside() {
			return Clean(s.Project.Name) + " runs already: " + r.ID + ", " + Count(s).String()
		}
	case VerbPause, VerbResume, VerbStop:
		return spentHold(s, c)
	case VerbRetry, VerbSkip:
		return spentTasks(s, c)
	case VerbMerge:
		return spentMerge(s, c)
	case VerbNext:
		return spentNext(s, c)
	case VerbFix:
		return spentFix(s, c)
	case VerbAdd:
		return spentAdd(s, c)
	case VerbBug:
		return spentReport(s, c)
	case VerbDrop, VerbTakeBack:
		return spentGuidance(s, c)
	case VerbKeep:
		if i, ok := s.Project.Guidance.Get(itemTyped(c.Target)); ok && i.State != guidance.Expired {
			return i.ID + " is " + i.State.Word() + " already"
		}
	case VerbAnswer:
		a, ok := s.Project.SettledQuestion(c.Target)
		switch {
		case !ok:
		case c.Undoes():
			return s.Project.UndoOver(a, now)
		case a.Late == nil:
			return a.ID + " is settled"
		}
	}
	return ""
}

// spentHold is spentBy for the commands that hold, end or continue a run.
func spentHold(s loop.State, c Command) string {
	r := s.Project.Run
	if r.Over() {
		if _, held := s.Shared.Agents[c.Target]; c.Verb == VerbResume && (held || len(s.Project.Failing) > 0) { // it tries again
			return ""
		}
		return "Nothing runs any more"
	}
	unusable := slices.ContainsFunc(slices.Collect(maps.Values(s.Shared.Agents)), func(h loop.AgentHold) bool { return h.Unusable })
	switch {
	case c.Verb == VerbPause && r.State == ledger.RunPaused:
		return Clean(s.Project.Name) + " is paused already"
	case c.Verb == VerbPause && r.State == ledger.RunPausing && !c.Now:
		return Clean(s.Project.Name) + " pauses already"
	case c.Verb != VerbResume && r.State == ledger.RunStopping && (!c.Now || r.StopNow):
		return Clean(s.Project.Name) + " ends already"
	case c.Verb == VerbResume && r.State == ledger.RunRunning && c.Target == "" && len(s.Project.Failing) == 0 && !unusable:
		return Clean(s.Project.Name) + " is at work already"
	}
	return ""
}

// spentTasks is spentBy for /retry and /skip: of several tasks, each has to be settled.
func spentTasks(s loop.State, c Command) string {
	typed, again := cutAgain(c.Target)
	ids := []string{typed}
	if _, ok := FindTask(s, typed); !ok {
		ids = strings.Fields(typed)
	}
	over := []ledger.Status{ledger.Done, ledger.Skipped, ledger.Withdrawn, ledger.Active}
	if c.Verb == VerbRetry {
		over = []ledger.Status{ledger.Active, ledger.Ready, ledger.Pending}
		if !again {
			over = append(over, ledger.Done)
		}
	}
	why := ""
	for _, id := range ids {
		t, ok := FindTask(s, id)
		if !ok || !slices.Contains(over, t.Status) {
			return ""
		}
		switch t.Status {
		case ledger.Active:
			why = shortID(t.Task.ID) + " is at work"
		case ledger.Withdrawn:
			why = shortID(t.Task.ID) + " is gone from the list"
		default:
			why = shortID(t.Task.ID) + " is " + string(t.Status) + " already"
		}
	}
	return why
}

// spentMerge is spentBy for /merge: a request that was merged or closed is not merged
// again.
func spentMerge(s loop.State, c Command) string {
	number, ok := requestNumber(c.Target)
	b, known := s.Project.Requests.Numbered(number)
	if !ok || number == 0 || !known || b.IsOpen() {
		return ""
	}
	return requestName(number) + " is " + string(b.Request.State) + " already"
}

// spentNext is spentBy for /next, which needs a ready task of a run under way.
func spentNext(s loop.State, c Command) string {
	id, _ := nextTarget(c.Target)
	t, ok := FindTask(s, id)
	switch {
	case !ok || t.Untaken():
		return ""
	case s.Project.Run.Over():
		return "Nothing runs any more"
	case slices.Contains([]ledger.Status{ledger.Active, ledger.Done, ledger.Skipped}, t.Status) || t.Queued():
		return shortID(t.Task.ID) + " is " + string(t.Status) + " already"
	case ledger.SameID(s.Project.Run.Next, t.Task.ID):
		return shortID(t.Task.ID) + " is next already"
	}
	return ""
}

// spentAdd is spentBy for what takes added tasks out again, or changes them.
func spentAdd(s loop.State, c Command) string {
	m := undoForm.FindStringSubmatch(strings.TrimSpace(c.Words))
	if m == nil {
		return spentTitles(s, c)
	}
	a, ok := s.Project.Addition(m[2])
	if !ok {
		return ""
	}
	if a.Removed {
		return Ranges(a.IDs) + " is out already"
	}
	if begun, has := s.Project.Begun(a); has {
		return shortID(begun) + " has begun"
	}
	return ""
}

// spentReport is spentBy for [Add again] and [Try again], which add a bug report.
func spentReport(s loop.State, c Command) string {
	report := loop.ReadReport(c.Words)
	for _, t := range s.Project.Tasks.All() {
		if t.Task.Report != nil && t.Status != ledger.Done && t.Status != ledger.Withdrawn && report.SaysAs(t.Task) {
			return shortID(t.Task.ID) + " says that already"
		}
	}
	return ""
}

// spentGuidance is spentBy for what takes guidance back: of several items, each has to be
// over or in use.
func spentGuidance(s loop.State, c Command) string {
	why := ""
	for word := range strings.FieldsSeq(c.Target) {
		i, ok := s.Project.Guidance.Get(itemTyped(word))
		_, reads := s.Project.Session(i.Session)
		used := i.State != guidance.Queued && !i.Sticky && (i.State != guidance.Injected || reads)
		if !ok || !i.Over() && !used {
			return ""
		}
		why = i.ID + " is " + i.State.Word() + " already"
	}
	return why
}

// spentTitles is spentBy for [Add again] and [Try again], which add tasks by their titles.
func spentTitles(s loop.State, c Command) string {
	has := map[string]string{}
	for _, t := range s.Project.Tasks.All() {
		if t.Status != ledger.Done && t.Status != ledger.Withdrawn {
			has[ledger.TitleKey(t.Task.Title)] = t.Task.ID
		}
	}
	why := ""
	for _, t := range loop.ReadTasks(c.Words) {
		id, ok := has[ledger.TitleKey(t.Title)]
		if !ok {
			return ""
		}
		why = shortID(id) + " has that title already"
	}
	return why
}
