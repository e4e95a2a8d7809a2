package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// TestPictures sends pictures over Telegram, and erases one.
func TestPictures(t *testing.T) {
	w := daemontest.New(t)
	chats := w.Hub.Connect(time.Time{})
	if err := chats.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer chats.Stop()
	mira := telegram.User{ID: 1, Name: "Mira"}
	photo := func(text, album, data string) {
		w.Telegram.Post(telegram.UserMessage{From: mira, Chat: 1, Photo: true, Text: text, Album: album, File: telegram.File{Data: []byte("\xff\xd8\xff" + data)}})
	}
	w.Telegram.Fault("file", telegram.CutBefore()) // one bar of signal
	photo("/guidance Like this", "7", "one")
	photo("", "7", "two")
	last := func(text string) telegram.Message {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), daemontest.Patience)
		defer cancel()
		c, err := w.Telegram.WaitFor(ctx, 1, func(c telegram.Chat) bool {
			_, found := c.Find(func(m telegram.Message) bool { return m.Bot && strings.Contains(m.Text, text) })
			return found
		})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := c.Find(func(m telegram.Message) bool { return m.Bot && strings.Contains(m.Text, text) })
		return m
	}
	last("Like this · 2 pictures")
	s, _ := w.Engine.State("shop")
	files := s.Project.AttachedTo("g1").Files
	dir := filepath.Join(w.Projects.State(), attachment.Folder)
	for n, f := range files {
		path := filepath.Join(dir, f.Hash)
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(data, []byte("\xff\xd8\xff"+[]string{"one", "two"}[n])) {
			t.Errorf("%q, %v", data, err)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
	}
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}

	verify := func(want string) {
		t.Helper()
		c, err := socket.Operator(w.Projects.State())
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.View(t.Context(), api.View{Name: "verify"})
		if err != nil || !strings.Contains(r.Text, want) {
			t.Errorf("verify says %q, %v; want %q", r.Text, err, want)
		}
	}
	verify("✓ ledger whole")
	for state, change := range map[string]func(path string) error{
		"altered": func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		"missing": os.Remove,
	} {
		path := filepath.Join(dir, files[0].Hash)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		verify(fmt.Sprintf("file %.12s of g1 is %s", files[0].Hash, state))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	w.Input(loop.Input{Actor: "console", Project: "shop", Body: loop.EraseFiles{ID: "g1"}})
	if err := w.Engine.Written(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("after erasing, the folder has %v, %v", left, err)
	}
	verify(fmt.Sprintf("g1: file %.12s erased", files[0].Hash))
	verify("✓ ledger whole")
	_, secret, _ := strings.Cut(w.Telegram.Token(), ":")
	logs, err := filepath.Glob(filepath.Join(w.Projects.State(), "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	for _, path := range logs {
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), secret) {
			t.Errorf("%s has the token, or cannot be read: %v", path, err)
		}
	}
}

// TestTryTranscribe: the program hears a second of silence as it would hear a voice note.
func TestTryTranscribe(t *testing.T) {
	try := func(script string) (string, error) {
		cfg := config.Empty()
		cfg.Transcribe = []string{"sh", "-c", script}
		return daemon.TryTranscribe(t.Context(), daemon.Options{Version: "test", Config: cfg})
	}
	if words, err := try(`test "$(head -c 4 "$0")" = OggS && echo "$0"`); err != nil || words != "voice.ogg" {
		t.Errorf("%q, %v", words, err)
	}
	if _, err := try("echo no model >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit code 3. no model") {
		t.Errorf("a program that fails: %v", err)
	}
}

