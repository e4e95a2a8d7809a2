//go:build e2e

package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nightporter/nightporter/internal/e2e/agents"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAgentsWriteHook: a file that is out of scope is not written the first time, and the
// model is told why; what it writes again, and what is in scope, is written. A hook that
// cannot ask stops nothing.
func TestAgentsWriteHook(t *testing.T) {
	const told = "outside.txt is not this session's to change."
	for _, a := range append([]agents.Agent{agents.Claude}, agents.All...) {
		tool := map[string]string{adapter.Claude: "Write", adapter.Gemini: "write_file", adapter.Qwen: "write_file"}[a.Name]
		if tool == "" {
			continue
		}
		for _, broken := range []bool{false, true} {
			name, record := a.Name, ""
			if broken {
				name += "/nightporter is away"
			} else if a.Name == adapter.Claude {
				record = "denied-write-out-of-scope"
			}
			t.Run(name, func(t *testing.T) {
				a := realAgent{a}
				var work string
				write := func(name, content string) models.Turn {
					return models.Use(models.Tool{Name: tool, Input: map[string]any{"file_path": filepath.Join(work, name), "content": content}})
				}
				x, hat, server := a.session(t, record, models.Play(func(models.Request) []models.Turn {
					return []models.Turn{write("inside.txt", "1"), write("outside.txt", "1"), write("outside.txt", "2"), models.Use(a.Tool(emitDone)), models.Say("Done.")}
				}), func(h *fixture, l *ledger.Launch, _ string) {
					work, l.Model = h.work, a.Model
					if broken { // its socket is another one
						h.runner.o.BeforeStart = nil
					}
				})
				turns := server.Turns()
				if len(turns) < 5 {
					t.Fatalf("%d turns: %+v", len(turns), x)
				}
				inside, _ := os.ReadFile(filepath.Join(work, "inside.txt"))
				outside, _ := os.ReadFile(filepath.Join(work, "outside.txt"))
				if string(inside) != "1" || string(outside) == "" || turns[2].Contains(told) == broken || turns[1].Contains(told) {
					t.Errorf("inside.txt %q, outside.txt %q, told at once: %v", inside, outside, turns[2].Contains(told))
				}
				if broken {
					return
				}
				want := []string{filepath.Join(work, "inside.txt"), filepath.Join(work, "outside.txt"), filepath.Join(work, "outside.txt")}
				if string(outside) != "2" || !slices.Equal(hat.written, want) || len(hat.sent()) != 1 || x.Failure != "" || x.Text != "" {
					t.Errorf("outside.txt %q, asked about %q, %d events, %+v", outside, hat.written, len(hat.sent()), x)
				}
			})
		}
	}
}
