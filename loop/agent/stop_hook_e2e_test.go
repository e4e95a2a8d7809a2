//go:build e2e

package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAgentsStopHook: a session that wants to end without its event is told so, once, by
// each program that has a stop hook, and one that has sent it is not. Claude Code has a
// test of its own.
func TestAgentsStopHook(t *testing.T) {
	const told = "This session has not sent its event yet"
	eachRealAgent(t, func(t *testing.T, a realAgent) {
		if adapter.Find(a.Name).StopHook == adapter.NoStopHook {
			t.Skipf("SKIPPED: %s has no stop hook", a.Name)
		}
		say := models.Say("I am done.")
		emit := models.Use(a.Tool(emitDone))
		for _, c := range []struct {
			name  string
			turns []models.Turn
			told  bool
			sent  int
			hooks int
		}{
			{"heeds", []models.Turn{say, emit, models.Say("Now it is sent.")}, true, 1, 1},
			{"heeds not", []models.Turn{say, models.Say("I said that I am done.")}, true, 0, 1},
			{"has sent it", []models.Turn{emit, say}, false, 1, 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				var work string
				x, hat, server := a.session(t, "stop-hook-"+strings.ReplaceAll(c.name, " ", "-"), models.Play(func(models.Request) []models.Turn { return c.turns }),
					func(h *fixture, l *ledger.Launch, _ string) {
						work, l.Model = h.work, a.Model
						foreignHooks(t, h.work)
					})
				if _, err := os.Stat(filepath.Join(work, "foreign.txt")); err == nil && (a.Name == adapter.Codex || a.Name == adapter.Copilot) {
					t.Error("a hook of the repository ran")
				}
				turns := server.Turns()
				if len(turns) != len(c.turns) || turns[len(turns)-1].Contains(told) != c.told || len(hat.sent()) != c.sent || hat.hooks() < c.hooks {
					t.Errorf("%d turns, told: %v, %d events, %d calls of the hook: %+v", len(turns), turns[len(turns)-1].Contains(told), len(hat.sent()), hat.hooks(), x)
				}
				if x.Reason != ledger.ExitSelf || x.Failure != "" || x.Turns < 1 || !a.Uncounted && x.Tokens != int64(1050*len(c.turns)) {
					t.Errorf("%+v", x)
				}
			})
		}
	})
}

// foreignHooks writes hooks of a repository, which some programs run only where a person
// has trusted it.
func foreignHooks(t *testing.T, work string) {
	t.Helper()
	const codex = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch foreign.txt"}]}]}}`
	const copilot = `{"version":1,"hooks":{"agentStop":[{"type":"command","bash":"touch foreign.txt"}]}}`
	for path, text := range map[string]string{".codex/hooks.json": codex, ".github/hooks/own.json": copilot} {
		path = filepath.Join(work, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}
