package loop

import (
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

var ends = map[string]func(*director, *ledger.Exit){
	"silent": func(_ *director, x *ledger.Exit) {},
	"code 3": func(_ *director, x *ledger.Exit) { x.Code = 3; x.Ended = x.Started.Add(11 * time.Second); x.Turns = 0 },
	"at once": func(_ *director, x *ledger.Exit) {
		x.Code = 1
		x.Ended = x.Started.Add(2 * time.Second)
		x.Turns = 0
		x.Tail = "panic: no config"
	},
	"127":         func(_ *director, x *ledger.Exit) { x.Code = 127; x.Tail = "claude: not found" },
	"not started": func(_ *director, x *ledger.Exit) { x.Reason = ledger.ExitNotStarted; x.Text = "no such file" },
	"stall":       func(_ *director, x *ledger.Exit) { x.Reason = ledger.ExitStall },
	"circle": func(_ *director, x *ledger.Exit) {
		x.Reason, x.Code, x.Text = ledger.ExitCircle, -1, "it compacted its conversation 3 times in a row without a tool call"
	},
	"wall": func(_ *director, x *ledger.Exit) { x.Reason = ledger.ExitWall },
	"limit": func(d *director, x *ledger.Exit) {
		x.Failure, x.Until, x.Text = ledger.FailureLimit, d.now.Add(time.Hour), "You've hit your limit"
	},
	"limit stale": func(d *director, x *ledger.Exit) {
		x.Failure, x.Until, x.Text = ledger.FailureLimit, d.now.Add(-time.Hour), "You've hit your limit"
	},
	"never": func(d *director, x *ledger.Exit) {
		x.Failure, x.Until, x.Text = ledger.FailureLimit, d.now.AddDate(70, 0, 0), "resets at 2099-01-01"
	},
	"limit again": func(_ *director, x *ledger.Exit) { // by its stream, without an end
		x.Failure, x.Text = ledger.FailureLimit, "API Error: 429"
	},
	"words":         func(_ *director, x *ledger.Exit) { limitWords(x, time.Time{}) },
	"words, worked": func(_ *director, x *ledger.Exit) { limitWords(x, time.Time{}); x.Called = true },
	"words, long":   func(_ *director, x *ledger.Exit) { limitWords(x, time.Time{}); x.Ended = x.Started.Add(longWork) },
	"words, until tomorrow": func(d *director, x *ledger.Exit) {
		limitWords(x, d.now.Add(20*time.Hour))
	},
	"words, until tomorrow, worked": func(d *director, x *ledger.Exit) {
		limitWords(x, d.now.Add(20*time.Hour))
		x.Called = true
	},
	"window 79":        func(d *director, x *ledger.Exit) { usageWindow(x, 0.79, d.now.Add(time.Hour)) },
	"window 80":        func(d *director, x *ledger.Exit) { usageWindow(x, 0.80, d.now.Add(time.Hour)) },
	"window 95 past":   func(d *director, x *ledger.Exit) { usageWindow(x, 0.95, d.now.Add(-time.Hour)) },
	"window 95 no end": func(_ *director, x *ledger.Exit) { usageWindow(x, 0.95, time.Time{}) },
	"auth":             func(_ *director, x *ledger.Exit) { x.Failure, x.Text = ledger.FailureAuth, "Please run /login" },
	"network":          func(_ *director, x *ledger.Exit) { x.Failure, x.Text = ledger.FailureNetwork, "502" },
	"leak": func(_ *director, x *ledger.Exit) {
		x.Reason, x.Code, x.Text = ledger.ExitLeak, -1, "ended: it sent a planted secret to evil.example:443"
	},
	"lost":   func(_ *director, x *ledger.Exit) { x.Reason, x.Code = ledger.ExitLost, -1 },
	"memory": func(_ *director, x *ledger.Exit) { x.Reason, x.Code = ledger.ExitMemory, -1 },
	"disk":   func(_ *director, x *ledger.Exit) { x.Reason, x.Code = ledger.ExitDisk, -1 },
	"machine": func(_ *director, x *ledger.Exit) {
		x.Reason, x.Code, x.Fault, x.Text = ledger.ExitNotStarted, -1, ledger.FaultMachine, "fork/exec: resource temporarily unavailable"
	},
	"abandoned": func(_ *director, x *ledger.Exit) { x.Reason, x.Code = ledger.ExitAbandoned, -1 },
	"early": func(_ *director, x *ledger.Exit) { // a program that gives up within seconds
		x.Code, x.Turns, x.Tokens, x.CostUSD = 1, -1, -1, -1
		x.Ended, x.Tail = x.Started.Add(2*time.Second), "Error: it refuses"
	},
	"not begun": func(_ *director, x *ledger.Exit) {
		*x = ledger.Exit{Session: x.Session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: x.Started, Ended: x.Started, NotBegun: true}
	},
	"asked": func(_ *director, x *ledger.Exit) { x.Reason, x.Code, x.Signal = ledger.ExitAsked, -1, "SIGTERM" },
}

// failing returns what fails in a command: "TestA TestB passed=3", TestA without
// names. "unknown" gives nil.
func failing(spec string) *ledger.Failures {
	if spec == "unknown" {
		return nil
	}
	f := &ledger.Failures{Runners: []string{"go test"}, Passed: -1, Skipped: -1, Exit: 1}
	for _, name := range strings.Fields(spec) {
		if n, ok := strings.CutPrefix(name, "passed="); ok {
			f.Passed, _ = strconv.Atoi(n)
			continue
		}
		f.Failed = append(f.Failed, ledger.Failure{Runner: "go test", Name: name, Kind: ledger.FailureAssertion})
	}
	if f.Failed == nil {
		f.Failed = []ledger.Failure{{Runner: "go test", Name: "TestA", Kind: ledger.FailureAssertion}}
	}
	return f
}

func usageWindow(x *ledger.Exit, used float64, resets time.Time) {
	x.Window = &ledger.UsageWindow{Name: "five_hour", Used: used, Resets: resets}
	x.Windows = []ledger.UsageWindow{*x.Window}
}

// limitWords makes x the end of a command agent whose last line reports a limit.
func limitWords(x *ledger.Exit, until time.Time) {
	x.Failure, x.Unverified, x.Until, x.Text = ledger.FailureLimit, true, until, "You've hit your limit"
	x.Turns, x.Tokens, x.CostUSD = -1, -1, -1
}
