//go:build e2e

package systemd

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// botAddress is where the bot's platform is on a machine.
const botAddress = "127.0.0.1:8081"

// forward passes connections to botAddress on to an address of the host, until the
// machine is off.
func (m *machine) forward(to string) {
	m.t.Helper()
	l, err := m.listen()
	m.noError(err)
	off := m.off
	go func() { <-off; _ = l.Close() }()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = in.Close() }()
				out, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer func() { _ = out.Close() }()
				go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
}

// listen makes a listener in the network of the machine. It stays there although
// this process never does.
func (m *machine) listen() (net.Listener, error) {
	type result struct {
		l   net.Listener
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		space, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.init.Process.Pid))
		if err == nil {
			defer func() { _ = space.Close() }()
			err = unix.Setns(int(space.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			done <- result{err: err}
			return
		}
		l, err := net.Listen("tcp4", ":8081") // its loopback may still be down
		done <- result{l, err}
	}()
	r := <-done
	return r.l, r.err
}
