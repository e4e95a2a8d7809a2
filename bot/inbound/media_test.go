package inbound_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

const jpeg = "\xff\xd8\xff\xe0 a picture "

// photo gives an input a photo that lies at the platform.
func (w *fixture) photo(in *bot.Inbound, id, data string) {
	w.remote[id] = []byte(jpeg + data)
	in.Media, in.Kind = true, "photo"
	in.Files = append(in.Files, bot.RemoteFile{ID: id, Kind: ledger.AttachmentPhoto, Size: int64(len(jpeg + data))})
}

// sent sends Mira's message with a photo.
func (w *fixture) sent(text, album string) bot.Inbound {
	w.t.Helper()
	in := bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Album: album, Message: w.message()}
	w.photo(&in, fmt.Sprintf("p%d", w.update), fmt.Sprint(w.update))
	return w.receive(in)
}

// kept lists the files beside the ledger, each with what it belongs to.
func (w *fixture) kept() (list []string) {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.folder, attachment.Folder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		of := "nothing"
		for _, a := range w.state().Project.Attached {
			if slices.ContainsFunc(a.Files, func(f ledger.Attachment) bool { return f.Hash == e.Name() }) {
				of = a.To
			}
		}
		list = append(list, of)
	}
	slices.Sort(list)
	return list
}

func (w *fixture) keeps(want ...string) {
	w.t.Helper()
	if got := w.kept(); !slices.Equal(got, want) {
		w.t.Errorf("kept: %q, want %q\n%s", got, want, w.transcript(mira))
	}
}

// TestPictures: a picture comes with guidance, an answer and a new task, alone, in
// albums, and below a command.
func TestPictures(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q1")
	w.sent("Like this, but smaller", "")
	w.sent("", "")
	w.sent("/guidance @fixer Only here", "")
	w.sent("/add Zoom as in the picture", "")
	w.sent("/status", "")
	w.sent("what are you doing?", "")
	in := bot.Inbound{Actor: mira, Chat: mira, Private: true, ReplyTo: w.newestWithKey(mira, "q1").id, Message: "900"}
	w.photo(&in, "answer", "answer")
	w.receive(in)
	w.sent("/frob", "")
	w.keeps("a1", "g1", "g2", "g3", "g4")
	golden.Compare(t, "pictures.txt", w.transcript(mira))
}

// TestAlbum: the items of an album come by themselves, and belong together whichever
// of them has the words.
func TestAlbum(t *testing.T) {
	w := newFixture(t)
	w.sent("", "1")
	w.sent("The second one is the goal", "1")
	w.sent("", "1")
	w = w.reopened() // nothing of this depends on memory
	w.sent("", "1")
	w.keeps("g1", "g1", "g1", "g1")
	if i, _ := w.state().Project.Guidance.Get("g1"); i.Text != "The second one is the goal" {
		t.Errorf("g1 says %q", i.Text)
	}
	w.sent("/add Zoom as here", "2")
	w.sent("", "2")
	w.sent("/status", "3") // takes no pictures
	w.sent("", "3")
	w.sent("", "4")
	w.sent("/add Pan as here", "4")
	w.keeps("a1", "a1", "a2", "a2", "g1", "g1", "g1", "g1")
	for range ledger.MaxAttachments {
		w.sent("", "5")
	}
	w.sent("", "5")
	w.sent("", "5")
	golden.Compare(t, "album.txt", w.transcript(mira))
}

// drafts lets the project plan ideas.
func (w *fixture) drafts() {
	before := w.daemon.Settings
	w.daemon.Settings = func(project string) ledger.Settings {
		set := before(project)
		set.Roles = map[string]ledger.Pattern{loop.DraftPattern: {Name: loop.DraftPattern, Start: "planner", Routes: []ledger.Route{{From: "planner", On: ledger.EventDraft, To: ledger.Converged}}}}
		return set
	}
}

// TestPicturesWithCommands: a picture comes with /redo and /idea, too.
func TestPicturesWithCommands(t *testing.T) {
	w := newFixture(t)
	w.drafts()
	w.sent("/redo 2 As in the picture", "")
	w.keeps("g1")
	w.sent("/redo 2", "") // its words are the picture
	w.keeps("g1", "g2")
	if i, _ := w.state().Project.Guidance.Get("g2"); i.Text != loop.WordsOfPicture || i.Task != "task 2" {
		t.Errorf("%+v", i)
	}
	w.sent("/idea A cart that looks like this", "")
	w.sent("/idea", "") // asks for words
	w.keeps("g1", "g2", "i1")
	golden.Compare(t, "pictures-commands.txt", w.transcript(mira))
}

// TestAlbumOfCommand: an album belongs to the command below any of its pictures.
func TestAlbumOfCommand(t *testing.T) {
	w := newFixture(t)
	w.drafts()
	w.sent("", "1")
	w.sent("", "1")
	w.sent("/add Zoom as here", "1")
	w.sent("", "1")
	w.keeps("a1", "a1", "a1", "a1")
	if i, _ := w.state().Project.Guidance.Get("g1"); !i.Over() {
		t.Errorf("the pictures are also %+v", i)
	}
	w.sent("", "2")
	w.sent("/redo 2 Like these", "2")
	w.sent("", "2")
	w.sent("", "3")
	w.sent("/idea A cart like these", "3")
	w.sent("", "3")
	w.sent("", "4")
	w.sent("/status", "4") // takes no pictures: those are guidance
	w.keeps("a1", "a1", "a1", "a1", "g3", "g3", "g3", "g5", "i1", "i1", "i1")
	golden.Compare(t, "album-command.txt", w.transcript(mira))
}

