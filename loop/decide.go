package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// Decide returns the decision on one input in state s. It is a pure function: the
// same arguments give the same decision, and s is not changed. A command that
// cannot be carried out is no error: Decision.Answer says why. Decide panics for
// an input of unknown type.
//
// Every decision ends with advance, which plans the next work, unless the input
// is Idle or its sender has lost the role that Input.Role names.
func Decide(s State, in Input) Decision {
	in.Name = strings.ToValidUTF8(in.Name, "\uFFFD") // JSON replaces invalid UTF-8: the ledger would give back another name
	return (&decision{State: s, in: in, answer: ledger.Answer{OK: true}}).decide()
}

// decide decides on d's input, in d's state.
func (d *decision) decide() Decision {
	if refusal, ok := people.CheckRole(d.Shared.State, d.in.Time, d.sender()); !ok {
		d.adopt(refusal)
		return d.made()
	}
	before := d.State
	d.effectDone(d.in.Result)
	switch b := d.in.Body.(type) {
	case StartRun:
		d.startRun(b)
	case Pause:
		d.pause(b)
	case Resume:
		d.resume(b.Agent)
	case Stop:
		d.stop(b)
	case Guide:
		d.guide(b.Text)
	case EditGuidance:
		d.editGuidance(b)
	case DropGuidance:
		d.dropGuidance(b.ID)
	case KeepGuidance:
		d.keepGuidance(b.ID)
	case AttachMore:
		d.attachMore(b)
	case HearVoice:
		d.hear(b)
	case Transcribed:
		d.transcribed(b)
	case EraseFiles:
		d.eraseFiles(b)
	case Now:
		d.now(b.Text)
	case AnswerQuestion:
		d.answerQuestion(b)
	case SkipTask:
		d.skipTask(b.Task)
	case RetryTask:
		d.retryTask(b.Task)
	case RevertTasks:
		d.revertTasks(b.Tasks)
	case KeepTasks:
		d.keepTasks(b.Tasks)
	case RedoTask:
		d.redoTask(b)
	case NextTask:
		d.nextTask(b)
	case FixReport:
		d.fixReport(b.Task)
	case ResetThreshold:
		d.resetThreshold(b)
	case AddTasks:
		d.addTasks(b)
	case UndoAdd:
		d.undoAdd(b.ID)
	case EditAdd:
		d.editAdd(b)
	case TakeIdea:
		d.takeIdea(b)
	case TasksWritten:
		d.tasksWritten(b)
	case TasksTakenOut:
		d.tasksTakenOut(b)
	case OfferRun:
		d.offerRun(b)
	case Late:
		d.late(b)
	case people.Input:
		d.adopt(people.Decide(d.Shared.State, d.in.Time, d.sender(), b))
	case RedoPlan:
		d.redoPlan(b)
	case Emit:
		d.emit(b)
	case Remember:
		d.remember(b)
	case Throttled:
		d.throttled(b)
	case HostAsked:
		d.hostAsked(b.Request)
	case AllowHost:
		d.allowHost(b)
	case RemoveHost:
		d.removeHost(b)
	case KeepNetworkOpen:
		d.keepNetworkOpen(b)
	case ClearTaints:
		d.clearTaints()
	case HatsChanged:
		d.hatsChanged(b)
	case Preflighted:
		d.preflighted(b)
	case SourceChanged:
		d.sourceChanged(b)
	case SessionExited:
		d.sessionExited(b.Exit)
	case TreeCaptured:
		d.treeCaptured(b)
	case MergeFinished:
		d.mergeFinished(b)
	case ChainMade:
		d.chainMade(b)
	case RemakeFinished:
		d.remakeFinished(b)
	case CommitMade:
		d.commitMade(b)
	case Triaged:
		d.triaged(b)
	case TipMoved:
		d.tipMoved(b)
	case LiftFinished:
		d.liftFinished(b)
	case PushFinished:
		d.pushFinished(b)
	case RequestFinished:
		d.requestFinished(b)
	case RequestLooked:
		d.requestLooked(b)
	case MergeRequest:
		d.askMerge(b.Number)
	case RequestMerged:
		d.requestMerged(b)
	case ReplyFinished:
		d.replyFinished(b)
	case MarkMade:
		d.markMade(b)
	case EffectBroken:
		d.effectBroken(b)
	case ClockJumped:
		d.clockJumped(b.By)
	case Tick:
		d.tick()
	case WorksOn:
		d.worksOn(b)
	case Wake:
	default:
		panic(fmt.Sprintf("loop: nobody decides on a %T", b))
	}
	d.settleHosts()
	if !d.in.Idle {
		d.advance()
		d.stepRemake() // the run may have ended in advance
		d.answerComments()
		d.keepRequests()
		d.planIdeas()
		d.retell()
		d.warnBudgets()
	}
	d.markWorking(before)
	return d.made()
}

// sender returns the input's sender for package people.
func (d *decision) sender() people.Sender {
	return people.Sender{Actor: d.in.Actor, Name: d.in.Name, Role: d.in.Role}
}

// adopt makes a decision of package people this one.
func (d *decision) adopt(p people.Decision) {
	d.addShared(p.Entries...)
	d.answer = p.Answer
}

func (d *decision) made() Decision {
	d.answer.Attached = d.attached
	return Decision{Entries: d.entries, After: d.after, Effects: d.effects, Answer: d.answer, State: d.State}
}

// tick acts on everything that is due at the input's time: questions, reminders,
// guidance, waits, agents and pairing codes.
func (d *decision) tick() {
	now := d.in.Time
	for _, q := range slices.Clone(d.Project.Questions) {
		if !q.Expires.IsZero() && !now.Before(q.Expires) && d.Project.shelved(q) == "" {
			d.expire(q)
		}
	}
	d.remind()
	for _, id := range d.Project.Guidance.Due(now, d.Project.Rests) {
		d.add(scope{}, ledger.GuidanceExpired{ID: id, Why: "72 hours passed and no session took it"})
	}
	if r := d.run(); !r.Over() && isFaultWait(r.Wait) && !r.Until.IsZero() && !now.Before(r.Until) {
		d.endFaultWait()
	}
	d.holdForFaults()
	for _, name := range sortedKeys(d.Shared.Agents) {
		h := d.Shared.Agents[name]
		if !h.Until.IsZero() && !now.Before(h.Until) && (!h.Unusable || d.Project.tries()) {
			doubted := h.Why == ledger.FailureLimit && d.Shared.Limits[name].Doubted
			d.addShared(ledger.AgentUsable{Agent: name, Trial: h.Unusable || h.Why == ledger.FailureEarly || doubted})
		}
	}
	d.addShared(people.Expire(d.Shared.State, now)...)
}
