package ledger

// AnswerCode tells programs how an input was decided. The answer's text tells people
// the same and may change at any time. A code never changes, because answers are
// stored with their codes. Two refusals share a code if programs have no reason to
// tell them apart.
type AnswerCode string

// Codes of accepted inputs. Most commands are accepted without a code.
const (
	CodeAccepted AnswerCode = "accepted" // an event is recorded
	CodeAdding   AnswerCode = "adding"   // tasks are being added; Answer.ID names the addition
	CodeAsked    AnswerCode = "asked"    // a question was opened first; Answer.ID names it
	CodeKept     AnswerCode = "kept"
	CodeNoted    AnswerCode = "noted"
	CodeOffered  AnswerCode = "offered" // a pairing code is open
	CodePaired   AnswerCode = "paired"
	CodePlanned  AnswerCode = "planned" // a run is planned and checked before its start
	CodeQueued   AnswerCode = "queued"  // guidance is queued; Answer.ID names it
	CodeRemoved  AnswerCode = "removed"
	CodeResumed  AnswerCode = "resumed"
	CodeSame     AnswerCode = "same" // there was nothing to change
	CodeSent     AnswerCode = "sent" // a digest was sent; also the refusal of a digest that was sent before
	CodeSet      AnswerCode = "set"
	CodeStarted  AnswerCode = "started"
	CodeUndone   AnswerCode = "undone"
)

// Codes of refusals.
const (
	CodeActive          AnswerCode = "active" // a session is working on the task
	CodeBusy            AnswerCode = "busy"   // a run is under way, so no new one can start
	CodeCutOff          AnswerCode = "cut off"
	CodeCycle           AnswerCode = "cycle" // new tasks depend on each other in a circle
	CodeEarly           AnswerCode = "early"
	CodeEnded           AnswerCode = "ended" // the session has ended
	CodeEnding          AnswerCode = "ending"
	CodeFault           AnswerCode = "fault"    // the decision panicked; the ledger keeps the error
	CodeGuidance        AnswerCode = "guidance" // an event does not report on a guidance item
	CodeHours           AnswerCode = "hours"
	CodeIdle            AnswerCode = "idle"
	CodeNoRequest       AnswerCode = "no request" // there is no open request of that number
	CodeNotGreen        AnswerCode = "not green"  // a request cannot be merged as it is
	CodeMerging         AnswerCode = "merging"    // its merge is under way
	CodeInUse           AnswerCode = "in use"     // the guidance is in a prompt already
	CodeKind            AnswerCode = "kind"
	CodeLastAdmin       AnswerCode = "last admin"
	CodeLate            AnswerCode = "late"
	CodeNoAgent         AnswerCode = "no agent"
	CodeNoAmount        AnswerCode = "no amount"
	CodeNoAnswer        AnswerCode = "no answer" // the question does not take this answer
	CodeNoDay           AnswerCode = "no day"
	CodeNoGuidance      AnswerCode = "no guidance"
	CodeNoRoom          AnswerCode = "no room"
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
	CodeOpen            AnswerCode = "open" // the question is open, so there is no answer to take back
	CodeOtherRepository AnswerCode = "other repository"
	CodeOtherSource     AnswerCode = "other source"
	CodeOtherText       AnswerCode = "other text" // the task says another thing than the person read
	CodeOver            AnswerCode = "over"       // the task or guidance is over and cannot change any more
	CodeRefused         AnswerCode = "refused"
	CodeRole            AnswerCode = "role"
	CodeSeveral         AnswerCode = "several" // sessions could be meant: say which
	CodeRunning         AnswerCode = "running"
	CodeSecondEvent     AnswerCode = "second event"
	CodeSettled         AnswerCode = "settled" // the question is answered already
	CodeShort           AnswerCode = "short"
	CodeStarting        AnswerCode = "starting"
	CodeTakenOut        AnswerCode = "taken out" // the person is not paired any more and gets no reply
	CodeTooLate         AnswerCode = "too late"
	CodeTooLong         AnswerCode = "too long"
	CodeTooMany         AnswerCode = "too many"
	CodeTwice           AnswerCode = "twice" // a task with that title or id is there; Answer.ID names it
	CodeUnfinished      AnswerCode = "unfinished"
	CodeWithdrawn       AnswerCode = "withdrawn"
	CodeWords           AnswerCode = "words" // the answer needs words
	CodeWrongCode       AnswerCode = "wrong code"
)
