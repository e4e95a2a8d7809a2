package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// Sizes of attacks.
const (
	connections = 5000
	workers     = 16 // that send requests one after another
	large       = 10 << 20
	stream      = 1 << 30
	depth       = 100_000
	perSecond   = 10_000
	flood       = 100 << 20 // bytes of output
)

// attack does its harm until ctx ends.
type attack func(ctx context.Context, t target)

// attacks is the table of all attacks, by name.
var attacks = map[string]attack{
	"idle":    func(ctx context.Context, t target) { hold(ctx, t, "", 0) },
	"slow":    func(ctx context.Context, t target) { hold(ctx, t, t.head(api.PathEmit, 1000), time.Second) },
	"connect": connect,
	"large":   func(ctx context.Context, t target) { t.flood(ctx, 0, api.PathEmit, bytes.Repeat([]byte("x"), large)) },
	"stream":  func(ctx context.Context, t target) { repeat(ctx, 2, 0, func() { t.stream(ctx) }) },
	"deep":    func(ctx context.Context, t target) { t.flood(ctx, 0, api.PathEmit, deep()) },
	"odd":     odd,
	"emit": func(ctx context.Context, t target) {
		t.flood(ctx, perSecond, api.PathEmit, event("no.such.event", 200))
	},
	"events": func(ctx context.Context, t target) { t.flood(ctx, 0, api.PathEmit, event("plan.complete", 200<<10)) },
	"note":   func(ctx context.Context, t target) { t.flood(ctx, perSecond, api.PathNote, note()) },
	"tasks":  func(ctx context.Context, t target) { t.flood(ctx, perSecond, api.PathTask, []byte("{}")) },
	"token": func(ctx context.Context, t target) {
		t.token = strings.Repeat("0", 64)
		t.flood(ctx, perSecond, api.PathEmit, event("plan.complete", 200))
	},
	"files":   files,
	"lines":   func(ctx context.Context, _ target) { print(ctx, []byte("one line of many\n")) },
	"oneline": func(ctx context.Context, _ target) { print(ctx, []byte("no line break ")) },
	"escapes": func(ctx context.Context, _ target) {
		print(ctx, []byte("\x1b[2J\x1b]0;title\a\x1b[31m\x9b\x00\u202e\r"))
	},
}

// hold keeps connections open that send start and then a byte each pause. One
// that the daemon closes is opened again.
func hold(ctx context.Context, t target, start string, pause time.Duration) {
	repeat(ctx, connections, 0, func() {
		c, err := t.dial()
		if err != nil {
			rest(ctx, 100*time.Millisecond)
			return
		}
		defer c.Close()
		defer context.AfterFunc(ctx, func() { _ = c.Close() })()
		if _, err := c.Write([]byte(start)); err != nil {
			return
		}
		if pause == 0 {
			_, _ = c.Read(make([]byte, 1))
			return
		}
		for err == nil && ctx.Err() == nil {
			rest(ctx, pause)
			_, err = c.Write([]byte("x"))
		}
	})
}

// connect opens and closes connections as fast as it goes.
func connect(ctx context.Context, t target) {
	repeat(ctx, workers, 0, func() {
		if c, err := t.dial(); err == nil {
			_ = c.Close()
		} else {
			rest(ctx, time.Millisecond)
		}
	})
}

// deep is an event whose data is nested as deep as a request is large.
func deep() []byte {
	return []byte(`{"type":"plan.complete","data":{"summary":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}}`)
}

// odd sends what parsers disagree about.
func odd(ctx context.Context, t target) {
	bodies := [][]byte{
		[]byte(`{"type":"plan.complete","data":{"summary":"x","n":` + strings.Repeat("9", 100_000) + `}}`),
		[]byte(`{"type":"plan.complete","data":{"summary":"x","n":1e999999999}}`),
		[]byte(`{"type":"plan.complete","type":"blocked","data":{` + strings.Repeat(`"summary":"x",`, 10_000) + `"summary":"y"}}`),
		[]byte("{\"type\":\"plan.complete\",\"data\":{\"summary\":\"\xff\xfe\"}}"),
		[]byte("{\"type\":\"plan.complete\",\"data\":{\"summary\":\"\x00\"}}"),
		[]byte(`{"type":"` + strings.Repeat(`\u0000`, 40_000) + `","data":{}}`),
	}
	for _, body := range bodies {
		go t.flood(ctx, perSecond/len(bodies), api.PathEmit, body)
	}
	<-ctx.Done()
}

func event(kind string, size int) []byte {
	data, _ := json.Marshal(map[string]string{"summary": strings.Repeat("y", size)}) // strings are JSON
	body, _ := json.Marshal(api.Emit{Type: kind, Data: data})
	return body
}

func note() []byte {
	body, _ := json.Marshal(api.Note{Text: strings.Repeat("z", 1000)}) // is JSON
	return body
}

// print writes text to both outputs until 100 MB are written.
func print(ctx context.Context, text []byte) {
	part := bytes.Repeat(text, 64<<10/len(text))
	for n := 0; n < flood && ctx.Err() == nil; n += 2 * len(part) {
		_, _ = os.Stdout.Write(part)
		_, _ = os.Stderr.Write(part)
	}
	<-ctx.Done()
}

// repeat calls do from n goroutines until ctx ends, perSecond times a second in
// all; 0 is without a limit.
func repeat(ctx context.Context, n, perSecond int, do func()) {
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			for began, k := time.Now(), 1; ctx.Err() == nil; k++ {
				do()
				if perSecond > 0 {
					due := began.Add(time.Duration(k*n) * time.Second / time.Duration(perSecond))
					rest(ctx, time.Until(due))
				}
			}
		})
	}
	wait.Wait()
}

func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// head is the beginning of a request whose body has so many bytes.
func (t target) head(path string, size int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\n%s: %d\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n", path, api.VersionHeader, api.Version, api.TokenHeader, t.token, size)
}
