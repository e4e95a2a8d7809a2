package slack

import (
	"errors"

	"github.com/nightporter/nightporter/bot/transport"
)

// The app token opens the socket; all other calls use the bot token. Either can
// be revoked alone. While the bot token is rejected, messages still arrive but
// replies fail, so the connection counts as down.

// noteAuth records whether a call proves the bot token valid or rejected.
func (b *Bot) noteAuth(method string, err error) {
	var r *apiError
	refused := errors.As(err, &r) && !r.foreign && refusesToken(r.text)
	switch {
	case method == openSocket: // uses the app token
		return
	case refused && r.text == "missing_scope": // the token is valid for other methods
		return
	case err != nil && !refused:
		return
	}
	b.authMu.Lock()
	defer b.authMu.Unlock()
	was := b.tokenRefusal
	if b.tokenRefusal = ""; refused {
		_, b.tokenRefusal, _ = b.troubleOf(err)
	}
	switch {
	case b.tokenRefusal != "":
		b.conn.MarkDown(transport.TroubleToken, b.tokenRefusal)
	case was != "" && b.socketOpen:
		b.conn.MarkUp()
		b.onTokenAccepted()
	}
}

// setSocketOpen records whether a socket is open.
func (b *Bot) setSocketOpen(open bool) {
	b.authMu.Lock()
	b.socketOpen = open
	b.authMu.Unlock()
	if open {
		b.markAlive()
	}
}

// markAlive records that something arrived on the socket.
func (b *Bot) markAlive() {
	b.authMu.Lock()
	defer b.authMu.Unlock()
	if b.tokenRefusal != "" {
		b.conn.MarkDown(transport.TroubleToken, b.tokenRefusal)
		return
	}
	b.conn.MarkUp()
}
