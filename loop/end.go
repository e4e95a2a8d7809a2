package loop

// End is what a session's end means: the rows of the table in SPEC 2.2.
type End string

// Ends, in the order of the table.
const (
	EndEvent    End = "event"    // its event was accepted, whatever the exit code
	EndSilent   End = "no event" // it ended without one
	EndStall    End = "stall"
	EndWall     End = "wall limit"
	EndLimit    End = "limit"    // usage or rate limit
	EndUnusable End = "unusable" // auth, billing, unknown model, missing, not startable
	EndNetwork  End = "network"
	EndCut      End = "cut off" // pause now, stop now, /now, budget, daemon restart, machine sleep
	EndLost     End = "lost"    // without trace, or killed for memory
	EndDisk     End = "disk"
)

// Counts is what an end counts as.
type Counts string

// What an end can count as.
const (
	CountsSuccess Counts = "success"
	CountsFailed  Counts = "failed session"
	CountsNothing Counts = "nothing"
)

// endRule is one row of SPEC 2.2.
type endRule struct {
	end    End
	counts Counts
	when   func(x Exit, accepted, cut bool) bool
}

// endRules are tried from the top; the last one matches always. An accepted
// event comes first: what the process did afterwards does not matter. A cut
// comes before everything else that the process may have said while it was
// being ended.
var endRules = []endRule{
	{EndEvent, CountsSuccess, func(_ Exit, accepted, _ bool) bool { return accepted }},
	{EndCut, CountsNothing, func(x Exit, _, cut bool) bool { return cut || x.Why == WhyAbandoned }},
	{EndDisk, CountsNothing, func(x Exit, _, _ bool) bool { return x.Why == WhyDisk }},
	{EndLost, CountsNothing, func(x Exit, _, _ bool) bool { return x.Why == WhyLost || x.Why == WhyMemory }},
	{EndLimit, CountsNothing, func(x Exit, _, _ bool) bool { return x.Trouble == TroubleLimit }},
	{EndUnusable, CountsNothing, unusable},
	{EndNetwork, CountsNothing, func(x Exit, _, _ bool) bool { return x.Trouble == TroubleNetwork }},
	{EndStall, CountsFailed, func(x Exit, _, _ bool) bool { return x.Why == WhyStall }},
	{EndWall, CountsFailed, func(x Exit, _, _ bool) bool { return x.Why == WhyWall }},
	{EndSilent, CountsFailed, func(Exit, bool, bool) bool { return true }},
}

// unusable: no session of this agent can work until a person has done
// something. For agents whose stream shows model turns, a non-zero exit
// within ten seconds without one is the same thing.
func unusable(x Exit, _, _ bool) bool {
	const early = 10e9 // nanoseconds
	return x.Trouble == TroubleAuth || x.Why == WhyNotStarted || x.Code == 126 || x.Code == 127 ||
		// A trouble that was named (a provider that is overloaded at the first
		// request) is that, however early it came.
		(x.Trouble == "" && x.Turns == 0 && x.Code > 0 && x.Took() < early)
}

// Classify says what a session's end means and what it counts as. accepted:
// its event was accepted. cut: the daemon asked for the end.
func Classify(x Exit, accepted, cut bool) (End, Counts) {
	for _, r := range endRules {
		if r.when(x, accepted, cut) {
			return r.end, r.counts
		}
	}
	return EndSilent, CountsFailed
}
