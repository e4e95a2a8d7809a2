//go:build e2e

package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/ledger"
)

// closedAgent runs a session of another agent than Claude Code whose network is
// closed but for the model's host, and checks that its work was done and its event
// sent.
func closedAgent(t *testing.T, server string, command func(base string) []string, env ...string) {
	d, serve := serveHat(t)
	h := newFixture(t, 3, serve)
	port := server[strings.LastIndex(server, ":")+1:]
	if err := os.WriteFile(filepath.Join(h.out, "keys.env"), []byte(strings.ReplaceAll(strings.Join(env, "\n"), "BASE", "http://models.example.org:"+port)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.runner.o.Agents["mine"] = Definition{Name: "mine", Dir: h.out, EnvFile: "keys.env", Command: command("http://models.example.org:" + port)}
	l := h.launch("r1-1")
	l.Prompt = claudePrompt
	l.Network = ledger.Network{Mode: ledger.NetworkNone, Hosts: []string{"models.example.org:" + port + "=127.0.0.1"}}
	h.start(l)
	x := h.wait("r1-1")
	got, _ := os.ReadFile(filepath.Join(h.work, "hello.txt"))
	if x.Code != 0 || string(got) != "hello\n" || len(d.sent()) != 1 {
		t.Errorf("%s, exit %d: %s; hello.txt: %q; %d events\n%s", x.Reason, x.Code, x.Text, got, len(d.sent()), x.Tail)
	}
	for _, u := range x.Hosts {
		t.Logf("%s:%d: %d connections, %d out, %d in, refused: %s", u.Host, u.Port, u.Conns, u.Sent, u.Received, u.Refused)
	}
}

// emitDone is the command with which a scripted model works and ends the session.
const emitDone = `echo hello >hello.txt && hat emit build.complete --data '{"summary":"done","files_modified":["hello.txt"]}'`

// TestCodexClosed runs Codex, whose HTTP client takes the proxy from the environment.
func TestCodexClosed(t *testing.T) {
	program := os.Getenv("NIGHTPORTER_CODEX")
	if program == "" {
		t.Skip("SKIPPED: NIGHTPORTER_CODEX names no program of Codex (npm i @openai/codex: 404 MB, not part of make e2e)")
	}
	turn := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/responses") {
			http.NotFound(w, r)
			return
		}
		turn++
		item := map[string]any{"type": "message", "id": "m", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "Done."}}}
		if turn == 1 {
			args, _ := json.Marshal(map[string]any{"cmd": emitDone})
			item = map[string]any{"type": "function_call", "id": "f", "call_id": "c1", "name": "exec_command", "arguments": string(args)}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(event map[string]any) {
			data, _ := json.Marshal(event)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
		}
		send(map[string]any{"type": "response.created", "response": map[string]any{"id": "r"}})
		send(map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
		send(map[string]any{"type": "response.completed", "response": map[string]any{"id": "r", "usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}})
	}))
	defer server.Close()
	closedAgent(t, server.URL, func(base string) []string {
		provider := fmt.Sprintf(`model_providers.fake={name="fake",base_url=%q,env_key="FAKE_API_KEY",wire_api="responses"}`, base+"/v1")
		return []string{program, "exec", "-c", `model="gpt-5-codex"`, "-c", `model_provider="fake"`, "-c", provider, "-c", "check_for_update_on_startup=false",
			"-c", "analytics.enabled=false", "-c", "allow_login_shell=false", "--skip-git-repo-check", "-s", "danger-full-access", "--json", "-"}
	}, "FAKE_API_KEY=dummy")
}

// TestOpencodeClosed runs opencode.
func TestOpencodeClosed(t *testing.T) {
	program := os.Getenv("NIGHTPORTER_OPENCODE")
	if program == "" {
		t.Skip("SKIPPED: NIGHTPORTER_OPENCODE names no program of opencode (npm i opencode-ai: not part of make e2e)")
	}
	server := models.Start(t, models.Play(func(models.Request) []models.Turn {
		return []models.Turn{
			models.Use(models.Tool{Name: "bash", Input: map[string]any{"command": emitDone, "description": "works"}}),
			models.Say("Done."),
		}
	}))
	closedAgent(t, server.URL(), func(string) []string {
		return []string{program, "run", "--format", "json", "-m", "fake/fake-model", "--"}
	}, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
		`OPENCODE_CONFIG_CONTENT={"autoupdate":false,"provider":{"fake":{"npm":"@ai-sdk/anthropic","options":{"baseURL":"BASE/v1","apiKey":"dummy"},"models":{"fake-model":{}}}},"permission":{"edit":"allow","bash":"allow"}}`)
}
