package bot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Took writes a duration for people: "38 s", "41 min", "7 h 02". A negative
// duration is "unknown".
func Took(d time.Duration) string {
	switch {
	case d < 0:
		return "unknown"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	m := int(d.Minutes())
	return fmt.Sprintf("%d h %02d", m/60, m%60)
}

// Clock writes a time as seen at now, in now's zone: "03:06" on the same day or
// within twelve hours, "Tue 03:06" within a week, otherwise with its date, and
// with its year if that differs. It adds the zone's name only within twelve
// hours of a change of the clocks. A zero time is "unknown".
func Clock(t, now time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	t = t.In(now.Location())
	s := t.Format("15:04")
	// Twelve hours span a night: at 06:00 a reader understands "23:00" as the
	// evening before.
	if gap := t.Sub(now).Abs(); gap > 12*time.Hour && t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		switch {
		case gap < 7*24*time.Hour:
			s = t.Format("Mon 15:04")
		case t.Year() != now.Year():
			s = t.Format("2 Jan 2006 15:04")
		default:
			s = t.Format("2 Jan 15:04")
		}
	}
	_, before := t.Add(-12 * time.Hour).Zone()
	if _, after := t.Add(12 * time.Hour).Zone(); before != after {
		s += t.Format(" MST")
	}
	return s
}

// Money writes an amount of US dollars: "$7.30". A negative amount, which agents
// without a figure report, is "unknown".
func Money(usd float64) string {
	if usd < 0 {
		return "unknown"
	}
	const micro = 1e6 // sums of the same sessions in another order differ in what is less
	return fmt.Sprintf("$%.2f", math.Round(usd*micro)/micro)
}

// Cost writes what a run has spent as far as its agents report it. It names
// sessions of unknown cost and never counts them as free. "≈" stands before a sum that
// holds costs that are estimated, or computed from tokens.
func Cost(r *loop.Run) string {
	if r == nil || r.Unpriced > 0 && r.CostUSD == 0 {
		return "cost unknown"
	}
	sum := about(r.CostUSD, r.Estimated)
	if r.Unpriced == 0 {
		return sum
	}
	return fmt.Sprintf("%s + unknown (%s)", sum, Plural(r.Unpriced, "session"))
}

// costNotYet stands for the cost of a run of which no session has ended: agents
// report their cost at the end.
const costNotYet = "cost not yet known"

// CostSoFar writes the Cost of a project's run, under way or over, or says that
// it is not yet known (CostOpen).
func CostSoFar(s loop.State) string {
	if CostOpen(s) {
		return costNotYet
	}
	return Cost(s.Project.Run)
}

// CostOpen reports whether the project's run is under way, has started sessions
// of agents and none of them has ended, so that no cost is known yet.
func CostOpen(s loop.State) bool {
	r := s.Project.Run
	if r == nil || r.Over() || r.Agents == 0 {
		return false
	}
	working := 0
	for _, x := range s.Project.Sessions {
		if x.Planned.Kind == ledger.KindAgent {
			working++
		}
	}
	return working >= r.Agents
}

// Plural writes a count with its noun: "1 task", "12 tasks".
func Plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strconv.Itoa(n) + " " + word
}

// Tally counts the tasks of a project, without withdrawn tasks.
type Tally struct {
	Total, Done, Skipped, Blocked int
	Left                          int // neither done nor skipped
	Needs                         int // open questions
}

// Count returns the tally of a state. The parts of a plan count as one with their
// parent task, except that each blocked part adds to Blocked.
func Count(s loop.State) Tally {
	t := Tally{Needs: len(s.Project.Questions)}
	for _, ts := range s.Project.Tasks.All() {
		if ts.Status == ledger.Withdrawn {
			continue
		}
		if ts.Task.Parent != "" {
			if ts.Status == ledger.Blocked {
				t.Blocked++
			}
			continue
		}
		t.Total++
		switch ts.Status {
		case ledger.Done:
			t.Done++
		case ledger.Skipped:
			t.Skipped++
		case ledger.Blocked:
			t.Blocked++
		}
	}
	t.Left = t.Total - t.Done - t.Skipped
	return t
}

