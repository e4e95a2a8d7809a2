package slack

import (
	"errors"
	"strings"
	"time"
)

// Trouble is why nothing can be received now.
type Trouble string

// Troubles.
const (
	TroubleNone    Trouble = ""
	TroubleStart   Trouble = "start"   // not tried yet
	TroubleNetwork Trouble = "network" // no connection
	TroubleServer  Trouble = "server"  // something answers, but not as it should
	TroubleSlow    Trouble = "slow"    // the platform wants us to wait
	TroubleToken   Trouble = "token"   // refused: wrong, revoked, or without a scope
	TroubleStore   Trouble = "store"   // what came could not be committed
)

// State is how Run stands with the platform.
type State struct {
	Connected bool
	Since     time.Time // of Connected, or of its absence
	Heard     time.Time // when the platform was heard last; zero = not yet
	Trouble   Trouble   // none while connected
	Text      string    // what is wrong, and what to do; no secrets
}

// State is how Run stands with the platform now.
func (b *Bot) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// heard notes a sign of life.
func (b *Bot) heard() {
	now := b.o.Clock()
	b.mu.Lock()
	was := b.state
	b.state.Heard = now
	if !was.Connected {
		b.state = State{Connected: true, Since: now, Heard: now}
	}
	is := b.state
	b.mu.Unlock()
	if !was.Connected {
		b.o.Log.Info("Slack is connected", "app", b.id)
		b.tell(is)
	}
}

// away notes a trouble.
func (b *Bot) away(t Trouble, text string) {
	now := b.o.Clock()
	b.mu.Lock()
	was := b.state
	b.state.Trouble, b.state.Text = t, text
	if was.Connected {
		b.state.Connected, b.state.Since = false, now
	}
	is := b.state
	b.mu.Unlock()
	if was.Connected || was.Trouble != t {
		b.o.Log.Warn("Slack is out of reach", "app", b.id, "trouble", t, "why", text)
		b.tell(is)
	}
}

func (b *Bot) tell(s State) {
	if b.o.Changed != nil {
		b.o.Changed(s)
	}
}

// Pauses after something went wrong.
const (
	shortest   = time.Second
	longest    = time.Minute
	tokenPause = 5 * time.Minute // a token that is refused is not accepted a second later
)

// backoff grows while nothing works.
type backoff struct{ last time.Duration }

func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, shortest), longest)
	return b.last
}

func (b *backoff) reset() { b.last = 0 }

// trouble says what an error of the connection means, and how long to wait; 0
// leaves that to the back-off.
func (b *Bot) trouble(err error) (t Trouble, text string, pause time.Duration) {
	var r *refusal
	if !errors.As(err, &r) {
		return TroubleNetwork, b.o.without(err.Error()), 0
	}
	switch {
	case r.foreign:
		return TroubleServer, "what answers is not Slack: " + r.text, 0
	case r.after > 0:
		return TroubleSlow, "Slack wants us to wait", r.after
	case r.text == "missing_scope":
		return TroubleToken, r.scope(), tokenPause
	case refusesToken(r.text):
		return TroubleToken, "Slack refuses a token (" + r.text + "): it is wrong or was revoked; the app's page gives a new one", tokenPause
	}
	return TroubleServer, r.method + ": " + r.text, 0
}

// scope says which permission is missing.
func (r *refusal) scope() string {
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
