package bot

import (
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ScriptedStart says of a run that is about to start that the scripted agent
// works in it; "" of any other.
func ScriptedStart(r *loop.Run) string {
	switch {
	case !r.Settings.Scripted():
		return ""
	case r.Settings.ScriptedMarks == ledger.ScriptedWritten:
		return SignLook + " Scripted agent: nothing is really done."
	}
	return SignLook + " Scripted agent: nothing is really done, no box is ticked (--yes-demo lets it)."
}

// ScriptedEnd says of a run that the scripted agent worked in it; "" of any
// other.
func ScriptedEnd(r *loop.Run) string {
	switch {
	case r.Scripted == 0:
		return ""
	case r.Settings.ScriptedMarks == ledger.ScriptedWritten:
		return SignLook + " Scripted agent: nothing was really done."
	}
	return SignLook + " Scripted agent: nothing was really done, no box was ticked (--yes-demo lets it)."
}