// TestNotKept: what cannot be kept is told with the reason, and the words are taken.
func TestNotKept(t *testing.T) {
	w := newFixture(t)
	send := func(text string, f bot.RemoteFile, data string) {
		w.remote[f.ID] = []byte(data)
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Media: true, Kind: "file", Message: w.message(), Files: []bot.RemoteFile{f}})
	}
	picture := ledger.AttachmentFile
	send("no picture by its bytes", bot.RemoteFile{ID: "1", Kind: picture, Type: "image/png"}, "#!/bin/sh")
	send("no picture by its type", bot.RemoteFile{ID: "2", Kind: picture, Type: "application/pdf"}, jpeg)
	send("too large, as is said", bot.RemoteFile{ID: "3", Kind: picture, Size: ledger.MaxAttachment + 1}, jpeg)
	send("too large", bot.RemoteFile{ID: "4", Kind: picture}, jpeg+strings.Repeat("x", ledger.MaxAttachment))
	send("", bot.RemoteFile{ID: "5", Kind: picture, Size: ledger.MaxAttachment + 1}, jpeg)
	delete(w.remote, "6")
	w.fetch = func(bot.RemoteFile) error { return &bot.SendError{Reason: bot.ErrRejected, Text: "wrong file_id"} }
	send("gone", bot.RemoteFile{ID: "6", Kind: picture}, jpeg)
	w.fetch = nil
	in := bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "one of two", Message: w.message()}
	w.photo(&in, "7", "7")
	in.Files = append(in.Files, bot.RemoteFile{ID: "1", Kind: picture})
	w.receive(in)
	w.keeps("g6")
	voice := bot.RemoteFile{ID: "9", Kind: ledger.AttachmentVoice, Type: "audio/ogg", Duration: time.Hour}
	for _, text := range []string{"", "/guidance As I say here"} {
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Media: true, Kind: "voice note", Message: w.message(), Files: []bot.RemoteFile{voice}})
	}
	in = bot.Inbound{Actor: ben, Chat: ben, Private: true, Text: "", Message: "5"}
	w.photo(&in, "8", "8")
	w.receive(in)
	w.keeps("g6")
	golden.Compare(t, "notkept.txt", w.transcript(mira)+"\n"+w.transcript(ben))
}

// TestUnreachable: an update whose picture cannot be loaded for now is not confirmed,
// and not for ever: then its words count without the picture.
func TestUnreachable(t *testing.T) {
	w := newFixture(t)
	w.fetch = func(bot.RemoteFile) error { return &bot.SendError{Reason: bot.ErrOffline, Text: "connection refused"} }
	in := bot.Inbound{Key: "telegram:1:1", Cursor: &ledger.Cursor{Name: "telegram:1", Value: "2"}, Actor: mira, Chat: mira, Private: true, Text: "Like this", Message: "1", Sent: w.now}
	w.photo(&in, "1", "1")
	for range 2 {
		if err := w.r.Receive(t.Context(), in); err == nil || w.entries("guidance.queued") != 0 || len(w.shown[mira]) > 0 {
			t.Fatalf("taken without the picture: %v", err)
		}
	}
	w.fetch = nil
	w.redeliver(in)
	w.keeps("g1")
	w.fetch = func(bot.RemoteFile) error { return errors.New("connection refused") }
	for _, text := range []string{"And this", ""} {
		in.Key, in.Text, in.Message = in.Key+"1", text, in.Message+"1"
		for range 2 {
			if err := w.r.Receive(t.Context(), in); err == nil {
				t.Fatal("taken without the picture")
			}
		}
		w.redeliver(in)
		if got := w.newest(mira).m.Text(0); !strings.Contains(got, "It could not be loaded; send it again.") {
			t.Errorf("%q: %s", text, got)
		}
	}
	w.keeps("g1")
	if n := len(w.state().Project.Guidance.Items); n != 2 {
		t.Errorf("%d items of guidance", n)
	}
}

// TestSamePicture: a picture that is sent twice is kept once, and stays when the second
// one is refused.
func TestSamePicture(t *testing.T) {
	w := newFixture(t)
	for _, text := range []string{"One", "Two", "@nobody Three", ""} {
		in := bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Message: w.message()}
		w.photo(&in, "1", "same")
		w.receive(in)
	}
	if got := w.kept(); len(got) != 1 {
		t.Errorf("kept: %q", got)
	}
	data, err := w.files.Read(attachment.Hash([]byte(jpeg + "same")))
	if err != nil || string(data) != jpeg+"same" {
		t.Errorf("%q, %v", data, err)
	}
	if i, ok := w.state().Project.Guidance.Get("g3"); !ok || i.Text != loop.WordsOfPicture {
		t.Errorf("%+v", i)
	}
}
