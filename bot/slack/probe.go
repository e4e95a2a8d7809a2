package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Me is the bot's own account.
type Me struct {
	User string // "U…": the id in mentions of it
	Bot  string // "B…": the id in its messages
	Name string
	Team string // name of the workspace
}

// Me asks Slack for the bot's account. Errors are those of a bot.Sender, such as
// bot.ErrTokenRejected and bot.ErrOffline.
func (b *Bot) Me(ctx context.Context) (Me, error) {
	me, err := b.identify(ctx)
	return me, b.sendError(err)
}

// identify returns the same as Me, with the error of the call unchanged.
func (b *Bot) identify(ctx context.Context) (Me, error) {
	r, err := b.api.AuthTestContext(ctx)
	if err != nil {
		return Me{}, err
	}
	me := Me{User: r.UserID, Bot: r.BotID, Name: r.User, Team: r.Team}
	if !isPerson(me.User) {
		return Me{}, &apiError{method: "auth.test", code: http.StatusOK, text: "no user in the answer", foreign: true}
	}
	b.mu.Lock()
	b.me = me
	b.mu.Unlock()
	return me, nil
}

// identity returns the account that the last identify returned.
func (b *Bot) identity() Me {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.me
}

// Scopes are the scopes that the manifest requests and this package uses.
var Scopes = []string{
	"app_mentions:read", "channels:history", "channels:read", "chat:write", "commands",
	scopeFiles, "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", scopeReactions,
}

// scopeReactions is the scope that thumbs need. All else works without it.
const scopeReactions = "reactions:read"

// Probe checks both tokens, the workspace and the scopes. It opens no socket and
// changes nothing, so it may run beside the daemon.
func (b *Bot) Probe(ctx context.Context) []ledger.Diagnostic {
	var who struct{ User, Team string }
	header, err := b.call(ctx, "auth.test", nil, &who)
	if err != nil {
		return []ledger.Diagnostic{b.diagnosticOf("auth.test", err)}
	}
	has := strings.FieldsFunc(header.Get("X-OAuth-Scopes"), func(r rune) bool { return r == ',' || r == ' ' })
	out := []ledger.Diagnostic{{Severity: ledger.DiagnosticOK, Text: fmt.Sprintf("bot token accepted: %s in the workspace %s", bot.Clean(who.User), bot.Clean(who.Team))}}
	if missing := missingScopes(has); len(has) > 0 && len(missing) > 0 {
		d := ledger.Diagnostic{
			Severity: ledger.DiagnosticError, Text: "the bot lacks " + strings.Join(missing, ", "),
			Remedy: "put deploy/slack-manifest.yaml into the app's page App Manifest, and install the app again",
		}
		if lost := lostWithout(missing); lost != "" { // apps of earlier manifests
			d.Severity, d.Text = ledger.DiagnosticWarning, d.Text+": "+lost
		}
		out = append(out, d)
	}
	// Requesting a socket's address opens no socket.
	if _, err := b.call(ctx, openSocket, nil, nil); err != nil {
		return append(out, b.diagnosticOf(openSocket, err))
	}
	return append(out, ledger.Diagnostic{Severity: ledger.DiagnosticOK, Text: "app token accepted: Socket Mode is on"})
}

// lostWithout says what does not work without scopes that apps of earlier manifests
// lack, "" if others are among them.
func lostWithout(missing []string) string {
	var lost []string
	for _, s := range missing {
		switch s {
		case scopeReactions:
			lost = append(lost, "a thumb is no answer")
		case scopeFiles:
			lost = append(lost, "pictures are not taken")
		default:
			return ""
		}
	}
	return strings.Join(lost, ", ")
}

// missingScopes returns the Scopes that are not in has.
func missingScopes(has []string) []string {
	set := map[string]bool{}
	for _, s := range has {
		set[s] = true
	}
	var out []string
	for _, s := range Scopes {
		if !set[s] {
			out = append(out, s)
		}
	}
	return out
}

// diagnosticOf returns the diagnostic of an error of a probe's call.
func (b *Bot) diagnosticOf(method string, err error) ledger.Diagnostic {
	what, page := tokenOf(method)
	t, text, _ := b.troubleOf(err)
	f := ledger.Diagnostic{Severity: ledger.DiagnosticWarning, Text: fmt.Sprintf("the %s cannot be tried: %s", what, text), Remedy: "look at the network, and at slack.api"}
	var r *apiError
	switch {
	case t == transport.TroubleToken:
		f.Severity, f.Text, f.Remedy = ledger.DiagnosticError, "Slack refuses the "+what, newToken(page)
		if errors.As(err, &r) && r.text == "missing_scope" {
			f.Text, f.Remedy = "the "+what+" lacks the scope "+r.needed, "add it on the app's page "+page+", and install the app again"
		}
	case t == transport.TroubleServer && isRefusal(err, "socket_mode_not_enabled", "forbidden_team"):
		f.Remedy = "switch Socket Mode on, on the app's page of that name"
	}
	return f
}
