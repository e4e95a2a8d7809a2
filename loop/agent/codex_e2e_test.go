//go:build e2e

package agent

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCodexRefused runs the real Codex against a provider that answers 429, with
// and without events: it is a refusal of the pace, not a usage limit.
func TestCodexRefused(t *testing.T) {
	program := os.Getenv("NIGHTPORTER_CODEX")
	if program == "" {
		t.Skip("SKIPPED: NIGHTPORTER_CODEX names no program of Codex (npm i @openai/codex, 404 MB)")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprint(w, `{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Rate limit reached"}}`)
	}))
	defer server.Close()
	for name, format := range map[string][]string{"events": {"--json"}, "text": nil} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, 1)
			if err := os.WriteFile(filepath.Join(h.out, "keys.env"), []byte("FAKE_API_KEY=dummy\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			provider := fmt.Sprintf(`model_providers.fake={name="fake",base_url=%q,env_key="FAKE_API_KEY",wire_api="responses"}`, server.URL+"/v1")
			h.runner.o.Agents["mine"] = Definition{Name: "mine", Dir: h.out, EnvFile: "keys.env", Command: append(append([]string{program, "exec",
				"-c", `model="gpt-5-codex"`, "-c", `model_provider="fake"`, "-c", provider, "-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false",
				"--skip-git-repo-check", "-s", "danger-full-access"}, format...), "-")}
			h.start(h.launch("r1-1"))
			x := h.wait("r1-1")
			if x.Code != 1 || x.Failure != ledger.FailureNetwork || !x.Unverified || !strings.Contains(x.Text, "429 Too Many Requests") {
				t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
			}
		})
	}
}
