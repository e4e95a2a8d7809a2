package telegram

import (
	"errors"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// Troubles that this platform alone has.
const (
	TroubleConflict transport.Trouble = "conflict" // another program polls with the same token
	TroubleWebhook  transport.Trouble = "webhook"  // a webhook is set, with which nobody can poll
	TroubleGroup    transport.Trouble = "group"    // a group that cannot be written to as configured
)

// trouble says what an error of a poll means, and how long to wait; 0 leaves
// that to the back-off.
func trouble(err error) (t transport.Trouble, text string, pause time.Duration) {
	var r *refusal
	if !errors.As(err, &r) {
		return transport.TroubleNetwork, err.Error(), 0
	}
	switch {
	case r.foreign:
		return transport.TroubleServer, err.Error(), 0
	case r.after > 0:
		return transport.TroubleSlow, r.text, r.after
	case r.code == 401 || r.code == 404:
		return transport.TroubleToken, "Telegram refuses the token: it is wrong or was revoked; @BotFather gives a new one", transport.TokenPause
	case r.code == 409 && strings.Contains(r.text, "webhook"):
		return TroubleWebhook, "a webhook is set for this bot, so nobody can poll: delete it (deleteWebhook), or use a bot of its own", 0
	case r.code == 409:
		return TroubleConflict, "another program polls with this bot's token: end it, or use a bot of its own", 0
	}
	return transport.TroubleServer, err.Error(), 0
}
