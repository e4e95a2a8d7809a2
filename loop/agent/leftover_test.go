package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLeftSecrets fails a setup that leaves a value of setup_env_file where
// sessions can read it, and removes the file.
func TestLeftSecrets(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level, func(o *Options) {
			o.Projects = map[string]Grant{"shop": {Surroundings: newSurroundings(t, t.TempDir())}}
		})
		room := filepath.Join(h.state, "rooms", "room")
		making := filepath.Join(h.state, "rooms", "making")
		for _, dir := range []string{room, making} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := h.runner.user.chown(dir); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			name, command string
			use           ledger.CacheUse
			room          bool
			gone          string // below the folder, or the caches
			want          string // "" = it succeeds
		}{
			{"work", `echo "//r/:_authToken=$NPM_TOKEN" >.npmrc; echo kept >kept`, ledger.CacheUse{Trusted: true}, false, ".npmrc", "value of NPM_TOKEN in .npmrc, which"},
			{"deep", `mkdir -p a/b; head -c 262140 /dev/zero >a/b/big; printf "$NPM_TOKEN" >>a/b/big; chmod 000 a/b/big`, ledger.CacheUse{Trusted: true}, false, "a/b/big", "in a/b/big, which"},
			{"room", `echo "$NPM_TOKEN" >x; echo "$NPM_TOKEN" >y`, ledger.CacheUse{Trusted: true}, true, "x", "in x and 1 more"},
			{"cache", `echo "$NPM_TOKEN" >"$XDG_CACHE_HOME/login"`, ledger.CacheUse{Trusted: true}, false, "xdg/login", "xdg/login, which"},
			{"own", `echo "$NPM_TOKEN" >~/.npmrc; echo "$NPM_TOKEN" >"$TMPDIR/x"; ln -s "$NPM_TOKEN" link; mkfifo pipe; echo NPM_TOKEN >name`, ledger.CacheUse{Trusted: true}, false, "", ""},
			{"other", `echo npm-s3cret >guessed`, ledger.CacheUse{Name: "layer-1"}, false, "", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				l := h.launch("r1-" + c.name)
				l.Kind, l.Cache, l.Command = ledger.KindSetup, c.use, c.command
				dir := h.work
				if c.room && level == 3 {
					l.Work, l.Mounts, dir = room, []ledger.Mount{{At: room, Upper: making}}, making
				}
				h.start(l)
				x := h.wait(l.Session)
				if c.want == "" {
					if x.Reason != ledger.ExitSelf || x.Code != 0 {
						t.Errorf("ended as %+v", x)
					}
					return
				}
				if x.Reason != ledger.ExitSecret || !strings.Contains(x.Text, c.want) || strings.Contains(x.Text, "s3cret") {
					t.Errorf("ended as %s: %s", x.Reason, x.Text)
				}
				for _, top := range []string{dir, filepath.Join(h.state, "caches", "shop", cacheBase)} {
					if _, err := os.Lstat(filepath.Join(top, c.gone)); err == nil {
						t.Errorf("%s is still in %s", c.gone, top)
					}
				}
				if _, err := os.Stat(filepath.Join(h.work, "kept")); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// TestSecretVars tells secrets from settings, which setup writes into many files.
func TestSecretVars(t *testing.T) {
	vars := []string{
		"NPM_TOKEN=abc", "PIP_INDEX_URL=https://u:hunter22@pypi.example.com/simple", "NODE_AUTH=x", "DEPLOY_KEY=k", "API=ghp_16C7e42F292c6912E7710c838347Ae178B4a",
		"NODE_ENV=production", "REGISTRY=https://npm.example.com/", "SSL_CERT_FILE=/etc/ssl/a-very-long-path-0123456789.pem", "KEYBOARD=us", "TARGET=linux-x64", "AUTH_URL=https://login.example.com",
	}
	if got, want := secretVars(vars), []string{"NPM_TOKEN", "PIP_INDEX_URL", "NODE_AUTH", "DEPLOY_KEY", "API"}; !slices.Equal(got, want) {
		t.Errorf("secrets are %q, want %q", got, want)
	}
}
