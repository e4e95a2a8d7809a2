package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// remoteFile holds the fields of a file of a person's message.
type remoteFile struct {
	Mode     string `json:"mode"` // "hosted"; others are links, or files that are gone
	Name     string `json:"name"`
	Type     string `json:"mimetype"`
	Size     int64  `json:"size"`
	Address  string `json:"url_private"`
	Duration int64  `json:"duration_ms"`
}

// filesOf returns the files of a message, and the word for people for a single one.
// A file of an unexpected form cannot be loaded.
func filesOf(raw []json.RawMessage) (files []bot.RemoteFile, kind string) {
	for _, r := range raw {
		var f remoteFile
		if json.Unmarshal(r, &f) != nil || f.Mode != "hosted" {
			f = remoteFile{}
		}
		file := bot.RemoteFile{ID: f.Address, Kind: ledger.AttachmentFile, Type: f.Type, Size: f.Size, Name: f.Name, Duration: time.Duration(f.Duration) * time.Millisecond}
		kind = "file"
		switch {
		case strings.HasPrefix(f.Type, "image/"):
			kind = "picture"
		case strings.HasPrefix(f.Type, "audio/"):
			file.Kind, kind = ledger.AttachmentVoice, "voice note"
		}
		files = append(files, file)
	}
	if len(files) != 1 {
		kind = ""
	}
	return files, kind
}

// scopeFiles is the scope that pictures need. All else works without it.
const scopeFiles = "files:read"

// Fetch loads a file of a message. An error that is bot.ErrRejected is final. The token
// is sent to the host of the API and those below it, and nowhere else.
func (b *Bot) Fetch(ctx context.Context, f bot.RemoteFile) ([]byte, error) {
	refused := func(text string) error { return &bot.SendError{Reason: bot.ErrRejected, Text: text} }
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.ID, nil)
	if err != nil || !b.isOurs(r.URL) {
		return nil, refused("Slack gives no address to load it from")
	}
	r.Header.Set("Authorization", "Bearer "+string(b.o.BotToken))
	a, err := b.conn.Exchange(r, "file", 4*b.o.Timeout)
	if err != nil {
		return nil, b.sendError(err)
	}
	page := strings.HasPrefix(a.Header.Get("Content-Type"), "text/html")
	switch {
	case a.Status == http.StatusOK && !page && len(a.Body) <= ledger.MaxAttachment:
		return a.Body, nil
	case a.Status == http.StatusOK && !page:
		return nil, refused("it is too large")
	case a.Status >= 500, a.Status == http.StatusTooManyRequests:
		return nil, errors.New("slack file: " + cmp.Or(http.StatusText(a.Status), "no file"))
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return nil, refused("it is gone")
	}
	// Without the scope Slack leads to its login page.
	return nil, refused("the app lacks the scope " + scopeFiles + "; install it again with deploy/slack-manifest.yaml")
}

// isOurs reports whether an address is on the API's host or below it, and as well
// protected.
func (b *Bot) isOurs(u *url.URL) bool {
	base, err := url.Parse(b.base)
	if err != nil || u.User != nil || u.Host == "" || u.Scheme != base.Scheme {
		return false
	}
	return u.Host == base.Host || strings.HasSuffix(u.Host, "."+base.Host)
}
