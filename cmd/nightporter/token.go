package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/config"
)

// telegramToken reads the token from the file that the configuration names, or
// from the systemd credential telegram-token, "" where no Telegram is
// configured. The file is for its owner alone; a credential's mode is
// systemd's. No error ever holds any of the token.
func telegramToken(cfg *config.Config) (string, error) {
	if cfg.Telegram == nil {
		return "", nil
	}
	file := cfg.Telegram.TokenFile
	name := filepath.Base(file)
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w. Ask @BotFather for a token and put it there, mode 0600", name, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	credentials := os.Getenv("CREDENTIALS_DIRECTORY")
	if credential := credentials != "" && filepath.Dir(file) == filepath.Clean(credentials); !credential && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can read it (%#o). chmod 600 %s", name, info.Mode().Perm(), file)
	}
	text, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, errors.Unwrap(err))
	}
	token := strings.TrimSpace(string(text))
	if !tokenForm.MatchString(token) {
		return "", fmt.Errorf("%s holds no bot token: one line like 123456789:ABC…, as @BotFather gives it, and nothing else", name)
	}
	return token, nil
}
