package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// applyTask folds an entry about task t into it. r is the project's run, nil before
// the first one.
func applyTask(t *TaskState, r *Run, e ledger.Entry, own *owned) {
	switch b := e.Body.(type) {
	case ledger.TaskSet:
		t.Status, t.Why, t.Question = b.To, b.Reason(), b.Question
		t.applyAside(b, e)
		t.Repeated = t.Repeated || b.Again
		t.Person = b.To == ledger.ManualVerify || t.Person && b.To != ledger.Done
		if b.Fresh {
			t.Scripted, t.Returned = false, b.Returned
			t.Failed, t.LastFail, t.Stalled, t.Attempt, t.Replanned = 0, "", false, nil, 0
			t.Conflict, t.Conflicts = nil, 0
			t.Parts, t.Denied = nil, nil
			t.Proof, t.ProvedIn = nil, "" // the work that it was about is done again
			if t.Task.Parent == "" {
				t.Plan = nil
			}
			// A person's answer overrides the mark that the source still
			// shows until the new mark is written.
			t.Lifted = t.Task.Mark
			if b.From == ledger.Blocked {
				t.Lifted = ledger.MarkBlocked
			} else if b.From == ledger.ManualVerify {
				t.Lifted = ledger.MarkManualVerify
			}
		}
		if b.To == ledger.Done || b.To == ledger.Blocked || b.To == ledger.Skipped || b.To == ledger.Withdrawn {
			t.Ended = e.Time
		}
		if b.To == ledger.Done || b.To == ledger.Skipped || b.To == ledger.Blocked || b.To == ledger.Withdrawn && b.Rest == nil || b.To == ledger.ManualVerify {
			t.Attempt = nil
		}
		if b.To == ledger.Done {
			t.Failures, t.Conflict, t.Conflicts = nil, nil, 0
		}
		if b.From == ledger.Done {
			t.WorkedMs = 0 // until now the summary of its wave names it
		}
		t.Rest = b.Rest
	case ledger.Evidence:
		t.Chain = t.Chain.with(b)
	case ledger.PlanSettled:
		if c := t.Attempt; !b.Approved && c != nil && c.Consensus != nil {
			w := *c
			// Every section is open again, except sections that are parts
			// already.
			w.Consensus = &Consensus{Approved: slices.DeleteFunc(slices.Clone(c.Consensus.Approved), func(id string) bool { return t.PartOf(id) == "" })}
			t.Attempt = &w
		}
	case ledger.PathsAllowed:
		if b.Denied {
			t.Denied = append(slices.Clip(t.Denied), b.Paths...)
		} else {
			t.Allowed = append(slices.Clip(t.Allowed), b.Paths...)
		}
	case ledger.NewFilesSettled:
		if b.LeftOut {
			t.LeftOut = append(slices.Clip(t.LeftOut), b.Paths...)
		} else {
			t.TakeAll = append(slices.Clip(t.TakeAll), b.Paths...)
		}
	case ledger.AnswerUndone:
		t.Failed, t.LastFail, t.Replanned = b.Before.Failed, b.Before.LastFail, b.Before.Replanned
		t.Words = slices.Clip(t.Words[:min(len(t.Words), max(b.Before.Words, 0))])
		t.Attempt = t.Attempt.withoutAnswer(b.Before.Question.ID)
	case ledger.TaskNext:
		if t.Task.Author != "" {
			t.Taken = hashText(&t.Task)
		}
		if t.Task.Report != nil {
			t.Asked = e.Actor
		}
		if b.Fix {
			t.Kept = e.Actor
		}
	case ledger.TaskReplanned:
		t.Replanned = b.Failed
	case ledger.TaskWords:
		t.Words = append(slices.Clip(t.Words), b.Text)
		t.Attempt = t.Attempt.withAnswer(b.Answer)
	case ledger.SourceMarked:
		switch {
		case t.Task.Report == nil:
		case b.Claim != nil:
			t.Task = withClaim(t.Task, b.Claim)
		case b.Error == "" && t.Task.Report.Claim != nil && t.ownClaim(*t.Task.Report.Claim):
			t.Task = withClaim(t.Task, nil) // what is at work by now, or was
		}
		if b.Error == "" {
			t.Marked, t.MarkedAt = b.Mark, e.Time
			if b.Tries != nil {
				t.counted(b.Tries.Failures)
			}
			if b.Mark == ledger.MarkWorking {
				b.Mark = ledger.MarkOpen // as the source reads from now on
			}
			if t.Task.Mark != markGone {
				t.Task.Mark = b.Mark
			}
			switch {
			case b.Mark != ledger.MarkOpen && (t.Status == ledger.Ready || t.Status == ledger.Pending || t.Status == ledger.Active || t.Status == ledger.Waiting):
				t.Lifted = b.Mark // a person changed the decision while the mark was being written
			case b.Mark != t.Lifted:
				t.Lifted = ""
			}
		}
	case ledger.Commitment:
		t.Last = e.Time
		if b.Resume && t.Attempt != nil {
			w := *t.Attempt
			w.Stage, w.Run = ledger.StageReady, e.Run
			t.Attempt = &w
			break
		}
		t.Attempts++
		t.Proof, t.Chain = nil, nil
		t.Failures = failuresOf(t.Failures, &t.Task)
		t.Attempt = &Attempt{
			Of: t.Task,
			N:  t.Attempts, Run: e.Run, Base: b.Base, Start: b.Tree, Tree: b.Tree,
			Stage: ledger.StageReady, Began: e.Time, Fresh: true,
		}
		if r != nil {
			if b.Tree == r.TipTree {
				t.Attempt.StartTests = r.TipTests
			}
			s := r.upcoming().For(t.Task)
			t.Attempt.Hat = firstHat(s, t.Task, t.startsWithPlan())
			if t.Task.Parent != "" && t.Attempt.Hat != s.Planner() {
				t.Attempt.Plan = t.Plan
			}
		}
	case ledger.Claim:
		if t.Attempt != nil {
			w := *t.Attempt
			w.Lane = b.Lane
			t.Attempt = &w
		}
	case ledger.AttemptEnded:
		t.met(b)
		switch {
		case b.Failed:
			t.Failed++
			t.Uncounted++
			if w := t.Attempt; w != nil {
				t.Failures = append(slices.Clip(t.Failures[max(len(t.Failures)+1-keptFailures, 0):]), w.failure(b.Why))
			}
			t.LastFail, t.Attempt = b.Why, nil
			t.Stalled = b.Outcome == ledger.OutcomeStalled
		case b.Replan:
			t.LastFail, t.Attempt = b.Why, nil
		case b.Outcome == ledger.OutcomePlanned:
			t.Attempt, t.Commit = nil, "" // a commit of an earlier attempt is not what its parts make
		case t.Attempt != nil:
			w := *t.Attempt
			w.Stage = ledger.StageHeld
			t.Attempt = &w
		}
	case ledger.SessionEnded:
		if b.Kind == ledger.KindAgent {
			t.Chain = t.Chain.with(b)
		}
		if t.Task.Report != nil && b.Kind == ledger.KindAgent {
			t.WorkedMs += max(b.Exit.Ended.Sub(b.Exit.Started).Milliseconds(), 0)
		}
	case ledger.TaskCommitted:
		t.Commit = b.Commit
	case ledger.TaskPictured:
		t.Pictured = &b.Pictured
	case ledger.TaskProved:
		if t.Attempt != nil || t.Proof == nil {
			t.ProvedIn = e.Run // a word that a person gives afterwards is about the same run
		}
		t.Proof = &b.Proof
	case ledger.SessionPlanned:
		if r != nil && r.Settings.IsScripted(b.Agent) && r.Settings.ScriptedMarks == ledger.ScriptedWithheld {
			t.Scripted = true
		}
	case ledger.PartMerged:
		if r != nil && b.Scripted && r.Settings.ScriptedMarks == ledger.ScriptedWithheld {
			t.Scripted = true
		}
	}
	if t.Attempt != nil && r != nil {
		t.Attempt = applyWork(own.attemptOf(t.Attempt), t, r, e)
		if len(t.Attempt.Plan) > 0 && t.Task.Parent == "" {
			t.Plan = t.Attempt.Plan
		}
	}
}

