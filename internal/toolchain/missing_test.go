package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

// TestMissing gives repositories to a fake home: no manager is started, and none
// of them has to be installed.
func TestMissing(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{
		".rustup/toolchains/1.75.0-x86_64-unknown-linux-gnu", ".rustup/toolchains/nightly-2026-01-02-x86_64-unknown-linux-gnu",
		".nvm/versions/node/v20.11.1", ".nodenv/versions/20.11.1", ".pyenv/versions/3.12.4", ".rbenv/versions/3.3.0",
		".volta/tools/image/node/20.11.1", ".asdf/installs/nodejs/20.11.1", "data/installs/node/20.11.1",
	} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	full := Home{Dir: home, Env: func(name string) string {
		return map[string]string{"MISE_DATA_DIR": filepath.Join(home, "data")}[name]
	}}
	for _, c := range []struct {
		file, text string
		want       []string // remedies
	}{
		{"rust-toolchain.toml", "[toolchain]\nchannel = \"1.75.0\"\n", nil},
		{"rust-toolchain.toml", "[toolchain]\nchannel = \"1.76.0\"\ncomponents = [\"clippy\"]\n", []string{"rustup toolchain install 1.76.0"}},
		{"rust-toolchain.toml", "[toolchain]\npath = \"/opt/rust\"\n", nil},
		{"rust-toolchain", "stable\n", []string{"rustup toolchain install stable"}},
		{"rust-toolchain", "nightly\n", []string{"rustup toolchain install nightly"}},
		{"rust-toolchain", "nightly-2026-01-02\n", nil},
		{".nvmrc", "v20.11.1\n", nil},
		{".nvmrc", "20\n", nil},
		{".nvmrc", "lts/*\n", nil},
		{".nvmrc", "22.1.0\n", []string{"nvm install 22.1.0"}},
		{".node-version", "22.1.0", []string{"nodenv install 22.1.0"}},
		{".python-version", "# ours\n3.12\n", nil},
		{".python-version", "3.1\n", []string{"pyenv install 3.1"}},
		{".python-version", "system\n", nil},
		{".ruby-version", "3.4.1\n", []string{"rbenv install 3.4.1"}},
		{".tool-versions", "nodejs 20.11.1\npython 3.13.0 # new\nruby system\nx 1 2\n", []string{"asdf install python 3.13.0"}},
		{"mise.toml", "[tools]\nnode = \"20\"\nterraform = {version = \"1.9.5\"}\npython = [\"3.12\", \"3.13\"]\ngo = \"latest\"\n",
			[]string{"mise install python@3.12", "mise install python@3.13", "mise install terraform@1.9.5"}},
		{".mise.toml", "[tools\n", nil},
		{"package.json", `{"name": "shop", "volta": {"node": "22.1.0", "extends": "../package.json"}}`, []string{"volta install node@22.1.0"}},
		{"package.json", `{"name": "shop"}`, nil},
		{".nvmrc", "20; rm -rf /\n", []string(nil)}, // the first word is no version
		{".tool-versions", "$(reboot) 1.0\n", nil},
	} {
		repo := fstest.MapFS{c.file: {Data: []byte(c.text)}}
		var got []string
		for _, f := range Missing(repo, full) {
			if f.File != c.file {
				t.Errorf("%s: found in %s", c.file, f.File)
			}
			got = append(got, f.Remedy[len("Run before: "):])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.file, c.text, got, c.want)
		}
		if got := Missing(repo, Home{Dir: t.TempDir(), Env: func(string) string { return "" }}); len(got) > 0 {
			t.Errorf("%s without a manager: %v", c.file, got)
		}
	}
}
