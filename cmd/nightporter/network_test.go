package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/golden"
)

// bytesSent depends on the version of git.
var bytesSent = regexp.MustCompile(`\d+ B sent`)

// TestHostAsked plays a night with a closed network: a session reaches the host that
// its project names, asks for another one on the phone, and is told no.
func TestHostAsked(t *testing.T) {
	repo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			_, _ = io.WriteString(w, "1111111111111111111111111111111111111111\trefs/heads/named\n")
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(repo.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(repo.URL, "http://"), ":")
	n := newPhone(t, "# Plan\n\n- [ ] **Task 1: First**\n  - Scope: `src`\n",
		fmt.Sprintf("network = \"none\"\nhosts = [\"tools.example.org:%s=127.0.0.1\"]\n", port))
	config, err := os.ReadFile(n.Path("config", "nightporter", "nightporter.toml"))
	if err != nil {
		t.Fatal(err)
	}
	n.write("config/nightporter/nightporter.toml", strings.Replace(string(config), `agent = "honest"`, `agent = "fetcher"`, 1))
	if err := os.MkdirAll(n.Path("notes"), 0o777); err != nil {
		t.Fatal(err)
	}
	n.write("notes/urls", "http://tools.example.org:"+port+"/r\nhttp://new.example.org/r\nhttp://new.example.org/again\nhttp://"+strings.Repeat("0123456789abcdef", 3)+".example.org/r\n")
	for name, mode := range map[string]os.FileMode{"notes": 0o777, "notes/urls": 0o644} { // sessions have another user
		if err := os.Chmod(n.Path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	n.up("")
	n.pair()
	n.phone.Say(reader, reader.ID, "/run")
	n.press("Start", "? Start shop?")
	n.read(n.shown("configuration does not name it"))
	n.press("No", "configuration does not name it")
	n.shown("stays closed")
	n.read(n.shown("1/1 done"))
	n.porter.Kill()
	got, err := os.ReadFile(n.Path("notes", "fetched"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"refs/heads/named", "new.example.org:80 was not allowed: refused by a person", "looks like data"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the session did not read %q:\n%s", want, got)
		}
	}
	if strings.Count(string(got), "allowed: refused by a person") != 2 {
		t.Errorf("the second connection is not told the same:\n%s", got)
	}
	out := n.Out("nightporter", "evidence", "Task 1")
	n.story.WriteString("\nevidence:\n")
	for line := range strings.Lines(out) {
		if strings.Contains(line, "example.org") {
			n.story.WriteString(bytesSent.ReplaceAllString(strings.ReplaceAll(line, port, "8080"), "500 B sent"))
		}
	}
	golden.Compare(t, "host_asked.txt", n.story.String())
}
