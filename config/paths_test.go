package config

import (
	"os"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	dir := setupSite(t)
	t.Setenv("XDG_CONFIG_HOME", dir+"/etc")
	t.Setenv("HOME", dir+"/home")
	if got, err := Find(""); got != "" || err != nil {
		t.Errorf("none: %q, %v", got, err)
	}
	write(t, dir+"/etc/nightporter/nightporter.toml", "")
	write(t, dir+"/home/.config/nightporter/nightporter.toml", "")
	write(t, dir+"/mine.toml", "")
	for _, c := range []struct{ flag, xdg, want string }{
		{"", dir + "/etc", dir + "/etc/nightporter/nightporter.toml"},
		{"", "", dir + "/home/.config/nightporter/nightporter.toml"},
		{"", "relative", dir + "/home/.config/nightporter/nightporter.toml"},
		{"mine.toml", dir + "/etc", "mine.toml"},
	} {
		t.Setenv("XDG_CONFIG_HOME", c.xdg)
		if got, err := Find(c.flag); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if got, err := Find("gone.toml"); err == nil || !strings.Contains(err.Error(), "gone.toml  file is missing") {
		t.Errorf("gone: %q, %v", got, err)
	}
}

func TestStateDir(t *testing.T) {
	dir := setupSite(t)
	t.Setenv("HOME", dir+"/home")
	usual := dir + "/home/.local/state/nightporter"
	if os.Geteuid() == 0 {
		usual = "/var/lib/nightporter"
	}
	for _, c := range []struct{ flag, xdg, want string }{
		{"", "", usual},
		{"", dir + "/s", dir + "/s/nightporter"},
		{"here", dir + "/s", dir + "/here"},
	} {
		t.Setenv("XDG_STATE_HOME", c.xdg)
		if got, err := StateDir(c.flag); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestHomePaths(t *testing.T) {
	dir := setupSite(t)
	t.Setenv("HOME", dir)
	write(t, dir+"/nightporter.toml", "[[project]]\nname = \"shop\"\nrepo = \"~/shop\"\n")
	if got := load(t).Projects[0].Repo; got != dir+"/shop" {
		t.Errorf("repo %q", got)
	}
}
