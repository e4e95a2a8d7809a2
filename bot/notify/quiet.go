package notify

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Kinds of news, as the setting [digest] urgent names them.
const (
	Standstill = "standstill" // no project can continue without a person
	Question   = "question"   // an agent's question that aborts the task without an answer
	Blocked    = "blocked"
	Ended      = "ended"
	Trouble    = "trouble" // failed preflight, poisoned input, unknown outcomes
)

// Kinds returns all kinds of news.
func Kinds() []string { return []string{Standstill, Question, Blocked, Ended, Trouble} }

// kindOf returns the kind of news of an entry, "" if it is none.
func (c *composer) kindOf(e ledger.Entry) string {
	switch b := e.Body.(type) {
	case ledger.RunStateSet:
		if (b.Wait == ledger.WaitAgent || b.Wait == ledger.WaitDisk) && !c.otherProjectWorks() {
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
	case ledger.EffectFailed:
		if b.Told && ledger.RetryOf(b.Kind) == ledger.RetryHolds && !c.otherProjectWorks() {
			return Standstill
		}
		return Trouble
	case ledger.PreflightFailed, ledger.InputPoisoned, ledger.AgentUnusable, ledger.SessionEnded:
		return Trouble
	}
	return ""
}

// otherProjectWorks reports whether another project has a session in flight. A
// project that cannot continue is then not a standstill.
func (c *composer) otherProjectWorks() bool {
	return slices.ContainsFunc(c.last.Shared.Leases, func(l ledger.LeaseGranted) bool { return l.Project != c.last.Project.Name })
}

// quiet reports whether quiet hours silence the current message in a chat.
// Messages that are silent by day need no check (docs/spec 25).
func (c *composer) quiet(chat string) bool {
	hours := c.last.Shared.QuietHours(chat, c.o.Quiet())
	return hours.Has(c.now) && !slices.Contains(c.o.Urgent(), c.kind)
}
