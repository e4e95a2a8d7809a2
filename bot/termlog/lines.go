package termlog

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// entry prints one entry. Entries without a case are of no interest to people.
func (c *Console) entry(v view) {
	if r := v.after.Project.Run; r != nil {
		c.lanes = r.Lanes()
	}
	switch b := v.e.Body.(type) {
	// Sessions: one line is printed for several entries.
	case ledger.SessionPlanned:
		c.planned(v, b)
	case ledger.EventAccepted:
		c.sessionOf(v).event = b
	case ledger.SessionEnded:
		if b.Kind == ledger.KindAgent {
			c.agentEnded(v, b)
		}
	case ledger.TakenOver:
		if s := c.held[ledger.FoldID(v.e.Task)]; s != nil {
			s.taken = &b.Taken
		}
		c.searched(v, b.Taken)
	case ledger.Verified:
		c.verified(v, b)
	case ledger.Routed:
		c.routed(v, b)
	case ledger.Redo:
		c.redo(v, b)
	case ledger.GuidanceReported:
		s := c.sessionOf(v)
		s.reports = append(s.reports, b)
	case ledger.GuidanceBound:
		c.bound(v, b)
	case ledger.TaskCommitted:
		c.commits[ledger.FoldID(v.e.Task)] = b.Commit
	case ledger.AgentUsable:
		if c.unusable[b.Agent] {
			delete(c.unusable, b.Agent)
			c.printEntry(v, bot.SignNow+" "+bot.Clean(b.Agent)+" is tried again")
		}
	default:
		c.printStandalone(v)
	}
}

