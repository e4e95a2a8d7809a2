package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWritableFolders: sessions write no folder from which they could change the
// system, the user's checkout, the state or their own settings.
func TestWritableFolders(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, conf, repo, state := root+"/home", root+"/home/conf", root+"/home/shop", root+"/home/state/nightporter"
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", root+"/home/state")
	for _, dir := range []string{conf + "/hats", repo + "/.git", repo + "/sub", root + "/tree", state + "/cache", root + "/git/worktrees/tree"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root+"/tree/.git", "gitdir: ../git/worktrees/tree\n")
	write(t, root+"/git/worktrees/tree/commondir", "../..\n")
	for link, to := range map[string]string{"etc": "/etc", "loop": root + "/loop", "repo": repo, "later": state + "/later"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ dir, want string }{
		{"/", "whole disk"}, {"/etc", "system"}, {"/etc/ssl", "system"}, {"/usr/bin", "system"}, {"/tmp", "system"}, {root + "/etc", "system"}, {root + "/etc/ssl", "system"},
		{"/usr/../etc/./", "system"}, {"../../../../../../../../../../../..", "whole disk"},
		{"~", "your home"}, {"~/", "your home"}, {"..", "your home"}, {root, "your checkout"},
		{repo, "lies in your checkout"}, {"../shop/.git", "lies in your checkout"}, {"~/shop/sub", "lies in your checkout"}, {root + "/repo/sub", "lies in your checkout"},
		{state, "state folder"}, {state + "/cache", "state folder"}, {"~/state", "state folder"}, {root + "/later/x", "state folder"},
		{".", "the configuration lies"}, {"hats", "the configuration lies"}, {conf + "/hats/new", "the configuration lies"},
		{"cache", ""}, {"~/.cache/go", ""}, {root + "/loop", ""}, {"/var/cache/shop", ""}, {"/srv/cache/shop", ""}, {repo + "-cache", ""},
	} {
		for _, key := range []string{"cache", "shared"} {
			write(t, conf+"/nightporter.toml", fmt.Sprintf("[[project]]\nname = \"shop\"\nrepo = %q\n%s = [\"ok\", %q]\n", repo, key, c.dir))
			_, err := Load(conf + "/nightporter.toml")
			var bad *Error
			switch {
			case c.want == "":
				if err != nil {
					t.Errorf("%s: %v", c.dir, err)
				}
			case !errors.As(err, &bad):
				t.Errorf("%s = [%q] is accepted: %v", key, c.dir, err)
			case len(bad.Diagnostics) != 1 || bad.Diagnostics[0].Line != 4 || !strings.Contains(bad.Diagnostics[0].Text, c.want) || bad.Diagnostics[0].Remedy == "":
				t.Errorf("%s: %v", c.dir, err)
			}
		}
	}
	// Folders of git that lie elsewhere, and a state folder of --state.
	write(t, conf+"/nightporter.toml", fmt.Sprintf("[[project]]\nname = \"tree\"\nrepo = %q\ncache = [%q]\n", root+"/tree", root+"/git"))
	if _, err := Load(conf + "/nightporter.toml"); err == nil || !strings.Contains(err.Error(), "lies in your checkout") {
		t.Errorf("the folder of a worktree's git: %v", err)
	}
	write(t, conf+"/nightporter.toml", fmt.Sprintf("[[project]]\nname = \"tree\"\nrepo = %q\ncache = [%q]\n", root+"/tree", root+"/other/cache"))
	cfg, err := Load(conf + "/nightporter.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Projects[0].Check(cfg, root+"/other"); err == nil || !strings.Contains(err.Error(), "state folder") {
		t.Errorf("a cache in the state folder of --state: %v", err)
	}
}

// TestOutside: what a project needs outside of the configuration is no mistake
// in it, and is looked at anew by each check.
func TestOutside(t *testing.T) {
	dir := setupSite(t)
	text := `[[project]]
name = "late"
repo = "late"
trust_repo = true
setup_env_file = "late/setup.env"
hat = {own = {effort = "high"}}
[[project]]
name = "shop"
repo = "shop"
`
	write(t, dir+"/shop/.git/HEAD", "ref: refs/heads/main\n")
	write(t, dir+"/nightporter.toml", text)
	cfg := load(t)
	late := cfg.Projects[0]
	if err := cfg.Projects[1].Check(cfg, ""); err != nil {
		t.Error(err)
	}
	expect := func(want string) {
		t.Helper()
		err := late.Check(cfg, "")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	expect("nightporter.toml:3:8  " + dir + "/late is missing")
	write(t, dir+"/late/.git/HEAD", "ref: refs/heads/main\n")
	expect("nightporter.toml:5:18  setup.env: file is missing")
	write(t, dir+"/late/setup.env", "A=b\n")
	if err := os.Chmod(dir+"/late/setup.env", 0o600); err != nil {
		t.Fatal(err)
	}
	expect(`nightporter.toml:6:8  no hat "own"`)
	write(t, dir+"/late/.nightporter/hats/own.toml", "[hat]\nname = \"own\"\nrol = \"x\"\n")
	expect("own.toml")
	// A mistake in the text comes together with what is missing.
	if err := os.RemoveAll(dir + "/late"); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/nightporter.toml", text+"protectd = 1\n")
	if _, err := Load("nightporter.toml"); err == nil || !strings.Contains(err.Error(), "late is missing") || !strings.Contains(err.Error(), "protectd") {
		t.Error(err)
	}
}
