//go:build e2e_site

package main_test

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

const siteProject = `timezone = "UTC"
[agents.site]
command = ["DIR/agents/site.sh", "DIR/notes"]
[[project]]
name = "shop"
repo = "DIR/repo"
source = "bugs:bugs.json"
profile = "overnight"
agent = "site"
pattern = "plan-build-review"
setup = []
verify = ["node test.js"]
shared = ["DIR/notes"]
read = ["DIR/agents"]
batch = 6
push = "never"
screenshot = { run = "node server.js", url = "http://127.0.0.1:38931/", wait = "1m" }
`

const siteAgent = `#!/bin/sh
. "$(dirname "$0")/lib.sh"
if [ "$HAT_NAME" = builder ]; then
	files=$(sh "$(dirname "$0")/fix.sh" | sed 's/.*/"&"/' | paste -sd, -)
	hat emit build.complete --data "{\"summary\":\"mended $HAT_TASK\",\"files_modified\":[$files]}"
	exit
fi
honest
`

// TestSite works through the reports about a real site with six seeded bugs, in one wave:
// a Chromium takes pictures of what was reported about how a page looks, and they differ
// where the front page shows the fix.
func TestSite(t *testing.T) {
	n := programtest.NewTwoTasks(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	site := filepath.Join("..", "..", "internal", "corpus", "testdata", "site")
	must(os.RemoveAll(n.Path("repo")))
	must(os.CopyFS(n.Path("repo"), os.DirFS(filepath.Join(site, "repo"))))
	must(n.Repo("repo"))
	fix, err := os.ReadFile(filepath.Join(site, "fix.sh"))
	must(err)
	for file, text := range map[string]string{
		n.Path("config", "nightporter", "nightporter.toml"): strings.ReplaceAll(siteProject, "DIR", n.Dir),
		n.Path("agents", "site.sh"):                         siteAgent,
		n.Path("agents", "fix.sh"):                          string(fix),
	} {
		must(os.WriteFile(file, []byte(text), 0o755))
	}
	check, err := filepath.Abs(filepath.Join(site, "check.js"))
	must(err)
	if bugs := strings.TrimSpace(n.Out("node", check, n.Path("repo"))); bugs != "B1 B2 B3 B4 B5 B6" {
		t.Fatalf("the site has the bugs %q before", bugs)
	}

	p, err := n.Machine.Start(nil, "run")
	must(err)
	t.Cleanup(p.Kill)
	code, err := p.Wait()
	must(err)
	t.Logf("exit %d\n%s", code, p.Out)
	if strings.Contains(p.Out.String(), ".google") {
		t.Error("Chromium asked for hosts of its own")
	}
	if code != 0 || !strings.Contains(p.Out.String(), "wave 1: 6 of 6 fixed") {
		t.Errorf("exit %d", code)
	}
	n.Out("git", "-C", "repo", "worktree", "add", "-q", "../fixed", "nightporter/shop/r1")
	if bugs := strings.TrimSpace(n.Out("node", check, n.Path("fixed"))); bugs != "" {
		t.Errorf("the branch still has the bugs %s", bugs)
	}

	const differs, same = "pictures: the result looks different from the start", "pictures: the result looks exactly like the start"
	for id, want := range map[string]string{"B1": differs, "B2": differs, "B3": differs, "B4": same, "B5": same, "B6": ""} {
		proof := n.Out("nightporter", "evidence", id)
		if !strings.Contains(proof, want) || want == "" && strings.Contains(proof, "pictures") {
			t.Errorf("%s: want %q\n%s", id, want, proof)
		}
	}
	n.Out("nightporter", "evidence", "B1", "--html", "-o", "B1.html")
	page, err := os.ReadFile(n.Path("B1.html"))
	if must(err); bytes.Count(page, []byte("data:image/png;base64,")) != 2 {
		t.Errorf("the page of B1 has %d pictures", bytes.Count(page, []byte("data:image/png;base64,")))
	}
	// Four pages were seen: as it began, and after each of three fixes.
	pictures, err := filepath.Glob(n.Path("state", "nightporter", "attachments", "*"))
	if must(err); len(pictures) != 4 {
		t.Errorf("%d different pictures", len(pictures))
	}
	for _, path := range pictures {
		data, err := os.ReadFile(path)
		must(err)
		is, err := png.Decode(bytes.NewReader(data))
		if must(err); is.Bounds().Dx() != 1280 || is.Bounds().Dy() != 800 {
			t.Errorf("%s: %v", path, is.Bounds())
		}
	}
	n.Out("nightporter", "verify")
	if dir := os.Getenv("SITE_PICTURES"); dir != "" { // to look at them
		must(os.CopyFS(dir, os.DirFS(n.Path("state", "nightporter", "attachments"))))
	}
}
