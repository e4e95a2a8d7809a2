package digest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Text renders a digest as text, in full for bot.SpanAll. A panic becomes an
// error.
func Text(f report.Facts, span string) (bot.Message, error) {
	return guarded(func() (bot.Message, error) {
		if span == bot.SpanAll {
			return report.FullText(f), nil
		}
		return report.Text(f), nil
	})
}

// AltText returns the alternative text of a digest's picture.
func AltText(f report.Facts) (string, error) {
	return guarded(func() (string, error) { return report.Alt(f), nil })
}

// Draw returns the picture of a digest as PNG.
func (m *Maker) Draw(f report.Facts, dark bool) ([]byte, error) {
	return guarded(func() ([]byte, error) { return m.Picture(f, dark) })
}

// WithPicture adds the picture to the text of a digest. It returns the text
// alone if no session ran, if the picture is too large, or if drawing fails. A
// failure is reported to the admins.
func (m *Maker) WithPicture(ctx context.Context, text bot.Message, f report.Facts, now time.Time) bot.Message {
	if len(f.Sessions) == 0 {
		return text
	}
	picture, err := m.Draw(f, true)
	alt := ""
	if err == nil {
		alt, err = AltText(f)
	}
	switch {
	case err != nil:
		m.reportFault(ctx, f.Project, err, now)
	case len(picture) > bot.MaxPicture:
		m.Log.Warn("picture of the digest is too large to be sent", "project", f.Project, "bytes", len(picture))
	default:
		text.Picture, text.Alt = picture, alt
	}
	return text
}

// reportFault logs that the picture of a project's digest, or with project "" the
// whole digest, could not be made. It tells admins once a local day.
func (m *Maker) reportFault(ctx context.Context, project string, err error, now time.Time) {
	stack := ""
	if f, ok := err.(*panicError); ok { //nolint:errorlint // as guarded returns it
		stack = f.stack
	}
	m.Log.Error("the digest cannot be drawn", "project", project, "error", err, "stack", stack)
	if !m.Chats {
		return
	}
	body, err := json.Marshal(bot.DigestFault(project))
	if err != nil { // a struct of strings always encodes
		return
	}
	var messages []ledger.Outgoing
	for _, who := range m.Engine.Shared().People {
		if who.Role.May(ledger.RoleAdmin) {
			messages = append(messages, ledger.Outgoing{Chat: who.ID, Class: ledger.ClassNotice, Silent: m.quiet(who.ID, now), Body: body})
		}
	}
	key := "fault:digest:" + now.In(m.Catalog.Zone()).Format(time.DateOnly)
	if err := m.Engine.Say(ctx, key, now, messages, nil); err != nil && ctx.Err() == nil {
		m.Log.Error("tell of the digest's fault", "error", err)
	}
}

// quiet reports whether a chat has quiet hours at a time.
func (m *Maker) quiet(chat string, at time.Time) bool {
	return m.Engine.Shared().QuietHours(chat, m.Catalog.QuietHours()).Has(at.In(m.Catalog.Zone()))
}
