//go:build e2e

package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/models"
)

// TestMCP: a real Claude Code without a shell works through a task. It ends its
// session by a tool of nightporter's MCP server, after the first call was refused in
// hat's words (docs/spec 11.3).
func TestMCP(t *testing.T) {
	t.Parallel()
	work := modelWork["Task 1"]
	emit := func(data map[string]any) models.Turn {
		return models.Use(models.Tool{Name: "mcp__nightporter__emit", Input: map[string]any{"type": "build.complete", "data": data}})
	}
	e := newNightFixture(t, nightOptions{
		agent: "command = [\"claude\", \"--disallowedTools\", \"Bash\"]\nmcp = true",
		script: func(_ *nightFixture, r models.Request) models.Turn {
			return models.Play(func(models.Request) []models.Turn {
				return []models.Turn{
					models.Use(
						models.Write(work.file, work.text+"\n"),
						models.Write("tests/price.sh", ". "+work.file+"\n"+work.test+"\n"),
						models.Tool{Name: "mcp__nightporter__task_show", Input: map[string]any{}},
						models.Tool{Name: "mcp__nightporter__note", Input: map[string]any{"text": "cents are cut, not rounded"}},
					),
					emit(map[string]any{"files_modified": []string{work.file}}),
					emit(map[string]any{"summary": "Prices have two digits", "files_modified": []string{work.file, "tests/price.sh"}}),
				}
			})(r)
		},
	})
	e.run("", "", "#1 done", 0)

	turns := e.models.Turns()
	if tools := turns[0].Tools; slices.Contains(tools, "Bash") || !slices.Contains(tools, "mcp__nightporter__emit") {
		t.Errorf("offered: %v", tools)
	}
	if !turns[0].Contains("Without a shell, call the tools of the MCP server nightporter") {
		t.Error("the prompt does not name the tools")
	}
	var results []string
	for _, turn := range turns {
		for _, r := range turn.Results() {
			results = append(results, r.Text)
		}
	}
	t.Log(strings.Join(results, "\n--\n"))
	for _, want := range []string{"Status: active", "refused: ", "Accepted build.complete: "} {
		if !slices.ContainsFunc(results, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("no result has %q", want)
		}
	}
}
