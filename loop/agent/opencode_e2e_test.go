//go:build e2e

package agent

import (
	"os"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/e2e/agents"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAgentsCircle: opencode compacts a conversation that is too long for the model
// however short it is, and goes on without end: where each answer's figures say that the
// window is full, and where the provider refuses each request. Such a session is ended,
// and its exit says why. One that is compacted between calls of tools goes on.
func TestAgentsCircle(t *testing.T) {
	opencode := realAgent{agents.Opencode}
	full := models.Usage{Input: 199_000, Output: 50}
	for _, c := range []struct {
		name   string
		script func(models.Request) models.Turn
		want   ledger.ExitReason
		brief  bool // make e2e has it, too
	}{
		{"full", func(models.Request) models.Turn { return models.Turn{Text: "I look at it.", Usage: full} }, ledger.ExitCircle, true},
		{"refused", func(models.Request) models.Turn {
			return models.Fail(models.Fault{Status: 400, Type: "context_length_exceeded", Message: "Your input exceeds the context window of this model."})
		}, ledger.ExitCircle, false},
		{"with calls", afterCalls(4, func() models.Turn {
			turn := models.Use(opencode.Tool("echo hi"))
			turn.Usage = full
			return turn
		}), ledger.ExitSelf, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.brief && os.Getenv("NIGHTPORTER_E2E_AGENTS") != "all" {
				t.Skip("SKIPPED: make e2e-agents has all circles")
			}
			x, _, server := opencode.session(t, "circle-"+strings.ReplaceAll(c.name, " ", "-"), c.script, func(_ *fixture, l *ledger.Launch, _ string) { l.Model = opencode.Model })
			compactions := 0
			for _, r := range server.Requests() {
				if r.Auxiliary {
					compactions++
				}
			}
			if x.Reason != c.want || compactions < 3 || compactions > 6 {
				t.Errorf("%+v after %d compactions", x, compactions)
			}
			if x.Reason != ledger.ExitCircle {
				return
			}
			if x.Text != "it compacted its conversation 3 times in a row without a tool call" || x.Tokens != -1 || x.CostUSD != -1 {
				t.Errorf("%+v", x)
			}
			if end, counts := loop.Classify(x, false, false); end != ledger.EndedCircle || counts != ledger.CountsAsFailed {
				t.Errorf("it counts as %s, %s", end, counts)
			}
		})
	}
}

// afterCalls returns a script that plays a turn n times, and then ends the conversation.
// A compacted conversation does not show how many turns it had.
func afterCalls(n int, turn func() models.Turn) func(models.Request) models.Turn {
	return func(models.Request) models.Turn {
		if n--; n < 0 {
			return models.Say("Done.")
		}
		return turn()
	}
}
