//go:build e2e

package telegram_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
)

// testAPI is the environment variable with the directory of the npm package
// telegram-test-api 4.2.1.
const testAPI = "NIGHTPORTER_TELEGRAM_TEST_API"

// startTestAPI starts a Telegram server by other authors. It supports messages,
// commands, presses, edits and deletions. It does not hold polls, deletes updates
// when they are read, and accepts edits of anything.
func startTestAPI(t *testing.T) (api string) {
	folder := os.Getenv(testAPI)
	if folder == "" {
		t.Skipf("%s is not set: it names the folder node_modules/telegram-test-api (make e2e sets it)", testAPI)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close() // the package cannot choose a port
	script := fmt.Sprintf(`new (require(process.argv[1]))({port: %d, host: '127.0.0.1', storeTimeout: 600}).start().then(() => console.log('ready'))`, port)
	cmd := exec.CommandContext(t.Context(), "node", "-e", script, folder) // ends with the test
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
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// TestIndependentServer runs the bot against a server by other authors.
func TestIndependentServer(t *testing.T) {
	api := startTestAPI(t)
	const token = "7123456789:AAE-independent_server"
	person := func(path string, body map[string]any) json.RawMessage {
		t.Helper()
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api+path, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, answer, err)
		}
		return answer
	}
	who := map[string]any{"id": mira.ID, "first_name": "Mira", "is_bot": false}
	where := map[string]any{"id": mira.ID, "first_name": "Mira", "type": "private"}
	said := func(text string) map[string]any {
		return map[string]any{"botToken": token, "from": who, "chat": where, "date": time.Now().Unix(), "text": text}
	}

	d := &recordingReceiver{changed: make(chan struct{})}
	b, err := telegram.New(telegram.Options{Token: token, API: api})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Poll(ctx, d.Cursor, d) }()

	person("/sendMessage", said("Wrap the existing code"))
	command := said("/status")
	command["entities"] = []map[string]any{{"offset": 0, "length": 7, "type": "bot_command"}}
	person("/sendCommand", command)
	got := d.wait(t, 2)
	if got[0].Text != "Wrap the existing code" || got[0].Chat != home || got[0].Actor != home || !got[0].Private || got[1].Text != "/status" {
		t.Errorf("received %+v", got)
	}

	id, err := b.Send(t.Context(), home, ask(), bot.SendOptions{Silent: true})
	if err != nil {
		t.Fatal(err)
	}
	person("/sendCallback", map[string]any{
		"botToken": token, "from": who, "date": time.Now().Unix(), "data": telegram.Data(ask(), 0),
		"message": map[string]any{"message_id": json.Number(id), "chat": where, "date": time.Now().Unix()},
	})
	press := d.wait(t, 3)[2]
	if twin, ok := bot.Pressed(bot.Message{}, press.Press); twin != "q5 retry" || !ok || press.Message != id || press.Chat != home {
		t.Errorf("pressed %+v", press)
	}
	if err := b.Notice(t.Context(), press.PressID, "Retry"); err != nil {
		t.Error(err)
	}
	settled := bot.Message{Key: "ask.blocked", Lines: []bot.Line{{Text: "✓ q5 retry, by Mira 07:34"}}}
	if err := b.Edit(t.Context(), bot.Ref{Chat: home, ID: id}, settled); err != nil {
		t.Error(err)
	}
	history := string(person("/getUpdatesHistory", map[string]any{"token": token}))
	if !strings.Contains(history, "q5 retry, by Mira 07:34") || !strings.Contains(history, "HTML") {
		t.Errorf("the chat stands at %s", history)
	}
	if err := b.Delete(t.Context(), bot.Ref{Chat: home, ID: id}); err != nil {
		t.Error(err)
	}
	if me, err := b.Me(t.Context()); err != nil || me.Username == "" {
		t.Errorf("%+v, %v", me, err)
	}
	// The server lacks this method, and its error has another form than
	// Telegram's.
	if err := b.SetCommands(t.Context(), "", []telegram.MenuCommand{{Name: "status", Description: "x"}}); err == nil {
		t.Error("a menu was set")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
