package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Stopped describes a project while no nightporter is running, for a terminal.
// Its run may have been cut off by kill -9, a signal or a restart of the
// machine. The text promises nothing that only a running daemon would do, and
// it offers no chat commands, because nobody would carry them out. If no run is
// under way it returns Status. now is in the person's time zone.
func Stopped(s loop.State, now time.Time) Message {
	if s.Project.Run.Over() {
		return Status(s, now)
	}
	return left(s, "nightporter is off", "Go on with: "+s.Project.Run.Settings.ResumeCommand(), now)
}

// Removed describes an unfinished run of a project that is no longer configured:
// nobody works on it, and it cannot be started.
func Removed(s loop.State, now time.Time) Message {
	if s.Project.Run.Over() {
		return Status(s, now)
	}
	return left(s, "not configured any more", "Go on with: [[project]] "+s.Project.Name+" in the configuration", now)
}

// left describes an unfinished run that nobody works on.
func left(s loop.State, why, remedy string, now time.Time) Message {
	r := s.Project.Run
	t := Count(s)
	// Only terminals show this line, so it is not cut to FirstWidth.
	m := newMessage("status.off", fmt.Sprintf("%s %s %s, %s · %s", SignLater, s.Project.Name, t, why, now.Format("15:04")))
	m.add(leftAt(r, now))
	if a, ok := activeTask(s); ok {
		doing := Doing(s)
		m.add(Cut(Foreign(a.Task.Title), quoteWidth))
		was, session, is := "was", "its session goes on by itself", "is"
		if strings.Count(doing, "#") > 1 {
			was, session, is = "were", "their sessions go on by themselves", "are"
		}
		if agentInFlight(s) {
			m.add(fmt.Sprintf("%s %s in hand; %s or %s taken up", doing, was, session, is))
		} else {
			m.add(fmt.Sprintf("%s %s in hand and %s taken up", doing, was, is))
		}
	}
	m.add(standingLine(s, t))
	for _, line := range ShellAnswers(s) {
		m.pre(line)
	}
	m.add(r.ID + " " + CostSoFar(s) + costOf(s))
	m.add(guidanceLine(s))
	m.pre(remedy)
	return m
}

// leftAt returns the state in which a run was left, "" if it was working.
func leftAt(r *loop.Run, now time.Time) string {
	switch {
	case r.State == ledger.RunPlanning:
		return r.ID + " has not started yet. Nothing has been changed."
	case r.State == ledger.RunPaused, r.State == ledger.RunPausing:
		return r.ID + " was paused"
	case r.State == ledger.RunWaiting && r.Wait != ledger.WaitQuestion && !r.Until.IsZero():
		return r.ID + " waited until " + Clock(r.Until, now) + ": " + Cut(Foreign(r.Text), quoteWidth)
	}
	return ""
}

// maxShell limits the questions that ShellAnswers lists.
const maxShell = 3

// ShellAnswers returns the shell commands that answer the open questions, one
// line for each of the first three: "answer: nightporter answer q1 retry   (or
// skip)". People paste these lines, so no line may be cut or wrapped.
func ShellAnswers(s loop.State) []string {
	flags := ""
	if r := s.Project.Run; r != nil && r.Settings.Operator != "" {
		flags = " " + CleanPre(r.Settings.Operator)
	}
	all := s.Project.Questions
	var lines []string
	for _, q := range all[:min(len(all), maxShell)] {
		first, others := shellVerbs(q)
		line := "answer: nightporter answer " + Clean(q.ID) + " " + first + flags
		if len(others) > 0 {
			line += "   (or " + strings.Join(others, ", ") + ")"
		}
		lines = append(lines, line)
	}
	if more := len(all) - maxShell; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: nightporter tasks%s", more, flags))
	}
	return lines
}

// shellVerbs returns the answers that can follow a question's id in the shell.
// first is the likely answer, so that its line can be pasted unchanged.
func shellVerbs(q ledger.Question) (first string, others []string) {
	var words []string
	for _, v := range q.Verbs() {
		words = append(words, strings.TrimPrefix(Typed(q, v), q.ID+" "))
	}
	if q.OwnWords() {
		words = append(words, "WORDS")
	}
	return words[0], words[1:]
}
