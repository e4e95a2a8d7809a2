package adapter

import (
	"io"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Scripted is the name of the agent that plays a script and calls no model.
const Scripted = "demo"

// scripted is the row of the scripted agent, which is a command of nightporter
// itself.
var scripted = Agent{
	Name:     Scripted,
	Origin:   FromSelf,
	Command:  commandArgs,
	StopHook: NoStopHook,
	Read:     readScripted,
	Tail:     WholeLines,
	Login:    NoLogin,
	Vars:     NoVars,
	Secrets:  NoSecrets,
	Failures: NoFailures,
}

// readScripted says that no tokens were used and nothing was paid: without a
// model, that is known.
func readScripted(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	v := readText(output, x, known)
	v.Tokens, v.CostUSD = 0, 0
	return v
}
