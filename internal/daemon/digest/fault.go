package digest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A digest is made of whatever a night has left, by a library that draws. A
// panic in it must not end the daemon, whose next start would make the same
// digest: it is a fault that is logged, told once, and passed over.

// fault is a panic in what makes a digest.
type fault struct {
	cause any
	stack string
}

func (f *fault) Error() string { return fmt.Sprintf("a fault in nightporter: %v", f.cause) }

// guarded is what is made, or a *fault where that panics.
func guarded[T any](made func() (T, error)) (out T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &fault{cause, string(debug.Stack())}
		}
	}()
	return made()
}

// Text is the text of a digest: all of it where span says so.
func Text(f report.Facts, span string) (bot.Message, error) {
	return guarded(func() (bot.Message, error) {
		if span == bot.SpanAll {
			return report.FullText(f), nil
		}
		return report.Text(f), nil
	})
}

// InWords is the picture of a digest in words.
func InWords(f report.Facts) (string, error) {
	return guarded(func() (string, error) { return report.Alt(f), nil })
}

// Draw is the picture of a digest.
func (m *Maker) Draw(f report.Facts, dark bool) ([]byte, error) {
	return guarded(func() ([]byte, error) { return m.Picture(f, dark) })
}

// WithPicture is a digest with its picture. Where there is nothing to be drawn, or
// it cannot be, the text says it all; the latter is told to admins.
func (m *Maker) WithPicture(ctx context.Context, text bot.Message, f report.Facts, now time.Time) bot.Message {
	if len(f.Sessions) == 0 {
		return text
	}
	picture, err := m.Draw(f, true)
	alt := ""
	if err == nil {
		alt, err = InWords(f)
	}
	switch {
	case err != nil:
		m.faulted(ctx, f.Project, err, now)
	case len(picture) > bot.MaxPicture:
		m.Log.Warn("picture of the digest is too large to be sent", "project", f.Project, "bytes", len(picture))
	default:
		text.Picture, text.Alt = picture, alt
	}
	return text
}

// faulted logs that a picture, or with no project a whole digest, could not be
// made, and tells admins of it: once a local day, however often it is tried.
func (m *Maker) faulted(ctx context.Context, project string, err error, now time.Time) {
	stack := ""
	if f, ok := err.(*fault); ok { //nolint:errorlint // as guarded returns it
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

// quiet reports whether a chat is left in peace at a time.
func (m *Maker) quiet(chat string, at time.Time) bool {
	return m.Engine.Shared().QuietHours(chat, m.Catalog.QuietHours()).Has(at.In(m.Catalog.Zone()))
}
