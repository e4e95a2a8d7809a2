package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLanes lets two sessions work at the same time: neither sees what the other writes,
// and each capture has the changes of its own lane.
func TestLanes(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	writeFile(t, repo, ".git/info/exclude", "*.private\n") // changed since the start: the rules of the start hold
	use := func(lane int) ledger.WorkUse {
		return ledger.WorkUse{Run: "r1", Lane: lane, Lanes: 3, Tree: base.Tree}
	}
	for lane := range 3 {
		must(t, w.Restore(t.Context(), use(lane)))
	}
	dirs := map[string]bool{}
	for lane := range 3 {
		dir := filepath.Join(lanePath(filepath.Join(w.o.State, "runs", "r1"), lane), "work")
		dirs[dir] = true
		if diff := cmp.Diff(shopFiles, files(t, dir)); diff != "" {
			t.Errorf("lane %d begins with (-want +got)\n%s", lane, diff)
		}
		writeFile(t, dir, "cart/cart.go", "package cart // "+string(rune('a'+lane))+"\n")
		writeFile(t, dir, "new"+string(rune('a'+lane)), "x\n")
	}
	if len(dirs) != 3 {
		t.Fatalf("three lanes have the folders %v", dirs)
	}
	for _, lane := range []int{2, 0, 1, 1} { // the last one again, as after a crash
		r := captureRequest(base, base.Tree, all)
		r.Lane, r.Session = lane, "r1-"+string(rune('1'+lane))
		r.Ref = strings.TrimSuffix(r.Ref, "s1") + r.Session
		taken, err := w.Capture(t.Context(), r)
		must(t, err)
		if diff := cmp.Diff([]string{"cart/cart.go", "new" + string(rune('a'+lane))}, paths(taken.Files)); diff != "" {
			t.Errorf("of lane %d is taken (-want +got)\n%s", lane, diff)
		}
	}
	must(t, w.Restore(t.Context(), use(1)))
	if got := readFile(t, filepath.Join(w.o.State, "runs", "r1", "work"), "cart/cart.go"); got != "package cart // a\n" {
		t.Errorf("after lane 2 was restored, the first one has %q", got)
	}
}

// TestLaneIsPrepared: a lane has what setup made for the tree that it gets, also when
// another lane changed what has to be installed.
func TestLaneIsPrepared(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		use := ledger.WorkUse{Run: "r1", Lane: 1, Lanes: 2, Tree: r.base.Commit, Setup: r.use.Setup}
		dir := filepath.Join(r.w.o.State, "runs", "r1", "lane-2", "work")
		has := func(path string) bool { _, err := os.Lstat(filepath.Join(dir, path)); return err == nil }

		must(t, r.w.Restore(t.Context(), use)) // nothing was set up yet
		if has("node_modules") {
			t.Error("a lane has what setup makes, and it did not run")
		}
		r.setup(r.use)
		r.lay(r.use, true)
		must(t, r.w.Restore(t.Context(), use))
		if got := readFile(t, dir, "node_modules/from"); got != readFile(t, dir, "go.mod") {
			t.Errorf("the lane has what was made of %q", got)
		}
		if readFile(t, dir, "README.md") == "tampered\n" || !has("cart/cart.go") {
			t.Error("the lane does not have the tree's own files")
		}
		if got := inRoom(t, r.w.Work(use), "pwd; cat node_modules/ms/where"); mounts && strings.Count(got, filepath.Join(r.w.roomsDir(), roomDir)) != 2 {
			t.Errorf("a session of the lane is at, and setup was at: %s", got)
		}

		// Sessions add to what is ignored; it stays until setup makes something else.
		writeFile(t, dir, "node_modules/added", "x\n")
		must(t, r.w.Restore(t.Context(), use))
		if !has("node_modules/added") {
			t.Error("an ignored file is gone, and setup is the same")
		}
		tree := r.tree("echo '// more' >>go.mod")
		other := ledger.RoomUse{Tree: tree, Parent: r.base.Commit, Setup: r.use.Setup}
		r.setup(other)
		r.lay(other, true)
		must(t, r.w.KeepLayer(t.Context(), tree))
		use.Tree = tree
		must(t, r.w.Restore(t.Context(), use))
		if got := readFile(t, dir, "node_modules/from"); !strings.Contains(got, "// more") || has("node_modules/added") {
			t.Errorf("the lane has what was made of %q, and what a session added: %v", got, has("node_modules/added"))
		}
	})
}

// TestLaneOutlastsRooms: a session of a lane still finds its files by their absolute
// path after a check got a new room, which is seen at the same path. Linux takes the
// mounts of other namespaces away from a folder that is removed.
func TestLaneOutlastsRooms(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		use := ledger.WorkUse{Run: "r1", Lane: 1, Lanes: 2, Tree: r.base.Commit, Setup: r.use.Setup}
		must(t, r.w.Restore(t.Context(), use))
		own := filepath.Join(r.w.o.State, "runs", "r1", "lane-2", "work")
		want, dir := readFile(t, own, "README.md"), t.TempDir()
		for _, pipe := range []string{"begun", "laid"} {
			must(t, unix.Mkfifo(filepath.Join(dir, pipe), 0o600))
		}
		work, got := r.w.Work(use), make(chan string, 1)
		go func() {
			defer close(got)
			got <- inRoom(t, work, "echo >'"+dir+"/begun'; read _ <'"+dir+"/laid'; cd /; cat '"+work.Dir+"/README.md'; echo written >'"+work.Dir+"/README.md'")
		}()
		readFile(t, dir, "begun")
		r.setup(r.use)
		r.lay(r.use, true)
		r.lay(r.use, true)
		writeFile(t, dir, "laid", "\n")
		if got := <-got; got != strings.TrimSpace(want) {
			t.Errorf("the session reads %q", got)
		}
		if got := readFile(t, own, "README.md"); got != "written\n" {
			t.Errorf("of the session its lane has %q", got)
		}
	})
}
