package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestFetch loads the files of messages, each reason why that fails, and looks for
// the token in every error.
func TestFetch(t *testing.T) {
	w := newFixture(t, func(o *telegram.Options) { o.Timeout = 200 * time.Millisecond })
	data := bytes.Repeat([]byte("\xff\xd8\xff"), 1000)
	w.far.Post(far.UserMessage{From: mira, Chat: mira.ID, Photo: true, File: far.File{Data: data}})
	w.far.Post(far.UserMessage{From: mira, Chat: mira.ID, Attachment: "document", File: far.File{Data: data, Size: ledger.MaxAttachment + 1}})
	w.far.Post(far.UserMessage{From: mira, Chat: mira.ID, Attachment: "voice"})
	photo, large, voice := bot.RemoteFile{ID: "photo-48213377.1"}, bot.RemoteFile{ID: "document-48213377.2"}, bot.RemoteFile{ID: "voice-48213377.3"}
	if got, err := w.bot.Fetch(t.Context(), photo); err != nil || !bytes.Equal(got, data) {
		t.Errorf("a photo: %d bytes, %v", len(got), err)
	}
	if got, err := w.bot.Fetch(t.Context(), voice); err != nil || string(got) != "a voice" {
		t.Errorf("a voice note: %q, %v", got, err)
	}
	for _, c := range []struct {
		name   string
		file   bot.RemoteFile
		method string
		fault  *far.Fault
		final  bool
	}{
		{"unknown", bot.RemoteFile{ID: "x"}, "", nil, true},
		{"too large", large, "", nil, true},
		{"cut before", photo, "getFile", at(far.CutBefore()), false},
		{"proxy", photo, "getFile", at(far.BadGateway()), false},
		{"hangs", photo, "getFile", at(far.Hang()), false},
		{"too many", photo, "getFile", at(far.TooMany(3)), false},
		{"cut while loaded", photo, "file", at(far.Fault{Cut: true, Times: -1}), false},
		{"proxy of the file", photo, "file", at(far.BadGateway()), false},
		{"hangs while loaded", photo, "file", at(far.Hang()), false},
		{"gone", photo, "file", at(far.Fault{Code: 404, Text: "Not Found"}), true},
		{"no path", photo, "getFile", at(far.Fault{Code: 200, Body: `{"ok":true,"result":{"file_id":"x"}}`}), true},
		{"a path of a local server", photo, "getFile", at(far.Fault{Code: 200, Body: `{"ok":true,"result":{"file_path":"/etc/passwd"}}`}), true},
		{"a path that leads out", photo, "getFile", at(far.Fault{Code: 200, Body: `{"ok":true,"result":{"file_path":"../../bot1:x/close"}}`}), true},
		{"a path with a question mark", photo, "getFile", at(far.Fault{Code: 200, Body: `{"ok":true,"result":{"file_path":"photos/a?b#c.jpg"}}`}), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.far.ClearFaults()
			if c.fault != nil {
				w.far.Fault(c.method, *c.fault)
			}
			got, err := w.bot.Fetch(t.Context(), c.file)
			if err == nil || errors.Is(err, bot.ErrRejected) != c.final {
				t.Fatalf("%d bytes, %v; final: %v", len(got), err, c.final)
			}
			_, secret, _ := strings.Cut(w.far.Token(), ":")
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error has the token: %v", err)
			}
		})
	}
	w.far.ClearFaults()
	for _, c := range w.far.Calls("file") {
		if strings.Contains(c.Params["path"], "..") {
			t.Errorf("it asked for %s", c.Params["path"])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.bot.Fetch(ctx, photo); err == nil || errors.Is(err, bot.ErrRejected) {
		t.Errorf("a caller who has left: %v", err)
	}
}

func at(f far.Fault) *far.Fault { return &f }

// TestFilesOfUpdates: fields of an unexpected form are no files, and of the sizes of a
// photo the largest that a bot can load is taken.
func TestFilesOfUpdates(t *testing.T) {
	w := newFixture(t)
	cases := []struct {
		fields map[string]any
		want   string
	}{
		{map[string]any{"photo": []any{
			map[string]any{"file_id": "s", "width": 90, "height": 60},
			map[string]any{"file_id": "huge", "width": 9000, "height": 9000, "file_size": ledger.MaxAttachment + 1},
			map[string]any{"file_id": "l", "width": 1280, "height": 960, "file_size": 100},
			map[string]any{"file_id": "m", "width": 800, "height": 600},
		}}, "l"},
		{map[string]any{"photo": "nothing of the kind"}, ""},
		{map[string]any{"photo": []any{}}, ""},
		{map[string]any{"voice": []any{1}}, ""},
		{map[string]any{"document": map[string]any{"file_id": 7}}, ""},
		{map[string]any{"animation": map[string]any{"file_id": "a"}, "document": map[string]any{"file_id": "a"}}, ""},
	}
	for n, c := range cases {
		update := map[string]any{
			"message_id": n + 1, "date": 1, "from": map[string]any{"id": mira.ID, "first_name": "Mira"}, "chat": map[string]any{"id": mira.ID, "type": "private"},
		}
		for name, v := range c.fields {
			update[name] = v
		}
		w.far.Inject(map[string]any{"message": update})
	}
	w.poll()
	for _, in := range w.receiver.Wait(t, len(cases)) {
		got := ""
		n, err := strconv.Atoi(in.Message)
		if n--; err != nil {
			t.Fatal(err)
		}
		if len(in.Files) > 0 {
			got = in.Files[0].ID
		}
		if got != cases[n].want {
			t.Errorf("%v: loads %q, want %q", cases[n].fields, got, cases[n].want)
		}
	}
}
