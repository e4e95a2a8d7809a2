package slack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/fake/slack"
)

func textMessage(first string, more ...string) bot.Message {
	m := bot.Message{Key: "answer.x", Lines: []bot.Line{line(first)}}
	for _, s := range more {
		m.Lines = append(m.Lines, line(s))
	}
	return m
}

func TestSendEditDelete(t *testing.T) {
	w := newFixture(t)
	direct := w.far.Direct(mira)
	m := textMessage("● shop r14 started", "12 tasks.")
	m.Buttons = []bot.Button{{Label: "Stop", Command: "/stop"}}
	id := w.send(home, m, bot.SendOptions{Silent: true})
	got := w.shown(direct)
	if got.TS != id || got.Text != "● shop r14 started" || len(got.Buttons) != 1 || got.Root != "" {
		t.Errorf("shown: %+v", got)
	}
	at := bot.Ref{Chat: home, ID: id}
	if err := w.bot.Edit(t.Context(), at, textMessage("✓ shop r14 ended")); err != nil {
		t.Fatal(err)
	}
	if got := w.shown(direct); got.Text != "✓ shop r14 ended" || len(got.Buttons) != 0 || got.Edits != 1 {
		t.Errorf("after the edit: %+v", got)
	}
	for range 2 { // deleting again is no error
		if err := w.bot.Delete(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.bot.Edit(t.Context(), at, m); !errors.Is(err, bot.ErrMessageGone) {
		t.Errorf("edit of what is gone: %v", err)
	}
	if n := len(w.far.Calls("conversations.open")); n != 1 {
		t.Errorf("the conversation was looked up %d times", n)
	}
}

// TestMentions checks that a message with a sound mentions people, and that a
// silent one does not.
func TestMentions(t *testing.T) {
	w := newFixture(t)
	for chat, id := range map[string]string{home: w.far.Direct(mira), shop: channel} {
		w.send(chat, textMessage("■ shop #8 blocked"), bot.SendOptions{})
		if got := w.shown(id); got.Text != "<@U0MIRA> ■ shop #8 blocked" || got.Plain() != "<@U0MIRA>| |■ shop #8 blocked" {
			t.Errorf("%s: %q, %q", chat, got.Text, got.Plain())
		}
		w.send(chat, textMessage("■ shop #8 blocked"), bot.SendOptions{Silent: true})
		if got := w.shown(id); strings.Contains(got.Text+got.Plain(), "<@") {
			t.Errorf("%s, silent: %q", chat, got.Text)
		}
	}
}

// TestThreads checks the thread of a reply, for each kind of message that it
// replies to.
func TestThreads(t *testing.T) {
	w := newFixture(t)
	direct := w.far.Direct(mira)
	theirs, deep := w.far.Say(mira, channel, "@porter pause"), w.far.Say(mira, channel, "hello")
	reply := w.far.Reply(mira, channel, deep, "@porter status")
	mine := w.far.Say(mira, direct, "/status")
	own := w.send(shop, textMessage("■ blocked"), bot.SendOptions{Silent: true})
	for _, c := range []struct{ name, chat, replyTo, in, root string }{
		{"a mention", shop, theirs + ":" + mira, channel, theirs},
		{"in a thread", shop, reply + ":" + mira + ":" + deep, channel, deep},
		{"one of ours", shop, own, channel, own},
		{"in private", home, mine + ":" + mira, direct, ""},
		{"in a private thread", home, "1.1:" + mira + ":" + mine, direct, mine},
		{"a command", shop, "cmd:" + mira + ":/porter pause", channel, ""},
		{"a thread that is gone", shop, "99.1:" + mira, channel, ""},
		{"garbage", shop, "8123", channel, ""},
	} {
		w.send(c.chat, textMessage("‖ paused"), bot.SendOptions{ReplyTo: c.replyTo, Silent: true})
		got := w.shown(c.in)
		if got.Root != c.root {
			t.Errorf("%s: in thread %q, want %q", c.name, got.Root, c.root)
		}
		if quotes := strings.Contains(got.Plain(), "/porter pause"); quotes != (c.name == "a command") {
			t.Errorf("%s: %s", c.name, got.Plain())
		}
	}
	// A refusal is visible to its sender only.
	no := bot.Message{Key: "cmd.forbidden", Lines: []bot.Line{line("✗ Ben, your role is view")}}
	w.send(shop, no, bot.SendOptions{ReplyTo: "cmd:U0BEN:/porter stop", Silent: true})
	if got := w.shown(channel); got.VisibleTo != "U0BEN" {
		t.Errorf("everybody reads: %+v", got)
	}
	// A command typed in a channel without the bot is answered in private.
	w.far.CloseChannel("C0ELSE", "not_in_channel")
	w.send("slack:C0ELSE", textMessage("‖ paused"), bot.SendOptions{ReplyTo: "cmd:" + mira + ":/porter pause"})
	if got := w.shown(direct); !strings.Contains(got.Plain(), "paused") {
		t.Errorf("in private: %s", got.Plain())
	}
	id := w.send("slack:C0ELSE", textMessage("● shop 6/12"), bot.SendOptions{ReplyTo: "cmd:" + mira + ":/porter status", Silent: true})
	if err := w.bot.Edit(t.Context(), bot.Ref{Chat: "slack:C0ELSE", ID: id}, textMessage("● shop 7/12")); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	if got := w.shown(direct); !strings.Contains(got.Plain(), "shop 7/12") {
		t.Errorf("a status in private: %s", got.Plain())
	}
	w.send("slack:C0ELSE", no, bot.SendOptions{ReplyTo: "cmd:" + mira + ":/porter stop", Silent: true})
	if got := w.shown(direct); !strings.Contains(got.Plain(), "your role is view") {
		t.Errorf("a refusal in private: %s", got.Plain())
	}
}

// TestDocument checks that a file with its own content is in the thread of its
// text, which is shown whole.
func TestDocument(t *testing.T) {
	w := newFixture(t)
	m := bot.Message{Key: "diff.html", Lines: []bot.Line{line("shop #11: 14 files +902 −61"), line("Admin <list>"), pre("admin/list.go          new +310")},
		Document: &bot.Document{Name: "shop-11.html", Data: []byte("<!doctype html>\x00")}, Buttons: []bot.Button{{Label: "list.go", Command: "/diff 11 admin/list.go"}}}
	id := w.send(shop, m, bot.SendOptions{Silent: true})
	files := w.far.Files()
	if len(files) != 1 || files[0].Name != "shop-11.html" || files[0].Root != id || !bytes.Equal(files[0].Data, m.Document.Data) {
		t.Fatalf("files: %+v", files)
	}
	all := w.far.Messages(channel)
	if got := all[len(all)-2]; got.TS != id || len(got.Buttons) != 1 || !strings.Contains(got.Plain(), "admin/list.go          new +310") {
		t.Errorf("text: %s", got.Plain())
	}
}

// TestFile checks that a long text becomes a file in the thread of its caption.
func TestFile(t *testing.T) {
	w := newFixture(t)
	m := bot.Message{Key: "diff", Lines: []bot.Line{line("shop #11: 3 files"), line("Admin list")}, Buttons: []bot.Button{{Label: "Log", Command: "/log 11"}}}
	for n := range 40 {
		m.Lines = append(m.Lines, pre(fmt.Sprintf("+ %d < *b*", n)))
	}
	id := w.send(shop, m, bot.SendOptions{Silent: true})
	files := w.far.Files()
	if len(files) != 1 || files[0].Name != "shop-11.diff" || files[0].Root != id || files[0].Channel != channel || !strings.Contains(string(files[0].Data), "+ 39 < *b*\n") {
		t.Fatalf("files: %+v", files)
	}
	all := w.far.Messages(channel)
	if got := all[len(all)-2]; got.TS != id || len(got.Buttons) != 1 || strings.Contains(got.Plain(), "*b*") {
		t.Errorf("caption: %+v", got)
	}

	// A file that cannot be shared is not sent twice: its caption says so.
	w.far.Fault("files.completeUploadExternal", far.Rejected("fatal_error"), far.ForeignPage(502), far.Rejected("fatal_error"))
	id = w.send(shop, m, bot.SendOptions{Silent: true})
	if got := w.shown(channel); got.TS != id || !strings.Contains(got.Plain(), "did not arrive") {
		t.Errorf("caption: %s", got.Plain())
	}
	// If Slack accepts no files, the message says so.
	for _, refused := range []far.Fault{far.Rejected("file_uploads_disabled"), far.MissingScope("files:write")} {
		w.far.Fault("files.getUploadURLExternal", refused)
		id := w.send(shop, m, bot.SendOptions{Silent: true})
		if got := w.shown(channel); got.TS != id || len(got.Buttons) != 1 || !strings.Contains(got.Plain(), "Slack takes no file here (shop-11.diff): "+refused.Error) {
			t.Errorf("caption: %s", got.Plain())
		}
	}
	// A file that cannot be uploaded at the moment leaves nothing behind.
	before := len(w.far.Messages(channel))
	w.far.Fault("files.getUploadURLExternal", far.RateLimited(7))
	if _, err := w.bot.Send(t.Context(), shop, m, bot.SendOptions{}); !errors.Is(err, bot.ErrRateLimited) || len(w.far.Messages(channel)) != before {
		t.Errorf("upload refused: %v", err)
	}
}

// TestPicture checks that a picture appears above its message, or in its thread
// if Slack does not take it there, and that the message is complete without the
// picture.
func TestPicture(t *testing.T) {
	const alt = "Night of shop, 9 of 12 tasks done."
	m := bot.Message{
		Key: "digest", Lines: []bot.Line{line("? shop 9/12 done, 2 need you"), line("#8 waits for an answer"), line("3 h 12 min")},
		Picture: []byte("\x89PNG\r\n\x1a\nx"), Alt: alt, Buttons: []bot.Button{{Label: "Retry #8", Command: "q5 retry"}},
	}
	for name, c := range map[string]struct {
		change      func(m *bot.Message, s *far.Server)
		alt         string
		above, file bool
		pauses      []time.Duration
	}{
		"above":         {above: true, alt: alt, pauses: []time.Duration{time.Second}},
		"slowly":        {func(_ *bot.Message, s *far.Server) { s.DelayFiles(3) }, alt, true, false, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		"too slowly":    {func(_ *bot.Message, s *far.Server) { s.DelayFiles(4) }, "", false, true, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		"no PNG":        {func(m *bot.Message, _ *far.Server) { m.Picture = []byte("GIF89a") }, "", false, true, nil},
		"no words":      {func(m *bot.Message, _ *far.Server) { m.Alt = "" }, "? shop 9/12 done, 2 need you", true, false, nil},
		"many words":    {func(m *bot.Message, _ *far.Server) { m.Alt = strings.Repeat("ab\n", 1000) }, strings.Repeat("ab ", 666) + "a…", true, false, nil},
		"too large":     {change: func(m *bot.Message, _ *far.Server) { m.Picture = make([]byte, bot.MaxPicture+1) }},
		"a lost answer": {func(_ *bot.Message, s *far.Server) { s.Fault("files.completeUploadExternal", far.ResponseLost()) }, alt, true, false, nil},
		"garbage for an address": {change: func(_ *bot.Message, s *far.Server) {
			s.Fault("files.getUploadURLExternal", far.ForeignPage(200))
		}},
		"no address": {change: func(_ *bot.Message, s *far.Server) {
			s.Fault("files.getUploadURLExternal", far.Fault{Body: `{"ok":true,"upload_url":"file:///etc/passwd\u0000","file_id":"F0123456789"}`})
		}},
		"no scope": {change: func(_ *bot.Message, s *far.Server) {
			s.Fault("files.getUploadURLExternal", far.MissingScope("files:write"))
		}},
		"uploads are off": {change: func(_ *bot.Message, s *far.Server) {
			s.Fault("files.getUploadURLExternal", far.Rejected("file_uploads_disabled"))
		}},
		"not completed": {change: func(_ *bot.Message, s *far.Server) {
			s.Fault("files.completeUploadExternal", far.ForeignPage(502), far.ForeignPage(200), far.Rejected("fatal_error"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			m := m
			if c.change != nil {
				c.change(&m, w.far)
			}
			id := w.send(shop, m, bot.SendOptions{Silent: true})
			var got far.Message
			for _, x := range w.far.Messages(channel) {
				if x.TS == id {
					got = x
				}
			}
			if got.Text != "? shop 9/12 done, 2 need you" || !strings.Contains(got.Plain(), "3 h 12 min") || len(got.Buttons) != 1 {
				t.Errorf("shown: %+v", got)
			}
			f, known := w.far.File(got.Image)
			if known != c.above || got.Alt != c.alt || known && (string(f.Data) != string(m.Picture) || f.Name != "digest.png" || f.Channel != "") {
				t.Errorf("above it: %v, %+v, %q", known, f, got.Alt)
			}
			files := w.far.Files()
			if (len(files) == 1) != c.file || c.file && (files[0].Root != id || files[0].Name != "digest.png" || string(files[0].Data) != string(m.Picture)) {
				t.Errorf("in the thread: %+v", files)
			}
			if got := w.Pauses(); c.pauses != nil && !slices.Equal(got, c.pauses) {
				t.Errorf("pauses: %v", got)
			}
			if n := len(w.far.Messages(channel)); n != 1+len(files) {
				t.Errorf("%d messages", n)
			}
			if !c.above {
				return
			}
			// An edit keeps the picture.
			m.Buttons = nil
			if err := w.bot.Edit(t.Context(), bot.Ref{Chat: shop, ID: id}, m); err != nil {
				t.Fatal(err)
			}
			if got := w.shown(channel); got.Image == "" || got.Alt != c.alt || len(got.Buttons) != 0 || got.Edits != 1 {
				t.Errorf("edited: %+v", got)
			}
		})
	}
	// A temporary failure sends nothing, so that a later attempt can.
	w := newFixture(t)
	w.far.Fault("files.getUploadURLExternal", far.RateLimited(7))
	if _, err := w.bot.Send(t.Context(), shop, m, bot.SendOptions{}); !errors.Is(err, bot.ErrRateLimited) || len(w.far.Messages(channel)) != 0 {
		t.Errorf("%v, %+v", err, w.far.Messages(channel))
	}
	w.far.Fault("files.completeUploadExternal", far.RateLimited(1), far.RateLimited(1), far.RateLimited(9))
	if _, err := w.bot.Send(t.Context(), shop, m, bot.SendOptions{}); !errors.Is(err, bot.ErrRateLimited) || len(w.far.Messages(channel)) != 0 {
		t.Errorf("%v, %+v", err, w.far.Messages(channel))
	}
}

// A Send that is cancelled while the new picture is not available sends nothing.
func TestStopWhilePictureWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newFixture(t, func(o *slack.Options) {
		o.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return context.Canceled }
	})
	m := textMessage("? shop 9/12 done")
	m.Picture, m.Alt = []byte("\x89PNG\r\n\x1a\nx"), "x"
	if _, err := w.bot.Send(ctx, shop, m, bot.SendOptions{}); !errors.Is(err, bot.ErrOffline) || len(w.far.Messages(channel)) != 0 {
		t.Errorf("%v, %+v", err, w.far.Messages(channel))
	}
}

func TestSendReasons(t *testing.T) {
	for _, c := range []struct {
		name string
		far  far.Fault
		want error
	}{
		{"slow", far.RateLimited(17), bot.ErrRateLimited},
		{"slow, said in the answer", far.Rejected("ratelimited"), bot.ErrRateLimited},
		{"200 with garbage", far.ForeignPage(200), bot.ErrOutcomeUnknown},
		{"502", far.ForeignPage(502), bot.ErrOutcomeUnknown},
		{"a login page", far.ForeignPage(302), bot.ErrOffline},
		{"a proxy's limit", far.ForeignPage(413), bot.ErrRejected},
		{"lost after it was sent", far.ResponseLost(), bot.ErrOutcomeUnknown},
		{"cut before", far.Fault{Cut: true}, bot.ErrOutcomeUnknown},
		{"revoked", far.Rejected("token_revoked"), bot.ErrTokenRejected},
		{"inactive", far.Rejected("account_inactive"), bot.ErrTokenRejected},
		{"a scope", far.MissingScope("chat:write"), bot.ErrTokenRejected},
		{"archived", far.Rejected("is_archived"), bot.ErrChatClosed},
		{"no such channel", far.Rejected("channel_not_found"), bot.ErrChatClosed},
		{"its own fault", far.Rejected("fatal_error"), bot.ErrOutcomeUnknown},
		{"never", far.Rejected("no_text"), bot.ErrRejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.far.Fault("chat.postMessage", c.far)
			_, err := w.bot.Send(t.Context(), shop, textMessage("x"), bot.SendOptions{})
			if !errors.Is(bot.SendReason(err), c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			w.CheckSecret("error", fmt.Sprint(err))
			var e *bot.SendError
			if errors.As(err, &e) && c.name == "slow" && e.RetryAfter != 17*time.Second {
				t.Errorf("after %s", e.RetryAfter)
			}
			if n := len(w.far.Calls("chat.postMessage")); n != 1 {
				t.Errorf("called %d times", n)
			}
		})
	}
	t.Run("no connection", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		api := "http://" + l.Addr().String() + "/"
		_ = l.Close()
		w := newFixture(t, func(o *slack.Options) { o.API = api })
		if _, err := w.bot.Send(t.Context(), shop, textMessage("x"), bot.SendOptions{}); !errors.Is(err, bot.ErrOffline) {
			t.Errorf("%v", err)
		}
	})
}

// If Slack rejects the blocks, the message is sent as text, without markup.
func TestFallbackToText(t *testing.T) {
	w := newFixture(t)
	w.far.Fault("chat.postMessage", far.Rejected("invalid_blocks"))
	m := textMessage("■ shop *8*", "a <!channel> b", "last")
	m.Lines = slices.Insert(m.Lines, 2, quote("two & three"))
	w.send(shop, m, bot.SendOptions{Silent: true})
	if got := w.shown(channel); got.Text != "■ shop *8*\na &lt;!channel&gt; b\n┃ two &amp; three\nlast" || got.Plain() != "" {
		t.Errorf("%q %s", got.Text, got.Blocks)
	}
	for _, call := range w.far.Calls("chat.postMessage") {
		if call.Form["mrkdwn"] != "false" || call.Form["unfurl_links"] != "false" {
			t.Errorf("form: %v", call.Form)
		}
	}
}

func TestNotice(t *testing.T) {
	w := newFixture(t)
	press := channel + " " + mira + "  U0MIRA.T1"
	if err := w.bot.Notice(t.Context(), press, ""); err != nil || len(w.far.Messages(channel)) != 0 {
		t.Errorf("without words: %v", err)
	}
	if err := w.bot.Notice(t.Context(), press, "q5 is <settled>. /status"); err != nil {
		t.Fatal(err)
	}
	if got := w.shown(channel); got.VisibleTo != mira || got.Text != "q5 is &lt;settled&gt;. /porter status" {
		t.Errorf("%+v", got)
	}
	if err := w.bot.Notice(t.Context(), "garbage", "x"); err != nil {
		t.Error(err)
	}
}

func TestAddresses(t *testing.T) {
	w := newFixture(t)
	for _, chat := range []string{"", "slack:", "telegram:1", "slack:C1/2", "C0SHOP", "slack:c1"} {
		if _, err := w.bot.Send(t.Context(), chat, textMessage("x"), bot.SendOptions{}); !errors.Is(err, bot.ErrRejected) {
			t.Errorf("%q: %v", chat, err)
		}
	}
	if !slack.IsGroup(shop) || slack.IsGroup(home) || slack.IsGroup("telegram:-5") {
		t.Error("what is a group")
	}
	if len(w.far.Calls("")) != 0 {
		t.Errorf("calls: %v", w.far.Calls(""))
	}
}

func TestNewRejects(t *testing.T) {
	for name, o := range map[string]slack.Options{
		"no tokens":   {},
		"swapped":     {AppToken: far.BotToken, BotToken: far.AppToken},
		"two lines":   {AppToken: far.AppToken, BotToken: far.BotToken + "\n"},
		"no address":  {AppToken: far.AppToken, BotToken: far.BotToken, API: "localhost:1"},
		"token in it": {AppToken: far.AppToken, BotToken: far.BotToken, API: "https://x?" + far.BotToken},
	} {
		_, err := slack.New(o)
		if err == nil || strings.Contains(err.Error(), "5ec7e7") {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := slack.Options{AppToken: far.AppToken, BotToken: far.BotToken}
	if s := fmt.Sprintf("%v %+v %#v", o, o, o); strings.Contains(s, "5ec7e7") {
		t.Errorf("printed: %s", s)
	}
}
