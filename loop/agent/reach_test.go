package agent

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReachable compares the reported sockets with those to which a session can
// really connect, at every level.
func TestReachable(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		hidden := filepath.Join(t.TempDir(), "hidden")
		for _, d := range []string{filepath.Dir(filepath.Dir(hidden)), filepath.Dir(hidden)} {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(hidden, 0o755); err != nil {
			t.Fatal(err)
		}
		h := newFixture(t, level, func(o *Options) { o.Hide = append(o.Hide, hidden) })
		abstract := fmt.Sprintf("@np-reach-%d-%d", os.Getpid(), level)
		sockets := map[string]os.FileMode{
			filepath.Join(h.out, "open.sock"):    0o666,
			filepath.Join(h.out, "mine.sock"):    0o600, // for the daemon's user only
			filepath.Join(hidden, "hidden.sock"): 0o666,
			abstract:                             0,
		}
		var script strings.Builder
		for path, mode := range sockets {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			if mode != 0 {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
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
			fmt.Fprintf(&script, "%s connect %s >/dev/null && echo 'REACHED %s'\n", h.program(), path, path)
		}
		x := h.run("r1-1", script.String()+"echo end")
		if !strings.HasSuffix(x.Tail, "end\n") {
			t.Fatalf("the session did not get to its end: %+v", x)
		}
		reported := h.runner.Reachable()
		for path := range sockets {
			did := strings.Contains(x.Tail, "REACHED "+path+"\n")
			if says := slices.Contains(reported, path); says != did {
				t.Errorf("%s: a session connected: %v, Reachable says: %v", path, did, says)
			}
		}
		if !slices.Contains(reported, filepath.Join(h.out, "open.sock")) {
			t.Errorf("an open socket is not named: %q", reported)
		}
	})
}
