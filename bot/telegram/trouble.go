package telegram

import (
	"errors"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// Troubles of Telegram only.
const (
	TroubleConflict transport.Trouble = "conflict" // another program polls with the same token
	TroubleWebhook  transport.Trouble = "webhook"  // a webhook is set, which excludes polling
)

// troubleOf classifies an error of a poll and returns the minimum pause before
// the next one; 0 leaves it to the backoff.
func troubleOf(err error) (t transport.Trouble, text string, pause time.Duration) {
	var r *apiError
	if !errors.As(err, &r) {
		return transport.TroubleNetwork, err.Error(), 0
	}
	switch {
	case r.foreign:
		return transport.TroubleServer, err.Error(), 0
	case r.retryAfter > 0:
		return transport.TroubleSlow, r.text, r.retryAfter
	case r.code == 401 || r.code == 404:
		return transport.TroubleToken, "Telegram refuses the token: it is wrong or was revoked; @BotFather gives a new one", transport.TokenBackoff
	case r.code == 409 && strings.Contains(r.text, "webhook"):
		return TroubleWebhook, "a webhook is set for this bot, so nobody can poll: delete it (deleteWebhook), or use a bot of its own", 0
	case r.code == 409:
		return TroubleConflict, "another program polls with this bot's token: end it, or use a bot of its own", 0
	}
	return transport.TroubleServer, err.Error(), 0
}
