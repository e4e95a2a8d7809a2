//go:build e2e

package slack_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack/slacktest"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/fake/slack"
	"github.com/nightporter/nightporter/loop/ledger"
)

// emulate is the environment variable with the directory of the npm package
// emulate 0.11.2.
const emulate = "NIGHTPORTER_EMULATE"

const (
	miraToken = "xoxp-mira"
	botUser   = "U0PORTER1"
)

// startEmulate starts a Slack server by other authors, with Mira, a channel
// #shop without the bot, and enforced scopes. It supports the Web API but no
// sockets, no users.conversations and no limits on blocks. It listens on all
// addresses and cannot choose a port. base is the URL at which it is reached.
func startEmulate(t *testing.T, base string) (api string) {
	t.Helper()
	folder := os.Getenv(emulate)
	if folder == "" {
		t.Skipf("%s is not set: it names the folder node_modules/emulate (make e2e sets it)", emulate)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	api = fmt.Sprintf("http://127.0.0.1:%d", port)
	seed, err := json.Marshal(map[string]any{"service": "slack", "port": port, "baseUrl": base, "seed": map[string]any{"slack": map[string]any{
		"team":     map[string]any{"name": "House"},
		"users":    []any{map[string]any{"name": "mira"}},
		"channels": []any{map[string]any{"name": "shop"}},
		"oauth_apps": []any{map[string]any{
			"client_id": "1.2", "client_secret": "x", "app_id": far.AppID, "name": "porter", "bot_name": "porter", "bot_id": "B0PORTER1", "bot_user_id": botUser, "scopes": slack.Scopes,
		}},
		"tokens": []any{
			map[string]any{"token": far.BotToken, "type": "bot", "user_id": botUser, "bot_id": "B0PORTER1", "bot_user_id": botUser, "app_id": far.AppID, "scopes": slack.Scopes},
			map[string]any{"token": miraToken, "user": "mira", "scopes": []any{
				"chat:write", "channels:read", "groups:read", "im:read", "mpim:read", "channels:manage", "channels:write", "channels:history", "im:history", "users:read", "files:read",
			}},
		},
		"strict_scopes": true,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	const script = `const net = require('net'), listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port) { return listen.call(this, port, '127.0.0.1', () => console.log('ready')) };
import(process.argv[1] + '/dist/api.js').then(m => m.createEmulator(JSON.parse(process.argv[2])))`
	cmd := exec.CommandContext(t.Context(), "node", "-e", script, folder, string(seed)) // ends with the test
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%s does not start: %q, %v", folder, line, err)
	}
	return api
}

// startCompleted adds the missing parts to that server: sockets by slack-go's
// test server, and users.conversations by conversations.list. api is the URL of
// the server without these parts.
func startCompleted(t *testing.T) (base, api string) {
	t.Helper()
	sockets := slacktest.NewTestServer(func(slacktest.Customize) {})
	sockets.Start()
	t.Cleanup(sockets.Stop)
	go func() {
		for range sockets.SeenFeed {
		}
	}()
	others, err := url.Parse(sockets.GetAPIURL())
	if err != nil {
		t.Fatal(err)
	}
	var target *url.URL
	s := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		switch path := r.In.URL.Path; {
		case path == "/api/apps.connections.open":
			r.SetURL(&url.URL{Scheme: others.Scheme, Host: others.Host})
			r.Out.URL.Path = "/apps.connections.open"
		case path == "/api/users.conversations":
			r.SetURL(target)
			r.Out.URL.Path = "/api/conversations.list"
		default:
			r.SetURL(target)
		}
	}})
	t.Cleanup(s.Close)
	api = startEmulate(t, s.URL)
	if target, err = url.Parse(api); err != nil {
		t.Fatal(err)
	}
	return s.URL + "/api/", api
}

// TestIndependentServer runs the bot against a Slack server by other authors.
func TestIndependentServer(t *testing.T) {
	base, api := startCompleted(t)
	mira := func(method string, form url.Values, result any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api+"/api/"+method, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+miraToken)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var raw json.RawMessage
		var ok struct{ OK bool }
		if err := json.NewDecoder(resp.Body).Decode(&raw); err != nil || json.Unmarshal(raw, &ok) != nil || !ok.OK {
			t.Fatalf("%s: %s, %v", method, raw, err)
		}
		if result != nil && json.Unmarshal(raw, result) != nil {
			t.Fatalf("%s: %s", method, raw)
		}
	}
	var asked string
	o := slack.Options{
		AppToken: far.AppToken, BotToken: far.BotToken, API: base, PingTimeout: time.Hour,
		OpenQuestions: func(_ context.Context, chat string) []string {
			if strings.HasPrefix(chat, "slack:C") && asked != "" {
				return []string{asked}
			}
			return nil
		},
	}
	b, err := slack.New(o)
	if err != nil {
		t.Fatal(err)
	}
	me, err := b.Me(t.Context())
	if err != nil || me.User != botUser || me.Team != "House" || me.Bot != "B0PORTER1" {
		t.Fatalf("%+v, %v", me, err)
	}
	var list struct {
		Channels []struct{ ID, Name string }
	}
	mira("conversations.list", url.Values{}, &list)
	n := slices.IndexFunc(list.Channels, func(c struct{ ID, Name string }) bool { return c.Name == "shop" })
	if n < 0 {
		t.Fatalf("%+v", list)
	}
	room := list.Channels[n].ID
	chat := slack.Prefix + room
	var who struct {
		User string `json:"user_id"`
	}
	mira("auth.test", nil, &who)
	own := slack.Prefix + who.User

	// The probe finds that the bot is not in the channel. Slack itself would also
	// reject messages there; this server accepts them in public channels.
	if f := b.ProbeChannel(t.Context(), room, "shop"); f.Severity == ledger.DiagnosticOK || !strings.Contains(f.Text, "not in #shop") {
		t.Errorf("%+v", f)
	}
	mira("conversations.invite", url.Values{"channel": {room}, "users": {botUser}}, nil)
	if f := b.ProbeChannel(t.Context(), room, "shop"); f.Severity != ledger.DiagnosticOK {
		t.Errorf("%+v", f)
	}

	// A message appears in both kinds of conversation, and can be edited and
	// deleted.
	type message struct {
		TS, Text, User string
		Blocks         json.RawMessage
		Thread         string `json:"thread_ts"`
		Files          []struct{ Name, ID string }
	}
	shown := func(in string) []message {
		t.Helper()
		var h struct{ Messages []message }
		mira("conversations.history", url.Values{"channel": {in}}, &h)
		return h.Messages
	}
	m := textMessage("■ shop #8 blocked (q5)", "Refund <flow> & *more*", "Stays blocked.")
	m.Buttons = []bot.Button{{Label: "Retry", Command: "q5 retry"}}
	if asked, err = b.Send(t.Context(), chat, m, bot.SendOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := shown(room)[0]; got.TS != asked || got.Text != "■ shop #8 blocked (q5)" || !strings.Contains(string(got.Blocks), `"text":"Refund <flow> & *more*"`) || !strings.Contains(string(got.Blocks), "q5.retry") {
		t.Errorf("shown: %+v %s", got, got.Blocks)
	}
	private, err := b.Send(t.Context(), own, textMessage("● shop r14 started"), bot.SendOptions{Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	mira("conversations.list", url.Values{"types": {"im"}}, &list)
	direct := list.Channels[0].ID
	if err := b.Edit(t.Context(), bot.Ref{Chat: own, ID: private}, textMessage("✓ shop r14 ended")); err != nil {
		t.Fatal(err)
	}
	if got := shown(direct)[0]; got.TS != private || got.Text != "✓ shop r14 ended" {
		t.Errorf("changed: %+v", got)
	}
	gone, err := b.Send(t.Context(), chat, textMessage("→ moved"), bot.SendOptions{Silent: true, ReplyTo: asked})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Delete(t.Context(), bot.Ref{Chat: chat, ID: gone}); err != nil {
			t.Error(err)
		}
	}
	if err := b.Edit(t.Context(), bot.Ref{Chat: chat, ID: gone}, textMessage("x")); !errors.Is(err, bot.ErrMessageGone) {
		t.Errorf("of what is gone: %v", err)
	}

	// A long text becomes a file in the thread; a picture becomes a file of the
	// app above its message.
	long := bot.Message{Key: "diff", Lines: []bot.Line{line("shop #11: 3 files")}}
	for range 40 {
		long.Lines = append(long.Lines, pre("+ x"))
	}
	caption, err := b.Send(t.Context(), chat, long, bot.SendOptions{Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	var thread struct{ Messages []message }
	mira("conversations.replies", url.Values{"channel": {room}, "ts": {caption}}, &thread)
	if all := thread.Messages; len(all) != 2 || len(all[1].Files) != 1 || all[1].Files[0].Name != "shop-11.diff" {
		t.Errorf("the thread: %+v", all)
	}
	picture := textMessage("? shop 9/12 done")
	picture.Picture, picture.Alt = []byte("\x89PNG\r\n\x1a\nx"), "Night of shop."
	if _, err := b.Send(t.Context(), chat, picture, bot.SendOptions{Silent: true}); err != nil {
		t.Fatal(err)
	}
	if got := string(shown(room)[0].Blocks); !strings.HasPrefix(got, `[{"type":"image","alt_text":"Night of shop.","slack_file":{"id":"F`) {
		t.Errorf("the picture: %s", got)
	}

	// Messages sent during an outage are read back, also below an older question.
	mira("chat.postMessage", url.Values{"channel": {direct}, "text": {"Wrap the existing code"}}, nil)
	mira("chat.postMessage", url.Values{"channel": {room}, "text": {"<@" + botUser + "> pause"}}, nil)
	mira("chat.postMessage", url.Values{"channel": {room}, "text": {"lunch?"}}, nil)
	mira("chat.postMessage", url.Values{"channel": {room}, "text": {"retry"}, "thread_ts": {asked}}, nil)
	d := chattest.NewRecorder(asked)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx, d.Cursor, d) }()
	d.Wait(t, 3)
	cancel()
	<-done
	got := d.Inputs()
	if want := []string{"Wrap the existing code", "pause", "retry"}; !slices.Equal(d.Texts(), want) || got[0].Chat != own || got[1].Chat != chat || got[2].ReplyTo != asked {
		t.Errorf("read back: %+v", got)
	}

	// An archived channel accepts no messages.
	mira("conversations.archive", url.Values{"channel": {room}}, nil)
	if _, err := b.Send(t.Context(), chat, textMessage("x"), bot.SendOptions{}); !errors.Is(err, bot.ErrChatClosed) {
		t.Errorf("archived: %v", err)
	}
	if f := b.ProbeChannel(t.Context(), room, "shop"); f.Severity == ledger.DiagnosticOK || !strings.Contains(f.Text, "archived") {
		t.Errorf("%+v", f)
	}
}