// String returns done and total tasks in the form of first lines: "6/12".
func (t Tally) String() string { return fmt.Sprintf("%d/%d", t.Done, t.Total) }

// FindTask returns the task that a person typed: by its id in any case, by its
// number with or without "#", or by a tail that only one id has. It returns false
// if no task matches, or several tails.
func FindTask(s loop.State, typed string) (loop.TaskState, bool) {
	want := ledger.FoldID(strings.TrimPrefix(strings.TrimSpace(typed), "#"))
	if want == "" {
		return loop.TaskState{}, false
	}
	var tails []loop.TaskState
	for _, t := range s.Project.Tasks.All() {
		id := ledger.FoldID(t.Task.ID)
		if id == want || id == "task "+want || strings.TrimPrefix(ledger.FoldID(ledger.ShortID(t.Task.ID)), "#") == want {
			return *t, true
		}
		// A tail begins at a word, so that "9" never finds "Task 19".
		if head, ok := strings.CutSuffix(id, want); ok && strings.ContainsAny(head[max(len(head)-1, 0):], "-_/ ") {
			tails = append(tails, *t)
		}
	}
	if len(tails) == 1 {
		return tails[0], true
	}
	return loop.TaskState{}, false
}

// activeTasks returns the tasks whose attempts are under way, one for each lane.
func activeTasks(s loop.State) (active []loop.TaskState) {
	for _, t := range s.Project.Tasks.All() {
		if t.Status == ledger.Active && t.Attempt != nil {
			active = append(active, *t)
		}
	}
	return active
}

// activeTask returns the first of activeTasks.
func activeTask(s loop.State) (loop.TaskState, bool) {
	active := activeTasks(s)
	if len(active) == 0 {
		return loop.TaskState{}, false
	}
	return active[0], true
}

// Doing names the active task and its hat: "#7 builder". After the session it
// says "#7 verify", then "#7 commit". Tasks that are worked on or verified at the same
// time are named together: "#1–#3", "#1–#3 verify". It returns "" if no task is active.
func Doing(s loop.State) string {
	active := activeTasks(s)
	switch len(active) {
	case 0:
		if r := s.Project.Run; !r.Over() && r.Batch != nil {
			return Ranges(r.Batch.Tasks("")) + " verify"
		}
		return ""
	case 1:
		return shortID(active[0].Task.ID) + " " + phaseOf(active[0])
	}
	var ids []string
	for _, t := range active {
		ids = append(ids, t.Task.ID)
	}
	if doing := Ranges(ids); Width(doing) <= doingWidth {
		return doing
	}
	return fmt.Sprintf("%d at work", len(ids))
}

// doingWidth is the width that several tasks have in a first line, beside the project,
// its tally and the time.
const doingWidth = 18

// Lanes names each active task and what is done for it, or what it waits for:
// "#7 builder", "#8 waits to verify, after #7".
func Lanes(s loop.State) (lanes []string) {
	for _, t := range activeTasks(s) {
		lanes = append(lanes, shortID(t.Task.ID)+" "+stepOf(s, t))
	}
	return lanes
}

// stepOf says what is done for an active task, or what it waits to do and which task does
// that now: "builder", "verify", "waits to verify, after #1".
func stepOf(s loop.State, t loop.TaskState) string {
	to, behind := s.AwaitsTurn(t)
	switch {
	case to == "":
		return phaseOf(t)
	case behind == "":
		return "waits to " + string(to)
	}
	return "waits to " + string(to) + ", after " + shortID(behind)
}

// phaseOf names the part of its work that an active task is in, whether or not it waits:
// its hat, or the step after the session.
func phaseOf(t loop.TaskState) string {
	if t.Task.Joins && (t.Attempt.Converged || t.Attempt.Stage == ledger.StageCapture) { // it has no verification of its own
		return "merge"
	}
	switch t.Attempt.Stage {
	case ledger.StageCapture, ledger.StageChecks, ledger.StageRoom, ledger.StageMerge:
		return "verify"
	case ledger.StageTurn, ledger.StageCommit:
		return "commit"
	}
	return Cut(Clean(t.Attempt.Hat), 12)
}

