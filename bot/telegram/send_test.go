package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

const home = "telegram:48213377"

// ask returns a question with buttons.
func ask() bot.Message {
	return bot.Message{
		Key:   "ask.blocked",
		Lines: []bot.Line{{Text: "■ shop #8 blocked, 2 attempts (q5)"}, {Kind: bot.Quote, Text: "want 1200, got <1000>"}, {Text: "Stays blocked."}},
		Buttons: []bot.Button{
			{Label: "Retry", Command: "q5 retry"}, {Label: "Skip", Command: "q5 skip"}, {Label: "Guide…", Command: "q5 guide WORDS"}, {Label: "Diff", Command: "/diff 8"},
		},
	}
}

// newFixtureWithChat returns a fixture in which Mira has written once.
func newWorldWithChat(t *testing.T, change ...func(*telegram.Options)) *fixture {
	w := newFixture(t, change...)
	w.far.Say(mira, mira.ID, "/start")
	return w
}

// send sends a message that must arrive.
func (w *fixture) send(m bot.Message, o bot.SendOptions) string {
	w.t.Helper()
	id, err := w.bot.Send(w.t.Context(), home, m, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func TestConversation(t *testing.T) {
	w := newWorldWithChat(t)
	id := w.send(ask(), bot.SendOptions{ReplyTo: "1", Silent: true})
	m := w.far.Chat(mira.ID).Last()
	if fmt.Sprint(m.ID) != id || m.ReplyTo != 1 || !m.Silent || m.Preview {
		t.Errorf("message %+v", m)
	}
	if diff := cmp.Diff([]string{"■ shop #8 blocked, 2 attempts (q5)"}, m.Marked("bold")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"want 1200, got <1000>"}, m.Marked("blockquote")); diff != "" {
		t.Error(diff)
	}
	if len(m.Buttons) != 2 || len(m.Buttons[0]) != 3 || m.Buttons[1][0].Text != "Diff" {
		t.Errorf("buttons %+v", m.Buttons)
	}

	w.poll()
	press, err := w.far.Press(mira, mira.ID, m.ID, "Retry")
	if err != nil {
		t.Fatal(err)
	}
	in := w.receiver.Wait(t, 2)[1]
	if twin, ok := bot.Pressed(bot.Message{}, in.Press); twin != "q5 retry" || !ok || in.Message != id || in.PressID != press {
		t.Errorf("the press %+v is %q, %v", in, twin, ok)
	}
	for range 2 { // the second answer is too late, which is no error
		if err := w.bot.Notice(t.Context(), in.PressID, strings.Repeat("long ", 100)); err != nil {
			t.Error(err)
		}
	}
	if n := w.far.Chat(mira.ID).Notices; len(n) != 1 || n[0].Label != "Retry" {
		t.Errorf("notices %+v", n)
	}

	if err := w.bot.Pin(t.Context(), bot.Ref{Chat: home, ID: id}); err != nil || !w.far.Chat(mira.ID).Last().Pinned {
		t.Errorf("not pinned: %v", err)
	}
	settled := bot.Message{Key: "ask.blocked", Lines: []bot.Line{{Text: "✓ q5 retry, by Mira 07:34"}}}
	for range 2 { // the same text again is no error
		if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, settled); err != nil {
			t.Error(err)
		}
	}
	if m := w.far.Chat(mira.ID).Last(); m.Text != "✓ q5 retry, by Mira 07:34" || len(m.Buttons) != 0 || m.Edits != 1 {
		t.Errorf("after the edit %+v", m)
	}
	for range 2 { // deleting again is no error
		if err := w.bot.Delete(t.Context(), bot.Ref{Chat: home, ID: id}); err != nil {
			t.Error(err)
		}
	}
	if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, ask()); !errors.Is(err, bot.ErrMessageGone) {
		t.Error("an edit of what is gone is no FaultGone")
	}
}

func TestSendForceReply(t *testing.T) {
	w := newWorldWithChat(t)
	w.send(bot.Message{Key: "words.q5", Lines: []bot.Line{{Text: "? Your words for #8 (q5):"}}}, bot.SendOptions{ReplyTo: "1"})
	if m := w.far.Chat(mira.ID).Last(); !m.ForceReply {
		t.Errorf("message %+v", m)
	}
}

