package slack

import (
	"errors"

	"github.com/nightporter/nightporter/bot/transport"
)

// The socket hangs on the app's token, and everything that is sent on the
// bot's. One can be revoked while the other works on: then people are heard and
// get no answer, which is no connection to them.

// judged notes what a call came to.
func (b *Bot) judged(method string, err error) {
	var r *refusal
	refused := errors.As(err, &r) && !r.foreign && refusesToken(r.text)
	switch {
	case method == openSocket: // for which it is not needed
		return
	case refused && r.text == "missing_scope": // it is accepted, for other things
		return
	case err != nil && !refused:
		return
	}
	b.token.Lock()
	defer b.token.Unlock()
	was := b.refused
	if b.refused = ""; refused {
		_, b.refused, _ = b.trouble(err)
	}
	switch {
	case b.refused != "":
		b.line.MarkDown(transport.TroubleToken, b.refused)
	case was != "" && b.open:
		b.line.MarkUp()
		b.mended()
	}
}

// opened notes whether there is a socket.
func (b *Bot) opened(is bool) {
	b.token.Lock()
	b.open = is
	b.token.Unlock()
	if is {
		b.heard()
	}
}

// heard notes that something came over the socket.
func (b *Bot) heard() {
	b.token.Lock()
	defer b.token.Unlock()
	if b.refused != "" {
		b.line.MarkDown(transport.TroubleToken, b.refused)
		return
	}
	b.line.MarkUp()
}
