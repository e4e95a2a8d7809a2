package ledger

// Bodies returns a zero value of each entry type. The types are in the files
// entry_*.go.
func Bodies() []Body {
	return []Body{
		SharedSet{}, IDIssued{}, LeaseGranted{}, LeaseReleased{}, AgentParked{}, AgentUnusable{}, AgentUsable{}, AgentFaltered{}, BudgetRaised{}, BudgetWarned{}, AgentUncounted{},
		PairingOffered{}, PairingTried{}, PairingEnded{}, PersonPaired{}, PersonRemoved{}, QuietSet{}, StrangerWrote{}, CommandRefused{},
		WasOff{}, ClockJumped{}, DigestSent{}, WeekDigestSent{}, SharedHead{},
		RunPlanned{}, RunQueued{}, RunResumed{}, AgentChosen{}, PreflightFailed{}, PreflightDone{}, RunStarted{}, OutlookChanged{}, RunStateSet{}, RunFinishing{}, RunEnded{}, LoadHeld{},
		BaselineBroke{}, ExemptionsSet{}, TipFailed{}, HatsRead{}, SourceRead{}, SourceMarked{}, TaskSet{}, TaskWords{}, TaskNext{}, TasksAsked{}, TasksAdded{}, TasksUnasked{}, TasksRemoved{}, IdeaTaken{}, IdeaPlanned{}, IdeaChanged{}, IdeaAccepted{}, IdeaEnded{}, PathsAllowed{}, SecretsCleared{}, NewFilesSettled{}, PartsMade{}, PartMerged{}, PartsMerged{}, TaskReplanned{}, PlanSettled{}, TaskProved{}, TaskPictured{}, ThresholdSet{},
		Commitment{}, Claim{}, Evidence{}, Submit{},
		ChecksBegun{}, SessionPlanned{}, EventAccepted{}, EventRefused{}, SessionThrottled{}, SessionCut{}, SessionEnded{}, SessionOutput{},
		TakenOver{}, TreeKept{}, Verified{}, Routed{}, Redo{}, StageSet{}, TreeMerged{}, TipFound{}, TaskCommitted{}, AttemptEnded{},
		BatchBegun{}, BatchChained{}, BatchEnded{},
		WaveBegun{}, WaveTriaged{}, WaveJudged{}, WaveEnded{},
		RemakeAsked{}, RemakeBegun{}, BranchRemade{}, RemakeEnded{},
		GuidanceQueued{}, GuidanceChanged{}, GuidanceDropped{}, GuidanceBound{}, GuidanceReported{}, GuidanceJudged{}, GuidanceExpired{}, GuidanceKept{},
		QuestionAsked{}, ReminderDue{}, QuestionAnswered{}, AnswerUndone{}, QuestionExpired{},
		FilesAttached{}, FilesErased{}, VoiceHeard{},
		MemoryKept{},
		HostAllowed{}, HostRefused{}, HostsMissed{}, HostRemoved{}, NetworkKeptOpen{}, TaintsCleared{},
		LiftBegun{}, LiftEnded{}, PushBegun{}, BranchPushed{}, RequestBegun{}, RequestOpened{}, RequestEdited{},
		RequestSeen{}, RequestLeft{}, MergeBegun{}, MergeEnded{},
		CommentsSeen{}, ReplyBegun{}, ReplyEnded{},
		InputPoisoned{}, EffectFailed{}, EffectRecovered{},
	}
}

// The names of the entry types, in the order of Bodies.

func (SharedSet) EntryType() string { return "house.set" }

func (IDIssued) EntryType() string { return "id.issued" }

func (LeaseGranted) EntryType() string { return "lease.granted" }

func (LeaseReleased) EntryType() string { return "lease.released" }

func (AgentParked) EntryType() string { return "agent.parked" }

func (AgentUnusable) EntryType() string { return "agent.unusable" }

func (AgentUsable) EntryType() string { return "agent.usable" }

func (AgentFaltered) EntryType() string { return "agent.faltered" }

func (BudgetRaised) EntryType() string   { return "budget.raised" }
func (BudgetWarned) EntryType() string   { return "budget.warned" }
func (AgentUncounted) EntryType() string { return "agent.uncounted" }

