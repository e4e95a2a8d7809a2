package termlog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// preflightFailed prints the problems that prevent a run's start, each with its
// remedy.
func (c *Console) preflightFailed(v view, b ledger.PreflightFailed) {
	if was := v.before.Project.NotStarted; was != nil && was.Text == b.Problems[0].Text && v.before.Project.Run.ByItself {
		return // printed at the try before
	}
	c.flush(v.at)
	c.line(v.at, fmt.Sprintf("%s %s not started: %s", bot.SignFailed, c.project(v), bot.Plural(len(b.Problems), "problem")))
	for _, f := range b.Problems {
		c.finding(f)
	}
}

// finding prints a problem uncut: a person needs all of it to correct the
// problem.
func (c *Console) finding(f ledger.Diagnostic) {
	fix := f.Remedy
	f.Remedy = ""
	c.wrappedPre(f.String())
	if fix != "" {
		for _, line := range bot.CleanLines(fix) {
			c.continuation("  " + line)
		}
	}
}

// preflightDone prints warnings that do not prevent the start.
func (c *Console) preflightDone(v view, b ledger.PreflightDone) {
	for _, f := range slices.Concat(b.Base.Notes, b.Warnings) {
		first := f
		first.Remedy = ""
		c.printWrapped(v, bot.SignLook+" "+bot.Clean(first.String()))
		if f.Remedy != "" {
			c.wrapped(f.Remedy)
		}
	}
	if n := len(b.Base.Dirty); n > 0 {
		c.printEntry(v, fmt.Sprintf("%s %s of your checkout not included: %s", bot.SignLook, bot.Plural(n, "changed file"), firstPaths(b.Base.Dirty)))
	}
}

// hostsMissed prints what a closed network lacks before the night, with what names it.
func (c *Console) hostsMissed(v view, b ledger.HostsMissed) {
	who := "setup or the checks at the start"
	if b.Agent != "" {
		who = "agent " + bot.Clean(b.Agent) + ", tried with nothing let out,"
	}
	for _, h := range b.Hosts {
		c.printWrapped(v, bot.SignLook+" "+who+" wanted "+bot.Clean(h)+", which is closed")
		c.wrapped("To open it: nightporter net allow " + bot.Clean(h))
	}
	if len(b.Services) > 0 {
		c.printWrapped(v, bot.SignLook+" the checks at the start found nothing at "+bot.Clean(strings.Join(b.Services, ", ")))
		c.wrapped("If that is a service of this machine, name it in the project: " + bot.ServicesSetting(b.Services))
	}
}

// started prints the first lines of a run.
func (c *Console) started(v view, b ledger.RunStarted) {
	r := v.run()
	c.flush(v.at)
	if c.opt.Demo {
		c.uncut(v.at, fmt.Sprintf("%s %s started · branch %s · %s%s", bot.SignNow, r.ID, bot.Clean(r.Base.Branch), baseline(b), boundaryWord(r)))
		c.scripted(bot.ScriptedStart(&r))
		return
	}
	c.line(v.at, fmt.Sprintf("%s %s %s started: %s, %s, %s", bot.SignNow, c.project(v), r.ID,
		bot.Plural(b.Tasks, "task"), bot.Clean(r.Settings.Agent), bot.Clean(r.Settings.Pattern.Name)))
	c.printBoundary(v)
	c.wrapped("at the start: " + baseline(b))
	c.scripted(bot.ScriptedStart(&r))
	if p := loop.ProposedLanes(v.after, c.opt.Most, v.at); p != nil {
		c.wrapped(bot.LanesProposed(*p))
		c.continuation(fmt.Sprintf("goes on as configured; another time: --parallel %d", p.Parallel))
	}
	c.typeHint(r)
}

// scripted prints a note on the scripted agent, if there is one.
func (c *Console) scripted(note string) {
	if note != "" {
		c.wrapped(note)
	}
}