// TestDocument checks that a file with its own content is one message: file,
// caption, buttons. A text too long for a caption keeps its first lines.
func TestDocument(t *testing.T) {
	w := newWorldWithChat(t)
	m := bot.Message{Key: "diff.html", Lines: []bot.Line{{Text: "shop #11: 14 files +902 −61"}, {Text: "Admin <list>"}, {Kind: bot.Pre, Text: "admin/list.go          new +310"}},
		Document: &bot.Document{Name: "shop-11.html", Data: []byte("<!doctype html>\x00")}, Buttons: []bot.Button{{Label: "list.go", Command: "/diff 11 admin/list.go"}}}
	w.send(m, bot.SendOptions{Silent: true, ReplyTo: "1"})
	got := w.far.Chat(mira.ID).Last()
	if got.File == nil || got.File.Name != "shop-11.html" || !bytes.Equal(got.File.Data, m.Document.Data) || got.Labels()[0] != "list.go" || !got.Silent || got.ReplyTo != 1 {
		t.Fatalf("message %+v", got)
	}
	if got.Text != "shop #11: 14 files +902 −61\nAdmin <list>\nadmin/list.go          new +310" {
		t.Errorf("caption %q", got.Text)
	}
	for range 60 {
		m.Lines = append(m.Lines, bot.Line{Kind: bot.Pre, Text: "admin/other.go         new +310"})
	}
	w.send(m, bot.SendOptions{})
	if got := w.far.Chat(mira.ID).Last(); got.File == nil || got.Text != "shop #11: 14 files +902 −61\nAdmin <list>" {
		t.Errorf("a long caption: %+v", got)
	}
}

func TestSendFile(t *testing.T) {
	w := newWorldWithChat(t)
	m := bot.Message{Key: "diff", Lines: []bot.Line{{Text: "shop #11: 1 file +40 −0"}, {Text: "Admin list"}}, Buttons: []bot.Button{{Label: "Log", Command: "/log 11"}}}
	for n := range 40 {
		m.Lines = append(m.Lines, bot.Line{Kind: bot.Pre, Text: fmt.Sprintf("+line <%d>", n)})
	}
	id := w.send(m, bot.SendOptions{Silent: true, ReplyTo: "1"})
	got := w.far.Chat(mira.ID).Last()
	if got.File == nil || got.File.Name != "shop-11.diff" || !strings.Contains(string(got.File.Data), "+line <39>\n") {
		t.Fatalf("message %+v", got)
	}
	if got.Text != "shop #11: 1 file +40 −0\nAdmin list" || got.Labels()[0] != "Log" || !got.Silent || got.ReplyTo != 1 {
		t.Errorf("message %+v", got)
	}
	// An edit changes the caption, because a file has no text.
	if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, bot.Message{Key: "diff", Lines: []bot.Line{{Text: "shop #11: gone"}}}); err != nil {
		t.Error(err)
	}
	if got := w.far.Chat(mira.ID).Last(); got.Text != "shop #11: gone" {
		t.Errorf("message %+v", got)
	}
	w.far.Fault("sendDocument", far.TooMany(7), far.Forbidden("bot was blocked by the user")) // the library loses the error code of an upload
	var e *bot.SendError
	if _, err := w.bot.Send(t.Context(), home, m, bot.SendOptions{}); !errors.As(err, &e) || !errors.Is(e, bot.ErrRateLimited) || e.RetryAfter != 7*time.Second {
		t.Errorf("error %v", err)
	}
	if _, err := w.bot.Send(t.Context(), home, m, bot.SendOptions{}); !errors.Is(err, bot.ErrChatClosed) {
		t.Errorf("error %v", err)
	}
}

// TestSendLong checks that a text which is too long is one message with a file, and
// keeps its buttons, also when it is edited.
func TestSendLong(t *testing.T) {
	w := newWorldWithChat(t)
	m := ask()
	last := m.Lines[len(m.Lines)-1].Text
	for n := range 200 {
		m.Lines = append(m.Lines, bot.Line{Kind: bot.Quote, Text: fmt.Sprintf("#%d Extract the rules of prices and more", n)})
	}
	m.Lines = append(m.Lines, bot.Line{Text: last})
	id := w.send(m, bot.SendOptions{ReplyTo: "1"})
	c := w.far.Chat(mira.ID)
	if got := c.Last(); len(c.Messages) != 2 || got.File == nil || !strings.Contains(string(got.File.Data), "#199 ") || len(got.Labels()) != len(m.Buttons) || got.ReplyTo != 1 || c.Count.Sounds != 1 {
		t.Fatalf("%d messages, %+v", len(c.Messages), got)
	}
	m.Lines[0].Text = "↻ still open"
	if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, m); err != nil {
		t.Error(err)
	}
	if got := w.far.Chat(mira.ID).Last(); !strings.HasPrefix(got.Text, "↻ still open\n") || !strings.Contains(got.Text, "#3 ") || !strings.HasSuffix(got.Text, "\nAll of it is in the file.\n"+strings.TrimSpace(last)) || len(got.Labels()) != len(m.Buttons) {
		t.Errorf("%+v", got)
	}
	id = w.send(ask(), bot.SendOptions{})
	if err := w.bot.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, m); err != nil {
		t.Error(err)
	}
	if got := w.far.Chat(mira.ID).Last(); got.File != nil || !strings.Contains(got.Text, "\nThe rest does not fit here.\n") || len(got.Labels()) != len(m.Buttons) {
		t.Errorf("%+v", got)
	}
}

