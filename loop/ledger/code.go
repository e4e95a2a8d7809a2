package ledger

// AnswerCode tells programs how an input was decided. A text says the same to
// people and may change at any time; a code never does, because answers are
// stored with their codes. Two refusals share a code where a program has no
// reason to tell them apart.
type AnswerCode string

// Codes of inputs that were accepted. Most commands are accepted without one.
const (
	CodeAccepted AnswerCode = "accepted" // an event is recorded
	CodeAsked    AnswerCode = "asked"    // a question was opened first; Answer.ID names it
	CodeKept     AnswerCode = "kept"
	CodeNoted    AnswerCode = "noted"
	CodeOffered  AnswerCode = "offered" // a pairing code is open
	CodePaired   AnswerCode = "paired"
	CodePlanned  AnswerCode = "planned" // a run is planned and checked before its start
	CodeQueued   AnswerCode = "queued"  // a guidance; Answer.ID names it
	CodeRemoved  AnswerCode = "removed"
	CodeResumed  AnswerCode = "resumed"
	CodeSame     AnswerCode = "same" // nothing to change
	CodeSent     AnswerCode = "sent" // a digest; refused with the same code where it was sent before
	CodeSet      AnswerCode = "set"
	CodeStarted  AnswerCode = "started"
	CodeUndone   AnswerCode = "undone"
)

// Codes of refusals.
const (
	CodeActive          AnswerCode = "active" // a session is at work on the task
	CodeBusy            AnswerCode = "busy"   // a run is at work where a new one was to start
	CodeCutOff          AnswerCode = "cut off"
	CodeEarly           AnswerCode = "early"
	CodeEnded           AnswerCode = "ended" // the session has ended
	CodeEnding          AnswerCode = "ending"
	CodeFault           AnswerCode = "fault"    // the decision failed; the ledger keeps the fault
	CodeGuidance        AnswerCode = "guidance" // an event does not say what was done with a guidance
	CodeHours           AnswerCode = "hours"
	CodeIdle            AnswerCode = "idle"
	CodeInUse           AnswerCode = "in use" // the guidance is in a prompt already
	CodeKind            AnswerCode = "kind"
	CodeLastAdmin       AnswerCode = "last admin"
	CodeLate            AnswerCode = "late"
	CodeNoAgent         AnswerCode = "no agent"
	CodeNoAnswer        AnswerCode = "no answer" // the question does not take this answer
	CodeNoDay           AnswerCode = "no day"
	CodeNoGuidance      AnswerCode = "no guidance"
	CodeNoHat           AnswerCode = "no hat"
	CodeNoPairing       AnswerCode = "no pairing"
	CodeNoPlan          AnswerCode = "no plan"
	CodeNoQuestion      AnswerCode = "no question"
	CodeNoRole          AnswerCode = "no role"
	CodeNoTask          AnswerCode = "no task"
	CodeNoWeek          AnswerCode = "no week"
	CodeNoWords         AnswerCode = "no words"
	CodeNobody          AnswerCode = "nobody"
	CodeNotReady        AnswerCode = "not ready"
	CodeNotText         AnswerCode = "not text"
	CodeNothing         AnswerCode = "nothing"
	CodeOpen            AnswerCode = "open" // nothing to take back: the question is open
	CodeOtherRepository AnswerCode = "other repository"
	CodeOtherSource     AnswerCode = "other source"
	CodeOver            AnswerCode = "over" // a task or guidance that nothing comes for any more
	CodeRefused         AnswerCode = "refused"
	CodeRole            AnswerCode = "role"
	CodeRunning         AnswerCode = "running"
	CodeSecondEvent     AnswerCode = "second event"
	CodeSettled         AnswerCode = "settled" // the question has its answer
	CodeShort           AnswerCode = "short"
	CodeStarting        AnswerCode = "starting"
	CodeTakenOut        AnswerCode = "taken out" // not paired any more; nothing is said to that person
	CodeTooLate         AnswerCode = "too late"
	CodeTooLong         AnswerCode = "too long"
	CodeTooMany         AnswerCode = "too many"
	CodeUnfinished      AnswerCode = "unfinished"
	CodeWithdrawn       AnswerCode = "withdrawn"
	CodeWords           AnswerCode = "words" // the answer needs words
	CodeWrongCode       AnswerCode = "wrong code"
)
