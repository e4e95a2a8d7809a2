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

// upload uploads a file. The file stays invisible until complete or shareFile.
func (b *Bot) upload(ctx context.Context, f *File) (id string, err error) {
	at, err := b.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileSize: len(f.Data), FileName: f.Name, AltTxt: cutRunes(f.Alt, maxAltFile)})
	if err != nil {
		return "", err
	}
	return at.FileID, b.putFile(ctx, at.UploadURL, f)
}

// putFile sends the content to an upload URL. The URL is the credential, so no
// token is sent. slack-go would send one, terminates the form twice, and omits the
// length.
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
	if err != nil { // writing to a buffer does not fail
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

// completeTries limits files.completeUploadExternal. The file may already be
// posted, and a retry of the whole message would post it twice.
const completeTries = 3

// complete ends an upload. The file appears in the given thread of the channel
// where; if where is "", the file belongs to the app, and messages may show it.
func (b *Bot) complete(ctx context.Context, id string, f *File, where, thread string) (err error) {
	unclear := false // an earlier attempt may have succeeded
	for try := range completeTries {
		if try > 0 && b.o.Sleep(ctx, time.Duration(try)*transport.MinBackoff) != nil {
			break
		}
		_, err = b.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: []slack.FileSummary{{ID: id, Title: f.Name}}, Channel: where, ThreadTimestamp: thread,
		})
		if err == nil || unclear && isRefusal(err, "file_not_found") { // the upload has already ended
			return nil
		}
		var known *bot.SendError
		unclear = unclear || !errors.As(b.sendError(err), &known)
	}
	return err
}

// shareFile posts a file in the thread of its caption. If that fails, it edits the
// caption to say so.
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

// captionWithoutFile returns the caption of a file that is missing, with a reason.
func captionWithoutFile(m bot.Message, why string) bot.Message {
	m = fileCaption(m)
	m.Lines = append(m.Lines, bot.Line{Text: why})
	return m
}