// sessionAt returns the agent's session that is at work on a task.
func sessionAt(s loop.State, t loop.TaskState) (loop.Session, bool) {
	for _, x := range s.Project.Sessions {
		if x.Planned.Kind == ledger.KindAgent && ledger.SameID(x.Task, t.Task.ID) {
			return x, true
		}
	}
	return loop.Session{}, false
}

// laneWidth is the width of a line about a lane: a narrow phone shows it whole.
const laneWidth = 40

// lanesText is a line for each task that is worked on: "#3 builder 12m · Add the till".
func lanesText(s loop.State, now time.Time) (lines []string) {
	for _, t := range activeTasks(s) {
		line := shortID(t.Task.ID) + " " + stepOf(s, t)
		switch x, ok := sessionAt(s, t); {
		case ok:
			line += " " + Took(now.Sub(x.At))
		case t.Attempt.Stage == ledger.StageReady:
			line += " waits"
			if agent, _ := s.AwaitedAccount(t); agent != "" {
				line += " for " + Cut(Clean(agent), 12)
			}
		}
		lines = append(lines, Cut(line+" · "+Foreign(t.Task.Title), laneWidth))
	}
	return lines
}

// boundLines says what bounds the sessions at a time besides the lanes: the load of the
// machine, and accounts of agents that a task waits for.
func boundLines(s loop.State) (lines []string) {
	if load, most, held := s.Project.Run.HeldByLoad(); held {
		lines = append(lines, fmt.Sprintf("load %.1f, max_load %g: no more at a time", load, most))
	}
	var said []string
	for _, t := range s.Project.Tasks.All() {
		agent, most := s.AwaitedAccount(*t)
		if agent == "" || slices.Contains(said, agent) {
			continue
		}
		said = append(said, agent)
		lines = append(lines, Cut(Clean(agent), 16)+": "+Plural(most, "session")+" at a time")
	}
	return lines
}

// boundText says what a ready task waits for besides those in hand: "waits for claude's
// account". It returns "" if it waits for neither an account nor the load of the machine.
func boundText(s loop.State, t loop.TaskState) string {
	if t.Status != ledger.Ready || t.Queued() || s.Project.Run.Over() {
		return ""
	}
	if agent, _ := s.AwaitedAccount(t); agent != "" {
		return "waits for " + Cut(Clean(agent), 16) + ", in use"
	}
	if _, _, held := s.Project.Run.HeldByLoad(); held && s.LaneFree() {
		return "waits for less load"
	}
	return ""
}

// besideText says which task in hand a ready task waits for, and why: "after #3, same
// files". It returns "" if it waits for none.
func besideText(s loop.State, t loop.TaskState) string {
	if t.Status != ledger.Ready || t.Queued() || s.Project.Run.Over() {
		return ""
	}
	task, alone := s.WaitsBeside(t)
	switch {
	case task == "":
		return ""
	case alone:
		return "alone, after " + shortID(task)
	}
	return "after " + shortID(task) + ", same files"
}

// dependentIDs returns the ids of the tasks that depend on the task id and are not
// over. A section has its task among them.
func dependentIDs(s loop.State, id string) []string {
	var ids []string
	if t, ok := s.Project.Find(id); ok && t.Task.Joins {
		if of, ok := s.Project.Find(t.Task.Parent); ok && of.Status != ledger.Skipped && of.Status != ledger.Withdrawn {
			ids = append(ids, of.Task.ID)
		}
	}
	for _, t := range s.Project.Tasks.All() {
		if t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn {
			continue
		}
		for _, d := range t.Task.DependsOn {
			if ledger.SameID(d, id) {
				ids = append(ids, t.Task.ID)
				break
			}
		}
	}
	return ids
}

// Dependents names the tasks that wait for the task id: "#10 waits for it", "#10
// #11 wait for it". It returns "" if none does.
func Dependents(s loop.State, id string) string {
	ids := dependentIDs(s, id)
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return shortID(ids[0]) + " waits for it"
	}
	return Ranges(ids) + " wait for it"
}