func (PairingOffered) EntryType() string { return "pairing.offered" }

func (PairingTried) EntryType() string { return "pairing.tried" }

func (PairingEnded) EntryType() string { return "pairing.ended" }

func (PersonPaired) EntryType() string { return "person.paired" }

func (PersonRemoved) EntryType() string { return "person.removed" }

func (QuietSet) EntryType() string { return "quiet.set" }

func (StrangerWrote) EntryType() string { return "stranger.wrote" }

func (CommandRefused) EntryType() string { return "command.refused" }

func (WasOff) EntryType() string { return "house.off" }

func (ClockJumped) EntryType() string { return "clock.jumped" }

func (DigestSent) EntryType() string { return "digest.sent" }

func (WeekDigestSent) EntryType() string { return "digest.week" }

func (SharedHead) EntryType() string { return "shared.head" }

func (RunPlanned) EntryType() string { return "run.planned" }

func (RunQueued) EntryType() string { return "run.queued" }

func (RunResumed) EntryType() string { return "run.resumed" }

func (AgentChosen) EntryType() string { return "agent.chosen" }

func (PreflightFailed) EntryType() string { return "preflight.failed" }

func (PreflightDone) EntryType() string { return "preflight.done" }

func (RunStarted) EntryType() string { return "run.started" }

func (OutlookChanged) EntryType() string { return "outlook.changed" }

func (RunStateSet) EntryType() string { return "run.state" }

func (RunFinishing) EntryType() string { return "run.finishing" }

func (RunEnded) EntryType() string { return "run.ended" }

func (LoadHeld) EntryType() string { return "load.held" }

func (BaselineBroke) EntryType() string { return "baseline.broke" }

func (ExemptionsSet) EntryType() string { return "exemptions.set" }

func (TipFailed) EntryType() string { return "tip.failed" }

func (HatsRead) EntryType() string { return "hats.read" }

func (SourceRead) EntryType() string { return "source.read" }

func (SourceMarked) EntryType() string { return "source.marked" }

func (TaskSet) EntryType() string { return "task.set" }

func (TaskWords) EntryType() string { return "task.words" }

func (TaskNext) EntryType() string { return "task.next" }

func (TasksAsked) EntryType() string { return "tasks.asked" }

func (TasksAdded) EntryType() string { return "tasks.added" }

func (TasksUnasked) EntryType() string { return "tasks.unasked" }

func (TasksRemoved) EntryType() string { return "tasks.removed" }

func (IdeaTaken) EntryType() string { return "idea.taken" }

func (IdeaPlanned) EntryType() string { return "idea.planned" }

func (IdeaChanged) EntryType() string { return "idea.changed" }

func (IdeaAccepted) EntryType() string { return "idea.accepted" }

func (IdeaEnded) EntryType() string { return "idea.ended" }

func (PathsAllowed) EntryType() string { return "paths.allowed" }

func (TaskProved) EntryType() string { return "task.proved" }

func (TaskPictured) EntryType() string { return "task.pictured" }

func (SecretsCleared) EntryType() string { return "secrets.cleared" }

func (NewFilesSettled) EntryType() string { return "new_files.settled" }

func (PartsMade) EntryType() string { return "parts.made" }

func (PartMerged) EntryType() string { return "part.merged" }

func (PartsMerged) EntryType() string { return "parts.merged" }

func (TaskReplanned) EntryType() string { return "task.replanned" }

func (PlanSettled) EntryType() string { return "plan.settled" }

func (ThresholdSet) EntryType() string { return "threshold.set" }

func (Commitment) EntryType() string { return "commit" }

func (Claim) EntryType() string { return "claim" }

func (Evidence) EntryType() string { return "evidence" }

func (Submit) EntryType() string { return "submit" }

func (ChecksBegun) EntryType() string { return "checks.begun" }

func (SessionPlanned) EntryType() string { return "session.planned" }

func (EventAccepted) EntryType() string { return "event.accepted" }

func (EventRefused) EntryType() string { return "event.refused" }

func (SessionThrottled) EntryType() string { return "session.throttled" }

func (SessionCut) EntryType() string { return "session.cut" }

