package loop

import "github.com/nightporter/nightporter/loop/ledger"

// endRule is one row of the table in docs/spec 2.2.
type endRule struct {
	end    ledger.SessionOutcome
	counts ledger.Accounting
	when   func(x ledger.Exit, accepted, cut bool) bool
}

// endRules are tried in order; the last one always matches. A leak comes first: it is
// one whatever was reported. An accepted event comes next: nothing that the process did afterwards matters. A cut
// follows, because a process that is being ended may report anything.
var endRules = []endRule{
	{ledger.EndedLeak, ledger.CountsAsFailed, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitLeak }},
	{ledger.EndedEvent, ledger.CountsAsSuccess, func(_ ledger.Exit, accepted, _ bool) bool { return accepted }},
	{ledger.EndedCut, ledger.CountsAsNothing, func(x ledger.Exit, _, cut bool) bool { return cut || x.Reason == ledger.ExitAbandoned }},
	{ledger.EndedBudget, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.OverBudget }},
	{ledger.EndedDisk, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitDisk }},
	{ledger.EndedMachine, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.Fault != "" }},
	{ledger.EndedLost, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool {
		return x.Reason == ledger.ExitLost || x.OverLimits()
	}},
	{ledger.EndedLimit, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.Failure == ledger.FailureLimit }},
	{ledger.EndedUnusable, ledger.CountsAsNothing, unusable},
	{ledger.EndedNetwork, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.Failure == ledger.FailureNetwork }},
	{ledger.EndedStall, ledger.CountsAsFailed, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitStall }},
	{ledger.EndedCircle, ledger.CountsAsFailed, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitCircle }},
	{ledger.EndedWall, ledger.CountsAsFailed, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitWall }},
	{ledger.EndedSilent, ledger.CountsAsFailed, func(ledger.Exit, bool, bool) bool { return true }},
}

// unusable reports whether no session of this agent can work until a person
// acts. That includes a failure within ten seconds without a model turn, for
// agents that report turns.
func unusable(x ledger.Exit, _, _ bool) bool {
	const early = 10e9 // nanoseconds
	return x.Failure == ledger.FailureAuth || x.Reason == ledger.ExitNotStarted || x.Code == 126 || x.Code == 127 ||
		// A failure with a class, such as an overloaded provider, keeps that
		// class however early it came.
		(x.Failure == "" && x.Turns == 0 && x.Code > 0 && x.Took() < early)
}

// Classify returns how a session ended and what that counts as. accepted means
// that its event was accepted, cut that the daemon asked for the end.
func Classify(x ledger.Exit, accepted, cut bool) (ledger.SessionOutcome, ledger.Accounting) {
	for _, r := range endRules {
		if r.when(x, accepted, cut) {
			return r.end, r.counts
		}
	}
	return ledger.EndedSilent, ledger.CountsAsFailed
}