// applyWork folds an entry into the attempt w at task t, which the fold owns, and returns
// it.
func applyWork(w *Attempt, t *TaskState, r *Run, e ledger.Entry) *Attempt {
	switch b := e.Body.(type) {
	case ledger.SessionPlanned:
		if b.Kind != ledger.KindAgent {
			if w.Checks != nil {
				w.Checks = w.Checks.from(b.Index)
			}
			break
		}
		w.Stage, w.Session, w.Agent, w.Fresh = ledger.StageSession, e.Session, b.Agent, false
		w.Sessions++
		if b.Outside != "" && w.Outside != ledger.OutsideClosed {
			w.Outside = b.Outside
		}
		w.Scripted = w.Scripted || r.Settings.IsScripted(b.Agent)
		w.Event, w.Captured, w.Checks, w.Note, w.Replaces, w.Converged = nil, nil, nil, "", "", false
		w.Met, w.Reserved = nil, b.Reserved
	case ledger.SessionEnded:
		switch {
		case b.Kind != ledger.KindAgent:
			if w.Checks != nil {
				w.Checks = w.Checks.result(b, e.Session, w.flaky)
			}
		case w.Session == e.Session && w.Stage == ledger.StageSession:
			w.again(b, e.Session)
			if b.End == ledger.EndedBudget {
				w.Met = &MetBudget{Reserved: w.Reserved, USD: b.Exit.CostUSD, About: b.Exit.Estimated, Tokens: b.Exit.OverTokens, Agent: w.Agent}
			}
			w.Said, w.SaidBy = silentWords(b), w.Hat
		}
	case ledger.EventAccepted:
		w.Event, w.Refusal = &b, nil
	case ledger.EventRefused:
		w.Owed = append(slices.Clip(w.Owed), b.Owed...)
		w.Refusal = &b
	case ledger.TakenOver:
		w.Captured, w.Facts = &b.Taken, b.Taken.Proof
		w.fixed(b.Taken)
		if w.guardFailed() {
			w.explain() // the session may have changed nothing, and given the reason
		}
		w.Stage = ledger.StageChecks
		w.Strayed = append(slices.Clip(w.Strayed), b.Taken.Outside...)
		if len(b.Taken.Secrets) > 0 {
			w.Leaks++
		}
	case ledger.ChecksBegun:
		w.Stage = ledger.StageChecks
		w.Checks = newChecks(b)
	case ledger.TaskPictured:
		w.Checks = nil
	case ledger.Verified:
		w.Checks = nil
		switch b.Kind {
		case ledger.KindGuard:
			w.applyGuard(b)
			return w
		case ledger.KindProof:
			w.Shown = shownBy(b, w.Verified)
			w.Shown.Ran = begun(countsOf(b.Results))
			return w
		case ledger.KindBatch: // it is recorded for the task whose change failed
			w.Verified, w.Judged = &b, e.Session
			w.Red++
			w.RedBatches++
			return w
		}
		if b.Kind == ledger.KindRecheck && w.Verified != nil && w.Verified.OK {
			w.StartTests, w.Recounted = w.StartTests.with(b.Results), true
			break
		}
		if b.Kind == ledger.KindRecheck {
			w.Rechecked = true // a recheck verified another tree; the result for this one stands
			break
		}
		again := w.Judged == e.Session && w.Rechecked // the recheck records this result again, without the commands that also fail on the start commit: count it once
		w.Verified, w.Judged, w.Unclaimed = &b, e.Session, ""
		switch {
		case b.OK:
			w.Red = 0
		case !again:
			w.Red++
		}
	case ledger.Redo:
		if b.Why == ledger.RedoBudget {
			w.leave(b.Tree)
		}
		w.Stage, w.Note, w.Replaces, w.Tree, w.Converged = ledger.StageReady, b.Note, w.Session, b.Tree, false
		if b.Failed {
			w.FailedRow++
		} else {
			w.FailedRow = 0 // the session worked; Red counts red trees
		}
		if b.Why == ledger.RedoAsked {
			w.answerAgain()
		}
	case ledger.Routed:
		w.route(b, t)
	case ledger.PartsMade:
		w.withParts(b)
	case ledger.PartMerged:
		w.withPart(b)
	case ledger.PartsMerged:
		w.afterParts(b)
	case ledger.TreeMerged:
		switch {
		case b.OntoTree != "":
			w.Merging = &ledger.Conflict{Base: w.Start, Mine: w.Tree, Theirs: b.OntoTree}
		case b.Batch == "":
			w.Merging = &ledger.Conflict{Base: w.Base, Mine: w.Tree, Theirs: b.Onto}
		}
		switch {
		case b.Tree == "":
		case b.Batch != "":
			w.verifiedTogether(b.Tree)
			w.Base, w.Start, w.Tree = b.Onto, r.TipTree, b.Tree
		default:
			w.Base, w.Start, w.Tree, w.Facts = b.Onto, r.TipTree, b.Tree, b.Proof
			w.StartTests, w.Recounted = r.TipTests, false
		}
	case ledger.Evidence:
		if b.Kind == "review" && w.Event != nil && w.Event.Type == ledger.EventReview {
			w.Found = b.Issues
			w.reviewed(b)
		}
		if b.Kind == ledger.EvidenceVerification {
			w.Criteria = b.Criteria
		}
		w.Proof = append(slices.Clip(w.Proof), b.Kind+" "+e.Session)
	case ledger.StageSet:
		w.Stage = b.Stage
		if b.Forgiven {
			w.FailedRow, w.EarlyRow = max(w.FailedRow-w.EarlyRow, 0), 0
		}
	}
	return w
}