func (SessionEnded) EntryType() string { return "session.ended" }

func (SessionOutput) EntryType() string { return "session.output" }

func (TakenOver) EntryType() string { return "tree.taken" }

func (TreeKept) EntryType() string { return "tree.kept" }

func (Verified) EntryType() string { return "tree.verified" }

func (Routed) EntryType() string { return "routed" }

func (Redo) EntryType() string { return "redo" }

func (StageSet) EntryType() string { return "stage.set" }

func (TreeMerged) EntryType() string { return "tree.merged" }

func (TipFound) EntryType() string { return "tip.found" }

func (TaskCommitted) EntryType() string { return "task.committed" }

func (AttemptEnded) EntryType() string { return "attempt.ended" }

func (BatchBegun) EntryType() string { return "batch.begun" }

func (BatchChained) EntryType() string { return "batch.chained" }

func (BatchEnded) EntryType() string { return "batch.ended" }

func (WaveBegun) EntryType() string { return "wave.begun" }

func (WaveTriaged) EntryType() string { return "wave.triaged" }

func (WaveJudged) EntryType() string { return "wave.judged" }

func (WaveEnded) EntryType() string { return "wave.ended" }

func (RemakeAsked) EntryType() string { return "remake.asked" }

func (RemakeBegun) EntryType() string { return "remake.begun" }

func (BranchRemade) EntryType() string { return "branch.remade" }

func (RemakeEnded) EntryType() string { return "remake.ended" }

func (GuidanceQueued) EntryType() string { return "guidance.queued" }

func (GuidanceChanged) EntryType() string { return "guidance.changed" }

func (GuidanceDropped) EntryType() string { return "guidance.dropped" }

func (GuidanceBound) EntryType() string { return "guidance.bound" }

func (GuidanceReported) EntryType() string { return "guidance.reported" }

func (GuidanceJudged) EntryType() string { return "guidance.judged" }

func (GuidanceExpired) EntryType() string { return "guidance.expired" }

func (GuidanceKept) EntryType() string { return "guidance.kept" }

func (QuestionAsked) EntryType() string { return "question.asked" }

func (ReminderDue) EntryType() string { return "reminder.due" }

func (QuestionAnswered) EntryType() string { return "question.answered" }

func (AnswerUndone) EntryType() string { return "answer.undone" }

func (QuestionExpired) EntryType() string { return "question.expired" }

func (FilesAttached) EntryType() string { return "files.attached" }

func (FilesErased) EntryType() string { return "files.erased" }

func (VoiceHeard) EntryType() string { return "voice.heard" }

func (MemoryKept) EntryType() string { return "memory.kept" }

func (HostAllowed) EntryType() string { return "host.allowed" }

func (HostRefused) EntryType() string { return "host.refused" }

func (HostsMissed) EntryType() string { return "hosts.missed" }

func (HostRemoved) EntryType() string { return "host.removed" }

func (NetworkKeptOpen) EntryType() string { return "network.kept_open" }

func (TaintsCleared) EntryType() string { return "taints.cleared" }

func (LiftBegun) EntryType() string { return "lift.begun" }

func (LiftEnded) EntryType() string { return "lift.ended" }

func (PushBegun) EntryType() string { return "push.begun" }

func (BranchPushed) EntryType() string { return "branch.pushed" }

func (RequestBegun) EntryType() string { return "request.begun" }

func (RequestOpened) EntryType() string { return "request.opened" }

func (RequestEdited) EntryType() string { return "request.edited" }

func (RequestSeen) EntryType() string { return "request.seen" }

func (RequestLeft) EntryType() string { return "request.left" }

func (MergeBegun) EntryType() string { return "merge.begun" }

func (MergeEnded) EntryType() string { return "merge.ended" }

func (CommentsSeen) EntryType() string { return "comments.seen" }

func (ReplyBegun) EntryType() string { return "reply.begun" }

func (ReplyEnded) EntryType() string { return "reply.ended" }

func (InputPoisoned) EntryType() string { return "input.poisoned" }

func (EffectFailed) EntryType() string { return "effect.failed" }

func (EffectRecovered) EntryType() string { return "effect.recovered" }
