package termlog

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// ended prints a run's last lines: the reason, the remaining tasks, the branch,
// and how to continue.
func (c *Console) ended(v view, b ledger.RunEnded) {
	r := v.run()
	c.flush(v.at)
	c.rememberCause(v.e.Cause)
	exit := fmt.Sprintf("(exit %d)", b.Exit)
	head := c.endReason(v, b)
	switch {
	case b.Reason == ledger.ReasonPreflight: // printed with the problems
		c.continuation(strings.TrimSpace(labelled("again: ", bot.Clean(b.Resume)) + "   " + exit))
		return
	case r.Started.IsZero():
		c.uncut(v.at, head+"   "+exit)
		c.wrapped(b.Text)
		c.resumeHint("again", b.Resume)
		return
	case c.opt.Demo:
		c.uncut(v.at, strings.Join([]string{head, bot.Plural(r.Agents, "session"), bot.Cost(&r)}, " · ")+"   "+exit)
	default:
		c.uncut(v.at, head+"   "+runTotals(r, v.at))
		for _, over := range bot.Overshoots(v.after, v.at) {
			c.wrapped(over)
		}
	}
	c.scripted(bot.ScriptedEnd(&r))
	if proof := b.Proof.Text(); proof != "" {
		c.wrapped(proof)
	}
	if standing := c.openTasks(v.after); standing != "" {
		c.wrapped(standing)
	}
	if lost := bot.LostEnd(v.after, b); lost != "" {
		c.wrapped(lost)
	}
	if held := bot.HeldEnd(b, v.at); held != "" {
		c.wrapped(held)
	}
	if b.Text != "" && (b.Reason == ledger.ReasonInternal || b.Reason == ledger.ReasonStreak || b.Agent != "") {
		c.wrapped(b.Text)
	}
	if b.FinalOK != nil && !*b.FinalOK {
		c.continuation(bot.SignFailed + " the branch: " + strings.TrimLeft(bot.VerifyText(ledger.Verified{Results: b.Final}), bot.SignFailed+bot.SignLook+" "))
	}
	for _, line := range bot.RedEnd(b) {
		c.wrapped(line)
	}
	if !c.opt.Demo {
		c.branch(r, b.Branch, v.after.Project.FirstBranch(), exit)
		if text := bot.StackText(v.after); text != "" {
			c.wrapped(text)
		}
		if text := bot.NotPushed(v.after); text != "" {
			c.wrapped(bot.SignLook + " " + text)
			c.wrapped("Tried again by the next nightporter run, or nightporter up.") // this process ends
		}
	}
	word := "go on"
	if c.answers(v.after) && needsAnswer(b) {
		word = "then"
	}
	c.resumeHint(word, b.Resume)
}

// lookedAfter prints the end of a run that kept a request green.
func (c *Console) lookedAfter(v view, r *loop.Run, b ledger.RunEnded) {
	line := bot.SignLater + " " + r.ID + " ended"
	if b.Text != "" {
		line += ": " + bot.Clean(b.Text)
	}
	if m, ok := bot.LookedAfter(v.before, b); ok {
		line = m.First()
	}
	c.printWrapped(v, line)
}

// needsAnswer reports whether a run ended for lack of an answer, so that the
// same command would end again at once.
func needsAnswer(b ledger.RunEnded) bool {
	if b.Unallowed > 0 {
		return true
	}
	switch b.Reason {
	case ledger.ReasonBlocked, ledger.ReasonManual:
		return true
	case ledger.ReasonNothing: // an unusable agent needs no answer
		return b.Agent == ""
	}
	return false
}

// answers prints how to answer open questions from the shell, where chat
// commands do not work. It reports whether there are open questions.
func (c *Console) answers(s loop.State) bool {
	lines := bot.ShellAnswers(s)
	for _, line := range lines {
		c.continuation(line)
	}
	return len(lines) > 0
}

// branch prints the branch, with the exit code at the end of the line.
func (c *Console) branch(r loop.Run, branch string, remote request.Branch, exit string) {
	line := "nothing was committed"
	if branch != "" && r.Commits > 0 {
		line = "branch " + bot.Clean(branch) + ", " + bot.Plural(r.Commits, "commit")
		if text := bot.RemoteText(r.Tip, remote); text != "" {
			line += ", " + text
		}
	}
	c.continuation(bot.Pad(line, 54, 2) + exit)
}

