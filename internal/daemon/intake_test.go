package daemon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

const bugsToken = "0123456789abcdef"

// openIntake opens a daemon that takes reports into bugs.json of the project shop.
func openIntake(t *testing.T, inbox string) (d *daemon.Daemon, file string) {
	t.Helper()
	cfg := daemontest.Config(t, "manual")
	token := filepath.Join(t.TempDir(), "bugs.token")
	file = filepath.Join(cfg.Projects[0].Repo, "bugs.json")
	for name, text := range map[string]string{token: bugsToken + "\n", file: inbox} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Bugs = &config.Bugs{Listen: "127.0.0.1:0", TokenFile: token}
	d, _ = daemontest.Open(t, cfg)
	return d, file
}

// post posts a report, and returns the answer.
func post(t *testing.T, d *daemon.Daemon, body string, change func(*http.Request)) (status int, answer map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.Intake.Addr().String()+"/bugs", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+bugsToken)
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(data, &answer) != nil {
		t.Fatalf("no JSON: %s %v", data, err)
	}
	return resp.StatusCode, answer
}

// TestIntake: a posted report is in the ledger when it is answered, and then in the inbox
// once, however often it is posted.
func TestIntake(t *testing.T) {
	d, file := openIntake(t, `[{"id":"B1","body":"It hangs"}]`)
	const report = `{"body":"I clicked Pay\nand saw NaN.","severity":"high","page":"/cart","tags":["cart"],"id":"7","status":"fixed","meta":{"screenshot":"shots/1.png","consoleErrors":["TypeError: x"],"userAgent":"Firefox","url":"https://shop.example/cart","depth":3}}`
	status, answer := post(t, d, report, nil)
	id, _ := answer["id"].(string)
	if status != http.StatusCreated || len(id) != 9 {
		t.Fatalf("%d %v", status, answer)
	}
	if got, _ := json.Marshal(answer["ignored"]); string(got) != `["id","meta.depth","status"]` {
		t.Errorf("ignored: %s", got)
	}
	if s, _ := d.Engine.State("shop"); len(s.Project.Additions) != 1 || s.Project.Additions[0].Tasks[0].ID != id {
		t.Errorf("in the ledger: %+v", s.Project.Additions)
	}
	if err := d.Operator.Written(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	want := `[{"id":"B1","body":"It hangs"},{"id":"` + id + `","body":"I clicked Pay\nand saw NaN.","severity":"high","page":"/cart","tags":["cart"],"created_at":"DATE","meta":{"url":"https://shop.example/cart","userAgent":"Firefox","consoleErrors":["TypeError: x"],"screenshot":"shots/1.png"}}]`
	if at := strings.Index(string(text), `"created_at":"`); at > 0 {
		text = []byte(string(text[:at+14]) + "DATE" + string(text[at+14+len("2026-11-26T18:00:00Z"):]))
	}
	if err != nil || string(text) != want {
		t.Errorf("the inbox is\n%s, want\n%s", text, want)
	}
	if status, again := post(t, d, report, nil); time.Now().UTC().Hour() > 0 && (status != http.StatusOK || again["id"] != id) {
		t.Errorf("again: %d %v", status, again)
	}
	if status, other := post(t, d, strings.Replace(report, "Firefox", "Chrome", 1), nil); status != http.StatusCreated || other["id"] == id {
		t.Errorf("another: %d %v", status, other)
	}
}

// TestIntakeRefuses: what is no report, and who may not post.
func TestIntakeRefuses(t *testing.T) {
	d, file := openIntake(t, "[]")
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	for _, c := range []struct {
		name, body string
		change     func(*http.Request)
		status     int
		text       string
	}{
		{"no token", `{"body":"x"}`, header("Authorization", ""), 401, "Bearer TOKEN"},
		{"another token", `{"body":"x"}`, header("Authorization", "Bearer "+bugsToken+"0"), 401, "Bearer TOKEN"},
		{"another scheme", `{"body":"x"}`, header("Authorization", bugsToken), 401, "Bearer TOKEN"},
		{"another path", `{"body":"x"}`, func(r *http.Request) { r.URL.Path = "/" }, 404, "/bugs"},
		{"another method", "", func(r *http.Request) { r.Method = http.MethodGet }, 405, "POST"},
		{"a form", "body=x", header("Content-Type", "application/x-www-form-urlencoded"), 415, "application/json"},
		{"too large", `{"body":"` + strings.Repeat("x", 65<<10) + `"}`, nil, 413, "64 kB"},
		{"too long", `{"body":"` + strings.Repeat("x ", 9000) + `"}`, nil, 422, "16000 characters"},
		{"empty", "", nil, 422, "is empty"},
		{"a list", "[]", nil, 422, "expected a bug report"},
		{"no text", `{"page":"/"}`, nil, 422, "has no text"},
		{"no JSON", `{"body":`, nil, 422, "Close it"},
		{"another type", `{"body":7}`, nil, 422, "expected"},
		{"binary", "{\"body\":\"\x00\"}", nil, 422, "NUL"},
		{"no text at all", "\xff\xfe", nil, 422, "UTF-8"},
	} {
		status, answer := post(t, d, c.body, c.change)
		if text, _ := answer["error"].(string); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %v, want %d and %q", c.name, status, answer, c.status, c.text)
		}
	}
	if err := os.WriteFile(file, []byte("[{]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, answer := post(t, d, `{"body":"It hangs"}`, nil); status != 503 || len(d.Projects.WarningsOf("")) != 1 {
		t.Errorf("a broken inbox: %d %v %v", status, answer, d.Projects.WarningsOf(""))
	}
	status := 0
	for n := 0; n < 40 && status != 429; n++ {
		status, _ = post(t, d, "", nil)
	}
	if status != 429 {
		t.Errorf("no limit")
	}
}

// TestIntakeOwes: a report that was acknowledged and that the inbox did not take, because
// somebody broke it in between, is written when the next one is.
func TestIntakeOwes(t *testing.T) {
	d, file := openIntake(t, "[]")
	report := ledger.Task{ID: "B1a2b3c4d", Title: "It hangs", Body: "It hangs", Report: &ledger.Report{Untitled: true}}
	a, err := d.Engine.Do(t.Context(), loop.Input{Project: "shop", Actor: "site", Body: loop.AddTasks{
		Tasks: []ledger.Task{report}, Repo: filepath.Dir(file), Source: ledger.SourceRef{Kind: ledger.SourceBugs, Path: "plan.md"},
	}})
	if err != nil || !a.OK {
		t.Fatal(a, err)
	}
	if err := d.Operator.Written(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, _ := d.Engine.State("shop"); len(s.Project.Additions) != 1 || !s.Project.Additions[0].Owed() {
		t.Fatalf("not owed: %+v", s.Project.Additions)
	}
	for n := range 2 {
		if status, answer := post(t, d, fmt.Sprintf(`{"body":"It hangs %d"}`, n), nil); status != http.StatusCreated {
			t.Fatal(status, answer)
		}
		if err := d.Operator.Written(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), `"B1a2b3c4d"`) != 1 || strings.Count(string(text), `"body"`) != 3 {
		t.Errorf("%s %v", text, err)
	}
}
