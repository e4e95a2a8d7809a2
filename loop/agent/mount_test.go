package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestMounts runs a session in an overlay that lies at a path of the state
// folder. Its writes and deletions reach the upper folder alone, the folders
// themselves are hidden, and the session runs at the mounted path.
func TestMounts(t *testing.T) {
	h := newFixture(t, 3)
	if ok, why := h.runner.Mounts(); !ok {
		t.Skipf("SKIPPED: no overlays as uid %d: %s", os.Geteuid(), why)
	}
	folder := func(parts ...string) string {
		path := filepath.Join(append([]string{h.state, "rooms"}, parts...)...)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := h.runner.user.chown(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	room, upper, kernel := folder("room"), folder("a, b:c", "upper"), folder("a, b:c", "kernel")
	first, second := folder("layer", "first"), folder("layer", "second")
	for file, text := range map[string]string{
		filepath.Join(first, "both"): "first", filepath.Join(second, "both"): "second", filepath.Join(second, "old"): "second", filepath.Join(second, "gone"): "second",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := h.runner.user.chown(file); err != nil {
			t.Fatal(err)
		}
	}
	l := h.launch("r1-c1")
	l.Kind, l.Work = ledger.KindVerify, room
	l.Mounts = []ledger.Mount{{At: room, Lower: []string{first, second}, Upper: upper, Work: kernel}}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(kernel, "work"), 0o700) }) // the kernel makes it inaccessible
	l.Command = `pwd; cat both old; echo changed >old; rm gone; mkdir new && echo x >new/file; ls; ls ` + second + ` 2>&1`
	h.start(l)
	x := h.wait(l.Session)
	want := room + "\nfirstsecond" + "both\nnew\nold\n"
	if !strings.HasPrefix(x.Tail, want) || !strings.Contains(x.Tail, "No such file") {
		t.Errorf("the session saw %q, want %q and no layer", x.Tail, want)
	}
	for file, want := range map[string]string{filepath.Join(second, "old"): "second", filepath.Join(second, "gone"): "second", filepath.Join(upper, "old"): "changed\n"} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", file, got, err, want)
		}
	}
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(upper, "gone"), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != 0 {
		t.Errorf("the deletion is no whiteout: %o %d, %v", st.Mode, st.Rdev, err)
	}
	if entries, err := os.ReadDir(room); err != nil || len(entries) > 0 {
		t.Errorf("the mount point holds %v, %v", entries, err)
	}
}

// TestMountPlain shows a folder at another path.
func TestMountPlain(t *testing.T) {
	h := newFixture(t, 3)
	room := filepath.Join(h.state, "rooms", "room")
	if err := os.MkdirAll(room, 0o755); err != nil {
		t.Fatal(err)
	}
	l := h.launch("r1-c1")
	if err := h.runner.user.chown(h.work); err != nil {
		t.Fatal(err)
	}
	l.Kind, l.Command, l.Mounts, l.Work = ledger.KindSetup, "pwd >made", []ledger.Mount{{At: room, Upper: h.work}}, room
	h.start(l)
	if x := h.wait(l.Session); x.Code != 0 {
		t.Fatalf("%+v", x)
	}
	if got, err := os.ReadFile(filepath.Join(h.work, "made")); err != nil || string(got) != room+"\n" {
		t.Errorf("made holds %q, %v; want %q", got, err, room)
	}
}

