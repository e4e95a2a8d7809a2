package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// target is a socket to attack, and a token to show it.
type target struct{ socket, token string }

func (t target) dial() (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: t.socket})
}

// flood sends the same request from all workers, perSecond times a second.
func (t target) flood(ctx context.Context, perSecond int, path string, body []byte) {
	request := append([]byte(t.head(path, len(body))), body...)
	repeat(ctx, workers, perSecond, func() {
		if !t.exchange(ctx, request) {
			rest(ctx, time.Millisecond)
		}
	})
}

// exchange sends a request, and reads and drops the answer. It reports whether
// there was one.
func (t target) exchange(ctx context.Context, request []byte) bool {
	c, err := t.dial()
	if err != nil {
		return false
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_, _ = c.Write(request) // a refusal may come before all is written
	n, _ := io.Copy(io.Discard, c)
	return n > 0
}

// stream sends a body of a gigabyte in chunks.
func (t target) stream(ctx context.Context) {
	c, err := t.dial()
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	head := strings.Replace(t.head(api.PathEmit, 0), "Content-Length: 0", "Transfer-Encoding: chunked", 1)
	part := bytes.Repeat([]byte("x"), 1<<20)
	_, err = c.Write([]byte(head))
	for n := 0; n < stream && err == nil; n += len(part) {
		_, err = fmt.Fprintf(c, "%x\r\n%s\r\n", len(part), part)
	}
}

// files passes a hundred descriptors with each byte of a request.
func files(ctx context.Context, t target) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return
	}
	defer null.Close()
	fds := make([]int, 100)
	for n := range fds {
		fds[n] = int(null.Fd())
	}
	rights := syscall.UnixRights(fds...)
	repeat(ctx, workers, 0, func() {
		c, err := t.dial()
		if err != nil {
			rest(ctx, time.Millisecond)
			return
		}
		defer c.Close()
		for _, b := range []byte(t.head(api.PathEmit, 10)) {
			if _, _, err := c.WriteMsgUnix([]byte{b}, rights, nil); err != nil || ctx.Err() != nil {
				return
			}
		}
	})
}
