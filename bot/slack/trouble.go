package slack

import (
	"errors"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// troubleOf classifies an error of the connection and returns the minimum pause
// before the next attempt; 0 leaves it to the backoff.
func (b *Bot) troubleOf(err error) (t transport.Trouble, text string, pause time.Duration) {
	var r *apiError
	if !errors.As(err, &r) {
		return transport.TroubleNetwork, b.o.redact(err.Error()), 0
	}
	switch {
	case r.foreign:
		return transport.TroubleServer, "what answers is not Slack: " + r.text, 0
	case r.retryAfter > 0:
		return transport.TroubleSlow, "Slack wants us to wait", r.retryAfter
	case r.text == "missing_scope":
		return transport.TroubleToken, r.missingScope(), transport.TokenBackoff
	case refusesToken(r.text):
		what, page := tokenOf(r.method)
		return transport.TroubleToken, "Slack refuses the " + what + " (" + r.text + "): " + newToken(page), transport.TokenBackoff
	}
	return transport.TroubleServer, r.method + ": " + r.text, 0
}

// tokenOf names the token that a method requires, and the page that shows it.
func tokenOf(method string) (what, page string) {
	if method == openSocket {
		return "app token", "Basic Information"
	}
	return "bot token", "OAuth & Permissions"
}

// newToken returns the instruction to replace a rejected token.
func newToken(page string) string {
	return "get a new one on the app's page " + page + ", write it into its file, and start nightporter again"
}

// missingScope names the permission that is missing.
func (r *apiError) missingScope() string {
	needed := r.needed
	if needed == "" {
		needed = "one of the manifest's"
	}
	return "Slack wants another scope for " + r.method + ": " + needed + "; add it on the app's page and install the app again"
}

func refusesToken(text string) bool {
	switch text {
	case "invalid_auth", "account_inactive", "not_authed", "token_revoked", "token_expired",
		"not_allowed_token_type", "org_login_required", "ekm_access_denied", "missing_scope", "two_factor_setup_required":
		return true
	}
	return strings.HasPrefix(text, "token_")
}
