package loop

// SessionOutcome is what a session's end means: the rows of the table in SPEC 2.2.
type SessionOutcome string

// Ends, in the order of the table.
const (
	EndedEvent    SessionOutcome = "event"    // its event was accepted, whatever the exit code
	EndedSilent   SessionOutcome = "no event" // it ended without one
	EndedStall    SessionOutcome = "stall"
	EndedWall     SessionOutcome = "wall limit"
	EndedLimit    SessionOutcome = "limit"    // usage or rate limit
	EndedUnusable SessionOutcome = "unusable" // auth, billing, unknown model, missing, not startable
	EndedNetwork  SessionOutcome = "network"
	EndedCut      SessionOutcome = "cut off" // pause now, stop now, /now, budget, daemon restart, machine sleep
	EndedLost     SessionOutcome = "lost"    // without trace, or killed for memory
	EndedDisk     SessionOutcome = "disk"
)

// Accounting is what an end counts as.
type Accounting string

// What an end can count as.
const (
	CountsAsSuccess Accounting = "success"
	CountsAsFailed  Accounting = "failed session"
	CountsAsNothing Accounting = "nothing"
)

// endRule is one row of SPEC 2.2.
type endRule struct {
	end    SessionOutcome
	counts Accounting
	when   func(x Exit, accepted, cut bool) bool
}

// endRules are tried from the top; the last one matches always. An accepted
// event comes first: what the process did afterwards does not matter. A cut
// comes before everything else that the process may have said while it was
// being ended.
var endRules = []endRule{
	{EndedEvent, CountsAsSuccess, func(_ Exit, accepted, _ bool) bool { return accepted }},
	{EndedCut, CountsAsNothing, func(x Exit, _, cut bool) bool { return cut || x.Reason == ExitAbandoned }},
	{EndedDisk, CountsAsNothing, func(x Exit, _, _ bool) bool { return x.Reason == ExitDisk }},
	{EndedLost, CountsAsNothing, func(x Exit, _, _ bool) bool { return x.Reason == ExitLost || x.Reason == ExitMemory }},
	{EndedLimit, CountsAsNothing, func(x Exit, _, _ bool) bool { return x.Failure == FailureLimit }},
	{EndedUnusable, CountsAsNothing, unusable},
	{EndedNetwork, CountsAsNothing, func(x Exit, _, _ bool) bool { return x.Failure == FailureNetwork }},
	{EndedStall, CountsAsFailed, func(x Exit, _, _ bool) bool { return x.Reason == ExitStall }},
	{EndedWall, CountsAsFailed, func(x Exit, _, _ bool) bool { return x.Reason == ExitWall }},
	{EndedSilent, CountsAsFailed, func(Exit, bool, bool) bool { return true }},
}

// unusable: no session of this agent can work until a person has done
// something. For agents whose stream shows model turns, a non-zero exit
// within ten seconds without one is the same thing.
func unusable(x Exit, _, _ bool) bool {
	const early = 10e9 // nanoseconds
	return x.Failure == FailureAuth || x.Reason == ExitNotStarted || x.Code == 126 || x.Code == 127 ||
		// A trouble that was named (a provider that is overloaded at the first
		// request) is that, however early it came.
		(x.Failure == "" && x.Turns == 0 && x.Code > 0 && x.Took() < early)
}

// Classify says what a session's end means and what it counts as. accepted:
// its event was accepted. cut: the daemon asked for the end.
func Classify(x Exit, accepted, cut bool) (SessionOutcome, Accounting) {
	for _, r := range endRules {
		if r.when(x, accepted, cut) {
			return r.end, r.counts
		}
	}
	return EndedSilent, CountsAsFailed
}
