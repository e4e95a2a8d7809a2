package bot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxLog limits the lines of a log; the newest lines are shown.
const maxLog = 40

// Log lists the outcomes of a task's sessions, or of the run's where task is "",
// with the decisions between them. records are in ledger order.
func Log(project, task string, records []ledger.Record, now time.Time) Message {
	l := logbook{now: now, task: task}
	for _, r := range records {
		if e, err := r.Entry(); err == nil {
			l.entry(e)
		}
	}
	name := orElse(shortID(task), orElse(l.run, "run"))
	took, elapsed := l.worked()
	m := newMessage("log", firstLine("", project, name+":", fmt.Sprintf(" %s, %s", Plural(l.sessions, "session"), Took(elapsed))))
	if took > elapsed {
		m.add(Took(took) + " of sessions, several at a time")
	}
	if task != "" && l.sections.open() {
		m.add(l.sections.standing())
	}
	if len(l.lines) == 0 {
		m.add("No session ended yet.")
		return m
	}
	lines := l.rendered()
	if len(lines) > maxLog {
		m.add(fmt.Sprintf("the last %d of %d", maxLog, len(lines)))
		lines = lines[len(lines)-maxLog:]
	}
	for _, line := range lines {
		m.pre(line)
	}
	return m
}

// logbook collects the lines of a log from entries in ledger order.
type logbook struct {
	now      time.Time
	task     string // "" = of the whole run
	run      string
	sessions int
	exits    []ledger.Exit
	lines    []logLine
	sections sections
	commit   string            // commit hash of the task whose TaskSet entry follows
	built    map[string]bool   // parts whose change is in the tree of their task, by folded id
	mended   []ledger.Task     // parts that mend sections
	proof    map[string]string // words of proof, by folded task, of tasks whose TaskSet entry follows
	why      string            // reason why the same task is blocked, "" if it is not
	hats     map[string]string // by session
	events   map[string]ledger.EventAccepted
}

// logLine is one line of a log. task is "" for the task that the log is of.
type logLine struct{ at, task, what, text string }

func (l *logbook) line(e ledger.Entry, what, text string) {
	line := logLine{at: Clock(e.Time, l.now), what: Cut(Clean(what), 10), text: Clean(text)}
	if e.Task != "" && !ledger.SameID(e.Task, l.task) {
		line.task = shortID(e.Task)
	}
	l.lines = append(l.lines, line)
}

// rendered returns the lines with their columns aligned. A line without a task begins
// with what happened.
func (l *logbook) rendered() (lines []string) {
	ids := 4
	for _, x := range l.lines {
		ids = max(ids, min(Width(x.task)+1, 8))
	}
	for _, x := range l.lines {
		id := ""
		if x.task != "" {
			id = Pad(x.task, ids, 1)
		}
		lines = append(lines, fmt.Sprintf("%s %s%s%s", x.at, id, Pad(x.what, 9, 1), x.text))
	}
	return lines
}

// worked returns how long the sessions took together, and for how long at least one of
// them was at work. The two differ where sessions ran at the same time.
func (l *logbook) worked() (took, elapsed time.Duration) {
	exits := slices.SortedFunc(slices.Values(l.exits), func(a, b ledger.Exit) int { return a.Started.Compare(b.Started) })
	var end time.Time
	for _, x := range exits {
		took += x.Took()
		if x.Started.After(end) {
			end = x.Started
		}
		if x.Ended.After(end) {
			elapsed += x.Ended.Sub(end)
			end = x.Ended
		}
	}
	return took, elapsed
}

