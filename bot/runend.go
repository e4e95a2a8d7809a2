package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxStanding limits the tasks that the message about a run's end lists.
const maxStanding = 5

// LostEnd says which tasks of a run went from the file before they were done, or "".
func LostEnd(s loop.State, b ledger.RunEnded) string {
	if len(b.Lost) == 0 {
		return ""
	}
	var ids []string
	for _, id := range b.Lost[:min(len(b.Lost), maxStanding)] {
		ids = append(ids, shortID(id))
	}
	if more := len(b.Lost) - len(ids); more > 0 {
		ids = append(ids, fmt.Sprintf("and %d more", more))
	}
	return SignLook + " Gone from " + Clean(s.Project.Run.Settings.Source.Path) + ", not done: " + strings.Join(ids, " ") + ". With their lines they go on."
}

// Ended reports the end of a run: the reason, the tasks that need a person, and
// how to go on (docs/spec 23.8). s is the state after the end.
func Ended(s loop.State, b ledger.RunEnded, now time.Time) Message {
	r := s.Project.Run
	tally := fmt.Sprintf("%d/%d", b.Done, b.Total)
	sign, rest := endLine(s, b, tally, now)
	m := newMessage("run.ended", firstLine(sign, s.Project.Name, rest, ""))
	m.Project = s.Project.Name
	began := r.Started
	if began.IsZero() {
		began = r.Planned
	}
	m.add(now.Format("15:04") + " · " + Took(now.Sub(began)) + " · " + Plural(r.Agents, "session") + " · " + Cost(r))
	m.add(Foretold(r))
	for _, line := range Overshoots(s, now) {
		m.add(line)
	}
	if b.Reason == ledger.ReasonInternal || b.Reason == ledger.ReasonNothing && len(s.Project.Questions) == 0 && len(b.Lost)+len(b.Held) == 0 {
		m.quote(b.Text)
	}
	if q, blocked := lastOf(s, ledger.AskBlocked); blocked && (b.Reason == ledger.ReasonBlocked || b.Reason == ledger.ReasonStreak) {
		m.quote(q.Text) // the question's own message has all of it
	}
	m.add(LostEnd(s, b))
	m.add(upper(HeldEnd(b, now)))
	m.add(b.Proof.Text())
	var retry []string
	left := 0
	for _, t := range s.Project.Tasks.All() {
		line := standsHow(s, *t)
		if line == "" {
			continue
		}
		if left++; left <= maxStanding {
			m.add(line)
		}
		if t.Status == ledger.Blocked {
			retry = append(retry, shortID(t.Task.ID))
		}
	}
	if left > maxStanding {
		m.add(fmt.Sprintf("and %d more: /tasks", left-maxStanding))
	}
	if b.FinalOK != nil && !*b.FinalOK {
		m.add(SignFailed + " The branch fails its checks.")
	}
	for _, line := range RedEnd(b) {
		m.add(Cut(line, 2*quoteWidth))
	}
	m.add(ScriptedEnd(r))
	if b.Branch != "" && (r.Commits > 0 || StackText(s) != "") {
		m.branch(s, b.Branch)
		if of, ok := ownRequest(s); ok && of.Seen != nil {
			m.add(requestSign(of) + RequestLine(of))
		}
	}
	m.add(nextStep(s, b, retry))
	m.endButtons(s, b)
	return m
}

