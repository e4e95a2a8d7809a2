package notify

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Kinds of what is told, as the setting [digest] urgent names them.
const (
	Standstill = "standstill" // no project can go on without a person
	Question   = "question"   // an agent's question that aborts when nobody answers
	Blocked    = "blocked"
	Ended      = "ended"
	Trouble    = "trouble" // preflight, poisoned input, something unknown
)

// Kinds lists them.
func Kinds() []string { return []string{Standstill, Question, Blocked, Ended, Trouble} }

// kindOf says what an entry is about.
func (c *composer) kindOf(e ledger.Entry) string {
	switch b := e.Body.(type) {
	case ledger.RunStateSet:
		if (b.Wait == ledger.WaitAgent || b.Wait == ledger.WaitDisk) && !c.othersWork() {
			return Standstill
		}
	case ledger.RunEnded:
		return Ended
	case ledger.QuestionAsked:
		then := ""
		if r := c.after.Project.Run; r != nil {
			then = r.Settings.QuestionThen
		}
		return string(b.Question.Alarm(then))
	case ledger.PreflightFailed, ledger.InputPoisoned, ledger.AgentUnusable, ledger.EffectFailed, ledger.SessionEnded:
		return Trouble
	}
	return ""
}

// othersWork reports whether another project has a session at work: then this
// one's standing still is not all standing still.
func (c *composer) othersWork() bool {
	return slices.ContainsFunc(c.last.Shared.Leases, func(l ledger.LeaseGranted) bool { return l.Project != c.last.Project.Name })
}

// quiet reports whether what is told now makes no sound in a chat. What is
// silent by day is so anyway (PHONE 5).
func (c *composer) quiet(chat string) bool {
	hours := c.last.Shared.QuietHours(chat, c.o.Quiet())
	return hours.Has(c.now) && !slices.Contains(c.o.Urgent(), c.kind)
}
