package slack_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	far "github.com/nightporter/nightporter/internal/fake/slack"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestFetch loads the file of a message, and each reason why that fails. The token
// goes to Slack alone.
func TestFetch(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	data := []byte("\x89PNG\r\n\x1a\n a picture")
	w.far.Post(far.UserMessage{User: mira, Channel: w.far.Direct(mira), Text: "like this", Files: []far.File{{Name: "a b.png", Type: "image/png", Data: data}, {Name: "notes.pdf", Type: "application/pdf", Data: data}}})
	in := w.waitInputs(1)[0]
	if len(in.Files) != 2 || in.Files[0].Type != "image/png" || in.Files[0].Kind != ledger.AttachmentFile || in.Files[0].Size != int64(len(data)) || in.Kind != "" {
		t.Fatalf("%+v", in)
	}
	file := in.Files[0]
	fetch := func(name string, f bot.RemoteFile, final bool, want string, faults ...far.Fault) {
		t.Helper()
		w.far.Fault("file", faults...)
		got, err := w.bot.Fetch(t.Context(), f)
		if err == nil || errors.Is(err, bot.ErrRejected) != final || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d bytes, %v; want %q, final: %v", name, len(got), err, want, final)
		}
		if err != nil && strings.Contains(err.Error(), far.BotToken) {
			t.Errorf("%s: the error has the token", name)
		}
	}
	w.far.SetScopes(far.Scopes)
	if got, err := w.bot.Fetch(t.Context(), file); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%q, %v", got, err)
	}
	w.far.SetScopes(strings.ReplaceAll(far.Scopes, "files:read,", ""))
	fetch("no scope", file, true, "lacks the scope files:read")
	w.far.SetScopes(far.Scopes)
	fetch("no file", bot.RemoteFile{ID: strings.ReplaceAll(file.ID, "F", "G")}, true, "it is gone")
	fetch("a proxy", file, false, "Bad Gateway", far.ForeignPage(http.StatusBadGateway))
	fetch("a login page", file, true, "files:read", far.ForeignPage(http.StatusOK))
	fetch("cut", file, false, "", far.Fault{Cut: true}, far.Fault{Cut: true})
	asked := len(w.far.Calls("file"))
	for _, address := range []string{
		"", "ftp://x/y", "https://evil.example/files-pri/F1/a.png", strings.Replace(file.ID, "127.0.0.1", "127.0.0.1.evil.example", 1),
		strings.Replace(file.ID, "http://", "http://user@", 1), strings.Replace(file.ID, "http://", "https://", 1), "/files-pri/F1", "::",
	} {
		fetch(address, bot.RemoteFile{ID: address}, true, "no address")
	}
	if n := len(w.far.Calls("file")); n != asked {
		t.Errorf("%d requests for addresses elsewhere", n-asked)
	}
}