// TestVoice sends recordings over Telegram, which a program turns into words.
func TestVoice(t *testing.T) {
	w := daemontest.New(t)
	w.Projects.Config().Transcribe = []string{"sh", "-c", `test "$(cat "$0")" != noise || { echo no speech in it >&2; exit 3; }; echo "Keep the $(cat "$0") names"`}
	chats := w.Hub.Connect(time.Time{})
	if err := chats.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer chats.Stop()
	for _, c := range []struct {
		data    string
		seconds int
		caption string
		want    []string
	}{
		{"old", 7, "", []string{"v1 heard: g1", "g1 queued as guidance", "Keep the old names"}},
		{"noise", 7, "", []string{"v2 not queued: no words", "no speech in it"}},
		{"long", 3600, "", []string{"Not kept: the voice note", "It is 60 minutes long; 5 are the most."}},
		{"new", 7, "/guidance @writer As said:", []string{"v3 heard: g2", "As said: Keep the new names"}},
		{"short", 7, "/add", []string{"v4 heard: a1", "Keep the short names"}},
		{"long", 7, "/add Rename it", []string{"v5 heard: a2", "Rename it"}},
		{"first", 7, "/now", []string{"v6 heard: g3", "Keep the first names"}}, // nothing is at work
		{"last", 7, "About the cart", []string{"v7 heard: g4", "Keep the last names"}},
		{"own", 7, "/status", []string{"The voice note was not kept."}},
		{"longer", 3600, "Only this", []string{"Only this", "It is 60 minutes long; 5 are the most."}},
	} {
		w.Telegram.Post(telegram.UserMessage{From: telegram.User{ID: 1, Name: "Mira"}, Chat: 1, Attachment: "voice", Seconds: c.seconds, Text: c.caption, File: telegram.File{Data: []byte(c.data), Type: "audio/ogg"}})
		ctx, cancel := context.WithTimeout(t.Context(), daemontest.Patience)
		for _, want := range c.want {
			if _, err := w.Telegram.WaitFor(ctx, 1, func(c telegram.Chat) bool {
				_, found := c.Find(func(m telegram.Message) bool { return m.Bot && strings.Contains(m.Text, want) })
				return found
			}); err != nil {
				t.Fatalf("%q: %v\n%s", want, err, w.Telegram.Transcript(1))
			}
		}
		cancel()
	}
	s, _ := w.Engine.State("shop")
	if i, ok := s.Project.Guidance.Get("g1"); !ok || i.Text != "Keep the old names" || i.By != "Mira" {
		t.Errorf("%+v", i)
	}
	if a, ok := s.Project.Addition("a2"); !ok || a.Tasks[0].Title != "Rename it" || a.Tasks[0].Body != "Keep the long names" {
		t.Errorf("%+v", a)
	}
	if f := s.Project.AttachedTo("a1").Files; len(f) != 1 || f[0].Kind != ledger.AttachmentVoice {
		t.Errorf("a1 came with %+v", f)
	}
}

// TestVoiceBug speaks bug reports in three languages into the inbox: the words are those
// of the program, to the letter, a severity may be typed in front, and each report passes
// the gates that ask whether it says anything.
func TestVoiceBug(t *testing.T) {
	w := daemontest.New(t)
	repo := w.Projects.Config().Projects[0].Repo
	file := filepath.Join(repo, "bugs.json")
	if err := os.WriteFile(file, []byte("[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Projects.Config().Transcribe = []string{"sh", "-c", `cat "$0"`} // the recordings are what is said in them
	chats := w.Hub.Connect(time.Time{})
	if err := chats.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer chats.Stop()
	type report struct {
		Body, Severity string
	}
	var want []report
	for n, c := range []struct{ caption, severity, words string }{
		{"/bug", "", "I tapped Pay on the cart page and saw NaN instead of the total."},
		{"/bug high:", "high", "Auf der Seite Warenkorb klicke ich auf „Löschen“ und sehe einen Fehler statt der Liste für Größen."},
		{"/bug low:", "low", "En la página del carrito pulsé «Añadir» y apareció un error en lugar del número de artículos."},
	} {
		w.Telegram.Post(telegram.UserMessage{From: telegram.User{ID: 1, Name: "Mira"}, Chat: 1, Attachment: "voice", Seconds: 9, Text: c.caption, File: telegram.File{Data: []byte(c.words), Type: "audio/ogg"}})
		want = append(want, report{c.words, c.severity})
		ctx, cancel := context.WithTimeout(t.Context(), daemontest.Patience)
		defer cancel()
		if _, err := w.Telegram.WaitFor(ctx, 1, func(chat telegram.Chat) bool {
			_, found := chat.Find(func(m telegram.Message) bool {
				return m.Bot && strings.Contains(m.Text, fmt.Sprintf("v%d heard: a%d", n+1, n+1))
			})
			return found
		}); err != nil {
			t.Fatalf("%q: %v\n%s", c.words, err, w.Telegram.Transcript(1))
		}
	}
	if err := w.Engine.Written(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for n, r := range got {
		task := ledger.Task{ID: fmt.Sprint("B", n+1), Title: r.Body, Body: r.Body, Mark: ledger.MarkOpen, Report: &ledger.Report{Untitled: true, Severity: r.Severity}}
		v := triage.Sort(triage.Inputs{Reports: []ledger.Task{task}, Now: time.Now()})
		if len(v) != 1 || v[0].Gate == ledger.GateCoherence || v[0].Gate == ledger.GateTestable {
			t.Errorf("%q is set aside: %+v", r.Body, v)
		}
	}
}
