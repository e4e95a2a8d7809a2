package agent

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// connectHelper connects to a Unix socket from inside a session.
func connectHelper(path string) int {
	c, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_ = c.Close()
	fmt.Println("connected")
	return 0
}

// TestBoundary runs shell commands that a session must not be able to do. Each
// prints "BAD name" if it succeeds.
func TestBoundary(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level int) {
		if level == 1 {
			t.Skip("SKIPPED: level 1 refuses nothing, it compares")
		}
		home := t.TempDir()
		t.Setenv("HOME", home)
		for _, f := range []string{".ssh/id_ed25519", ".netrc", ".config/gh/hosts.yml", "open.txt"} {
			path := filepath.Join(home, f)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("s3cret"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join(home, ".ssh"), filepath.Join(home, "keys")); err != nil {
			t.Fatal(err)
		}
		for d := home; d != "/tmp" && len(d) > 5; d = filepath.Dir(d) {
			_ = os.Chmod(d, 0o755) // otherwise the file mode, not the boundary, would refuse
		}
		h := newFixture(t, level)
		for _, f := range []string{filepath.Join(h.state, "operator.key"), filepath.Join(h.out, "victim")} {
			if err := os.WriteFile(f, []byte("s3cret"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(f, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		owner := fmt.Sprintf("could() { name=$1; shift; if \"$@\" >/dev/null 2>&1; then echo \"BAD $name\"; fi; }; OUT=%s STATE=%s H=%s\n", h.out, h.state, home)
		x := h.run("r1-1", owner+`
could write-file sh -c "echo x >$OUT/new"
could write-over sh -c "echo x >$OUT/victim"
could append sh -c "echo x >>$OUT/victim"
could truncate truncate -s 0 $OUT/victim
could remove rm -f $OUT/victim
could rename mv $OUT/victim $OUT/other
could steal mv $OUT/victim .
could link ln $OUT/victim hard
could mkdir mkdir $OUT/dir
could write-tmp sh -c "echo x >/tmp/np-escape-$$"
could write-etc sh -c "echo x >/etc/np-escape"
could write-context sh -c "echo x >../CONTEXT/TASK.md"
could write-hat sh -c "echo x >>$(command -v hat)"
could replace-hat rm -f $(command -v hat)
could read-state cat $STATE/operator.key
could read-spec cat $STATE/sessions/r1-1/spec.json
could list-state sh -c "ls $STATE | grep -q operator.key"
could read-ssh cat $H/.ssh/id_ed25519
could read-by-old-link cat $H/keys/id_ed25519
could read-netrc sh -c "grep -q s3cret $H/.netrc"
could read-gh cat $H/.config/gh/hosts.yml
ln -s $H/.ssh sneaky; could read-by-link cat sneaky/id_ed25519
ln -s $OUT/new out; could write-by-link sh -c "echo x >out"
could signal-daemon kill -0 `+fmt.Sprint(os.Getpid())+`
could unmount umount $STATE
could unmount-user unshare -Urm umount -l $STATE
could mount unshare -Urm mount -t tmpfs none /mnt
cat $H/open.txt | grep -q s3cret || echo "BAD cannot read an open file"
echo x >$HOME/a && echo x >$TMPDIR/a && echo x >"$GOCACHE/a" && echo x >here && mkdir -p d && mv here d/here || echo "BAD cannot write its own"
echo x >/dev/null || echo "BAD no /dev/null"
echo end`)
		if x.Code != 0 || x.Tail != "end\n" {
			t.Errorf("exit %+v", x)
		}
		if data, err := os.ReadFile(filepath.Join(h.out, "victim")); string(data) != "s3cret" {
			t.Errorf("victim = %q, %v", data, err)
		}
	})
}

// TestBoundaryAttributes: sessions cannot change modes, owners and times of
// files outside. Landlock does not control these, so the read-only mount or the
// other user must refuse.
func TestBoundaryAttributes(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		if level < 3 && os.Geteuid() != 0 {
			t.Skipf("SKIPPED: below level 3 nothing refuses this to the same user (uid %d)", os.Geteuid())
		}
		h := newFixture(t, level)
		victim := filepath.Join(h.out, "victim")
		if err := os.WriteFile(victim, nil, 0o640); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(victim)
		if err != nil {
			t.Fatal(err)
		}
		x := h.run("r1-1", fmt.Sprintf(`cd %s; chmod 777 victim; chown 65534 victim; touch -d 2001-01-01 victim; chmod 700 .; id -u; grep -i capeff /proc/self/status; grep NoNewPrivs /proc/self/status`, h.out))
		after, err := os.Stat(victim)
		if err != nil {
			t.Fatal(err)
		}
		if before.Mode() != after.Mode() || !before.ModTime().Equal(after.ModTime()) || before.Sys().(*syscall.Stat_t).Uid != after.Sys().(*syscall.Stat_t).Uid {
			t.Errorf("changed: %v → %v\n%s", before, after, x.Tail)
		}
		uid := os.Geteuid()
		if uid == 0 {
			uid = nobody
		}
		if !strings.Contains(x.Tail, fmt.Sprintf("\n%d\n", uid)) || !strings.Contains(x.Tail, "CapEff:\t0000000000000000\n") || !strings.Contains(x.Tail, "NoNewPrivs:\t1\n") {
			t.Errorf("the session runs as:\n%s", x.Tail)
		}
	})
}

func TestSockets(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		listen := func(path string) {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			if err := os.Chmod(path, 0o666); err != nil {
				t.Fatal(err)
			}
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_ = c.Close()
				}
			}()
		}
		operator := filepath.Join(h.state, "np.sock")
		listen(operator)
		h.runner.o.BeforeStart = nil
		h.script(fmt.Sprintf("%[1]s connect %[2]s && echo operator; until [ -S $HAT_SOCKET ]; do sleep 0.01; done; %[1]s connect $HAT_SOCKET && echo hat", h.program(), operator))
		h.start(h.launch("r1-1"))
		listen(h.runner.SocketPath("r1-1")) // a daemon that adopts the session also listens after its start
		x := h.wait("r1-1")
		if !strings.Contains(x.Tail, "connected\nhat\n") {
			t.Errorf("hat's socket cannot be reached: %q", x.Tail)
		}
		if got := strings.Contains(x.Tail, "connected\noperator\n"); got && level == 3 {
			t.Errorf("the operator's socket can be reached: %q", x.Tail)
		} else {
			t.Logf("operator's socket reachable at level %d: %v", level, got)
		}
	})
}