// verifiedTogether moves what is known of the attempt's own tree to the one that
// its change is part of and that was verified in a batch.
func (w *Attempt) verifiedTogether(tree string) {
	if w.Verified != nil && w.Verified.Tree == w.Tree {
		v := *w.Verified
		v.Tree = tree
		w.Verified = &v
	}
}

// again updates the attempt after one of its agent sessions ended. After a success
// the work folder is captured; otherwise the same hat gets another session.
func (w *Attempt) again(b ledger.SessionEnded, session string) {
	switch b.Counts {
	case ledger.CountsAsSuccess:
		w.LostRow, w.EarlyRow = 0, 0
		w.Stage = ledger.StageCapture
	case ledger.CountsAsFailed:
		w.FailedRow++
		w.LostRow = 0
		if w.EarlyRow++; !endedEarly(b.Exit) {
			w.EarlyRow = 0
		}
		w.Stage, w.Note, w.Replaces = ledger.StageReady, strictNote(b.End, b.Text), session
	default:
		switch b.End {
		case ledger.EndedLost:
			w.LostRow++
		case ledger.EndedEarly:
			w.EarlyText = b.Text
		}
		w.Stage, w.Replaces = ledger.StageReady, session
		w.Sessions-- // an interruption from outside, such as a restart, does not count against MaxSessions
	}
}