func (l *logbook) entry(e ledger.Entry) {
	if l.sections.rests(e) {
		return // the line of its plan says it
	}
	l.sections.apply(e)
	if e.Run != "" {
		l.run = e.Run
	}
	switch b := e.Body.(type) {
	case ledger.SessionPlanned:
		if l.hats == nil {
			l.hats, l.events = map[string]string{}, map[string]ledger.EventAccepted{}
		}
		l.hats[e.Session] = b.Hat
	case ledger.EventAccepted:
		if l.events != nil {
			l.events[e.Session] = b
		}
	case ledger.SessionEnded:
		if b.Kind != ledger.KindAgent && b.Kind != "" {
			return
		}
		l.sessions++
		if b.Exit.Took() > 0 {
			l.exits = append(l.exits, b.Exit)
		}
		text := EndText(b)
		if ev, ok := l.events[e.Session]; ok && b.End == ledger.EndedEvent {
			text = ev.Type
			if v, is := Verdict(ev); is {
				text = v
			}
			if ev.Written {
				text += ", in its last message"
			}
		}
		if len(b.Exit.Denied) > 0 {
			text += ", denied: " + Clean(strings.Join(b.Exit.Denied, ", "))
		}
		l.line(e, orElse(l.hats[e.Session], "session"), text)
	case ledger.Verified:
		if b.Batch == "" { // with one, the line of the batch says it
			l.line(e, "verify", VerifyText(b))
		}
	case ledger.WaveTriaged:
		wave, text, _ := strings.Cut(WaveSorted(b), ": ")
		l.line(e, wave, text)
	case ledger.WaveEnded:
		l.line(e, fmt.Sprintf("wave %d", b.Wave), fixedInWave(b))
	case ledger.BatchChained:
		var ids []string
		for _, link := range b.Links {
			ids = append(ids, link.Task)
		}
		l.line(e, "batch", Ranges(ids))
	case ledger.PartMerged:
		if l.built == nil {
			l.built = map[string]bool{}
		}
		l.built[ledger.FoldID(b.Part)] = true
	case ledger.TaskCommitted:
		l.commit = commitID(b.Commit)
	case ledger.TaskProved:
		if l.proof == nil {
			l.proof = map[string]string{}
		}
		l.proof[ledger.FoldID(e.Task)] = proofWord(b.Proof)
	case ledger.TaskSet:
		switch b.To {
		case ledger.Done:
			if l.built[ledger.FoldID(e.Task)] {
				word := " built"
				if slices.ContainsFunc(l.mended, func(t ledger.Task) bool { return ledger.SameID(t.ID, e.Task) }) {
					word = " mended"
				}
				l.line(e, SignDone+word, Clean(b.Why))
				return
			}
			l.line(e, SignDone+" done", strings.TrimPrefix(strings.TrimSuffix(l.commit+" · "+l.proof[ledger.FoldID(e.Task)], " · "), " · "))
		case ledger.ManualVerify:
			l.line(e, SignAsk, strings.TrimSpace("manual verify "+l.commit))
		case ledger.Skipped:
			if b.Gate != "" {
				return // the line of the wave counts them
			}
			l.line(e, StatusSign(b.To)+" "+string(b.To), l.why)
		case ledger.Blocked:
			l.line(e, StatusSign(b.To)+" "+string(b.To), l.why)
		default:
			return
		}
		l.commit, l.why = "", ""
	case ledger.AttemptEnded:
		l.attempt(e, b)
	case ledger.TaskReplanned:
		l.line(e, SignAgain+" plan", "anew after "+Plural(b.Failed, "failed attempt"))
	case ledger.PlanSettled:
		l.line(e, "plan", SettledPlan(b))
	case ledger.PartsMade:
		if mends(b) {
			l.mended = append(l.mended, b.Parts...)
		}
		l.line(e, PartsTitle(b), PartsText(b))
	case ledger.AnswerUndone:
		l.line(e, SignAgain+" "+b.Before.Question.ID+" taken back", "by "+Clean(b.By))
	case ledger.BaselineBroke:
		l.line(e, SignLook+" fails", Cut(Clean(b.Text), 60))
	case ledger.ExemptionsSet:
		if len(b.Ended) > 0 {
			l.line(e, SignDone+" counts again", Cut(Clean(strings.Join(b.Ended, ", ")), 60))
		}
	case ledger.BranchRemade:
		l.line(e, "branch", loop.BranchName(b.Branch)+", "+Without(b.Wish))
	case ledger.RemakeEnded:
		if !b.Made && len(b.Needs) == 0 {
			l.line(e, SignFailed+" branch", "not made: "+Cut(Clean(b.Why), 80))
		}
	case ledger.BranchPushed:
		l.line(e, "pushed", commitID(b.Commit))
	case ledger.RequestOpened:
		l.line(e, RequestText(b.Request), Clean(b.Request.URL))
	case ledger.HatsRead:
		l.line(e, "hats", orElse(HatsTrouble(b.Trouble), "read anew"))
	}
}

// attempt adds a line about the end of an attempt. The reason of a blocked attempt
// waits in why for the line of its task.
func (l *logbook) attempt(e ledger.Entry, b ledger.AttemptEnded) {
	why := Cut(Clean(b.Why), 60)
	switch o := outcomeOf(b); {
	case b.Outcome == ledger.OutcomeBlocked:
		l.why = why
	case o == ledger.OutcomePlanned: // PartsMade has its own line
	case o == ledger.OutcomeAnew:
		l.line(e, SignAgain+" anew", why)
	case b.Failed || b.Outcome != "":
		l.line(e, outcomeSign(o)+" "+logWord(o), why)
	}
}

// logWord names an outcome in the narrow column of a log. How an attempt failed stands in
// the reason beside it.
func logWord(o ledger.AttemptOutcome) string {
	switch o {
	case ledger.OutcomeRed, ledger.OutcomeStalled, ledger.OutcomeLimit:
		return string(ledger.OutcomeFailed)
	}
	return string(o)
}

// SettledPlan says who approved or rejected a plan, after how many rounds, and
// with which words.
func SettledPlan(b ledger.PlanSettled) string {
	by := Cut(Clean(b.By), 20)
	if b.Rounds > 0 {
		by += ", " + Plural(b.Rounds, "round")
	}
	if b.Approved {
		return "approved by " + by
	}
	text := "sent back by " + by
	if words := Clean(b.Words); words != "" {
		text += ": " + Cut(words, 60)
	}
	return text
}

// mends reports whether parts were made to mend sections, and not by a plan.
func mends(b ledger.PartsMade) bool { return len(b.Parts) > 0 && b.Parts[0].Hat != "" }

// PartsTitle says what parts were made of.
func PartsTitle(b ledger.PartsMade) string {
	if mends(b) {
		return "fix"
	}
	return "plan"
}

// PartsText names the parts that a plan or what failed was split into, and earlier
// parts that were dropped.
func PartsText(b ledger.PartsMade) string {
	var made []string
	for _, t := range b.Parts {
		made = append(made, shortID(t.ID))
	}
	var parts []string
	if len(made) > 0 {
		parts = append(parts, "parts "+strings.Join(made, " "))
	}
	if len(b.Gone) > 0 {
		var gone []string
		for _, id := range b.Gone {
			gone = append(gone, shortID(id))
		}
		parts = append(parts, "no longer "+strings.Join(gone, " "))
	}
	switch {
	case mends(b):
		parts = append(parts, "mended apart, then all is tested again")
	case len(b.Parts) > 0 && b.Parts[0].Joins:
		parts = append(parts, "built apart, committed as one")
	case b.Whole:
		parts = append(parts, "done when its parts are")
	}
	return strings.Join(parts, "; ")
}
