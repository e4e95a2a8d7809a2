package bot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TasksWhy lists the tasks that are still to do for a terminal: the ready ones in the
// order in which their turn comes, each with the terms of its score, then all others
// with what they wait for. now is the time at which the scores hold. The result ends
// with a newline.
func TasksWhy(s loop.State, now time.Time) string {
	var b strings.Builder
	t := Count(s)
	fmt.Fprintf(&b, "%s · %d/%d done\n", strings.TrimSpace(Clean(s.Project.Name)+" "+Plan(s.Project.Run)), t.Done, t.Total)
	for _, line := range learnedLines(s) {
		b.WriteString(line + "\n")
	}
	ids := 0
	for _, ts := range s.Project.Tasks.All() {
		ids = max(ids, Width(shortID(ts.Task.ID)))
	}
	line := func(ts loop.TaskState, why string) {
		fmt.Fprintf(&b, "%s %s  %s\n", StatusSign(ts.Status), Pad(shortID(ts.Task.ID), ids, 0), why)
	}
	ready := map[string]bool{}
	for _, turn := range loop.Turns(s, now) {
		if ts, ok := s.Project.Find(turn.Task); ok {
			ready[turn.Task] = true
			line(ts, TurnText(turn))
		}
	}
	for _, ts := range s.Project.Tasks.All() {
		switch {
		case ready[ts.Task.ID] || ts.Status == ledger.Withdrawn:
		case ts.Status != ledger.Done:
			line(*ts, WaitText(s, *ts))
		case !ts.Again().IsZero():
			line(*ts, againText(*ts, now))
		}
	}
	return b.String()
}

// TurnText says in one line where a ready task stands, and why there: "3rd: priority
// 40 + complexity 12 + unblocks 2: 10 + never tried 60 = 122".
func TurnText(t loop.Turn) string {
	place := ordinal(t.Place)
	switch {
	case t.Chosen:
		return place + ": asked for with /next"
	case t.First:
		return place + ": goes on before any other begins"
	case t.Score == nil:
		return place + ": as in the file"
	}
	terms := ""
	for _, term := range t.Score.Terms() {
		if term.Points == 0 {
			continue
		}
		switch {
		case terms == "" && term.Points < 0:
			terms = termText(term, "−"+strconv.Itoa(-term.Points))
		case terms == "":
			terms = termText(term, strconv.Itoa(term.Points))
		case term.Points < 0:
			terms += " − " + termText(term, strconv.Itoa(-term.Points))
		default:
			terms += " + " + termText(term, strconv.Itoa(term.Points))
		}
	}
	return fmt.Sprintf("%s: %s = %d", place, orElse(terms, "0"), t.Score.Total())
}

func termText(t loop.Term, points string) string {
	switch t.Name {
	case loop.TermUnblocks:
		return fmt.Sprintf("unblocks %d: %s", t.Count, points)
	case loop.TermFailed:
		return fmt.Sprintf("%d failed: %s", t.Count, points)
	case loop.TermNeverTried:
		return "never tried " + points
	case loop.TermMinutes:
		return fmt.Sprintf("tried %s ago: %s", Took(time.Duration(t.Count)*time.Minute), points)
	}
	return string(t.Name) + " " + points
}

// WaitText says in one line what a task waits for that is not in the order of the
// run: "waits for phase 1: #2 blocked, #3".
func WaitText(s loop.State, t loop.TaskState) string {
	if len(unmetNeeds(s, t)) == 0 {
		if phase := s.Project.PhaseBefore(t); phase > 0 && t.Status == ledger.Pending {
			return fmt.Sprintf("waits for phase %d: %s", phase, phaseText(s, s.Project.OpenIn(phase)))
		}
	}
	text := taskStanding(s, t)
	if why := Clean(t.Why); t.Status == ledger.Blocked && why != "" {
		text += ": " + Cut(why, quoteWidth)
	}
	if text == "" && t.Status == ledger.Ready {
		return "left out by --from or --only, or marked in the file"
	}
	return orElse(text, string(t.Status))
}

// mostOfPhase is how many open tasks of a phase are named.
const mostOfPhase = 4

func phaseText(s loop.State, open []loop.TaskState) string {
	var parts []string
	for _, t := range open[:min(len(open), mostOfPhase)] {
		parts = append(parts, strings.TrimSpace(shortID(t.Task.ID)+" "+taskStanding(s, t)))
	}
	if more := len(open) - mostOfPhase; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// turnOf returns what TurnText or WaitText says of one task that is still to do, or
// "" for others.
func turnOf(s loop.State, t loop.TaskState, now time.Time) string {
	switch t.Status {
	case ledger.Ready:
		for _, turn := range loop.Turns(s, now) {
			if turn.Task == t.Task.ID {
				return TurnText(turn)
			}
		}
	case ledger.Pending:
		return WaitText(s, t)
	case ledger.Done:
		return againText(t, now)
	}
	return ""
}

// nextAgain says which task comes back first, and when: "deps again at 04:10". It is ""
// where none does.
func nextAgain(s loop.State, now time.Time) string {
	var first loop.TaskState
	more := 0
	for _, t := range s.Project.Tasks.All() {
		switch at := t.Again(); {
		case at.IsZero():
		case first.Again().IsZero():
			first = *t
		case at.Before(first.Again()):
			first, more = *t, more+1
		default:
			more++
		}
	}
	if first.Again().IsZero() {
		return ""
	}
	text := shortID(first.Task.ID) + " " + againText(first, now)
	if more > 0 {
		text += fmt.Sprintf(", %d more later", more)
	}
	return text + "."
}

// againText says when a done task that repeats comes back: "again at 04:10". It is ""
// for any other task.
func againText(t loop.TaskState, now time.Time) string {
	at := t.Again().In(now.Location())
	switch {
	case at.IsZero():
		return ""
	case !at.After(now):
		return "again with the next run"
	case at.Sub(now) < 24*time.Hour:
		return "again at " + at.Format("15:04")
	}
	return "again on " + at.Format("Jan 2, 15:04")
}
