package ledger

// exitCodes are the exit codes of `nightporter run` by the reason for which the
// run ended (docs/spec 2.4). The zero of a missing reason would be success, so a
// test holds that all reasons have one.
var exitCodes = map[Reason]int{
	ReasonDone:       0,
	ReasonChosen:     0,
	ReasonChecked:    0,
	ReasonUpkeep:     0,
	ReasonIdea:       0,
	ReasonBlocked:    1,
	ReasonNothing:    1,
	ReasonManual:     1,
	ReasonStreak:     1,
	ReasonEmptyWaves: 1,
	ReasonBaseline:   1,
	ReasonIterations: ExitLimit,
	ReasonWaves:      ExitLimit,
	ReasonUntil:      ExitLimit,
	ReasonBudget:     ExitLimit,
	ReasonStopped:    ExitLimit,
	ReasonReplaced:   ExitLimit,
	ReasonPreflight:  3,
	ReasonInternal:   4,
}

// ExitLimit means that work is left and the same command continues it.
const ExitLimit = 2

// ExitCode returns the exit code with which `nightporter run` reports this end:
// that of the signal or the reason. It is never 0 for a branch tip that fails
// verification, or whose verification was cut off, nor for fixes that were kept from
// being pushed, nor for tasks that rest on
// changed checks that nobody allowed, nor where something failed that was exempt,
// nor while the project's last verified tip is red.
func (e RunEnded) ExitCode() int {
	code := exitCodes[e.Reason]
	switch {
	case e.Signal != "":
		code = SignalExitCode(e.Signal)
	case code == 0 && (e.FinalCut || len(e.Unpushed) > 0):
		code = ExitLimit
	}
	if e.FinalOK != nil && !*e.FinalOK {
		code = max(code, 1)
	}
	if e.Unallowed > 0 || e.PartlyRed() {
		code = max(code, 1)
	}
	return code
}

// PartlyRed reports whether a run ended with something that was not green: what was
// exempt and fails still, tasks that were committed while it failed, or a red tip
// that the run did not repair.
func (e RunEnded) PartlyRed() bool {
	return len(e.Exempt) > 0 || len(e.Exempted) > 0 || e.RedTip != nil
}

// SignalExitCode returns the exit code of a program that ended because of a
// signal, by the convention of shells. Without a signal a person stopped the
// run, and work is left.
func SignalExitCode(signal string) int {
	switch signal {
	case "SIGTERM":
		return 143
	case "SIGINT":
		return 130
	}
	return ExitLimit
}