// printBoundary prints the run's effect on the user's repository, and the
// boundary of its sessions.
func (c *Console) printBoundary(v view) {
	r := v.run()
	c.continuation("branch " + bot.Clean(r.Base.Branch) + "; your checkout stays as it is")
	if r.Base.From != "" {
		c.continuation("goes on from " + bot.Clean(r.Base.From))
	}
	if on := bot.StartedOn(r.Base); on != "" {
		c.continuation("starts from " + on)
	}
	switch text := bot.ShutIn(r.Base.Boundary); r.Base.Boundary {
	case 0:
	case 1:
		c.continuation(bot.SignLook + " " + text)
	default:
		c.continuation(text)
	}
	if r.Base.Copies {
		c.continuation("rooms and caches are copies; nightporter doctor says why")
	}
}

// boundaryWord warns of sessions that are not shut in, for a line without room for
// more.
func boundaryWord(r loop.Run) string {
	if r.Base.Boundary != 1 {
		return ""
	}
	return " · sessions are not shut in"
}

func (c *Console) typeHint(r loop.Run) {
	c.continuation("Type /guidance TEXT, /pause, /stop or /help. Ctrl-C ends " + r.ID + " cleanly.")
}

// baseline returns the result of verifying the start commit. A failure that is
// not advisory is the first thing to correct (docs/spec 2.0).
func baseline(b ledger.RunStarted) string {
	var good, red []string
	for _, r := range b.Baseline {
		switch {
		case r.OK:
			good = append(good, bot.CommandName(r.Run))
		case b.Repair == nil && !slices.Contains(b.Advisory, r.Run):
			red = append(red, bot.CommandName(r.Run))
		}
	}
	var parts []string
	switch len(good) {
	case 0:
	case 1:
		parts = append(parts, good[0]+" passes")
	default:
		parts = append(parts, strings.Join(good[:min(len(good), 3)], ", ")+" pass")
	}
	switch len(red) {
	case 0:
	case 1:
		parts = append(parts, red[0]+" fails; mending it comes first")
	default:
		parts = append(parts, strings.Join(red, ", ")+" fail; mending them comes first")
	}
	if b.Repair != nil {
		parts = append(parts, "begins with the repair of "+bot.Clean(b.Repair.String()))
	}
	if len(b.Exempt) > 0 {
		parts = append(parts, "fails already, only shown: "+bot.ExemptText(b.Exempt))
	}
	if len(parts) == 0 {
		return "no verification command"
	}
	return strings.Join(parts, "; ")
}

func (c *Console) resumed(v view) {
	r := v.run()
	if r.Started.IsZero() {
		return // the run has not started yet
	}
	c.printEntry(v, fmt.Sprintf("%s %s %s goes on: %s done", bot.SignNow, c.project(v), r.ID, bot.Count(v.after)))
	if v.before.Project.Run != nil && v.before.Project.Run.State == ledger.RunPaused {
		return
	}
	if !c.opt.Demo {
		c.printBoundary(v)
		c.typeHint(r)
	}
}

// stateSet prints pauses, stops and waits.
func (c *Console) stateSet(v view, b ledger.RunStateSet) {
	was := v.before.Project.Run
	doing := bot.Doing(v.before)
	switch b.State {
	case ledger.RunPausing:
		if doing != "" {
			c.printEntry(v, bot.SignPaused+" pauses after "+doing+"; /resume keeps going")
		}
	case ledger.RunPaused:
		if b.Wait != ledger.WaitReview { // its question is printed instead
			c.printEntry(v, bot.SignPaused+" paused · "+bot.Count(v.after).String()+"; stays so until /resume")
		}
	case ledger.RunStopping:
		c.stopping(v, b, doing)
	case ledger.RunWaiting:
		c.waits(v, b)
	case ledger.RunRunning:
		if was != nil && (was.State == ledger.RunPaused || was.State == ledger.RunPausing || was.State == ledger.RunStopping ||
			(was.State == ledger.RunWaiting && was.Wait != ledger.WaitQuestion)) {
			text := bot.SignNow + " goes on"
			if doing != "" {
				text += " with " + strings.Fields(doing)[0]
			}
			c.printEntry(v, text)
		}
	}
}

