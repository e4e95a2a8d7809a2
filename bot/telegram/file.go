package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// remoteFile holds the fields of a file of any type, and of one size of a photo.
type remoteFile struct {
	ID       string `json:"file_id"`
	Size     int64  `json:"file_size"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Type     string `json:"mime_type"`
	Name     string `json:"file_name"`
	Duration int64  `json:"duration"` // seconds
}

// files returns the pictures and recordings of a message. Of a photo it is the largest
// size that a bot can load. A field of an unexpected form is no file.
func (m *media) files() []bot.RemoteFile {
	var sizes []remoteFile
	if json.Unmarshal(m.Photo, &sizes) == nil {
		var best remoteFile
		for _, s := range sizes {
			if s.Size <= ledger.MaxAttachment && s.Width*s.Height > best.Width*best.Height {
				best = s
			}
		}
		if best.ID != "" {
			return []bot.RemoteFile{{ID: best.ID, Kind: ledger.AttachmentPhoto, Size: best.Size}}
		}
	}
	for _, has := range []struct {
		field json.RawMessage
		kind  ledger.AttachmentKind
	}{{m.Voice, ledger.AttachmentVoice}, {m.Audio, ledger.AttachmentVoice}, {m.Document, ledger.AttachmentFile}} {
		var f remoteFile
		// An animation is a document, too, and neither a picture nor a recording.
		if len(m.Animation) == 0 && json.Unmarshal(has.field, &f) == nil && f.ID != "" {
			return []bot.RemoteFile{{ID: f.ID, Kind: has.kind, Type: f.Type, Size: f.Size, Name: f.Name, Duration: time.Duration(f.Duration) * time.Second}}
		}
	}
	return nil
}

// Fetch loads a file of a message. An error that is bot.ErrRejected is final: Telegram
// does not give it. No error contains the token, which is part of the address.
func (b *Bot) Fetch(ctx context.Context, f bot.RemoteFile) ([]byte, error) {
	var got struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	if err := b.call(ctx, "getFile", tgbotapi.Params{"file_id": f.ID}, &got); err != nil {
		return nil, sendError(err)
	}
	refused := func(text string) error { return &bot.SendError{Reason: bot.ErrRejected, Text: text} }
	switch {
	case got.Size > ledger.MaxAttachment:
		return nil, refused("it is too large")
	case got.Path == "" || path.IsAbs(got.Path) || path.Clean("/"+got.Path) != "/"+got.Path:
		return nil, refused("Telegram gives no address to load it from; a local Bot API server gives none with --local")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.fileAddress(got.Path), nil)
	if err != nil {
		return nil, refused("its address cannot be used")
	}
	a, err := b.conn.Exchange(r, "file", 4*b.o.Timeout)
	if err != nil {
		return nil, sendError(err)
	}
	switch {
	case a.Status == http.StatusOK && len(a.Body) <= ledger.MaxAttachment:
		return a.Body, nil
	case a.Status == http.StatusOK:
		return nil, refused("it is too large")
	case a.Status >= 500, a.Status == http.StatusTooManyRequests:
		return nil, errors.New("telegram file: " + cmp.Or(http.StatusText(a.Status), "no file"))
	}
	return nil, refused("Telegram does not give it: " + cmp.Or(http.StatusText(a.Status), "no file"))
}

// fileAddress returns the address of a file by the path that getFile gave.
func (b *Bot) fileAddress(file string) string {
	parts := strings.Split(file, "/")
	for n := range parts {
		parts[n] = url.PathEscape(parts[n])
	}
	return strings.TrimRight(b.o.API, "/") + "/file/bot" + string(b.o.Token) + "/" + strings.Join(parts, "/")
}
