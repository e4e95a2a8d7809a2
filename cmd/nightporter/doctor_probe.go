package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// announceProbe says what a probe costs before it is made.
func announceProbe(_ context.Context, p *doctorContext) []finding {
	if !p.askAgents || len(p.startable) == 0 {
		return nil
	}
	return []finding{findOK("now one line is asked of %s. Each reads its own instructions first, some ten thousand tokens: a few cents at list prices, or a little of a subscription", strings.Join(p.startable, ", "))}
}

// probeAgents lets each agent that can be started answer one line.
func probeAgents(ctx context.Context, p *doctorContext) []finding {
	if !p.askAgents {
		return nil
	}
	w, err := p.openTrial()
	if err != nil {
		return []finding{findUnchecked("no session can be tried here")}
	}
	var out []finding
	var all []ledger.Exit
	for _, name := range p.startable {
		if name == ledger.ScriptedAgent {
			continue // it has no model
		}
		x, err := w.runner.Probe(ctx, name, p.models[name])
		if err != nil {
			out = append(out, fromError(err)...)
			continue
		}
		out, all = append(out, probed(name, x)), append(all, x)
	}
	if len(all) > 0 { // no ledger has these sessions, so nobody else says it
		out = append(out, findOK("%s in all: they count in no budget", spentBy(all...)))
	}
	return out
}

// probed returns what came of a probe.
func probed(name string, x ledger.Exit) finding {
	took := fmt.Sprintf("in %s; %s", x.Took().Round(100*time.Millisecond), spentBy(x))
	said := strings.TrimSpace(x.Said[strings.LastIndexByte(x.Said, '\n')+1:])
	until := ""
	if !x.Until.IsZero() {
		until = ", until " + x.Until.Local().Format("Jan 2 15:04")
	}
	switch {
	case x.Failure == ledger.FailureAuth:
		return findFix("nightporter login "+name, "%s is refused: %s", name, x.Text)
	case x.Failure == ledger.FailureLimit:
		return findLook("", "%s is at its limit%s: %s", name, until, x.Text)
	case x.Failure == ledger.FailureNetwork:
		return findLook("", "%s did not reach its model%s: %s", name, until, x.Text)
	case x.Reason == ledger.ExitSelf && x.Turns > 0:
		return findOK("%s answered %q %s", name, said, took)
	case x.Reason == ledger.ExitSelf && x.Turns < 0 && x.Code == 0:
		return findOK("%s ended well and printed %q %s", name, said, took) // a command of the user's own
	case x.Text != "":
		return findFix("", "%s did not answer (%s) %s: %s", name, x.Reason, took, x.Text)
	}
	return findFix("", "%s did not answer (%s, exit code %d) %s; the last that it printed: %s", name, x.Reason, x.Code, took, said)
}

// spentBy returns the tokens and the cost of sessions in words. What some of them did not
// tell is not 0: "105 tokens + unknown, ≈$0.2000 + unknown".
func spentBy(all ...ledger.Exit) string {
	var tokens int64
	var usd float64
	knowTokens, knowUSD, about := 0, 0, ""
	for _, x := range all {
		if x.Tokens >= 0 {
			tokens += x.Tokens
			knowTokens++
		}
		if x.CostUSD >= 0 {
			usd += x.CostUSD
			knowUSD++
		}
		if x.CostUSD > 0 && x.Estimated {
			about = "≈"
		}
	}
	partly := func(known int, text, none string) string {
		switch known {
		case 0:
			return none
		case len(all):
			return text
		}
		return text + " + unknown"
	}
	return partly(knowTokens, fmt.Sprintf("%d tokens", tokens), "tokens unknown") + ", " + partly(knowUSD, fmt.Sprintf("%s$%.4f", about, usd), "cost unknown")
}