// resumeHint prints the uncut command that continues the run.
func (c *Console) resumeHint(word, command string) {
	if command != "" {
		c.continuation(word + ": " + bot.CleanPre(command)) // keep repeated spaces: they may be part of a path
	}
}

// labelled returns word followed by text, or "" if text is empty.
func labelled(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

func runTotals(r loop.Run, now time.Time) string {
	return strings.Join([]string{bot.Took(now.Sub(r.Started)), bot.Plural(r.Agents, "session"), bot.Cost(&r)}, "  ")
}

// endReason returns the reason why a run ended, in one line (docs/spec 2.4).
func (c *Console) endReason(v view, b ledger.RunEnded) string {
	r := v.run()
	name := strings.TrimSpace(c.project(v) + " " + r.ID)
	if r.Check { // no run, so it has no number
		name = c.project(v)
	}
	if c.opt.Demo {
		name = r.ID
	}
	t := bot.Count(v.after)
	by := ""
	if b.By != "" && b.By != "console" && b.By != "daemon" {
		by = " by " + bot.Cut(bot.Clean(b.By), 24)
	}
	switch b.Reason {
	case ledger.ReasonDone, ledger.ReasonChosen:
		if b.FinalOK != nil && !*b.FinalOK {
			return fmt.Sprintf("%s %s ended: %s done, the branch fails its checks", bot.SignFailed, name, t)
		}
		if b.PartlyRed() {
			return fmt.Sprintf("%s %s ended: %s done, not all of it green", bot.SignLook, name, t)
		}
		if b.Unsure > 0 {
			return fmt.Sprintf("%s %s ended: %s done, %d to look at", bot.SignLook, name, t, b.Unsure)
		}
		if n := len(b.Unpushed); n > 0 {
			return fmt.Sprintf("%s %s ended: %s done, %d not pushed", bot.SignLook, name, t, n)
		}
		return fmt.Sprintf("%s %s ended: %s done", bot.SignDone, name, t)
	case ledger.ReasonBlocked:
		return fmt.Sprintf("%s %s ended at a blocked task: %s done", bot.SignBlocked, name, t)
	case ledger.ReasonNothing:
		switch {
		case len(b.Held) > 0:
			return fmt.Sprintf("%s %s ended: %s done, others have the rest", bot.SignLook, name, t)
		case b.Agent != "":
			return fmt.Sprintf("%s %s stands still: %s done", bot.SignLook, name, t)
		case t.Needs == 1:
			return fmt.Sprintf("%s %s ended: %s, 1 needs you", bot.SignAsk, name, t)
		case t.Needs > 1:
			return fmt.Sprintf("%s %s ended: %s, %d need you", bot.SignAsk, name, t, t.Needs)
		}
		if n := len(b.Before); n > 0 {
			return fmt.Sprintf("%s %s ended: %s, %s before --from", bot.SignLook, name, t, bot.Plural(n, "task"))
		}
		return fmt.Sprintf("%s %s ended: %s, nothing left can run", bot.SignLook, name, t)
	case ledger.ReasonManual:
		return fmt.Sprintf("%s %s ended: %s, the rest is yours", bot.SignAsk, name, t)
	case ledger.ReasonStreak:
		return fmt.Sprintf("%s %s ended: 3 tasks in a row blocked, %s done", bot.SignBlocked, name, t)
	case ledger.ReasonIterations:
		return fmt.Sprintf("%s %s ended: %d iterations, %s done", bot.SignLook, name, r.Settings.MaxIterations, t)
	case ledger.ReasonUntil:
		return fmt.Sprintf("%s %s ended: %s reached, %s done", bot.SignLook, name, bot.Clock(r.Settings.Until, v.at.In(c.opt.Zone)), t)
	case ledger.ReasonBudget:
		return fmt.Sprintf("%s %s ended: budget spent, %s done", bot.SignLook, name, t)
	case ledger.ReasonStopped:
		if r.Signal != "" {
			by = " by " + bot.Clean(r.Signal)
		}
		return fmt.Sprintf("%s %s stopped%s: %s done", bot.SignLater, name, by, t)
	case ledger.ReasonChecked:
		if b.Exit != 0 && b.RedTip != nil {
			return bot.SignLook + " " + name + " checked: would begin with a repair"
		}
		if b.Exit != 0 {
			return bot.SignFailed + " " + name + " checked: would not start"
		}
		return bot.SignDone + " " + name + " checked: ready to start"
	case ledger.ReasonReplaced:
		return bot.SignLater + " " + name + " ended: a new run takes its place"
	case ledger.ReasonInternal:
		return bot.SignFailed + " " + name + " ended: internal error"
	}
	return bot.SignLater + " " + name + " ended: " + bot.Clean(string(b.Reason))
}

// queued groups the ready tasks that wait to be verified with others.
const queued ledger.Status = "queued"

// claimed groups the reports that others work on.
const claimed ledger.Status = "claimed"

// openTasks lists the tasks that are not done, the most urgent first.
func (c *Console) openTasks(s loop.State) string {
	groups, aside := map[ledger.Status][]string{}, 0
	for _, t := range s.Project.Tasks.All() {
		if t.Aside != "" { // there may be thousands
			aside++
			continue
		}
		id := c.id(t.Task.ID)
		if t.Question != "" && (t.Status == ledger.Blocked || t.Status == ledger.ManualVerify || t.Status == ledger.Waiting) {
			id += " (" + bot.Clean(t.Question) + ")"
		}
		if t.Untaken() {
			id += " (by " + bot.Cut(bot.Clean(t.Task.Author), 24) + ", not taken)"
		}
		status := t.Status
		switch {
		case t.Queued():
			status = queued
		case s.ClaimedBy(*t) != "":
			status = claimed
		}
		groups[status] = append(groups[status], id)
	}
	var parts []string
	for _, g := range []struct {
		status ledger.Status
		word   string
	}{
		{ledger.Blocked, "blocked"}, {ledger.Waiting, "asks"}, {ledger.ManualVerify, "manual verify"},
		{ledger.Pending, "waits"}, {queued, "waits for the batch"}, {ledger.Active, "in hand"}, {ledger.Ready, "ready"}, {claimed, "left to others"}, {ledger.Skipped, "skipped"},
	} {
		ids := groups[g.status]
		const most = 12
		if len(ids) > most {
			ids = append(ids[:most:most], fmt.Sprintf("%d more", len(ids)-most))
		}
		if len(ids) > 0 {
			parts = append(parts, g.word+" "+strings.Join(ids, " "))
		}
	}
	if aside > 0 {
		parts = append(parts, fmt.Sprintf("set aside %d", aside))
	}
	return strings.Join(parts, " · ")
}

// Leave prints that nightporter ends before the run does: the run paused for
// review, or a signal cut it off. exit is the process's exit code.
func (c *Console) Leave(s loop.State, exit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := s.Project.Run
	if r.Over() {
		return
	}
	now := c.opt.Now()
	v := view{before: s, after: s, at: now}
	c.printAllHeld(v)
	code := fmt.Sprintf("(exit %d)", exit)
	if r.State == ledger.RunPaused {
		c.uncut(now, fmt.Sprintf("%s %s %s paused: %s done   %s", bot.SignPaused, c.project(v), r.ID, bot.Count(s), runTotals(*r, now)))
		if standing := c.openTasks(s); standing != "" {
			c.wrapped(standing)
		}
		c.branch(*r, r.Base.Branch, s.Project.FirstBranch(), code)
		c.answers(s)
		c.resumeHint("go on", r.Settings.ResumeCommand())
		return
	}
	text := bot.SignLater + " stopped; nothing is lost"
	if next := loop.NextTime(s); next != "" {
		text = bot.SignLater + " stopped; " + next
	}
	c.uncut(now, text+" "+code)
	c.answers(s)
	c.resumeHint("go on", r.Settings.ResumeCommand())
}

// wave prints the summary of a wave.
func (c *Console) wave(v view, m bot.Message) {
	first, rest, _ := strings.Cut(m.Text(c.restWidth()), "\n")
	c.printEntry(v, first)
	for line := range strings.Lines(rest) {
		c.wrapped(strings.TrimRight(line, "\n"))
	}
}
