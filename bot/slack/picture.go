package slack

import (
	"cmp"
	"context"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// maxAltFile limits the alternative text of an uploaded file, in characters. An
// image block may have bot.MaxAlt.
const maxAltFile = 1000

// pictureWaits are the pauses between attempts to post a new picture. For a
// second or two after the upload, Slack rejects messages that show it.
var pictureWaits = []time.Duration{transport.MinBackoff, 2 * transport.MinBackoff, 4 * transport.MinBackoff}

// uploadPicture uploads a picture as a file of the app, which messages may show.
// It returns the file's id, or "" if there is no picture or Slack refuses it. An
// error means that nothing was sent and that a later attempt may succeed.
func (b *Bot) uploadPicture(ctx context.Context, key string, f *File) (id string, err error) {
	if f == nil {
		return "", nil
	}
	if id, err = b.upload(ctx, f); err == nil {
		err = b.complete(ctx, id, f, "", "")
	}
	switch {
	case err == nil:
		return id, nil
	case isRetryable(b.sendError(err)):
		return "", b.sendError(err)
	}
	b.o.Log.Warn("a picture is not shown", "key", key, "error", b.o.redact(err.Error()))
	return "", nil
}

// sharePicture posts a picture in the thread of a message that could not
// include it. A failure is harmless: the text contains everything that the
// picture shows.
func (b *Bot) sharePicture(ctx context.Context, where, ts, thread, key string, f *File) {
	id, err := b.upload(ctx, f)
	if err == nil {
		err = b.complete(ctx, id, f, where, cmp.Or(thread, ts))
	}
	if err != nil {
		b.o.Log.Warn("a picture is not shown", "key", key, "error", b.o.redact(err.Error()))
	}
}
