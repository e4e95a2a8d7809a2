package slack

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/link"
)

// upload brings a file to the platform, where nobody sees it yet.
func (b *Bot) upload(ctx context.Context, f *File) (id string, err error) {
	at, err := b.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileSize: len(f.Data), FileName: f.Name, AltTxt: f.Alt})
	if err != nil {
		return "", err
	}
	return at.FileID, b.api.UploadToURL(ctx, slack.UploadToURLParameters{UploadURL: at.UploadURL, Reader: bytes.NewReader(f.Data), Filename: f.Name})
}

// shareTries is how often a file is shared: its caption stands there already,
// and whatever is said about it would be said twice.
const shareTries = 3

// share shows a file in the thread of its caption. Where that does not come
// about, the caption says so.
func (b *Bot) share(ctx context.Context, where, ts, thread, id string, m bot.Message, f *File) {
	if thread == "" {
		thread = ts
	}
	var err error
	for try := range shareTries {
		if try > 0 && b.o.Wait(ctx, time.Duration(try)*link.Shortest) != nil {
			break
		}
		_, err = b.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: []slack.FileSummary{{ID: id, Title: f.Name}}, Channel: where, ThreadTimestamp: thread,
		})
		if err == nil {
			return
		}
	}
	b.o.Log.Warn("a file was not shared", "key", m.Key, "error", b.o.without(err.Error()))
	if f.Alt != "" {
		return // the message says all that a picture shows
	}
	short := caption(m)
	about := strings.TrimSuffix(f.Name, ".txt")
	short.Lines = append(short.Lines, bot.Line{Text: "The file (" + about + ") did not arrive; ask again."})
	s := Shown{}
	s.Text, s.Blocks = compose(short, nil, "")
	if _, _, _, err := b.api.UpdateMessageContext(ctx, where, ts, s.options(false)...); err != nil {
		b.o.Log.Warn("a caption was not changed", "key", m.Key, "error", b.o.without(err.Error()))
	}
}