// TestMaterialOfLanes: sessions that work in different lanes at once have their own
// material beside what they see as their work folder, and cannot write it.
func TestMaterialOfLanes(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		h.script(`sh -c 'echo x >../CONTEXT/TASK.md' 2>/dev/null; echo here >here
		until [ -e there ]; do :; done
		cat ../CONTEXT/*; ls ../CONTEXT`)
		room := filepath.Join(h.state, "rooms", "room")
		if err := os.MkdirAll(room, 0o755); err != nil {
			t.Fatal(err)
		}
		var works []string
		for lane := range 2 {
			work := h.work
			if lane > 0 {
				work = filepath.Join(h.state, "runs", "r1", fmt.Sprintf("lane-%d", lane+1), "work")
				if err := os.MkdirAll(work, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			works = append(works, work)
			l := h.launch(fmt.Sprintf("r1-%d", lane+1))
			l.Work, l.Context = work, map[string][]byte{"TASK.md": fmt.Appendf(nil, "# Task %d\n", lane)}
			if level == 3 {
				if err := h.runner.user.chown(work); err != nil { // whoever names mounts hands them over
					t.Fatal(err)
				}
				l.Work, l.Mounts = room, []ledger.Mount{{At: room, Upper: work}}
			}
			h.start(l)
			awaitChange(t, work, "the session of lane "+l.Session, func() bool {
				_, err := os.Lstat(filepath.Join(work, "here"))
				return err == nil
			})
		}
		for lane, work := range works {
			if err := os.WriteFile(filepath.Join(work, "there"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			x := h.wait(fmt.Sprintf("r1-%d", lane+1))
			if want := fmt.Sprintf("# Task %d\nTASK.md\n", lane); x.Tail != want {
				t.Errorf("lane %d has %q, want %q\n%s", lane, x.Tail, want, h.log(x.Session))
			}
		}
	})
}

// TestOverlayPaths mounts overlays below folders whose names hold what separates
// the kernel's mount options.
func TestOverlayPaths(t *testing.T) {
	h := newFixture(t, 3)
	if ok, why := h.runner.Mounts(); !ok {
		t.Skipf("SKIPPED: %s", why)
	}
	odd := filepath.Join(h.state, `a b:c,d=e\f'g"h`)
	m := ledger.Mount{At: filepath.Join(odd, "at"), Lower: []string{filepath.Join(odd, "lo:wer")}, Upper: filepath.Join(odd, "up,per"), Work: filepath.Join(odd, "wo rk")}
	for _, dir := range []string{odd, m.At, m.Lower[0], m.Upper, m.Work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := h.runner.user.chown(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(m.Lower[0], "file"), []byte("lower\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := h.launch("r1-c1")
	l.Kind, l.Work, l.Mounts, l.Command = ledger.KindVerify, m.At, []ledger.Mount{m}, "cat file; echo x >new"
	h.start(l)
	if x := h.wait(l.Session); x.Tail != "lower\n" || x.Code != 0 {
		t.Errorf("printed %q (%s %s)", x.Tail, x.Reason, x.Text)
	}
	if _, err := os.Stat(filepath.Join(m.Upper, "new")); err != nil {
		t.Error(err)
	}
}

// TestMountsOnOverlay keeps state on an overlay, as in a container, where the
// kernel mounts no other: rooms and caches are copies there, and work.
func TestMountsOnOverlay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can mount the state folder")
	}
	h := newFixture(t, 3, func(o *Options) {
		parts := t.TempDir()
		options := "userxattr"
		for option, name := range map[string]string{"lowerdir": "a", "upperdir": "b", "workdir": "c"} {
			dir := filepath.Join(parts, name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			options += "," + option + "=" + dir
		}
		if err := unix.Mount("overlay", o.State, "overlay", 0, options); err != nil {
			t.Skipf("SKIPPED: no overlays here: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(o.State, unix.MNT_DETACH) })
	})
	if ok, why := h.runner.Mounts(); ok || !strings.Contains(why, "on an overlay itself") {
		t.Errorf("overlays on an overlay: %v, %s", ok, why)
	}
	for n, use := range []ledger.CacheUse{{Trusted: true}, {Name: "check", Anew: true}, {Trusted: true}} {
		l := h.launch(fmt.Sprintf("r1-c%d", n+1))
		if err := os.MkdirAll(h.work, 0o755); err != nil {
			t.Fatal(err)
		}
		l.Kind, l.Cache, l.Command = ledger.KindVerify, use, fmt.Sprintf("echo %d >>$GOCACHE/x; cat $GOCACHE/x", n)
		h.start(l)
		if x, want := h.wait(l.Session), []string{"0\n", "0\n1\n", "0\n2\n"}[n]; x.Tail != want {
			t.Errorf("%+v: the cache holds %q, want %q (%s)", use, x.Tail, want, x.Text)
		}
	}
}
