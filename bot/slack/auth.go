package slack

import (
	"errors"

	"github.com/nightporter/nightporter/bot/transport"
)

// The socket hangs on the app's token, and everything that is sent on the
// bot's. One can be revoked while the other works on: then people are heard and
// get no answer, which is no connection to them.

// noteAuth notes what a call came to.
func (b *Bot) noteAuth(method string, err error) {
	var r *apiError
	refused := errors.As(err, &r) && !r.foreign && refusesToken(r.text)
	switch {
	case method == openSocket: // for which it is not needed
		return
	case refused && r.text == "missing_scope": // it is accepted, for other things
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

// setSocketOpen notes whether there is a socket.
func (b *Bot) setSocketOpen(is bool) {
	b.authMu.Lock()
	b.socketOpen = is
	b.authMu.Unlock()
	if is {
		b.markAlive()
	}
}

// markAlive notes that something came over the socket.
func (b *Bot) markAlive() {
	b.authMu.Lock()
	defer b.authMu.Unlock()
	if b.tokenRefusal != "" {
		b.conn.MarkDown(transport.TroubleToken, b.tokenRefusal)
		return
	}
	b.conn.MarkUp()
}
