package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// withRoomFiles begins another run in which rooms get files of the checkout.
func (r *roomWorld) withRoomFiles(patterns ...string) (*roomWorld, error) {
	r.t.Helper()
	w := r.reopen(patterns...)
	base, err := w.Begin(r.t.Context(), ledger.Begin{Run: "r2"})
	return &roomWorld{t: r.t, w: w, base: base, use: ledger.RoomUse{Tree: base.Commit, Setup: r.use.Setup}}, err
}

// reopen opens the workspace with other room files.
func (r *roomWorld) reopen(patterns ...string) *Workspace {
	r.t.Helper()
	o := r.w.o
	o.RoomFiles = patterns
	w, err := Open(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

// TestRoomFiles shows files of the checkout to setup and to checks, as they were
// when the run began, and keeps them out of layers and trees.
func TestRoomFiles(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		old := newRoomWorld(t, mounts)
		repo := old.w.o.Repo
		writeFile(t, repo, ".env", "DB=one\n")
		writeFile(t, repo, "web/.env.local", "WEB=1\n")
		writeFile(t, repo, "keys/a.key", "a\n")
		writeFile(t, repo, "keys/b.key", "b\n")
		if old.w.envFiles(nil) == nil || strings.Join(begin(t, old.w, "r9").EnvFiles, " ") != ".env web/.env.local" {
			t.Errorf("the run is told of %q", old.w.envFiles(nil))
		}
		r, err := old.withRoomFiles(".env", "web/.env.local", "keys/*.key")
		if err != nil {
			t.Fatal(err)
		}
		if len(r.base.EnvFiles) > 0 {
			t.Errorf("the run is told of %q", r.base.EnvFiles)
		}
		writeFile(t, repo, ".env", "DB=two\n") // after the run began
		room, err := r.w.SetupRoom(t.Context(), r.use, 0)
		if err != nil {
			t.Fatal(err)
		}
		inRoom(t, room, `cat .env keys/*; mkdir node_modules; cp .env node_modules/copy; echo changed >>.env; rm -r keys; ln -s /etc keys`)
		room = r.lay(r.use, true)
		if got := inRoom(t, room, "cat .env web/.env.local keys/a.key keys/b.key node_modules/copy; test ! -e /etc/a.key"); got != "DB=one\nWEB=1\na\nb\nDB=one" {
			t.Errorf("the room shows %q", got)
		}
		layers, err := filepath.Glob(filepath.Join(r.w.roomsDir(), layersDir, "*", layerTree))
		if err != nil || len(layers) != 1 {
			t.Fatalf("layers %q, %v", layers, err)
		}
		for _, p := range []string{".env", "web/.env.local", "keys/a.key"} {
			if _, err := os.Lstat(filepath.Join(layers[0], p)); err == nil {
				t.Errorf("the layer has %s", p)
			}
		}
		for _, c := range []struct{ name, change, see, want string }{
			{"its own file", "echo mine >.env", "cat .env web/.env.local", "mine\nWEB=1"},
			{"a folder in its place", "mkdir .env; echo x >.env/x", "ls .env; cat keys/a.key", "x\na"},
			{"a file in place of its folder", "echo file >keys", "cat keys .env", "file\nDB=one"},
			{"a link in place of its folder", "ln -s /tmp keys", "readlink keys; test ! -e /tmp/a.key; cat .env", "/tmp\nDB=one"},
			{"its folder deleted", "git rm -rqf web", "find web -type f", "web/.env.local"},
		} {
			t.Run(c.name, func(t *testing.T) {
				use := ledger.RoomUse{Tree: r.tree(c.change), Parent: r.base.Commit, Setup: r.use.Setup}
				if got := inRoom(t, r.lay(use, true), c.see); got != c.want {
					t.Errorf("the room shows %q, want %q", got, c.want)
				}
			})
		}
		// The work folder of sessions gets none of them, so that no capture can.
		if err := r.w.Restore(t.Context(), only("r2", r.base.Tree)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(r.w.Work(only("r2", "")).Dir, ".env")); err == nil {
			t.Error("the work folder has .env")
		}
		// A changed file needs setup anew; a run without the key has none.
		when := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(repo, ".env"), when, when); err != nil {
			t.Fatal(err)
		}
		w := r.w
		if _, err := w.Begin(t.Context(), ledger.Begin{Run: "r3"}); err != nil {
			t.Fatal(err)
		}
		if room, err := w.SetupRoom(t.Context(), r.use, 0); err != nil || room.Done {
			t.Errorf("setup of the changed file is done: %v, %v", room.Done, err)
		}
		w = r.reopen()
		if _, err := w.Begin(t.Context(), ledger.Begin{Run: "r4"}); err != nil {
			t.Fatal(err)
		}
		if got := inRoom(t, (&roomWorld{t: t, w: w}).lay(r.use, true), "ls -A"); strings.Contains(got, ".env") {
			t.Errorf("the room without the key has %q", got)
		}
	})
}

// TestRoomFilesRefused finds mistakes before the run starts.
func TestRoomFilesRefused(t *testing.T) {
	r := newRoomWorld(t, false)
	repo := r.w.o.Repo
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, filepath.Dir(outside), "outside", "secret\n")
	for link, to := range map[string]string{"link.env": outside, "dir": filepath.Dir(outside), "inner.env": "README.md"} {
		if err := os.Symlink(to, filepath.Join(repo, link)); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, repo, "sub/.git/config", "x\n")
	writeFile(t, repo, "big.bin", strings.Repeat("x", maxRoomBytes+1))
	for pattern, want := range map[string]string{
		".env":            "does not exist",
		"*.none":          "matches no",
		"*.md":            "matches no",
		"README.md":       "is tracked",
		"web":             "is no file",
		"link.env":        "is a link",
		"inner.env":       "is a link",
		"dir/outside":     "dir is a link",
		"dir/*":           "matches no",
		"../outside":      "escapes",
		"sub/.git/config": "git's own",
		"big.bin":         "more than",
	} {
		_, err := r.withRoomFiles(pattern)
		var in *ledger.InputError
		if !errors.As(err, &in) || len(in.Diagnostics) != 1 || !strings.Contains(in.Diagnostics[0].Text, want) || in.Diagnostics[0].Remedy == "" {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
		if want == "more than" {
			continue // doctor copies nothing
		}
		if _, err := r.reopen(pattern).Look(t.Context()); !errors.As(err, &in) {
			t.Errorf("%s: doctor says %v", pattern, err)
		}
	}
}