func (c *Console) stopping(v view, b ledger.RunStateSet, doing string) {
	switch {
	case b.Now && b.Signal != "":
		c.printEntry(v, bot.SignLater+" stopping now ("+bot.Clean(b.Signal)+")")
	case b.Now:
		c.printEntry(v, bot.SignLater+" stopping "+whatNow(doing))
	case b.Signal != "":
		c.printEntry(v, bot.SignLater+" ends after this session; once more: at once")
	case doing != "":
		c.printEntry(v, bot.SignLater+" ends after "+doing+"; /resume keeps going")
	}
}

func whatNow(doing string) string {
	if doing == "" {
		return "now"
	}
	return doing + " now"
}

func (c *Console) waits(v view, b ledger.RunStateSet) {
	if was := v.before.Project.Run; was != nil && was.State == ledger.RunWaiting && was.Wait == b.Wait && b.Wait == ledger.WaitDisk {
		return // the same wait
	}
	until := ""
	if !b.Until.IsZero() {
		until = " until " + c.waitEnd(b.Until, v.at)
	}
	text := bot.Clean(b.Text)
	switch b.Wait {
	case ledger.WaitQuestion, ledger.WaitMachine: // the question, or what fails, is printed instead
		return
	case ledger.WaitDisk:
		c.printWrapped(v, bot.SignLook+" waits: "+text+". Make room; it goes on by itself.")
		return
	case ledger.WaitLimit:
		h := v.after.Shared.Agents[b.Agent]
		agent, why := bot.Clean(b.Agent), bot.Clean(h.Text)
		if b.Agent == "" {
			c.printWrapped(v, bot.SignLook+" waits"+until+": "+text+" Ctrl-C is safe.")
			c.continuation("/resume tries now")
			return
		}
		switch h.Why {
		case ledger.FailureLimit:
			why = "usage limit"
		case ledger.FailureNetwork:
			why = "network"
		case ledger.FailureEarly:
			c.printWrapped(v, bot.SignLook+" waits"+until+" for "+bot.Cut(agent, 40)+": "+bot.Cut(why, 80)+". Counts for no task; Ctrl-C is safe.")
			c.continuation("/resume tries now")
			return
		}
		c.printWrapped(v, bot.SignLook+" waits"+until+" for "+bot.Cut(agent, 40)+": "+bot.Cut(why, 40)+". Ctrl-C is safe.")
		c.continuation("/resume tries now")
		return
	}
	c.printWrapped(v, bot.SignLook+" waits"+until+reasonSuffix(text))
}

// waitEnd formats the end of a wait, with seconds if it is near.
func (c *Console) waitEnd(t, now time.Time) string {
	if d := t.Sub(now); d > 0 && d < 10*time.Minute && !c.opt.Demo {
		return t.In(c.opt.Zone).Format("15:04:05")
	}
	return bot.Clock(t, now.In(c.opt.Zone))
}

// parked prints that the run continues with another agent. If it waits instead,
// the wait is printed.
func (c *Console) parked(v view, b ledger.AgentParked) {
	other := v.after.Substitute(b.Agent)
	if other == "" {
		return
	}
	why := "network"
	switch b.Why {
	case ledger.FailureLimit:
		why = "at its usage limit"
	case ledger.FailureEarly:
		why = "ends at once"
	}
	c.printEntry(v, fmt.Sprintf("%s %s %s until %s; %s takes over", bot.SignLook, bot.Clean(b.Agent), why, c.waitEnd(b.Until, v.at), bot.Clean(other)))
}

func (c *Console) project(v view) string { return bot.Cut(bot.Clean(v.after.Project.Name), 32) }
