package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

var mira = far.User{ID: 48213377, Name: "Mira"}

// clock is a clock that the test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func start(t *testing.T, o far.Options) (*far.Server, *clock) {
	c := &clock{now: time.Date(2026, 11, 20, 1, 47, 0, 0, time.UTC)}
	o.Clock = c.Now
	s, err := far.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, c
}

// reply is a response of the server.
type reply struct {
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result"`
	Code   int             `json:"error_code"`
	Text   string          `json:"description"`
	Params struct {
		After int   `json:"retry_after"`
		To    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (r reply) id(t *testing.T) int {
	var m struct {
		ID int `json:"message_id"`
	}
	if err := json.Unmarshal(r.Result, &m); err != nil || !r.OK {
		t.Fatalf("%+v: %v", r, err)
	}
	return m.ID
}

// call calls a method with the given parameter names and values, in pairs.
func call(ctx context.Context, s *far.Server, method string, pairs ...string) (reply, error) {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/bot"+s.Token()+"/"+method, strings.NewReader(form.Encode()))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(req)
}

func do(req *http.Request) (reply, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	r := reply{Code: resp.StatusCode, Text: string(body)}
	if json.Unmarshal(body, &r) == nil && r.OK {
		r.Text = ""
	}
	return r, nil
}

func must(t *testing.T, s *far.Server, method string, pairs ...string) reply {
	t.Helper()
	r, err := call(t.Context(), s, method, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func updates(t *testing.T, r reply) []int {
	t.Helper()
	var list []struct {
		ID int `json:"update_id"`
	}
	if err := json.Unmarshal(r.Result, &list); err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	var out []int
	for _, u := range list {
		out = append(out, u.ID)
	}
	return out
}

func TestUpdates(t *testing.T) {
	s, c := start(t, far.Options{})
	for n := range 150 {
		s.Say(mira, mira.ID, fmt.Sprint(n))
	}
	first := updates(t, must(t, s, "getUpdates"))
	if len(first) != 100 {
		t.Fatalf("%d updates", len(first))
	}
	if again := updates(t, must(t, s, "getUpdates", "limit", "2")); len(again) != 2 || again[0] != first[0] {
		t.Errorf("unconfirmed updates came as %v", again)
	}
	if rest := updates(t, must(t, s, "getUpdates", "offset", fmt.Sprint(first[99]+1))); len(rest) != 50 || rest[0] != first[99]+1 {
		t.Errorf("after the offset came %v", rest)
	}
	if last := updates(t, must(t, s, "getUpdates", "offset", "-1")); len(last) != 1 || s.Unconfirmed() != 1 {
		t.Errorf("offset -1 brought %v", last)
	}
	if r := updates(t, must(t, s, "getUpdates", "offset", "2000000000")); len(r) != 1 {
		t.Errorf("an offset of another server brought %v", r)
	}
	c.add(25 * time.Hour)
	if r := updates(t, must(t, s, "getUpdates")); len(r) != 0 {
		t.Errorf("after a day %v", r)
	}
	s.Say(mira, mira.ID, "x")
	s.PressData(mira, mira.ID, 1, "data")
	c.add(151 * time.Second)
	if r := updates(t, must(t, s, "getUpdates")); len(r) != 1 {
		t.Errorf("an old press: %v", r)
	}
	must(t, s, "getUpdates", "offset", "-1", "allowed_updates", `["callback_query"]`)
	before := s.Unconfirmed()
	s.Say(mira, mira.ID, "not asked for")
	if s.Unconfirmed() != before {
		t.Error("an update came that was not asked for")
	}
}

func TestLongPolling(t *testing.T) {
	s, _ := start(t, far.Options{})
	type result struct {
		r   reply
		err error
	}
	poll := func(ctx context.Context, pairs ...string) chan result {
		out := make(chan result, 1)
		go func() {
			r, err := call(ctx, s, "getUpdates", append(pairs, "timeout", "50")...)
			out <- result{r, err}
		}()
		if err := s.WaitPolling(t.Context()); err != nil {
			t.Error(err)
		}
		return out
	}
	waits := poll(t.Context())
	s.Say(mira, mira.ID, "hello")
	got := <-waits
	if got.err != nil || len(updates(t, got.r)) != 1 {
		t.Errorf("%+v", got)
	}
	must(t, s, "getUpdates", "offset", "-1", "timeout", "0")
	must(t, s, "getUpdates", "offset", fmt.Sprint(updates(t, got.r)[0]+1))

	waits = poll(t.Context())
	if r := must(t, s, "getUpdates"); !r.OK { // the second poll continues and the first one ends
		t.Errorf("%+v", r)
	}
	if got := <-waits; got.r.Code != 409 || !strings.Contains(got.r.Text, "terminated by other getUpdates") {
		t.Errorf("%+v", got)
	}
	waits = poll(t.Context())
	s.SetWebhook("https://example.org")
	if got := <-waits; got.r.Code != 409 {
		t.Errorf("%+v", got)
	}
	if r := must(t, s, "getUpdates"); r.Code != 409 || !strings.Contains(r.Text, "webhook") {
		t.Errorf("%+v", r)
	}
	s.SetWebhook("")
	ctx, cancel := context.WithCancel(t.Context())
	waits = poll(ctx)
	cancel()
	if got := <-waits; got.err == nil {
		t.Errorf("%+v", got)
	}
	waits = poll(t.Context())
	s.Disconnect()
	if got := <-waits; got.err == nil {
		t.Errorf("%+v", got)
	}
	if _, err := call(t.Context(), s, "getMe"); err == nil {
		t.Error("it is still there")
	}
	if err := s.Reconnect(); err != nil {
		t.Fatal(err)
	}
	if r := must(t, s, "getMe"); !r.OK {
		t.Errorf("%+v", r)
	}
}

// TestRefusals checks the texts of Telegram's errors.
func TestRefusals(t *testing.T) {
	s, c := start(t, far.Options{})
	s.Say(mira, mira.ID, "/start")
	s.Post(far.UserMessage{From: mira, Chat: -5, Thread: 3, Text: "x"})
	s.Topic(-5, 4, false)
	chat := []string{"chat_id", fmt.Sprint(mira.ID)}
	id := fmt.Sprint(must(t, s, "sendMessage", append(chat, "text", "<b>old</b>", "parse_mode", "HTML")...).id(t))
	with := func(pairs ...string) []string { return append(append([]string{}, chat...), pairs...) }
	html := func(text string) []string { return with("text", text, "parse_mode", "HTML") }
	for _, x := range []struct {
		method string
		pairs  []string
		want   string
	}{
		{"sendMessage", []string{"chat_id", "1", "text", "x"}, "Bad Request: chat not found"},
		{"sendMessage", with("text", " \n"), "Bad Request: message text is empty"},
		{"sendMessage", with("text", strings.Repeat("x", 4097)), "Bad Request: message is too long"},
		{"sendMessage", with("text", strings.Repeat("𝕏", 2049)), "Bad Request: message is too long"},
		{"sendMessage", with("text", strings.Repeat("𝕏", 2048)), ""},
		{"sendMessage", html(strings.Repeat("&amp;", 4096)), ""},
		{"sendMessage", html("a <x> b"), `Bad Request: can't parse entities: Unsupported start tag "x" at byte offset 2`},
		{"sendMessage", html("<b>a"), `Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`},
		{"sendMessage", html("<b><i>a</b></i>"), `Bad Request: can't parse entities: Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`},
		{"sendMessage", html("a</b>"), "Bad Request: can't parse entities: Unexpected end tag at byte offset 1"},
		{"sendMessage", html("1 < 2"), "Bad Request: can't parse entities: Unclosed start tag at byte offset 2"},
		{"sendMessage", html("a & b &nosuch; &#65;&#x42;"), ""},
		{"sendMessage", with("text", "x", "reply_parameters", `{"message_id":99}`), "Bad Request: message to be replied not found"},
		{"sendMessage", with("text", "x", "reply_parameters", `{"message_id":99,"allow_sending_without_reply":true}`), ""},
		{"sendMessage", []string{"chat_id", "-5", "text", "x", "message_thread_id", "9"}, "Bad Request: message thread not found"},
		{"sendMessage", []string{"chat_id", "-5", "text", "x", "message_thread_id", "4"}, "Bad Request: TOPIC_CLOSED"},
		{"sendMessage", []string{"chat_id", "-5", "text", "x", "message_thread_id", "3"}, ""},
		{"sendMessage", with("text", "x", "reply_markup", `{"inline_keyboard":[[{"text":"A","callback_data":"`+strings.Repeat("x", 65)+`"}]]}`), "Bad Request: BUTTON_DATA_INVALID"},
		{"sendMessage", with("text", "x", "reply_markup", `{"inline_keyboard":[[{"text":" ","callback_data":"x"}]]}`), "Bad Request: inline keyboard button text must be non-empty"},
		{"sendMessage", with("text", "x", "reply_markup", `{`), "Bad Request: can't parse reply keyboard markup JSON object"},
		{"editMessageText", append(html("<b>old</b>"), "message_id", id), "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"},
		{"editMessageText", append(html("old"), "message_id", id), ""}, // an edit that only removes bold is a change
		{"editMessageText", append(html("x"), "message_id", "99"), "Bad Request: message to edit not found"},
		{"editMessageText", append(html("x"), "message_id", "1"), "Bad Request: message can't be edited"},
		{"deleteMessage", with("message_id", "99"), "Bad Request: message to delete not found"},
		{"answerCallbackQuery", []string{"callback_query_id", "1"}, "Bad Request: query is too old and response timeout expired or query ID is invalid"},
		{"setMyCommands", []string{"commands", `[{"command":"Status","description":"x"}]`}, "Bad Request: BOT_COMMAND_INVALID"},
		{"setMyCommands", []string{"commands", `[{"command":"status","description":"x"}]`}, ""},
		{"setMyCommands", []string{"commands", `[]`, "scope", `{"type":"chat","chat_id":1}`}, "Bad Request: chat not found"},
		{"setMyCommands", []string{"commands", `[]`, "scope", `{"type":"everybody"}`}, "Bad Request: can't parse BotCommandScope: unsupported type specified"},
		{"setMyCommands", []string{"commands", `[]`, "scope", `mira`}, "Bad Request: can't parse BotCommandScope JSON object"},
		{"setMyCommands", []string{"commands", `[{"command":"stop","description":"x"}]`, "scope", fmt.Sprintf(`{"type":"chat","chat_id":%d}`, mira.ID)}, ""},
		{"deleteMyCommands", []string{"scope", `{"type":"chat","chat_id":1}`}, "Bad Request: chat not found"},
		{"deleteMyCommands", nil, ""},
		{"getMyCommands", nil, ""},
		{"pinChatMessage", with("message_id", id), ""},
		{"sendDocument", chat, "Bad Request: there is no document in the request"},
		{"noSuchMethod", chat, "Not Found: method not found"},
	} {
		if r := must(t, s, x.method, x.pairs...); r.Text != x.want {
			t.Errorf("%s %.100q: %q, want %q", x.method, x.pairs, r.Text, x.want)
		}
	}
	if got := s.Menu(mira.ID); len(got) != 1 || got[0].Command != "stop" || s.Menu(7) != nil {
		t.Errorf("menus: %v, and of others %v", got, s.Menu(7))
	}
	c.add(49 * time.Hour)
	if r := must(t, s, "deleteMessage", with("message_id", id)...); r.Text != "Bad Request: message can't be deleted" {
		t.Errorf("%+v", r)
	}
	s.Block(mira.ID)
	if r := must(t, s, "sendMessage", with("text", "x")...); r.Code != 403 {
		t.Errorf("%+v", r)
	}
	s.Say(mira, mira.ID, "back")
	if r := must(t, s, "sendMessage", with("text", "x")...); !r.OK {
		t.Errorf("%+v", r)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/bot1:wrong/getMe", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := do(req); err != nil || r.Code != 401 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPresses(t *testing.T) {
	s, c := start(t, far.Options{})
	s.Say(mira, mira.ID, "/start")
	id := must(t, s, "sendMessage", "chat_id", fmt.Sprint(mira.ID), "text", "x", "reply_markup", `{"inline_keyboard":[[{"text":"Go","callback_data":"1.go"}]]}`).id(t)
	press, err := s.Press(mira, mira.ID, id, "Go")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Press(mira, mira.ID, id, "Stop"); err == nil {
		t.Error("a button that is not there was pressed")
	}
	if r := must(t, s, "answerCallbackQuery", "callback_query_id", press, "text", strings.Repeat("x", 201)); r.OK {
		t.Error("201 characters were taken")
	}
	for _, want := range []bool{true, false} {
		if r := must(t, s, "answerCallbackQuery", "callback_query_id", press, "text", "done"); r.OK != want {
			t.Errorf("%+v", r)
		}
	}
	if press, err = s.Press(mira, mira.ID, id, "Go"); err != nil {
		t.Fatal(err)
	}
	c.add(3 * time.Minute)
	if r := must(t, s, "answerCallbackQuery", "callback_query_id", press); r.OK {
		t.Error("an old press was answered")
	}
	if n := s.Chat(mira.ID).Notices; len(n) != 1 || n[0].Text != "done" {
		t.Errorf("%+v", n)
	}
}

func TestUploads(t *testing.T) {
	s, _ := start(t, far.Options{})
	s.Say(mira, mira.ID, "/start")
	up := func(method, field string, data []byte, caption string) reply {
		t.Helper()
		var body bytes.Buffer
		m := multipart.NewWriter(&body)
		m.WriteField("chat_id", fmt.Sprint(mira.ID))
		m.WriteField("caption", caption)
		f, err := m.CreateFormFile(field, "a.png")
		if err != nil {
			t.Fatal(err)
		}
		f.Write(data)
		m.Close()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/bot"+s.Token()+"/"+method, &body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", m.FormDataContentType())
		r, err := do(req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	picture := func(w, h int) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if r := up("sendPhoto", "photo", picture(64, 48), "night"); !r.OK {
		t.Errorf("%+v", r)
	}
	if m := s.Chat(mira.ID).Last(); m.File == nil || !m.File.Photo || m.Text != "night" {
		t.Errorf("%+v", m)
	}
	for _, bad := range []reply{
		up("sendPhoto", "photo", []byte("no picture"), ""), up("sendPhoto", "photo", picture(400, 10), ""), up("sendDocument", "document", nil, ""),
		up("sendDocument", "document", []byte("x"), strings.Repeat("x", 1025)),
	} {
		if bad.OK {
			t.Errorf("%+v", bad)
		}
	}
	if r := up("sendDocument", "document", []byte("x"), ""); !r.OK {
		t.Errorf("%+v", r)
	}
}

func TestFaults(t *testing.T) {
	s, _ := start(t, far.Options{})
	s.Say(mira, mira.ID, "/start")
	say := func() (reply, error) {
		return call(t.Context(), s, "sendMessage", "chat_id", fmt.Sprint(mira.ID), "text", "x")
	}
	twice := far.Forbidden("bot was blocked by the user")
	twice.Times = 2
	s.Fault("sendMessage", far.TooMany(7), twice, far.BadGateway(), far.Migrated(-9), far.CutBefore(), far.CutAfter())
	for n, want := range []int{429, 403, 403, 502, 400, 0, 0, 200} {
		r, err := say()
		if (err != nil) != (want == 0) || (err == nil && r.Code != want && !r.OK) {
			t.Errorf("call %d: %+v, %v; want %d", n, r, err, want)
		}
		if want == 429 && r.Params.After != 7 || n == 4 && r.Params.To != -9 {
			t.Errorf("call %d: %+v", n, r)
		}
	}
	if c := s.Chat(mira.ID).Count; c.Messages != 2 {
		t.Errorf("%d messages, want that of the cut answer and the last", c.Messages)
	}
	s.Fault("*", far.Hang())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = s.WaitCalls(ctx, "getMe", 1)
		cancel()
	}()
	if _, err := call(ctx, s, "getMe"); err == nil {
		t.Error("a hanging call came back")
	}
}

func TestRates(t *testing.T) {
	s, c := start(t, far.Options{Rates: true})
	s.Say(mira, mira.ID, "/start")
	s.Say(mira, -5, "/start")
	refused := func(chat int64, n int, every time.Duration) int {
		out := 0
		for range n {
			c.add(every)
			if r := must(t, s, "sendMessage", "chat_id", fmt.Sprint(chat), "text", "x"); r.Code == 429 {
				if r.Params.After < 1 {
					t.Errorf("%+v", r)
				}
				out++
			}
		}
		return out
	}
	for _, x := range []struct {
		name  string
		chat  int64
		n     int
		every time.Duration
		want  bool
	}{
		{"one a second", mira.ID, 20, time.Second, false},
		{"ten at once", mira.ID, 10, 0, true},
		{"a group at the same pace", -5, 30, time.Second, true},
		{"a group at its own", -5, 30, 4 * time.Second, false},
	} {
		c.add(2 * time.Minute)
		if got := refused(x.chat, x.n, x.every); (got > 0) != x.want {
			t.Errorf("%s: %d refused", x.name, got)
		}
	}
}

func TestTranscript(t *testing.T) {
	s, c := start(t, far.Options{})
	chat := []string{"chat_id", fmt.Sprint(mira.ID), "parse_mode", "HTML"}
	s.Say(mira, mira.ID, "/guidance Wrap the existing code, don't replace it")
	keyboard := `{"inline_keyboard":[[{"text":"Drop","callback_data":"a"},{"text":"Now","callback_data":"b"}]]}`
	text := "<b>○ g17 queued · 01:47</b>\n<blockquote>Wrap the existing code, don't replace it</blockquote>\nTo the next session, #7 builder as it looks."
	id := must(t, s, "sendMessage", append(chat, "text", text, "disable_notification", "true", "reply_parameters", `{"message_id":1}`, "reply_markup", keyboard)...).id(t)
	gone := must(t, s, "sendMessage", append(chat, "text", "gone")...).id(t)
	must(t, s, "deleteMessage", append(chat, "message_id", fmt.Sprint(gone))...)
	c.add(time.Minute)
	must(t, s, "editMessageText", append(chat, "message_id", fmt.Sprint(id), "text", strings.Replace(text, "queued", "kept", 1), "reply_markup", keyboard)...)
	press, err := s.Press(mira, mira.ID, id, "Drop")
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, "answerCallbackQuery", "callback_query_id", press, "text", "g17 dropped")
	want := `── Mira 01:47
/guidance Wrap the existing code,
don't replace it

── porter_bot 01:47 · reply · silent · edited
○ g17 kept · 01:47
┃ Wrap the existing code, don't
┃ replace it
To the next session, #7 builder as it
looks.
[Drop] [Now]

(Drop: g17 dropped)
`
	if diff := cmp.Diff(want, s.Transcript(mira.ID)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(far.Count{Messages: 2, Sounds: 1, Edits: 1, Deletes: 1}, s.Chat(mira.ID).Count); diff != "" {
		t.Error(diff)
	}
}

func TestTaps(t *testing.T) {
	for text, want := range map[string][]string{
		"see /stop and /task_8, or (/x@porter_bot)":            {"/stop", "/task_8", "/x@porter_bot"},
		"/etc/passwd 9/12 a/b":                                 nil,
		"ask @mira or a@b":                                     {"@mira"},
		"README.md https://a.example/x evil.com/y":             {"README.md", "https://a.example/x", "evil.com/y"},
		"/\u2060stop @\u2060mira evil.\u2060com 1.5 e.g. v1.2": nil,
	} {
		if diff := cmp.Diff(want, sorted(far.Taps(text, nil), want)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	text, entities, err := far.ParseHTML("<code>/stop evil.com</code> <pre>@mira</pre> /ok")
	if got := far.Taps(text, entities); err != nil || len(got) != 1 || got[0] != "/ok" {
		t.Errorf("%q, %v", got, err)
	}
}

// sorted returns got in the order of want, with all other elements at the end.
func sorted(got, want []string) []string {
	var out, rest []string
	for _, w := range want {
		for _, g := range got {
			if g == w {
				out = append(out, g)
				break
			}
		}
	}
	for _, g := range got {
		found := false
		for _, w := range want {
			found = found || g == w
		}
		if !found {
			rest = append(rest, g)
		}
	}
	return append(out, rest...)
}