// endLine returns the sign of the first line and its text after the project.
func endLine(s loop.State, b ledger.RunEnded, tally string, now time.Time) (sign, rest string) {
	r := s.Project.Run
	switch b.Reason {
	case ledger.ReasonDone:
		if b.FinalOK != nil && !*b.FinalOK {
			return SignFailed, tally + " done, branch fails checks"
		}
		if b.PartlyRed() {
			return SignLook, tally + " done, not all of it green"
		}
		if len(s.Project.Unsure()) > 0 {
			return SignLook, tally + " done, look at " + lookAt(s)
		}
		if n := len(b.Unpushed); n > 0 {
			return SignLook, fmt.Sprintf("%s done, %d not pushed", tally, n)
		}
		return SignDone, tally + " done, " + r.ID + " ended"
	case ledger.ReasonChosen:
		if len(s.Project.Unsure()) > 0 {
			return SignLook, "chosen done, look at " + lookAt(s)
		}
		if n := len(b.Unpushed); n > 0 {
			return SignLook, fmt.Sprintf("chosen done, %d not pushed", n)
		}
		return SignDone, "chosen tasks done, " + r.ID + " ended"
	case ledger.ReasonBlocked:
		if q, ok := lastOf(s, ledger.AskBlocked); ok {
			return SignBlocked, "stopped at " + shortID(q.Task) + ", " + tally + " done"
		}
		return SignBlocked, "stopped: blocked, " + tally + " done"
	case ledger.ReasonStreak:
		return SignBlocked, fmt.Sprintf("stopped: %d blocked in a row", r.Streak)
	case ledger.ReasonManual:
		if q, ok := lastOf(s, ledger.AskManual); ok {
			return SignAsk, tally + " done, " + shortID(q.Task) + " is yours (" + q.ID + ")"
		}
		return SignAsk, tally + " done, the rest is yours"
	case ledger.ReasonIterations:
		return SignLook, fmt.Sprintf("ended: %d iterations, %s", r.Iterations(), tally)
	case ledger.ReasonUntil:
		return SignLook, "ended: " + r.Settings.Until.In(now.Location()).Format("15:04") + " reached, " + tally
	case ledger.ReasonBudget:
		return SignLook, "ended: budget spent, " + tally
	case ledger.ReasonBaseline:
		return SignLook, "ended: fails without us, " + tally
	case ledger.ReasonStopped:
		by := nameOf(s.Shared, b.By)
		if r.Signal != "" || by == theHost {
			return SignLater, "stopped on the host, " + tally
		}
		return SignLater, "stopped by " + by + ", " + tally
	case ledger.ReasonInternal:
		return SignFailed, r.ID + " ended: a fault, " + tally
	}
	if len(b.Held) > 0 {
		return SignLook, tally + " done, others have the rest"
	}
	if n := len(s.Project.Questions); n > 0 {
		return SignAsk, r.ID + " ended: " + tally + ", " + needYou(n)
	}
	return SignLook, r.ID + " ended: " + tally
}

// HeldEnd says who works on the reports that a run left, "" if that did not end it.
func HeldEnd(b ledger.RunEnded, now time.Time) string {
	if len(b.Held) == 0 {
		return ""
	}
	return Clean(ledger.HeldText(b.Held, now)) + ". /fix takes one all the same."
}

// EndedHow says how a run ended, as what a sentence says of it: "ended with its budget
// spent", "was stopped by Mira". "" if there is nothing to say: it only looked, or it
// was no run of the source.
func EndedHow(s loop.State, b ledger.RunEnded) string {
	switch b.Reason {
	case ledger.ReasonDone:
		return "did all that was left"
	case ledger.ReasonChosen:
		return "did what was chosen for it"
	case ledger.ReasonBlocked:
		return "stopped at a blocked task"
	case ledger.ReasonNothing:
		if len(b.Held) > 0 {
			return "ended, because others work on the rest"
		}
		return "ended, because nothing else could begin"
	case ledger.ReasonManual:
		return "ended, because the rest is yours to check"
	case ledger.ReasonStreak:
		return "ended after three blocked tasks in a row"
	case ledger.ReasonEmptyWaves:
		return "ended after two waves without a fix"
	case ledger.ReasonWaves:
		return "ended at its limit of waves"
	case ledger.ReasonIterations:
		return "ended at its limit of iterations"
	case ledger.ReasonUntil:
		return "ended at its set time"
	case ledger.ReasonBudget:
		return "ended with its budget spent"
	case ledger.ReasonBaseline:
		return "ended, because checks began to fail without its changes"
	case ledger.ReasonStopped:
		if by := nameOf(s.Shared, b.By); b.Signal == "" && by != theHost {
			return "was stopped by " + by
		}
		return "was stopped on the host"
	case ledger.ReasonPreflight:
		return "could not start"
	case ledger.ReasonReplaced:
		return "gave way to a new run"
	case ledger.ReasonInternal:
		return "ended by a fault in nightporter"
	}
	return ""
}

