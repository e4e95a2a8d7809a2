package slack

import (
	"cmp"
	"context"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// maxAltFile is what the words of an uploaded file may be long, in characters.
// Those of an image block may be bot.MaxAlt.
const maxAltFile = 1000

// pictureWaits are the pauses while the platform does not know a new file yet: it
// refuses messages that show it, for a second or two.
var pictureWaits = []time.Duration{transport.MinBackoff, 2 * transport.MinBackoff, 4 * transport.MinBackoff}

// uploadPicture brings a picture to the platform as a file of the app's own, which its
// messages may show, and returns its id: "" where there is none, or it is not
// taken. An error says that nothing was sent, and that waiting helps.
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

// sharePicture shows a picture in the thread of its message, which does not take it.
// The message says all that it shows.
func (b *Bot) sharePicture(ctx context.Context, where, ts, thread, key string, f *File) {
	id, err := b.upload(ctx, f)
	if err == nil {
		err = b.complete(ctx, id, f, where, cmp.Or(thread, ts))
	}
	if err != nil {
		b.o.Log.Warn("a picture is not shown", "key", key, "error", b.o.redact(err.Error()))
	}
}
