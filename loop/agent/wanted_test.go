package agent

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestWantedHosts holds that a probe reports the hosts that an agent's program asks
// for, lets nothing out, and leaves nothing behind.
func TestWantedHosts(t *testing.T) {
	for _, level := range []int{3, 2} {
		t.Run(fmt.Sprint("level ", level), func(t *testing.T) {
			h := newFixture(t, level)
			outside, got := listenForMark(t)
			_, port, _ := net.SplitHostPort(outside)
			h.script(fmt.Sprintf("%[1]s probe get http://models.example.org:%[2]s/\n%[1]s probe get http://login.example.org/\n%[1]s probe tcp %[3]s\nhat emit x\n", h.program(), port, outside))
			hosts, err := h.runner.WantedHosts(t.Context(), "mine")
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, u := range hosts {
				names = append(names, fmt.Sprintf("%s:%d refused %t", u.Host, u.Port, u.Refused != ""))
			}
			if s := strings.Join(names, ", "); s != "models.example.org:"+port+" refused true, login.example.org:80 refused true" {
				t.Errorf("wanted %s", s)
			}
			if n := got(); n > 0 {
				t.Errorf("%d connections arrived outside", n)
			}
			left, err := filepath.Glob(filepath.Join(h.state, "*", probeName+"*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// listenForMark listens on loopback, and returns its address and how many connections
// it has got.
func listenForMark(t *testing.T) (addr string, got func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	conns := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			conns <- struct{}{}
		}
	}()
	return l.Addr().String(), func() int { return len(conns) }
}