// TestClosedFolders: the daemon runs as root and its folders are closed to
// other users. Level 3 shows the session its files under the same paths; the
// lower levels return a remedy.
func TestClosedFolders(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only a daemon started as root has another user's sessions")
	}
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, 0, func(o *Options) { o.MaxLevel = level })
		top := filepath.Dir(h.state)
		for _, d := range []string{top, h.state, filepath.Dir(h.work), filepath.Dir(filepath.Dir(h.work))} {
			if err := os.Chmod(d, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		got, why := h.runner.Level()
		if level < 3 {
			if got != 0 || !strings.Contains(strings.Join(why, ""), "chmod o+x "+top) {
				t.Errorf("level %d, %q", got, why)
			}
			return
		}
		if got != 3 {
			if supportedLevel() == 3 {
				t.Fatalf("level %d: %q", got, why)
			}
			t.Skipf("SKIPPED: no level 3: %q", why)
		}
		x := h.run("r1-1", `pwd; cat ../CONTEXT/TASK.md; echo x >x; ls `+top+`; ls `+h.out)
		if want := h.work + "\n# Task 5\nout\nstate\nagent.sh\n"; x.Tail != want {
			t.Errorf("tail = %q, want %q\n%s", x.Tail, want, h.log("r1-1"))
		}
	})
}

// TestHandOver: a hard link that a session makes to a file outside does not
// give it that file.
func TestHandOver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root hands folders over")
	}
	h := newFixture(t, 0)
	outside, inside, link := filepath.Join(h.out, "shadow"), filepath.Join(h.work, "mine"), filepath.Join(h.work, "shadow")
	for _, f := range []string{outside, inside} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(h.work, "sym")); err != nil {
		t.Fatal(err)
	}
	if err := h.runner.user.chownTree(h.work); err != nil {
		t.Fatal(err)
	}
	owner := func(f string) uint32 {
		fi, err := os.Lstat(f)
		if err != nil {
			t.Fatal(err)
		}
		return fi.Sys().(*syscall.Stat_t).Uid
	}
	if owner(outside) != 0 || owner(inside) != nobody || owner(h.work) != nobody {
		t.Errorf("owners: outside %d, inside %d, folder %d", owner(outside), owner(inside), owner(h.work))
	}
}

func TestRequired(t *testing.T) {
	h := newFixture(t, 1, func(o *Options) { o.Boundary = "required" })
	h.script("exit 0")
	if err := h.runner.Start(t.Context(), h.launch("r1-1")); err == nil || !strings.Contains(err.Error(), "required") {
		t.Errorf("Start = %v", err)
	}
	if err := h.runner.Check(t.Context(), "mine"); err == nil || !strings.Contains(err.Error(), "required") {
		t.Errorf("Check = %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	state := t.TempDir()
	for name, o := range map[string]Options{
		"relative state": {State: "state"},
		"no state":       {State: filepath.Join(state, "none")},
		"boundary":       {State: state, Boundary: "strong"},
		"credentials":    {State: state, Read: []string{filepath.Join(home, ".ssh", "keys")}},
		"state as cache": {State: state, Cache: []string{state}},
		"relative read":  {State: state, Projects: map[string]Grant{"a": {Read: []string{"x"}}}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParseUser(t *testing.T) {
	for _, c := range []struct {
		in       string
		euid     int
		uid, gid int
		bad      bool
	}{
		{"", 0, nobody, nobody, false},
		{"", 1000, -1, -1, false},
		{"1234", 0, 1234, 1234, false},
		{"1234:77", 0, 1234, 77, false},
		{"0", 0, 0, 0, true},
		{"root", 0, 0, 0, true},
		{"no-such-account-here", 0, 0, 0, true},
		{"1234:users", 0, 0, 0, true},
	} {
		u, err := parseUser(c.in, c.euid)
		if (err != nil) != c.bad || (!c.bad && (u.uid != c.uid || u.gid != c.gid)) {
			t.Errorf("parseUser(%q, %d) = %+v, %v", c.in, c.euid, u, err)
		}
	}
}
