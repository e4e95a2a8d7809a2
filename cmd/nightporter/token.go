package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nightporter/nightporter/config"
)

// tokenKind is a kind of token: how it looks, and where people get one.
type tokenKind struct {
	form     *regexp.Regexp
	ask      string // what to do where there is none
	expected string
}

// How tokens look.
var (
	// tokenForm is what @BotFather gives: the bot's number and a secret.
	tokenForm = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)

	telegramKind = tokenKind{tokenForm, "Ask @BotFather for a token and put it there, mode 0600", "no bot token: one line like 123456789:ABC…, as @BotFather gives it, and nothing else"}
	slackAppKind = tokenKind{
		regexp.MustCompile(`^xapp-[A-Za-z0-9-]+$`), "Put the app's token (xapp-…) there, mode 0600",
		"no app token: one line like xapp-1-A…, as the app's page Basic Information gives it under App-Level Tokens, and nothing else",
	}
	slackBotKind = tokenKind{
		regexp.MustCompile(`^xoxb-[A-Za-z0-9-]+$`), "Put the bot's token (xoxb-…) there, mode 0600",
		"no bot token: one line like xoxb-…, as the app's page OAuth & Permissions gives it, and nothing else",
	}
)

// telegramToken reads the token from the file that the configuration names, or
// from the systemd credential telegram-token, "" where no Telegram is
// configured.
func telegramToken(cfg *config.Config) (string, error) {
	if cfg.Telegram == nil {
		return "", nil
	}
	return tokenIn(cfg.Telegram.TokenFile, telegramKind)
}

// slackTokens reads the two tokens of an app, from their files or from the
// systemd credentials slack-app-token and slack-bot-token.
func slackTokens(cfg *config.Slack) (app, bot string, err error) {
	if app, err = tokenIn(cfg.AppTokenFile, slackAppKind); err != nil {
		return "", "", err
	}
	bot, err = tokenIn(cfg.BotTokenFile, slackBotKind)
	return app, bot, err
}

// tokenFiles are those of all chats: nobody else may read them.
func tokenFiles(cfg *config.Config) []string {
	var files []string
	add := func(file string) {
		if file != "" {
			files = append(files, file)
		}
	}
	if cfg != nil && cfg.Telegram != nil {
		add(cfg.Telegram.TokenFile)
	}
	if cfg != nil && cfg.Slack != nil {
		add(cfg.Slack.AppTokenFile)
		add(cfg.Slack.BotTokenFile)
	}
	return files
}

// tokenIn reads a token. Its file is for its owner alone; a credential's mode
// is systemd's. No error ever holds any of the token.
func tokenIn(file string, kind tokenKind) (string, error) {
	name := filepath.Base(file)
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w. %s", name, errors.Unwrap(err), kind.ask)
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
	if !kind.form.MatchString(token) {
		return "", fmt.Errorf("%s holds %s", name, kind.expected)
	}
	return token, nil
}
