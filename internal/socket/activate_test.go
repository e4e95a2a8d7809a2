package socket

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestActivated accepts a passed socket at the operator's path, and refuses any
// other with the remedy. The tests of the program pass one through LISTEN_FDS.
func TestActivated(t *testing.T) {
	state := t.TempDir()
	passed := func(network, addr string) *os.File {
		t.Helper()
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		f, err := l.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	right := passed("unix", OperatorPath(state))
	elsewhere := passed("unix", filepath.Join(state, "other.sock"))
	linked := filepath.Join(t.TempDir(), "l")
	if err := os.Symlink(state, linked); err != nil {
		t.Fatal(err)
	}
	plain, err := os.CreateTemp(state, "")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for _, c := range []struct {
		name  string
		files []*os.File
		state string
		want  string // part of the error; "" for none
	}{
		{"right", []*os.File{right}, state, ""},
		{"by another name of the folder", []*os.File{right}, linked, ""},
		{"elsewhere", []*os.File{elsewhere}, state, "change ListenStream= or --state"},
		{"tcp", []*os.File{passed("tcp", "127.0.0.1:0")}, state, "listens at tcp"},
		{"two", []*os.File{right, elsewhere}, state, "2 sockets were passed"},
		{"no socket", []*os.File{plain}, state, "no listening socket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := activated(c.files, OperatorPath(c.state))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(OperatorPath(state)); err != nil {
				t.Errorf("closing took the manager's socket away: %v", err)
			}
		})
	}
	if l, err := Activated(state); l != nil || err != nil {
		t.Errorf("nothing was passed: %v, %v", l, err)
	}
}
