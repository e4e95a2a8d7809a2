package slack

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// upload brings a file to the platform, where nobody sees it yet.
func (b *Bot) upload(ctx context.Context, f *File) (id string, err error) {
	at, err := b.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileSize: len(f.Data), FileName: f.Name, AltTxt: cutRunes(f.Alt, maxAltFile)})
	if err != nil {
		return "", err
	}
	return at.FileID, b.putFile(ctx, at.UploadURL, f)
}

// putFile sends a file to its address, which is secret enough to need no token.
// slack-go would send ours along, ends the form twice, and does not say how
// long it is.
func (b *Bot) putFile(ctx context.Context, address string, f *File) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", f.Name)
	if err == nil {
		_, err = part.Write(f.Data)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil { // a buffer takes everything
		return fmt.Errorf("slack upload: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, &body)
	if err != nil || r.URL.Host == "" || r.URL.Scheme != "https" && !strings.HasPrefix(b.base, "http://") {
		return &apiError{method: "files.getUploadURLExternal", code: http.StatusOK, text: "no address in the answer", foreign: true}
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	_, _, _, err = b.exchange(r)
	return err
}

// completeTries is how often an upload is ended: what belongs to it may stand
// there already, and whatever is said about it would be said twice.
const completeTries = 3

// complete ends an upload: the file stands in a thread then, or, where there is
// none, it is the app's own and may stand in messages.
func (b *Bot) complete(ctx context.Context, id string, f *File, where, thread string) (err error) {
	unclear := false // an earlier try may have been the one
	for try := range completeTries {
		if try > 0 && b.o.Sleep(ctx, time.Duration(try)*transport.MinBackoff) != nil {
			break
		}
		_, err = b.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: []slack.FileSummary{{ID: id, Title: f.Name}}, Channel: where, ThreadTimestamp: thread,
		})
		if err == nil || unclear && isRefusal(err, "file_not_found") { // no upload waits for its end any more
			return nil
		}
		var known *bot.SendError
		unclear = unclear || !errors.As(b.sendError(err), &known)
	}
	return err
}

// shareFile shows a file in the thread of its caption. Where that does not come
// about, the caption says so.
func (b *Bot) shareFile(ctx context.Context, where, ts, thread, id string, m bot.Message, f *File) {
	err := b.complete(ctx, id, f, where, cmp.Or(thread, ts))
	if err == nil {
		return
	}
	b.o.Log.Warn("a file was not shared", "key", m.Key, "error", b.o.redact(err.Error()))
	d := draft{}
	d.Text, d.Blocks = compose(captionWithoutFile(m, "The file ("+strings.TrimSuffix(f.Name, ".txt")+") did not arrive; ask again."), nil, "")
	if _, _, _, err := b.api.UpdateMessageContext(ctx, where, ts, d.options(false)...); err != nil {
		b.o.Log.Warn("a caption was not changed", "key", m.Key, "error", b.o.redact(err.Error()))
	}
}

// captionWithoutFile is the caption of a message whose file is not there.
func captionWithoutFile(m bot.Message, why string) bot.Message {
	m = fileCaption(m)
	m.Lines = append(m.Lines, bot.Line{Text: why})
	return m
}