// leave keeps the tree of a session that ended without saying that it is done, with a
// question or at its budget. Whoever goes on with it may find nothing left to change.
func (w *Attempt) leave(tree string) {
	if w.Unclaimed == "" && tree != w.Tree {
		w.Unclaimed = w.Tree
	}
}

// route updates the attempt after its session's event was routed: it keeps what the
// event says and moves on to the next hat, or to the commit.
func (w *Attempt) route(b ledger.Routed, t *TaskState) {
	if ev := w.Event; ev != nil && b.On == ev.Type {
		w.History = append(slices.Clip(w.History), Step{Session: w.Session, Hat: w.Hat, Event: ev.Type, Summary: payload.Summary(ev.Data)})
		switch ev.Type {
		case ledger.EventPlan:
			if c := w.Consensus; c != nil {
				w.Plan = revised(w.Plan, ev.Data, c.Approved)
				w.argue(*ev)
			} else {
				w.Plan = ev.Data
			}
		case ledger.EventCritique, ledger.EventAdvice:
			w.argue(*ev)
		case ledger.EventFix:
			w.Disputed = payload.Field(ev.Data, "disputed")
		case ledger.EventRepro:
			w.Repro = payload.String(ev.Data, "command")
		case ledger.EventFailed:
			w.Issues = payload.Counting(t.Criteria().FailedChecks(ev.Data), w.Rulings)
			w.FailedTrees = append(slices.Clip(w.FailedTrees), b.Tree)
		case ledger.EventUpheld, ledger.EventDismissed:
			w.Rulings = append(slices.Clip(w.Rulings), payload.Rulings(ev.Data)...)
			w.Issues, w.Disputed = payload.Counting(w.Issues, w.Rulings), nil
		case ledger.EventReview:
			issues := w.Found
			w.Found = nil
			if w.contested(issues) {
				w.Upheld++
			} else {
				w.Upheld = 0
			}
			w.Issues = issues
			w.Rounds++
			w.IssueSets = append(slices.Clip(w.IssueSets), issueSet(issues))
			w.Trees = append(slices.Clip(w.Trees), b.Tree)
		}
		if l := payload.String(ev.Data, "learnings"); l != "" {
			w.Learnings = l
		}
		if m := payload.ManualVerify(ev.Data); m != "" {
			w.Manual = m
		}
		w.NoChange = payload.String(ev.Data, "no_change")
	}
	switch {
	case b.Second:
		w.Second = w.Agent
	case b.On != ledger.EventQuestion: // a reviewer that asks goes on after the answer
		w.Second = ""
	}
	if b.On == ledger.EventQuestion {
		w.leave(b.Tree)
	} else {
		w.Unclaimed = ""
	}
	w.Tree, w.Stage, w.FailedRow = b.Tree, ledger.StageReady, 0
	if b.To == ledger.Converged {
		w.Stage, w.Converged = ledger.StageCommit, true
	}
	if !ledger.EndsAttempt(b.To) {
		w.Hat = b.To
	}
}
