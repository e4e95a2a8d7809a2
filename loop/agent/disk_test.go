package agent

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCommandOnFullDisk runs commands on a disk that fills up: one that fails
// for it is not red.
func TestCommandOnFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can mount a small disk")
	}
	h := newFixture(t, 0, func(o *Options) {
		if err := unix.Mount("none", o.State, "tmpfs", 0, "size=96m"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(o.State, unix.MNT_DETACH) })
	})
	if err := os.MkdirAll(h.work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.state, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, command string
		kind          ledger.Kind
		want          ledger.ExitReason
	}{
		{"full", `head -c 200M /dev/zero >"$TMPDIR/big"`, ledger.KindVerify, ledger.ExitDisk},
		{"setup", `head -c 200M /dev/zero >big`, ledger.KindSetup, ledger.ExitDisk},
		{"tidied", `rm -f big; head -c 200M /dev/zero >"$TMPDIR/big"; rm "$TMPDIR/big"; exit 1`, ledger.KindVerify, ledger.ExitDisk},
		{"agent", "", ledger.KindAgent, ledger.ExitDisk},
		{"red", `echo 'want 1, got 2'; exit 1`, ledger.KindVerify, ledger.ExitSelf},
		{"green", `head -c 200M /dev/zero 2>/dev/null >"$TMPDIR/big" || rm "$TMPDIR/big"`, ledger.KindVerify, ledger.ExitSelf},
	} {
		l := h.launch("r1-" + c.name)
		l.Kind, l.Command, l.Cache = c.kind, c.command, ledger.CacheUse{Name: "check", Anew: true}
		if c.kind == ledger.KindAgent {
			h.script(`cat >/dev/null; head -c 200M /dev/zero 2>/dev/null >"$TMPDIR/big"; exit 0`)
		}
		h.start(l)
		x := h.wait(l.Session)
		if x.Reason != c.want || x.Reason == ledger.ExitSelf && (x.Code == 0) != (c.name == "green") {
			t.Errorf("%s ended as %s %d: %s\n%s", c.name, x.Reason, x.Code, x.Text, x.Tail)
		}
		if err := os.RemoveAll(h.runner.folder(l.Session)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDiskJudged believes words of a full disk only where there is little
// space, and holds a disk against the command that filled it.
func TestFullDiskJudged(t *testing.T) {
	const words = "write /tmp/x: no space left on device\n"
	for _, c := range []struct {
		name   string
		now    space
		output string
		full   bool
	}{
		{"words, much space", space{30 << 30, true, 30 << 30}, words, false},
		{"words, little space", space{30 << 30, true, 1 << 30}, words, true},
		{"little space", space{1 << 30, true, 1 << 30}, "FAIL", false},
		{"no space", space{4096, true, 4096}, "FAIL", true},
		{"no space in a folder that is shared", space{30 << 30, true, 0}, "FAIL", false},
		{"no inodes", space{30 << 30, false, 30 << 30}, "FAIL", true},
	} {
		if got := c.now.isFull(c.output); got != c.full {
			t.Errorf("%s: full %v", c.name, got)
		}
	}
	for _, c := range []struct {
		before, wrote uint64
		want          bool
	}{{30 << 30, 29 << 30, true}, {30 << 30, 1 << 30, false}, {1 << 30, 1 << 30, false}} {
		if got := (space{c.before, true, c.before}).filledBy(c.wrote); got != c.want {
			t.Errorf("%d of %d bytes: filled %v", c.wrote, c.before, got)
		}
	}
}

// TestFalseDiskWords runs a test that only prints that the disk is full.
func TestFalseDiskWords(t *testing.T) {
	h := newFixture(t, 0)
	if now := freeSpace(h.state, nil); now.least < enoughDisk {
		t.Skipf("SKIPPED: this disk has only %d bytes free", now.least)
	}
	l := h.launch("r1-c1")
	l.Kind, l.Command = ledger.KindVerify, "echo 'ENOSPC: no space left on device'; exit 1"
	h.start(l)
	if x := h.wait(l.Session); x.Reason != ledger.ExitSelf || x.Code != 1 || !strings.Contains(x.Tail, "ENOSPC") {
		t.Errorf("ended as %s %d: %s", x.Reason, x.Code, x.Text)
	}
}