// TestSendReasons checks the reason for each response of Telegram, and the
// number of messages that the chat shows afterwards.
func TestSendReasons(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault far.Fault
		want  error
		shown int
	}{
		{"fine", far.Fault{Code: 200, Body: `{"ok":true,"result":{"message_id":7}}`}, nil, 0},
		{"flood", far.TooMany(31), bot.ErrRateLimited, 0},
		{"flood without a time", far.Fault{Code: 429, Text: "Too Many Requests"}, bot.ErrRateLimited, 0},
		{"blocked", far.Forbidden("bot was blocked by the user"), bot.ErrChatClosed, 0},
		{"unknown chat", far.BadRequest("chat not found"), bot.ErrChatClosed, 0},
		{"closed topic", far.BadRequest("TOPIC_CLOSED"), bot.ErrChatClosed, 0},
		{"no rights", far.BadRequest("not enough rights to send text messages to the chat"), bot.ErrChatClosed, 0},
		{"moved", far.Migrated(-1009), bot.ErrChatMoved, 0},
		{"token", far.Unauthorized(), bot.ErrTokenRejected, 0},
		{"token of nobody", far.Fault{Code: 404, Text: "Not Found"}, bot.ErrTokenRejected, 0},
		{"never", far.BadRequest("message is too long"), bot.ErrRejected, 0},
		{"buttons", far.BadRequest("BUTTON_DATA_INVALID"), bot.ErrRejected, 0},
		{"unknown method", far.Fault{Code: 404, Text: "Not Found: method not found"}, bot.ErrRejected, 0},
		{"502", far.BadGateway(), bot.ErrOutcomeUnknown, 0},
		{"502 after", far.Fault{Code: 502, Body: "<html>", After: true}, bot.ErrOutcomeUnknown, 1},
		{"500", far.Fault{Code: 500, Text: "Internal Server Error"}, bot.ErrOutcomeUnknown, 0},
		{"login page", far.Fault{Code: 302, Body: "<html>"}, bot.ErrOffline, 0},
		{"proxy forbids", far.Fault{Code: 403, Body: "<html>"}, bot.ErrOffline, 0},
		{"proxy too small", far.Fault{Code: 413, Body: "<html>"}, bot.ErrRejected, 0},
		{"cut", far.CutBefore(), bot.ErrOutcomeUnknown, 0},
		{"cut after", far.CutAfter(), bot.ErrOutcomeUnknown, 1},
		{"hangs", far.Hang(), bot.ErrOutcomeUnknown, 0},
		{"hangs after", far.Fault{Hang: true, After: true}, bot.ErrOutcomeUnknown, 1},
		{"half an answer", far.Fault{Code: 200, Body: `{"ok":tr`, After: true}, bot.ErrOutcomeUnknown, 1},
		{"another answer", far.Fault{Code: 200, Body: `{"ok":true,"result":[]}`, After: true}, bot.ErrOutcomeUnknown, 1},
		{"formatting", far.BadRequest(`can't parse entities: Unsupported start tag "x"`), nil, 1},
		{"what it answers is gone", far.BadRequest("message to be replied not found"), nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorldWithChat(t, func(o *telegram.Options) { o.Timeout = 10 * time.Second })
			if c.fault.Hang {
				w = newWorldWithChat(t, func(o *telegram.Options) { o.Timeout = 50 * time.Millisecond })
			}
			w.far.Fault("sendMessage", c.fault)
			_, err := w.bot.Send(t.Context(), home, ask(), bot.SendOptions{ReplyTo: "1"})
			if got := bot.SendReason(err); !errors.Is(got, c.want) {
				t.Errorf("reason %v (%v), want %v", got, err, c.want)
			}
			if n := w.far.Chat(mira.ID).Count.Messages; n != c.shown {
				t.Errorf("%d messages, want %d", n, c.shown)
			}
			var e *bot.SendError
			if errors.As(err, &e) {
				switch {
				case errors.Is(e, bot.ErrRateLimited):
					if e.RetryAfter != 31*time.Second && e.RetryAfter != time.Second {
						t.Errorf("after %s", e.RetryAfter)
					}
				case errors.Is(e, bot.ErrChatMoved):
					if e.MovedTo != "telegram:-1009" {
						t.Errorf("to %q", e.MovedTo)
					}
				}
			}
			w.CheckSecret("error", fmt.Sprintf("%v %+v %#v", err, err, err))
		})
	}
}