// printStandalone prints entries that have a line of their own.
func (c *Console) printStandalone(v view) {
	switch b := v.e.Body.(type) {
	case ledger.PreflightFailed:
		c.preflightFailed(v, b)
	case ledger.PreflightDone:
		c.preflightDone(v, b)
	case ledger.RunStarted:
		c.started(v, b)
	case ledger.RunResumed:
		c.resumed(v)
	case ledger.OutlookChanged:
		if told := v.before.Project.Run.ToldOutlook(); told != nil {
			c.printWrapped(v, bot.SignLook+" forecast: "+bot.RetoldSum(*told, b.Outlook, v.at))
		}
	case ledger.BudgetWarned:
		c.printWrapped(v, bot.SignLook+" "+bot.BudgetWarnedLine(b, v.at))
	case ledger.RunStateSet:
		c.stateSet(v, b)
	case ledger.RunFinishing:
		c.printAllHeld(v)
		switch waits := bot.QueuedText(v.after); {
		case c.opt.Demo:
		case waits != "" && v.run().Settings.Queue == ledger.QueueBatch && b.Ending.Reason != ledger.ReasonStopped:
			c.printEntry(v, bot.SignLater+" before the end: "+waits)
		default:
			c.printEntry(v, bot.SignLater+" the branch is checked once more")
		}
	case ledger.BatchChained:
		c.printAllHeld(v)
		c.chained(v, b)
	case ledger.WaveTriaged:
		c.printWrapped(v, bot.SignLater+" "+bot.WaveSorted(b))
	case ledger.WaveJudged:
		c.printWrapped(v, bot.WaveJudged(b))
	case ledger.WaveEnded:
		c.printAllHeld(v)
		c.wave(v, bot.WaveOver(v.after, b, v.at))
	case ledger.BatchEnded:
		if b.Why != "" {
			c.printWrapped(v, bot.SignLook+" the batch is given up: "+bot.Clean(b.Why))
		}
	case ledger.BranchRemade:
		c.printWrapped(v, bot.SignNow+" branch "+bot.Clean(b.Branch)+" is made "+bot.Without(b.Wish)+"; it is checked now")
	case ledger.RemakeEnded:
		if len(b.Needs) == 0 && !b.Green {
			c.printWrapped(v, bot.SignLook+" branch: "+bot.Clean(b.Why))
		}
	case ledger.RunEnded:
		c.printAllHeld(v)
		if r := v.before.Project.Run; r.Aside() {
			c.lookedAfter(v, r, b)
			break
		}
		if r := v.before.Project.Run; r != nil && r.Check { // the state has the run before again
			over := *r
			over.State, over.Ended, over.EndedAt = ledger.RunOver, &b, v.at
			v.after.Project.Run = &over
		}
		c.ended(v, b)
	case ledger.IdeaEnded:
		if i, was := v.before.Project.Idea(b.ID); was {
			if m, ok := bot.IdeaOver(v.after, i, b); ok {
				c.printWrapped(v, m.First())
			}
		}
	case ledger.AgentParked:
		c.parked(v, b)
	case ledger.AgentUnusable:
		c.unusable[b.Agent] = true
		c.printWrapped(v, bot.SignLook+" agent "+bot.Clean(b.Agent)+" cannot be used: "+bot.Clean(b.Text))
	case ledger.AgentUncounted:
		if !b.Over {
			c.printWrapped(v, bot.SignLook+" agent "+bot.Clean(b.Agent)+" counts in a way that is not known: its tokens and cost are unknown")
		}
	case ledger.SourceRead:
		c.sourceRead(v, b)
	case ledger.AnswerUndone:
		c.printWrapped(v, bot.SignAgain+" "+b.Before.Question.ID+" taken back by "+bot.Clean(b.By)+": it is open again")
	case ledger.RequestSeen:
		if of := v.after.Project.Requests.Branch(b.Run); of.Request != nil {
			c.printWrapped(v, bot.SignLater+" "+bot.RequestLine(of))
		}
	case ledger.CommentsSeen:
		c.printWrapped(v, bot.SignLater+" "+bot.CommentsLine(v.after, b.Run))
	case ledger.ReplyEnded:
		if b.Failure != "" {
			m := bot.ReplyRefused(v.after, b)
			c.printWrapped(v, m.First())
		}
	case ledger.RequestLeft:
		m := bot.LeftRequest(v.after, b)
		c.printWrapped(v, m.First())
	case ledger.MergeEnded:
		m := bot.Merged(v.after, b)
		c.printWrapped(v, m.First())
	case ledger.BaselineBroke:
		c.printWrapped(v, bot.SignLook+" "+bot.BrokeText(b))
	case ledger.ExemptionsSet:
		if len(b.Ended) > 0 {
			c.printWrapped(v, bot.SignDone+" counts again: "+bot.Clean(strings.Join(b.Ended, ", ")))
		}
	case ledger.HatsRead:
		c.hatsRead(v, b)
	case ledger.TaskProved:
		c.proved(v, b)
	case ledger.HostAllowed:
		c.printWrapped(v, bot.SignDone+" "+bot.HostAllowedText(b))
	case ledger.HostRefused:
		c.printWrapped(v, bot.SignLater+" "+bot.HostRefusedText(b))
	case ledger.HostsMissed:
		c.hostsMissed(v, b)
	case ledger.HostRemoved:
		c.printWrapped(v, bot.SignDone+" "+bot.HostRemovedText(b))
	case ledger.NetworkKeptOpen:
		c.printWrapped(v, bot.SignDone+" "+bot.KeptOpenText(b, v.at))
	case ledger.TaintsCleared:
		c.printWrapped(v, bot.SignDone+" "+bot.ClearedText(b))
	case ledger.PathsAllowed:
		c.printWrapped(v, bot.SignDone+" "+c.id(v.e.Task)+" may write "+firstPaths(b.Paths))
	case ledger.NewFilesSettled:
		does := "takes all new files of "
		if b.LeftOut {
			does = "leaves out new files of "
		}
		c.printWrapped(v, bot.SignDone+" "+c.id(v.e.Task)+" "+does+firstPaths(b.Paths))
	case ledger.SecretsCleared:
		for _, found := range b.Found {
			c.printWrapped(v, bot.SignDone+" "+c.id(v.e.Task)+" no secret: "+bot.Clean(found.String()))
		}
	case ledger.TaskReplanned:
		c.replanned(v, b)
	case ledger.PlanSettled:
		c.printHeld(v, v.e.Task)
		c.planSettled(v, b)
	case ledger.PartsMade:
		c.printHeld(v, v.e.Task)
		if text := bot.PartsText(b); text != "" {
			c.printWrapped(v, bot.SignLater+" "+c.id(v.e.Task)+" "+bot.PartsTitle(b)+": "+text)
		}
	case ledger.SourceMarked:
		switch {
		case b.Error == "":
		case b.Claim != nil:
			c.printWrapped(v, bot.SignAway+" "+c.id(v.e.Task)+" was claimed by "+bot.Clean(b.Claim.By)+" meanwhile: left to them")
		case b.Mark == "":
			c.printWrapped(v, bot.SignLook+" "+c.id(v.e.Task)+" not in the progress log: "+bot.Clean(b.Error))
		default:
			c.printWrapped(v, bot.SignLook+" "+c.id(v.e.Task)+" not marked in "+bot.Plan(&loop.Run{Settings: v.run().Settings})+": "+bot.Clean(b.Error))
		}
	case ledger.Commitment:
		c.commitment(v, b)
	case ledger.TaskSet:
		c.taskSet(v, b)
	case ledger.AttemptEnded:
		c.attemptEnded(v, b)
	case ledger.EventRefused:
		c.printWrapped(v, bot.SignLook+" "+c.id(v.e.Task)+" "+bot.Clean(c.sessionOf(v).hat)+": "+bot.Clean(b.Type)+" refused: "+bot.Clean(b.Why)+owedGuidance(b))
	case ledger.SessionThrottled:
		c.printWrapped(v, bot.SignLook+" "+c.id(v.e.Task)+" "+bot.Clean(c.sessionOf(v).hat)+": calls nightporter without pause; its calls are refused, all else goes on")
	case ledger.GuidanceQueued, ledger.GuidanceChanged, ledger.GuidanceDropped, ledger.GuidanceExpired, ledger.GuidanceKept:
		c.guidance(v)
	case ledger.QuestionAsked:
		c.question(v, b.Question)
	case ledger.QuestionAnswered:
		c.answered(v, b)
	case ledger.QuestionExpired:
		c.expired(v, b)
	case ledger.InputPoisoned:
		c.printEntry(v, bot.SignLook+" a fault in nightporter, with "+bot.Clean(b.Kind)+"; all else goes on")
		c.wrapped(b.Error)
	case ledger.BranchPushed:
		c.printEntry(v, bot.SignDone+" pushed "+bot.Clean(b.Branch))
	case ledger.RequestOpened:
		c.printEntry(v, bot.SignDone+" "+bot.RequestText(b.Request)+" "+bot.Clean(b.Request.URL))
		for _, line := range bot.NotTaken(b.Request) {
			c.wrapped(line)
		}
	case ledger.EffectFailed:
		c.effectFailed(v, b)
	case ledger.EffectRecovered:
		if f, ok := v.before.Project.FailingEffect(b.Kind, b.Key); ok {
			c.printEntry(v, bot.SignAgain+" can "+ledger.EffectDoes(b.Kind)+" again, after "+bot.Took(v.at.Sub(f.Since)))
		}
	}
}

