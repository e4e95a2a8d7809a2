package adapter

import (
	"io"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Scripted is the name of the agent that follows a script and uses no model.
const Scripted = ledger.ScriptedAgent

// scripted is the row of the scripted agent, which is a subcommand of
// nightporter.
var scripted = Agent{
	Name:        Scripted,
	Origin:      FromSelf,
	Command:     commandArgs,
	StopHook:    NoStopHook,
	MCP:         NoMCP,
	Read:        readScripted,
	LastMessage: lastLines,
	Tail:        WholeLines,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       NoSpent,
	Reports:     "no tokens and no cost, as it uses no model",
	Cost:        CostReported,
	Guesses:     NoGuess,
	Kinds:       KindsUnknown,
	Login:       NoLogin,
	Vars:        NoVars,
	Home:        NoHome,
	Untrusted:   NoHome,
	Settings:    NoSettings,
	Secrets:     NoSecrets,
	Failures:    NoFailures,
}

// readScripted sets tokens and cost to 0, which are known without a model.
func readScripted(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	v := readText(output, x, known)
	v.Tokens, v.CostUSD = 0, 0
	return v
}