func TestEditAndDeleteReasons(t *testing.T) {
	for _, c := range []struct {
		fault        far.Fault
		edit, remove error
	}{
		{far.BadRequest("message is not modified: specified new message content…"), nil, bot.ErrRejected},
		{far.BadRequest("message to edit not found"), bot.ErrMessageGone, bot.ErrMessageGone},
		{far.BadRequest("MESSAGE_ID_INVALID"), bot.ErrMessageGone, bot.ErrMessageGone},
		{far.BadRequest("message can't be edited"), bot.ErrMessageGone, bot.ErrMessageGone},
		{far.BadRequest("message to delete not found"), bot.ErrRejected, nil},
		{far.BadRequest("message can't be deleted"), bot.ErrRejected, bot.ErrRejected},
		{far.TooMany(5), bot.ErrRateLimited, bot.ErrRateLimited},
		{far.BadGateway(), bot.ErrOutcomeUnknown, bot.ErrOutcomeUnknown},
	} {
		w := newWorldWithChat(t)
		id := w.send(bot.Message{Key: "status", Lines: []bot.Line{{Text: "● shop"}}}, bot.SendOptions{})
		w.far.Fault("*", c.fault, c.fault)
		at := bot.Ref{Chat: home, ID: id}
		if got := bot.SendReason(w.bot.Edit(t.Context(), at, ask())); !errors.Is(got, c.edit) {
			t.Errorf("%s: an edit fails with %v, want %v", c.fault.Text, got, c.edit)
		}
		if got := bot.SendReason(w.bot.Delete(t.Context(), at)); !errors.Is(got, c.remove) {
			t.Errorf("%s: a deletion fails with %v, want %v", c.fault.Text, got, c.remove)
		}
	}
}