// effectFailed prints the first failure of an effect, and that it still fails
// after some minutes.
func (c *Console) effectFailed(v view, b ledger.EffectFailed) {
	f, known := v.before.Project.FailingEffect(b.Kind, b.Key)
	switch {
	case b.Fault == "" && b.Disk: // of an earlier release; the run's wait is printed instead
	case b.Fault == "":
		c.printWrapped(v, bot.SignLook+" "+bot.Clean(b.Kind)+" failed: "+bot.Clean(b.Text))
	case !known || f.Text != b.Text:
		c.printWrapped(v, bot.SignLook+" cannot "+ledger.EffectDoes(b.Kind)+" for now, tried again: "+bot.Clean(b.Text))
		if b.Remedy != "" {
			c.wrapped(b.Remedy)
		}
	case b.Told:
		c.printEntry(v, bot.SignLook+" still cannot "+ledger.EffectDoes(b.Kind)+", since "+bot.Clock(b.Since, v.at)+". Tried until it works.")
	}
}

func owedGuidance(b ledger.EventRefused) string {
	if len(b.Owed) == 0 {
		return ""
	}
	return " (" + strings.Join(b.Owed, " ") + ")"
}

// planned records a session that begins. Before the first command of a
// preflight it prints that commands run, because they can take minutes.
func (c *Console) planned(v view, b ledger.SessionPlanned) {
	if b.Kind == ledger.KindAgent {
		c.running[v.e.Session] = &session{id: v.e.Session, task: v.e.Task, hat: b.Hat, stall: b.Stall.D(), wall: b.Wall.D()}
		return
	}
	if v.e.Task == "" && b.Kind != ledger.KindFinal && v.run().Started.IsZero() && !c.preflightShown && !c.opt.Demo {
		c.preflightShown = true
		what := v.run().ID
		if v.run().Check {
			what = "check"
		}
		c.printEntry(v, bot.SignLater+" "+what+": looks whether "+bot.CommandName(b.Command)+" works on the start commit")
	}
}

// Entry prints a committed entry in words, if it is of interest to a person who
// watches. before and after are the states around it. Call it in the order of
// the commits.
func (c *Console) Entry(before, after loop.State, e ledger.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry(view{before: before, after: after, e: e, at: e.Time})
}
