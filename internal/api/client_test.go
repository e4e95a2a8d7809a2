package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestVersionText(t *testing.T) {
	if versionText != strconv.Itoa(Version) {
		t.Errorf("versionText is %s, Version %d", versionText, Version)
	}
}

// TestImports pins the imports of hat, which decide how long its start takes.
func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}module {{end}}{{.ImportPath}}", "github.com/nightporter/nightporter/cmd/hat")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := []string{"internal/api", "internal/guard", "internal/verb", "internal/hatcli", "cmd/hat"}
	for line := range strings.Lines(string(out)) {
		path := strings.TrimSpace(line)
		if module, ok := strings.CutPrefix(path, "module "); ok {
			if own, ok := strings.CutPrefix(module, "github.com/nightporter/nightporter/"); !ok || !slices.Contains(ours, own) {
				t.Errorf("hat imports %s", module)
			}
			continue
		}
		if path == "net" || strings.HasPrefix(path, "net/") || strings.HasPrefix(path, "crypto") || path == "runtime/cgo" {
			t.Errorf("hat imports %s", path)
		}
	}
}

// serveEach listens and calls f for each connection, with its number from 1.
func serveEach(t *testing.T, path string, f func(n int, c net.Conn)) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f(n, c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

// request reads one complete request from c.
func request(t *testing.T, c net.Conn) string {
	var all []byte
	one := make([]byte, 1)
	length := -1
	for {
		if _, err := c.Read(one); err != nil {
			t.Errorf("request: %v after %q", err, all)
			return ""
		}
		all = append(all, one[0])
		if head, ok := bytes.CutSuffix(all, []byte("\r\n\r\n")); ok {
			for line := range strings.SplitSeq(string(head), "\r\n") {
				if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
					length, _ = strconv.Atoi(v)
				}
			}
			break
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c, body); err != nil {
		t.Errorf("request body: %v", err)
	}
	return string(all) + string(body)
}

// answerText returns an answer as the daemon writes it.
func answerText(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nNightporter-Api: 1\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body)
}

func TestCallRequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	got := make(chan string, 1)
	serveEach(t, path, func(_ int, c net.Conn) {
		got <- request(t, c)
		io.WriteString(c, answerText(200, `{"ok":true,"receipt":"r1"}`))
	})
	reply := Reply{Text: "left over"}
	err := Call(t.Context(), path, "secret", PathEmit, Emit{Type: "x", Data: json.RawMessage(`{"a":"<&>"}`)}, &reply)
	if err != nil || !reply.OK || reply.Receipt != "r1" || reply.Text != "" {
		t.Errorf("reply %+v, %v", reply, err)
	}
	want := "POST /v1/emit HTTP/1.1\r\nNightporter-Api: 1\r\nHost: nightporter\r\nNightporter-Token: secret\r\n" +
		"Connection: close\r\nContent-Type: application/json\r\nContent-Length: 32\r\n\r\n" + `{"type":"x","data":{"a":"<&>"}}` + "\n"
	if g := <-got; g != want {
		t.Errorf("sent\n%q, want\n%q", g, want)
	}
}

func TestCallRepeats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	var requests []string
	ways := []func(c net.Conn){
		func(c net.Conn) {}, // hangs up without reading
		func(c net.Conn) { requests = append(requests, request(t, c)) }, // reads the request, then dies
		func(c net.Conn) {
			requests = append(requests, request(t, c))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nNightporter-Api: 1\r\nContent-Le")
		},
		func(c net.Conn) {
			requests = append(requests, request(t, c))
			s := answerText(200, `{"ok":true}`)
			io.WriteString(c, s[:len(s)-2])
		},
		func(c net.Conn) {
			requests = append(requests, request(t, c))
			io.WriteString(c, answerText(503, `{"ok":false,"text":"starting"}`))
		},
		func(c net.Conn) {
			requests = append(requests, request(t, c))
			io.WriteString(c, answerText(200, `{"ok":true,"receipt":"r9"}`))
		},
	}
	serveEach(t, path, func(n int, c net.Conn) { ways[n-1](c) })
	var reply Reply
	if err := Call(t.Context(), path, "t", PathEmit, Emit{Type: "x"}, &reply); err != nil || reply.Receipt != "r9" {
		t.Fatalf("reply %+v, %v", reply, err)
	}
	if len(requests) != 5 || len(slices.Compact(requests)) != 1 {
		t.Errorf("not the same request each time: %q", requests)
	}
}

// TestTry checks that Try does not repeat an unanswered request.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	var reply Reply
	if err := Try(t.Context(), path, "t", PathView, View{Name: ViewWatch}, &reply); !errors.Is(err, ErrLater) {
		t.Errorf("nobody there: %v, want ErrLater", err)
	}
	serveEach(t, path, func(n int, c net.Conn) {
		request(t, c)
		if n == 2 {
			io.WriteString(c, answerText(200, `{"ok":true,"text":"second"}`))
		}
	})
	if err := Try(t.Context(), path, "t", PathView, View{Name: ViewWatch}, &reply); !errors.Is(err, ErrLater) {
		t.Errorf("hung up: %v with %+v, want ErrLater", err, reply)
	}
	if err := Try(t.Context(), path, "t", PathView, View{Name: ViewWatch}, &reply); err != nil || reply.Text != "second" {
		t.Errorf("answered: %v with %+v", err, reply)
	}
}

