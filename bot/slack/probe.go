package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// Me is the bot as others see it.
type Me struct {
	User string // "U…": what a mention of it holds
	Bot  string // "B…": what its messages bear
	Name string
	Team string // name of the workspace
}

// Me asks the platform who this bot is. Errors are *bot.SendError, FaultToken
// and FaultAway among them, or others.
func (b *Bot) Me(ctx context.Context) (Me, error) {
	me, err := b.identify(ctx)
	return me, b.sendError(err)
}

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

// identity is who this bot is as far as it was asked.
func (b *Bot) identity() Me {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.me
}

// Scopes are those that the manifest asks for, and that each have a use here.
var Scopes = []string{
	"app_mentions:read", "channels:history", "channels:read", "chat:write", "commands",
	"files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write",
}

// Probe looks whether both tokens are accepted, in which workspace, and with
// which scopes. It opens no socket and changes nothing, so it can run beside
// the daemon.
func (b *Bot) Probe(ctx context.Context) []transport.Finding {
	var who struct{ User, Team string }
	header, err := b.call(ctx, "auth.test", nil, &who)
	if err != nil {
		return []transport.Finding{b.findingOf("auth.test", err)}
	}
	has := strings.FieldsFunc(header.Get("X-OAuth-Scopes"), func(r rune) bool { return r == ',' || r == ' ' })
	out := []transport.Finding{{OK: true, Text: fmt.Sprintf("bot token accepted: %s in the workspace %s", bot.Clean(who.User), bot.Clean(who.Team))}}
	if missing := missingScopes(has); len(has) > 0 && len(missing) > 0 {
		out = append(out, transport.Finding{
			Trouble: transport.TroubleToken, Text: "the bot lacks " + strings.Join(missing, ", "),
			Fix: "put deploy/slack-manifest.yaml into the app's page App Manifest, and install the app again",
		})
	}
	// Asking for a socket's address opens none.
	if _, err := b.call(ctx, openSocket, nil, nil); err != nil {
		return append(out, b.findingOf(openSocket, err))
	}
	return append(out, transport.Finding{OK: true, Text: "app token accepted: Socket Mode is on"})
}

// missingScopes are the scopes that are not among these.
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

// findingOf is what an error of a probe's call means.
func (b *Bot) findingOf(method string, err error) transport.Finding {
	what, page := tokenOf(method)
	t, text, _ := b.troubleOf(err)
	f := transport.Finding{Trouble: t, Text: fmt.Sprintf("the %s cannot be tried: %s", what, text), Fix: "look at the network, and at slack.api"}
	var r *apiError
	switch {
	case t == transport.TroubleToken:
		f.Text, f.Fix = "Slack refuses the "+what, newToken(page)
		if errors.As(err, &r) && r.text == "missing_scope" {
			f.Text, f.Fix = "the "+what+" lacks the scope "+r.needed, "add it on the app's page "+page+", and install the app again"
		}
	case t == transport.TroubleServer && isRefusal(err, "socket_mode_not_enabled", "forbidden_team"):
		f.Fix = "switch Socket Mode on, on the app's page of that name"
	}
	return f
}
