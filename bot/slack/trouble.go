package slack

import (
	"errors"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// troubleOf says what an error of the connection means, and how long to wait; 0
// leaves that to the back-off.
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

// tokenOf is the token that a method takes, and the app's page that gives it.
func tokenOf(method string) (what, page string) {
	if method == openSocket {
		return "app token", "Basic Information"
	}
	return "bot token", "OAuth & Permissions"
}

// newToken says what to do about a token that is refused.
func newToken(page string) string {
	return "get a new one on the app's page " + page + ", write it into its file, and start nightporter again"
}

// missingScope says which permission is missing.
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
