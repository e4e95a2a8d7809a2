//go:build linux

package netfs

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// FS is a mounted file system.
type FS struct {
	Dir string // where it is mounted

	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
}

// Mount mounts a folder with limits until the test ends. Another process serves it: one
// that serves a file system cannot also start programs in it, because all of it stands
// still until they have entered their folder.
func Mount(t *testing.T, folder string, l Limits) *FS {
	t.Helper()
	program := filepath.Join(t.TempDir(), "netfsd")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/nightporter/nightporter/internal/fake/netfs/netfsd").CombinedOutput(); err != nil {
		t.Fatalf("build netfsd: %v\n%s", err, out)
	}
	limits, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	f := &FS{Dir: t.TempDir(), t: t}
	server := exec.Command(program, folder, f.Dir, string(limits)) //nolint:noctx // it ends when its input does
	if f.in, err = server.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	f.out = bufio.NewScanner(out)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.in.Close()
		if err := server.Wait(); err != nil {
			t.Errorf("unmount %s: %v", f.Dir, err)
			_ = unix.Unmount(f.Dir, unix.MNT_DETACH)
		}
	})
	if said := f.answer(); said != "mounted" {
		t.Skipf("no FUSE here: %s", said)
	}
	return f
}

// Hang makes every operation wait, as after the end of a server, until Resume.
func (f *FS) Hang() { f.ask("hang") }

// Resume ends a Hang.
func (f *FS) Resume() { f.ask("resume") }

func (f *FS) ask(what string) {
	f.t.Helper()
	if _, err := io.WriteString(f.in, what+"\n"); err != nil {
		f.t.Fatal(err)
	}
	if said := f.answer(); said != what {
		f.t.Fatalf("%s: netfsd says %q", what, said)
	}
}

func (f *FS) answer() string {
	f.out.Scan()
	return f.out.Text()
}
