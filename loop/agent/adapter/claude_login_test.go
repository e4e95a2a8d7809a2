package adapter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// madeLogin returns a .credentials.json in Claude Code's format.
func madeLogin(access, refresh string, expires int64) []byte {
	return fmt.Appendf(nil, `{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max"}}`, access, refresh, expires)
}

func TestClaudeFromHome(t *testing.T) {
	now := time.UnixMilli(5000)
	whole := string(madeLogin("sk-ant-oat01-a", "sk-ant-ort01-a", 1000))
	for _, c := range []struct {
		name, file, want, text string
	}{
		{"account", whole, whole, ""},
		{"with other things in it", strings.Replace(whole, "{", `{"mcpOAuth":{"server":{"accessToken":"x"}},`, 1), whole, ""},
		{"nothing there", "", "", "there is no login"},
		{"no JSON", "{", "", "not a login"},
		{"no account", `{"mcpOAuth":{}}`, "", "holds no account"},
		{"no token", `{"claudeAiOauth":{}}`, "", "no access token"},
		{"expired for good", string(madeLogin("sk-ant-oat01-a", "", 1000)), "", "has expired"},
	} {
		home := t.TempDir()
		if c.file != "" {
			if err := os.Mkdir(filepath.Join(home, ".claude"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, ".claude", ".credentials.json"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		files, note, err := claudeFromHome(home, now)
		var in *ledger.InputError
		if c.want == "" {
			if !errors.As(err, &in) || !strings.Contains(in.Diagnostics[0].Text, c.text) || !strings.Contains(in.Diagnostics[0].Remedy, "setup-token") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || string(files[claudeOAuth]) != c.want || len(files) != 1 || !strings.Contains(note, "(max)") {
			t.Errorf("%s: %s, %q, %v", c.name, files, note, err)
		}
	}
}

func TestClaudeFromToken(t *testing.T) {
	for text, want := range map[string]string{
		"sk-ant-oat01-abc\n": claudeToken, "  sk-ant-api03-abc \r\n": claudeKey,
		"": "", "\n": "", "sk-ant-ort01-abc": "", "hello": "", "sk-ant-oat01-a sk-ant-oat01-b": "", "sk-ant-" + strings.Repeat("x", 5000): "",
	} {
		files, _, err := claudeFromToken([]byte(text))
		if (err == nil) != (want != "") || want != "" && string(files[want]) != strings.TrimSpace(text)+"\n" {
			t.Errorf("%.30q: %s, %v", text, files, err)
		}
		if err != nil && strings.Contains(err.Error(), "abc") {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}
