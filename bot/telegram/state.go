package telegram

import (
	"errors"
	"strings"
	"time"
)

// Trouble is why nothing can be received now.
type Trouble string

// Troubles.
const (
	TroubleNone     Trouble = ""
	TroubleStart    Trouble = "start"    // not tried yet
	TroubleNetwork  Trouble = "network"  // no connection
	TroubleServer   Trouble = "server"   // something answers, but not as it should
	TroubleSlow     Trouble = "slow"     // the platform wants us to wait
	TroubleToken    Trouble = "token"    // refused: wrong or revoked
	TroubleConflict Trouble = "conflict" // another program polls with the same token
	TroubleWebhook  Trouble = "webhook"  // a webhook is set, with which nobody can poll
	TroubleStore    Trouble = "store"    // what came could not be committed
)

// State is how Poll stands with the platform.
type State struct {
	Connected bool
	Since     time.Time // of Connected, or of its absence
	Heard     time.Time // last answer of the platform to a poll; zero = none yet
	Trouble   Trouble   // none while connected
	Text      string    // what is wrong, and what to do; no secrets
}

// State is how Poll stands with the platform now.
func (b *Bot) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// heard notes an answer to a poll.
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
		b.o.Log.Info("Telegram is connected", "bot", b.id)
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
		b.o.Log.Warn("Telegram is out of reach", "bot", b.id, "trouble", t, "why", text)
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

// trouble says what an error of a poll means, and how long to wait; 0 leaves
// that to the back-off.
func trouble(err error) (t Trouble, text string, pause time.Duration) {
	var r *refusal
	if !errors.As(err, &r) {
		return TroubleNetwork, err.Error(), 0
	}
	switch {
	case r.foreign:
		return TroubleServer, err.Error(), 0
	case r.after > 0:
		return TroubleSlow, r.text, r.after
	case r.code == 401 || r.code == 404:
		return TroubleToken, "Telegram refuses the token: it is wrong or was revoked; @BotFather gives a new one", tokenPause
	case r.code == 409 && strings.Contains(r.text, "webhook"):
		return TroubleWebhook, "a webhook is set for this bot, so nobody can poll: delete it (deleteWebhook), or use a bot of its own", 0
	case r.code == 409:
		return TroubleConflict, "another program polls with this bot's token: end it, or use a bot of its own", 0
	}
	return TroubleServer, err.Error(), 0
}