// QueuedText names the tasks that are finished and wait to be verified together:
// "#1–#3 wait for the batch". It returns "" if there are none, and leaves out those
// that are being verified.
func QueuedText(s loop.State) string {
	var ids, under []string
	if r := s.Project.Run; !r.Over() && r.Batch != nil {
		under = r.Batch.Tasks("")
	}
	verified := func(id string) bool {
		return slices.ContainsFunc(under, func(o string) bool { return ledger.SameID(o, id) })
	}
	for _, t := range s.Project.Tasks.All() {
		if t.Queued() && !verified(t.Task.ID) {
			ids = append(ids, t.Task.ID)
		}
	}
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return shortID(ids[0]) + " waits for the batch"
	}
	return Ranges(ids) + " wait for the batch"
}

// NextReady returns the id of the ready task other than but whose turn comes first, ""
// if there is none.
func NextReady(s loop.State, but string) string {
	if r := s.Project.Run; r != nil && r.Settings.Order == ledger.OrderScore {
		for _, t := range loop.Turns(s, r.LastEvent) {
			if !ledger.SameID(t.Task, but) {
				return t.Task
			}
		}
		return ""
	}
	for _, t := range s.Project.Tasks.All() {
		if t.Status == ledger.Ready && !t.Queued() && !ledger.SameID(t.Task.ID, but) {
			return t.Task.ID
		}
	}
	return ""
}

// CanBegin reports whether a run that is started now would have something to do: a
// ready task, a branch tip to mend, or fixes that a stop kept from being pushed. Where nobody knows, because no task is known or
// the last run could not start, it would.
func CanBegin(s loop.State) bool {
	if r := s.Project.Run; r != nil && r.Ended != nil && r.Ended.Reason == ledger.ReasonPreflight {
		return true
	}
	_, total := s.Project.Count()
	return total == 0 && s.Project.Run == nil || len(s.Project.RedTips) > 0 || NextReady(s, "") != "" || s.Project.WasCutOff()
}

// unmetNeeds returns the tasks that t depends on and that are not done.
func unmetNeeds(s loop.State, t loop.TaskState) []loop.TaskState {
	var out []loop.TaskState
	for _, id := range t.Task.DependsOn {
		for _, d := range s.Project.Tasks.All() {
			if ledger.SameID(d.Task.ID, id) && d.Status != ledger.Done {
				out = append(out, *d)
			}
		}
	}
	return out
}

// sourceOf names the kind and name of a run's source: "Plan checkout".
func sourceOf(s ledger.Settings) string {
	name := Cut(Plan(&loop.Run{Settings: s}), 40)
	if kind := Clean(s.Source.Kind); kind != "" {
		name = strings.ToUpper(kind[:1]) + kind[1:] + " " + name
	}
	return name
}

// Plan returns the name of the run's source file without folder and extension:
// "checkout" for checkout.md. It returns "" for a nil run.
func Plan(r *loop.Run) string {
	if r == nil {
		return ""
	}
	name := r.Settings.Source.Path
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return Clean(name)
}

// theHost names the sender of a command typed on the host, and the sender of a
// signal.
const theHost = "the host"

func runID(s loop.State) string {
	if s.Project.Run == nil {
		return ""
	}
	return s.Project.Run.ID
}

// nameOf returns an actor's name for messages: a person's name, theHost for the
// host and for signals, else the actor itself.
func nameOf(shared loop.Shared, actor string) string {
	if p, ok := shared.Person(actor); ok {
		return Cut(Foreign(p.Name), 20)
	}
	switch actor {
	case "", "console", "daemon":
		return theHost
	}
	return Cut(Foreign(actor), 20)
}

// needYou returns a count of open questions: "1 needs you".
func needYou(n int) string {
	if n == 1 {
		return "1 needs you"
	}
	return fmt.Sprintf("%d need you", n)
}

func agentInFlight(s loop.State) bool {
	for _, x := range s.Project.Sessions {
		if x.Planned.Kind == ledger.KindAgent {
			return true
		}
	}
	return false
}

// StatusSign returns the sign of a task's status.
func StatusSign(s ledger.Status) string {
	switch s {
	case ledger.Done:
		return SignDone
	case ledger.Active:
		return SignNow
	case ledger.Blocked:
		return SignBlocked
	case ledger.ManualVerify, ledger.Waiting:
		return SignAsk
	case ledger.Skipped, ledger.Withdrawn:
		return SignAway
	}
	return SignLater
}