// A message for a deleted topic goes to the group's general topic.
func TestSendTopics(t *testing.T) {
	var lost []string
	w := newFixture(t, func(o *telegram.Options) { o.OnTopicGone = func(chat string) { lost = append(lost, chat) } })
	w.far.Post(far.UserMessage{From: mira, Chat: group, Thread: 55, Text: "/status"})
	at := telegram.Address(group, 55)
	for _, want := range []int{55, 0} {
		if _, err := w.bot.Send(t.Context(), at, ask(), bot.SendOptions{ReplyTo: "77"}); err != nil {
			t.Fatal(err)
		}
		if m := w.far.Chat(group).Last(); m.Thread != want || !m.Bot {
			t.Errorf("message %+v, want topic %d", m, want)
		}
		w.far.RemoveTopic(group, 55)
	}
	w.far.Fault("sendMessage", far.BadRequest("TOPIC_DELETED"))
	if _, err := w.bot.Send(t.Context(), at, ask(), bot.SendOptions{}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{at, at}, lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	w.far.Topic(group, 55, false)
	if _, err := w.bot.Send(t.Context(), at, ask(), bot.SendOptions{}); !errors.Is(err, bot.ErrChatClosed) {
		t.Errorf("a closed topic: %v", err)
	}
	w.far.Block(group)
	if _, err := w.bot.Send(t.Context(), at, ask(), bot.SendOptions{}); !errors.Is(err, bot.ErrChatClosed) {
		t.Errorf("thrown out: %v", err)
	}
	w.far.Migrate(-7, -1007)
	var e *bot.SendError
	if _, err := w.bot.Send(t.Context(), "telegram:-7", ask(), bot.SendOptions{}); !errors.As(err, &e) || !errors.Is(e, bot.ErrChatMoved) || e.MovedTo != "telegram:-1007" {
		t.Errorf("moved: %v", err)
	}
}

// TestPinGroups checks that Pin is rejected in a group without the permission,
// and that the chat stays open.
func TestPinGroups(t *testing.T) {
	w := newFixture(t)
	w.far.Say(mira, group, "/status")
	chat := telegram.Address(group, 0)
	id, err := w.bot.Send(t.Context(), chat, ask(), bot.SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := bot.Ref{Chat: chat, ID: id}
	if err := w.bot.Pin(t.Context(), at); !errors.Is(err, bot.ErrRejected) {
		t.Errorf("without the right: %v", err)
	}
	w.far.SetPinRight(group, true)
	for _, want := range []bool{true, false, false} {
		do := w.bot.Pin
		if !want {
			do = w.bot.Unpin
		}
		if err := do(t.Context(), at); err != nil || w.far.Chat(group).Last().Pinned != want {
			t.Errorf("pinned %v: %v", !want, err)
		}
	}
	for _, method := range []string{"pinChatMessage", "unpinChatMessage"} {
		w.far.Fault(method, far.Fault{Code: 200, Body: "<html>"})
	}
	if w.bot.Pin(t.Context(), at) == nil || w.bot.Unpin(t.Context(), at) == nil {
		t.Error("garbage is taken for an answer")
	}
}

// TestSendOffline checks that only a call without a connection counts as
// certainly not sent.
func TestSendOffline(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	for _, api := range []string{closed, "http://no.such.host.invalid"} {
		w := newFixture(t, func(o *telegram.Options) { o.API = api })
		if _, err := w.bot.Send(t.Context(), home, ask(), bot.SendOptions{}); !errors.Is(err, bot.ErrOffline) {
			t.Errorf("%s: %v", api, err)
		}
		file := ask()
		file.Lines = append(file.Lines, bot.Line{Text: strings.Repeat("more ", 1000)})
		_, err := w.bot.Send(t.Context(), home, file, bot.SendOptions{})
		if !errors.Is(err, bot.ErrOffline) {
			t.Errorf("%s: %v", api, err)
		}
		w.CheckSecret("error", fmt.Sprintf("%v %#v", err, err))
	}
	// A call that is cancelled leaves open whether it arrived.
	w := newWorldWithChat(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.far.Fault("sendMessage", far.Hang())
	go func() {
		_ = w.far.WaitCalls(ctx, "sendMessage", 1)
		cancel()
	}()
	_, err = w.bot.Send(ctx, home, ask(), bot.SendOptions{})
	if !errors.Is(bot.SendReason(err), bot.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for ; err != nil; err = errors.Unwrap(err) { // wrapped errors contain no token either
		w.CheckSecret("cause", fmt.Sprintf("%v %+v %#v", err, err, err))
	}
}

func TestSendToInvalidAddress(t *testing.T) {
	w := newFixture(t)
	for _, chat := range []string{"", "telegram:", "telegram:x", "telegram:1/x", "slack:C1", "48213377", "telegram:0"} {
		_, err := w.bot.Send(t.Context(), chat, ask(), bot.SendOptions{})
		for _, err := range []error{err, w.bot.Edit(t.Context(), bot.Ref{Chat: chat, ID: "1"}, ask()), w.bot.Delete(t.Context(), bot.Ref{Chat: chat, ID: "1"})} {
			if !errors.Is(err, bot.ErrRejected) {
				t.Errorf("%q: %v", chat, err)
			}
		}
	}
	if n := len(w.far.Calls("")); n != 0 {
		t.Errorf("%d calls", n)
	}
	if !telegram.IsGroup("telegram:-5/2") || telegram.IsGroup(home) || telegram.IsGroup("slack:C1") {
		t.Error("groups are not told apart")
	}
}

// TestSendFollowsNoRedirect checks that a redirect is not followed, so that its
// target never gets the token.
func TestSendFollowsNoRedirect(t *testing.T) {
	seen := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen <- r.URL.String() + " from " + r.Referer()
	}))
	t.Cleanup(other.Close)
	portal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(portal.Close)
	w := newFixture(t, func(o *telegram.Options) { o.API = portal.URL })
	if _, err := w.bot.Send(t.Context(), home, ask(), bot.SendOptions{}); !errors.Is(err, bot.ErrOffline) {
		t.Errorf("error %v", err)
	}
	if len(seen) > 0 {
		t.Errorf("it followed: %s", <-seen)
	}
}