func TestCallErrors(t *testing.T) {
	ok := `{"ok":true}`
	tests := []struct {
		name   string
		answer string
		want   error
		text   string
	}{
		{"version", answerText(426, `{"ok":false,"text":"update hat"}`), ErrVersion, "update hat"},
		{"no version", strings.Replace(answerText(200, ok), VersionHeader, "X", 1), ErrVersion, `version ""`},
		{"internal", answerText(500, `{"ok":false,"text":"oops"}`), ErrInternal, "oops"},
		{"not JSON", answerText(200, "<html>"), ErrAnswer, "status 200"},
		{"not HTTP", "220 smtp.example.org\r\n", ErrAnswer, "smtp"},
		{"no length", "HTTP/1.1 200 OK\r\n\r\n" + ok, ErrAnswer, "no Content-Length"},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n" + ok, ErrAnswer, "transfer encoding"},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", ErrAnswer, "two lengths"},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", ErrAnswer, "length"},
		{"huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", ErrAnswer, "at most"},
		{"header without colon", "HTTP/1.1 200 OK\r\nX\r\n\r\n", ErrAnswer, "header"},
		{"endless head", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead) + "\r\n\r\n", ErrAnswer, "head is over"},
		{"NUL", "HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n", ErrAnswer, "control"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			serveEach(t, path, func(n int, c net.Conn) {
				if n > 1 {
					t.Error("asked again")
				}
				request(t, c)
				io.WriteString(c, tt.answer)
			})
			var reply Reply
			err := Call(t.Context(), path, "t", PathTask, TaskQuery{}, &reply)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

func TestCallRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	serveEach(t, path, func(_ int, c net.Conn) {
		request(t, c)
		io.WriteString(c, answerText(401, `{"ok":true,"text":"not yours"}`))
	})
	var reply Reply
	if err := Call(t.Context(), path, "t", PathTask, TaskQuery{}, &reply); err != nil || reply.OK || reply.Text != "not yours" {
		t.Errorf("reply %+v, %v; want a refusal, whatever the body claims", reply, err)
	}
}

// TestCallRefusedEarly answers by a request's head, without reading the body.
func TestCallRefusedEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	serveEach(t, path, func(_ int, c net.Conn) {
		io.ReadFull(c, make([]byte, 100))
		io.WriteString(c, answerText(401, `{"ok":false,"text":"not yours"}`))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var reply Reply
	if err := Call(ctx, path, "t", PathNote, Note{Text: strings.Repeat("x", MaxBody-100)}, &reply); err != nil || reply.Text != "not yours" {
		t.Errorf("reply %+v, %v", reply, err)
	}
}

// TestCallGivesUp gives up on a daemon that hangs and on one that is absent.
func TestCallGivesUp(t *testing.T) {
	silent := filepath.Join(t.TempDir(), "s")
	hold := make(chan struct{})
	serveEach(t, silent, func(int, net.Conn) { <-hold })
	t.Cleanup(func() { close(hold) })
	for _, path := range []string{silent, filepath.Join(t.TempDir(), "absent")} {
		start := time.Now() // before the time-out begins, so that the time measured is not too short
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		var reply Reply
		err := Call(ctx, path, "t", PathTask, TaskQuery{}, &reply)
		cancel()
		if took := time.Since(start); !errors.Is(err, ErrLater) || took < 50*time.Millisecond {
			t.Errorf("%s: %v after %v, want ErrLater after 50ms", path, err, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := Call(ctx, silent, "t", PathTask, TaskQuery{}, &Reply{}); !errors.Is(err, ErrLater) || ctx.Err() == nil {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCallNotARequest(t *testing.T) {
	tests := []struct {
		name, socket, token string
		body                any
	}{
		{"no socket", "", "t", Empty{}},
		{"long path", "/" + strings.Repeat("x", MaxPath), "t", Empty{}},
		{"NUL in path", "/tmp/a\x00b", "t", Empty{}},
		{"line break in token", "/tmp/s", "secret\r\nX: y", Empty{}},
		{"broken JSON", "/tmp/s", "t", Emit{Type: "x", Data: json.RawMessage(`{`)}},
		{"too large", "/tmp/s", "t", Note{Text: strings.Repeat("x", MaxBody)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Call(t.Context(), tt.socket, tt.token, PathNote, tt.body, &Reply{})
			if !errors.Is(err, ErrRequest) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want ErrRequest without the token", err)
			}
		})
	}
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte(answerText(200, `{"ok":true}`)))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\n\n{}"))
	f.Add([]byte("HTTP/1.0 503 \r\nnightporter-api:\t1 \r\ncontent-length:0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readResponse(bytes.NewReader(in))
		// The answer must not depend on how the bytes arrive.
		slow, slowErr := readResponse(iotest.OneByteReader(bytes.NewReader(in)))
		if (err == nil) != (slowErr == nil) || whole.status != slow.status || !bytes.Equal(whole.body, slow.body) {
			t.Fatalf("whole %+v %v, slow %+v %v", whole, err, slow, slowErr)
		}
		if err != nil {
			if errors.Is(err, ErrLater) == errors.Is(err, ErrAnswer) {
				t.Fatalf("error is not exactly one of ErrLater and ErrAnswer: %v", err)
			}
			return
		}
		if whole.status < 200 || whole.status > 599 || len(whole.body) > len(in) {
			t.Fatalf("%+v", whole)
		}
		// An answer in the daemon's own form is read back; truncated anywhere,
		// it is an error and never misread.
		again := answerText(whole.status, string(whole.body))
		back, err := readResponse(strings.NewReader(again))
		if err != nil || back.status != whole.status || !bytes.Equal(back.body, whole.body) {
			t.Fatalf("%+v read back as %+v, %v", whole, back, err)
		}
		for n := range min(len(again), 200) {
			if _, err := readResponse(strings.NewReader(again[:len(again)-1-n])); !errors.Is(err, ErrLater) {
				t.Fatalf("without its last %d bytes: %v", n+1, err)
			}
		}
	})
}
