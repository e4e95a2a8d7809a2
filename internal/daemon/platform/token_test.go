package platform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
)

// TestTelegramToken checks that a token is read from a file or a credential,
// and that no error contains any part of it.
func TestTelegramToken(t *testing.T) {
	const token = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	file := filepath.Join(dir, "telegram-token")
	cfg := &config.Config{Telegram: &config.Telegram{TokenFile: file}}
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		credential bool
		want       string // part of the error; "" = the token is accepted
	}{
		{"as BotFather gives it", token, 0o600, false, ""},
		{"with a line end and spaces", "  " + token + "\r\n", 0o400, false, ""},
		{"others can read it", token, 0o644, false, "chmod 600"},
		{"a credential", token, 0o440, true, ""},
		{"empty", "", 0o600, false, "holds no bot token"},
		{"two lines", token + "\n" + token, 0o600, false, "holds no bot token"},
		{"something else", "hunter2", 0o600, false, "holds no bot token"},
		{"not there", "", 0, false, "@BotFather"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Remove(file)
			if c.mode != 0 {
				if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
					t.Fatal(err)
				}
			}
			if c.credential {
				t.Setenv("CREDENTIALS_DIRECTORY", dir+"/")
			}
			tokens, err := Telegram.ReadTokens(cfg)
			got := strings.Join(plainTokens(tokens), "")
			if c.want == "" {
				if err != nil || got != token {
					t.Fatalf("%q, %v", got, err)
				}
				return
			}
			if err == nil || got != "" || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%q, %v, want %q", got, err, c.want)
			}
			if strings.Contains(err.Error(), "AAHd") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it shows what is in the file: %v", err)
			}
		})
	}
}

func plainTokens(tokens []transport.Secret) (out []string) {
	for _, s := range tokens {
		out = append(out, string(s))
	}
	return out
}
