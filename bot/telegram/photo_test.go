package telegram_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

// messageWithPicture returns a message with a picture and the given number of
// lines.
func messageWithPicture(t *testing.T, lines int) bot.Message {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 108, 140))); err != nil {
		t.Fatal(err)
	}
	m := bot.Message{Key: "digest", Picture: b.Bytes(), Lines: []bot.Line{{Text: "? shop 9/12 done, 2 need you"}, {Kind: bot.Head, Text: "Needs <you>"}}}
	for n := range lines {
		m.Lines = append(m.Lines, bot.Line{Text: fmt.Sprintf("line %d of what the picture shows, /stop", n)})
	}
	m.Buttons = []bot.Button{{Label: "Retry #8", Command: "q5 retry"}}
	return m
}

// TestPhoto checks that a message with a picture is one message: picture,
// caption, buttons.
func TestPhoto(t *testing.T) {
	w := newWorldWithChat(t)
	m := messageWithPicture(t, 3)
	m.PictureName = "shop-5-2.png"
	id := w.send(m, bot.SendOptions{Silent: true})
	got := w.far.Chat(mira.ID).Last()
	if fmt.Sprint(got.ID) != id || got.File == nil || !got.File.Photo || !bytes.Equal(got.File.Data, m.Picture) || !got.Silent {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff([]string{"? shop 9/12 done, 2 need you", "Needs <you>"}, got.Marked("bold")); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(got.Text, "line 2 of") || len(got.Buttons) != 1 || len(w.far.Chat(mira.ID).Messages) != 2 {
		t.Errorf("%+v", got)
	}
	if text := w.far.Transcript(mira.ID); !strings.Contains(text, "[photo shop-5-2.png]\n? shop 9/12") {
		t.Errorf("the transcript does not show it:\n%s", text)
	}

	m.Lines[0].Text, m.Buttons = "? shop 10/12 done, 1 needs you", nil
	if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, m); err != nil {
		t.Fatal(err)
	}
	got = w.far.Chat(mira.ID).Last()
	if !strings.HasPrefix(got.Text, "? shop 10/12") || !strings.Contains(got.Text, "line 2 of") || len(got.Buttons) != 0 {
		t.Errorf("the caption after the edit: %+v", got)
	}
	m.Picture = nil // the caller of Edit need not know that the text is a caption
	m.Lines[0].Text = "? shop 11/12 done"
	if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, m); err != nil {
		t.Fatal(err)
	}
	if got = w.far.Chat(mira.ID).Last(); !strings.HasPrefix(got.Text, "? shop 11/12") || !strings.Contains(got.Text, "line 2 of") {
		t.Errorf("the caption after the second edit: %+v", got)
	}
}

// TestPhotoRejected checks that the text is sent once if Telegram rejects the
// picture.
func TestPhotoRejected(t *testing.T) {
	for name, c := range map[string]struct {
		fault  *far.Fault
		change func(*bot.Message)
		shown  string // all messages of the chat, one letter each: P photo, T text
		fails  error
	}{
		"not processed":         {fault: new(far.BadRequest("IMAGE_PROCESS_FAILED")), shown: "T"},
		"no right":              {fault: new(far.BadRequest("not enough rights to send photos to the chat")), shown: "T"},
		"too large for a proxy": {fault: &far.Fault{Code: 413, Body: "<html>413</html>"}, shown: "T"},
		"no picture":            {change: func(m *bot.Message) { m.Picture = []byte("GIF89a") }, shown: "T"},
		"too large":             {change: func(m *bot.Message) { m.Picture = make([]byte, bot.MaxPicture+1) }, shown: "T"},
		"slow":                  {fault: new(far.TooMany(3)), fails: bot.ErrRateLimited},
		"blocked":               {fault: new(far.Forbidden("bot was blocked by the user")), fails: bot.ErrChatClosed},
		"no answer":             {fault: new(far.CutAfter()), shown: "P", fails: bot.ErrOutcomeUnknown},
		"long":                  {change: func(m *bot.Message) { *m = messageWithPicture(t, 60) }, shown: "PT"},
		"formatting":            {fault: new(far.BadRequest("can't parse entities: unexpected end tag")), shown: "P"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWithChat(t)
			m := messageWithPicture(t, 3)
			if c.change != nil {
				c.change(&m)
			}
			if c.fault != nil {
				w.far.Fault("sendPhoto", *c.fault)
			}
			id, err := w.bot.Send(t.Context(), home, m, bot.SendOptions{})
			if got := bot.SendReason(err); !errors.Is(got, c.fails) {
				t.Errorf("%v, want %v", err, c.fails)
			}
			shown := ""
			for _, x := range w.far.Chat(mira.ID).Messages {
				switch {
				case !x.Bot:
				case x.File != nil:
					shown += "P"
				default:
					shown += "T"
				}
			}
			if shown != c.shown {
				t.Errorf("shown: %q, want %q", shown, c.shown)
			}
			last := w.far.Chat(mira.ID).Last()
			if err == nil && (fmt.Sprint(last.ID) != id || len(last.Buttons) != 1 || !strings.Contains(last.Text, "line 2 of")) {
				t.Errorf("%s: %+v", id, last)
			}
			if err == nil && shown == "T" { // an edit has to find the message
				m.Lines[0].Text = "edited"
				if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, m); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