func lastOf(s loop.State, kind ledger.QuestionKind) (ledger.Question, bool) {
	for n := len(s.Project.Questions) - 1; n >= 0; n-- {
		if q := s.Project.Questions[n]; q.Kind == kind {
			return q, true
		}
	}
	return ledger.Question{}, false
}

// standsHow returns a line about a task that needs a person: "■ #8 blocked
// (q5), #10 waits for it"; "" for any other task.
func standsHow(s loop.State, t loop.TaskState) string {
	id := shortID(t.Task.ID)
	asks := ""
	if t.Question != "" {
		asks = " (" + t.Question + ")"
	}
	switch t.Status {
	case ledger.Blocked:
		line := SignBlocked + " " + id + " blocked" + asks
		if need := Dependents(s, t.Task.ID); need != "" {
			line += ", " + need
		}
		return line
	case ledger.ManualVerify:
		return SignAsk + " " + id + " manual verify" + asks
	case ledger.Waiting:
		return SignAsk + " " + id + " " + waitsFor(s, t) + asks
	case ledger.Pending:
		if t.Untaken() {
			return SignAsk + " " + id + " " + taskStanding(s, t)
		}
	}
	return ""
}

// pushNext is what comes next after a run that a person stopped before its fixes were
// pushed.
const pushNext = "Nothing runs. /run pushes what is left."

// nextStep says what happens if nobody acts, and how a person can go on.
func nextStep(s loop.State, b ledger.RunEnded, retry []string) string {
	next := NextReady(s, "")
	start := "Nothing runs."
	switch {
	case next == "" && len(b.Unpushed) > 0:
		start = pushNext
	case next != "":
		start = "Nothing runs. /run goes on with " + shortID(next) + "."
	}
	switch b.Reason {
	case ledger.ReasonDone, ledger.ReasonChosen:
		if b.FinalOK != nil && !*b.FinalOK {
			return "Nothing was pushed. Look at /diff, then /run."
		}
		if len(b.Unpushed) > 0 && !b.PartlyRed() && len(s.Project.Unsure()) == 0 {
			return pushNext
		}
		return MergeStep(s, b)
	case ledger.ReasonBaseline:
		return "Nothing runs. /run asks: fix it first, or go on without it."
	case ledger.ReasonManual:
		return "Pass ends the plan; until then it waits."
	case ledger.ReasonStopped:
		if r := s.Project.Run; r.Signal != "" {
			return "Nothing runs until somebody starts it: /run."
		}
	}
	if len(retry) > 0 && s.Project.Run.Settings.Stays {
		return "Nothing runs. Retry starts the next run with " + strings.Join(retry[:min(len(retry), 3)], " and ") + "."
	}
	return start
}

func (m *Message) endButtons(s loop.State, b ledger.RunEnded) {
	const most = 3
	m.Buttons = helpButtons(s)
	m.Buttons = m.Buttons[:min(len(m.Buttons), most-1)]
	if len(m.Buttons) == 0 && (b.Reason != ledger.ReasonDone || len(b.Unpushed) > 0) && CanBegin(s) {
		m.button("Start", "/run "+s.Project.Name)
	}
	if s.Project.Run.Commits > 0 {
		m.button("Diff", "/diff "+s.Project.Run.ID)
	}
	if len(s.Project.Kept()) > 1 {
		m.button("Each task", "/each")
	}
	if b.Reason == ledger.ReasonDone || b.Reason == ledger.ReasonChosen {
		m.mergeButton(s)
	}
	if q, blocked := lastOf(s, ledger.AskBlocked); blocked && q.Task != "" {
		m.whyButton(q.Task, true)
	}
}

// helpButtons returns the buttons of open questions that let a run go on, blocked tasks
// first: other tasks wait for them.
func helpButtons(s loop.State) []Button {
	all := slices.Clone(s.Project.Questions)
	later := func(q ledger.Question) int {
		if q.Kind == ledger.AskBlocked {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b ledger.Question) int { return later(a) - later(b) })
	var m Message
	for _, q := range all {
		if button := wordingOf(q).runEnd; button != nil {
			m.button(button(q))
		}
	}
	return m.Buttons
}
