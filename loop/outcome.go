package loop

import "github.com/nightporter/nightporter/loop/ledger"

// endRule is one row of docs/spec 2.2.
type endRule struct {
	end    ledger.SessionOutcome
	counts ledger.Accounting
	when   func(x ledger.Exit, accepted, cut bool) bool
}

// endRules are tried from the top; the last one matches always. An accepted
// event comes first: what the process did afterwards does not matter. A cut
// comes before everything else that the process may have said while it was
// being ended.
var endRules = []endRule{
	{ledger.EndedEvent, ledger.CountsAsSuccess, func(_ ledger.Exit, accepted, _ bool) bool { return accepted }},
	{ledger.EndedCut, ledger.CountsAsNothing, func(x ledger.Exit, _, cut bool) bool { return cut || x.Reason == ledger.ExitAbandoned }},
	{ledger.EndedDisk, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitDisk }},
	{ledger.EndedLost, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool {
		return x.Reason == ledger.ExitLost || x.Reason == ledger.ExitMemory
	}},
	{ledger.EndedLimit, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.Failure == ledger.FailureLimit }},
	{ledger.EndedUnusable, ledger.CountsAsNothing, unusable},
	{ledger.EndedNetwork, ledger.CountsAsNothing, func(x ledger.Exit, _, _ bool) bool { return x.Failure == ledger.FailureNetwork }},
	{ledger.EndedStall, ledger.CountsAsFailed, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitStall }},
	{ledger.EndedWall, ledger.CountsAsFailed, func(x ledger.Exit, _, _ bool) bool { return x.Reason == ledger.ExitWall }},
	{ledger.EndedSilent, ledger.CountsAsFailed, func(ledger.Exit, bool, bool) bool { return true }},
}

// unusable: no session of this agent can work until a person has done
// something. For agents whose stream shows model turns, a non-zero exit
// within ten seconds without one is the same thing.
func unusable(x ledger.Exit, _, _ bool) bool {
	const early = 10e9 // nanoseconds
	return x.Failure == ledger.FailureAuth || x.Reason == ledger.ExitNotStarted || x.Code == 126 || x.Code == 127 ||
		// A trouble that was named (a provider that is overloaded at the first
		// request) is that, however early it came.
		(x.Failure == "" && x.Turns == 0 && x.Code > 0 && x.Took() < early)
}

// Classify says what a session's end means and what it counts as. accepted:
// its event was accepted. cut: the daemon asked for the end.
func Classify(x ledger.Exit, accepted, cut bool) (ledger.SessionOutcome, ledger.Accounting) {
	for _, r := range endRules {
		if r.when(x, accepted, cut) {
			return r.end, r.counts
		}
	}
	return ledger.EndedSilent, ledger.CountsAsFailed
}
