package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// tokenName is the name of the token's file, beside the configuration.
const tokenName = "telegram.token"

// telegramConfig returns a configuration that has Telegram's section alone.
func (p *initWizard) telegramConfig(d *initDraft) *config.Config {
	cfg := config.Empty()
	cfg.Telegram = &config.Telegram{TokenFile: filepath.Join(d.global.Folder, tokenName), API: p.flags.telegramAPI}
	return cfg
}

// oldToken returns the token of a file that is there already, "" where none is. Such a
// file is used or refused, and never changed.
func (p *initWizard) oldToken(d *initDraft) (string, error) {
	cfg := p.telegramConfig(d)
	if _, err := os.Lstat(cfg.Telegram.TokenFile); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	tokens, err := platform.Telegram.ReadTokens(cfg)
	if err != nil {
		return "", refused(err.Error(), "Mend it, or move it away")
	}
	return string(tokens[0]), nil
}

// takeTokenFile takes the token of --telegram-token-file.
func (p *initWizard) takeTokenFile(ctx context.Context, d *initDraft) error {
	if d.before.Telegram != nil {
		return refused(d.file+" has [telegram] already", "Leave --telegram-token-file out")
	}
	data, err := readToken(p.flags.tokenFile, p.cmd.InOrStdin())
	if err != nil {
		return err
	}
	token := strings.TrimSpace(string(data))
	old, err := p.oldToken(d)
	switch {
	case err != nil:
		return err
	case old != "" && old != token:
		return refused(filepath.Join(d.global.Folder, tokenName)+" is there, with another token", "Move it away")
	}
	lines, err := p.takeToken(ctx, d, token)
	for _, line := range lines {
		p.addLine(line.sign, "telegram", "%s", line.text)
	}
	return err
}

// signed is a line about the token.
type signed struct{ sign, text string }

// takeToken takes a token that has the right form and that Telegram, where it can be
// reached, does not refuse. lines say what it answered. Nothing of the token is in them,
// nor in the error.
func (p *initWizard) takeToken(ctx context.Context, d *initDraft, token string) (lines []signed, err error) {
	row := platform.Telegram
	if !row.Tokens[0].Form.MatchString(token) {
		return nil, refused("that is "+row.Tokens[0].Want, "")
	}
	found, err := askPlatform(ctx, row, p.telegramConfig(d), []transport.Secret{transport.Secret(token)})
	if err != nil {
		return nil, refused(err.Error(), "")
	}
	hide := strings.NewReplacer(token, "TOKEN")
	for _, f := range found {
		f.Text, f.Remedy = hide.Replace(f.Text), hide.Replace(f.Remedy)
		if f.Severity == ledger.DiagnosticError {
			return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{f}}
		}
		if len(lines) == 0 || f.Severity != ledger.DiagnosticOK { // the bot's name, and what is doubtful
			lines = append(lines, signed{severitySigns[f.Severity], f.Text})
		}
	}
	d.global.TokenFile, d.global.API = tokenName, p.flags.telegramAPI
	if old, _ := p.oldToken(d); old == "" {
		d.token = token
	}
	return lines, nil
}

// askPhone asks for the bot's token, and when nightporter may ring. A file with a chat is
// left as it is.
func (p *initWizard) askPhone(ctx context.Context, d *initDraft) error {
	if len(platform.Used(d.before)) > 0 {
		return nil
	}
	if d.global.TokenFile == "" {
		if err := p.askToken(ctx, d); err != nil {
			return err
		}
	}
	if d.global.TokenFile == "" {
		return nil
	}
	if !d.exists && !p.given("timezone") {
		if err := p.askZone(ctx, d); err != nil {
			return err
		}
	}
	if has := d.before.Digest; has.At.Set || has.Quiet.From.Set || has.Weekly != (config.WeekTime{}) || has.Urgent != nil {
		return nil
	}
	for _, q := range []struct {
		flag, question, proposal string
		check                    func(string) error
		to                       *string
	}{
		{"digest", "When does the morning's summary come? - for never", propose.UsualDigest, validClock, &d.global.Digest},
		{"quiet", "When may nothing ring but a standstill? - for never", propose.UsualQuiet, validHours, &d.global.Quiet},
	} {
		if p.given(q.flag) {
			continue
		}
		answer, err := p.ask.ask(ctx, q.question, q.proposal, func(answer string) error {
			if answer == "-" {
				return nil
			}
			return q.check(answer)
		})
		if err != nil {
			return err
		}
		*q.to = strings.TrimPrefix(answer, "-")
	}
	return nil
}

// askToken asks for the bot's token until one is taken, or Enter alone comes.
func (p *initWizard) askToken(ctx context.Context, d *initDraft) error {
	token, err := p.oldToken(d)
	if err != nil {
		p.ask.refuse(err)
		return nil
	}
	if token == "" {
		p.ask.say(bot.SignAsk + " The phone: in Telegram, write /newbot to @BotFather, and paste the token that it gives you. It is not shown. Enter alone: later. (Slack: README, From bed.)")
	}
	for {
		if token == "" {
			if token, err = p.ask.secret(ctx, "  > "); err != nil || token == "" {
				return err
			}
		}
		lines, err := p.takeToken(ctx, d, token)
		switch {
		case ctx.Err() != nil:
			return errEnded
		case err == nil:
			for _, line := range lines {
				p.ask.say(line.sign + " " + line.text)
			}
			return nil
		}
		p.ask.refuse(err)
		p.ask.say("  Once more, or Enter alone: later.")
		token = ""
	}
}

func (p *initWizard) askZone(ctx context.Context, d *initDraft) error {
	proposal := d.global.Timezone
	if proposal == "" {
		proposal = "UTC"
	}
	zone, err := p.ask.ask(ctx, "By which clock do you live?", proposal, validZone)
	if err == nil && zone != d.global.Timezone {
		d.global.Timezone, d.global.ZoneWhy = zone, why
	}
	return err
}

// askLogin offers the login that the person has to the agent's sessions, unless they have
// one.
func (p *initWizard) askLogin(ctx context.Context, d *initDraft) error {
	row := adapter.Find(d.project.Agent)
	state, err := config.StateDir(p.flags.state)
	if row == nil || !row.Login.Needed() || err != nil || d.known {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to offer
	}
	if _, err := os.Stat(filepath.Join(state, "logins", row.Name)); err == nil {
		return nil
	}
	files, note, err := row.Login.FromHome(home, time.Now())
	if err != nil {
		return nil //nolint:nilerr // the check names the command that mends it
	}
	yes, err := p.ask.agree(ctx, fmt.Sprintf("May %s's sessions log in with %s? They get a copy.", row.Name, note))
	if yes {
		d.login = files
	}
	return err
}

// saveLogin keeps the login for the agent's sessions.
func (p *initWizard) saveLogin(d initDraft) error {
	if d.login == nil {
		return nil
	}
	state, err := config.StateDir(p.flags.state)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	if err := agent.SaveLogin(state, d.project.Agent, d.login); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s %s's login is kept in %s, which no session sees\n", bot.SignDone, d.project.Agent, filepath.Join(state, "logins", d.project.Agent))
	return nil
}
