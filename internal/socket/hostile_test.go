package socket

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// requestHead is the beginning of a request with a valid version and token.
const requestHead = "POST /v1/emit HTTP/1.1\r\nNightporter-Api: 1\r\nHost: x\r\nNightporter-Token: " + token + "\r\n"

func body(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestHostileRequests(t *testing.T) {
	good := body(`{"type":"x"}`)
	tests := []struct {
		name string
		send string
		want string // prefix of the answer
		text string // part of the answer
		seen int    // requests that reach the handler
	}{
		{"good", requestHead + good, "HTTP/1.1 200", `"ok":true`, 1},
		{"no version", strings.Replace(requestHead, "Nightporter-Api: 1\r\n", "", 1) + good, "HTTP/1.1 426", "use hat or nightporter", 0},
		{"newer", strings.Replace(requestHead, "Api: 1", "Api: 2", 1) + good, "HTTP/1.1 426", "restart nightporter", 0},
		{"newer, wrong token, path and method", "GET /v9 HTTP/1.1\r\nNightporter-Api: 2\r\nHost: x\r\n\r\n", "HTTP/1.1 426", "restart nightporter", 0},
		{"older", strings.Replace(requestHead, "Api: 1", "Api: 0", 1) + good, "HTTP/1.1 426", "", 0},
		{"version is no number", strings.Replace(requestHead, "Api: 1", "Api: 1; drop", 1) + good, "HTTP/1.1 426", "", 0},
		{"wrong token", strings.Replace(requestHead, token, token+"x", 1) + good, "HTTP/1.1 401", "this session", 0},
		{"no token", strings.Replace(requestHead, "Nightporter-Token: "+token+"\r\n", "", 1) + good, "HTTP/1.1 401", "", 0},
		{"path", strings.Replace(requestHead, "/v1/emit", "/v1/command", 1) + good, "HTTP/1.1 404", "/v1/command", 0},
		{"path with dots", strings.Replace(requestHead, "/v1/emit", "/v1/../v1/emit", 1) + good, "HTTP/1.1 404", "", 0},
		{"method", strings.Replace(requestHead, "POST", "GET", 1) + "\r\n", "HTTP/1.1 405", "use POST", 0},
		{"no body", requestHead + body(""), "HTTP/1.1 400", "JSON object", 0},
		{"array", requestHead + body(`[]`), "HTTP/1.1 400", "JSON object", 0},
		{"syntax", requestHead + body(`{"type":}`), "HTTP/1.1 400", "at byte 9", 0},
		{"cut JSON", requestHead + body(`{"type":`), "HTTP/1.1 400", "in the middle", 0},
		{"wrong type", requestHead + body(`{"type":1}`), "HTTP/1.1 400", `field \"type\"`, 0},
		{"unknown field", requestHead + body(`{"type":"x","session":"r14-1"}`), "HTTP/1.1 400", `session`, 0},
		{"two objects", requestHead + body(`{"type":"x"}{"type":"y"}`), "HTTP/1.1 400", "follows", 0},
		{"no type", requestHead + body(`{"data":{}}`), "HTTP/1.1 400", "no type", 0},
		{"NUL", requestHead + body("{\"type\":\"x\x00\"}"), "HTTP/1.1 400", "", 0},
		{"not UTF-8", requestHead + body("{\"type\":\"\xff\"}"), "HTTP/1.1 400", "not UTF-8", 0},
		{"deep", requestHead + body(`{"type":"x","data":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}`), "HTTP/1.1 400", "", 0},
		{"nested", requestHead + body(`{"type":"x","data":`+nested(api.MaxDepth-1)+`}`), "HTTP/1.1 200", "", 1},
		{"nested too deep", requestHead + body(`{"type":"x","data":`+nested(api.MaxDepth)+`}`), "HTTP/1.1 400", "more than 64 levels", 0},
		{"deep as far as encoding/json goes", requestHead + body(`{"type":"x","data":`+nested(9998)+`}`), "HTTP/1.1 400", "more than 64 levels", 0},
		{"brackets in a text", requestHead + body(`{"type":"x","data":"\"`+strings.Repeat("[", 100)+`\\\"{"}`), "HTTP/1.1 200", "", 1},
		{"many lists", requestHead + body(`{"type":"x","data":[[]`+strings.Repeat(",[]", 100)+`]}`), "HTTP/1.1 200", "", 1},
		{"event too large", requestHead + body(`{"type":"x","data":`+string(largestEvent(1))+`}`), "HTTP/1.1 400", "at most 262144", 0},
		{"10 MB", requestHead + body(strings.Repeat("x", 10<<20)), "HTTP/1.1 413", "over 512 kB", 0},
		{"10 MB chunked", requestHead + "Transfer-Encoding: chunked\r\n\r\na00000\r\n" + strings.Repeat("x", 10<<20) + "\r\n0\r\n\r\n", "HTTP/1.1 413", "over 512 kB", 0},
		{"chunked", requestHead + "Transfer-Encoding: chunked\r\n\r\nc\r\n" + `{"type":"x"}` + "\r\n0\r\n\r\n", "HTTP/1.1 200", "", 1},
		{"length and chunked", requestHead + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nc\r\n" + `{"type":"x"}` + "\r\n0\r\n\r\n", "HTTP/1.1 ", "", -1},
		{"pipelined", requestHead + good + requestHead + good + requestHead + good, "HTTP/1.1 200", "Connection: close", 1},
		{"huge header", requestHead + "X: " + strings.Repeat("x", 1<<20) + "\r\n" + good, "HTTP/1.1 431", "", 0},
		{"many headers", requestHead + strings.Repeat("X: y\r\n", 1<<17) + good, "HTTP/1.1 431", "", 0},
		{"negative length", requestHead + "Content-Length: -1\r\n\r\n", "HTTP/1.1 400", "", 0},
		{"NULs", strings.Repeat("\x00", 64) + "\r\n\r\n", "HTTP/1.1 400", "", 0},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "HTTP/1.1 400", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &handler{emit: func(context.Context, string, api.Emit) (api.Reply, error) { return api.Reply{OK: true}, nil }}
			path := open(t, newSession(h, token, "s", discardLog, nil), defaults)
			got := exchangeRaw(t, path, tt.send)
			if !strings.HasPrefix(got, tt.want) || !strings.Contains(got, tt.text) {
				t.Errorf("answer %.300q, want %q with %q", got, tt.want, tt.text)
			}
			if strings.Contains(got, token) {
				t.Error("the token is in the answer")
			}
			if tt.seen >= 0 && len(h.seen) != tt.seen {
				t.Errorf("the handler got %.300v", h.seen)
			}
			if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{}); err != nil {
				t.Errorf("the next request: %v", err)
			}
		})
	}
}

func TestEmptyTokenRefusesAll(t *testing.T) {
	h := &handler{}
	path := open(t, newSession(h, "", "s", discardLog, nil), defaults)
	var r api.Reply
	if err := api.Call(t.Context(), path, "", api.PathGuidance, api.Empty{}, &r); err != nil || r.OK || len(h.seen) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// shortLimits are limits so short that a test can exceed them.
var shortLimits = limits{conns: 4, header: 50 * time.Millisecond, read: 100 * time.Millisecond, write: time.Minute}

// TestSlowCallers checks that callers that send slowly or not at all delay
// others only briefly, even if they take every connection.
func TestSlowCallers(t *testing.T) {
	h := &handler{}
	path := open(t, newSession(h, token, "s", discardLog, nil), shortLimits)
	for _, begin := range []string{"", "POST /v1/em", requestHead, requestHead + "Content-Length: 20\r\n\r\n{\"ty"} {
		for range 2 * shortLimits.conns {
			c, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write([]byte(begin)); err != nil {
				t.Fatal(err)
			}
		}
		if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{}); err != nil {
			t.Errorf("behind callers that sent %q: %v", begin, err)
		}
	}
}

// TestSlowHandler: a handler may take longer than the read deadline.
func TestSlowHandler(t *testing.T) {
	h := &handler{emit: func(ctx context.Context, _ string, _ api.Emit) (api.Reply, error) {
		select {
		case <-ctx.Done():
			return api.Reply{}, context.Cause(ctx)
		case <-time.After(4 * shortLimits.read):
			return api.Reply{OK: true}, nil
		}
	}}
	path := open(t, newSession(h, token, "s", discardLog, nil), shortLimits)
	var r api.Reply
	if err := api.Call(t.Context(), path, token, api.PathEmit, api.Emit{Type: "x"}, &r); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCallerHangsUp(t *testing.T) {
	ended := make(chan struct{})
	began := make(chan struct{})
	h := &handler{emit: func(ctx context.Context, _ string, _ api.Emit) (api.Reply, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return api.Reply{}, ctx.Err()
	}}
	path := open(t, newSession(h, token, "s", discardLog, nil), defaults)
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte(requestHead + body(`{"type":"x"}`))); err != nil {
		t.Fatal(err)
	}
	<-began
	c.Close()
	<-ended // the test times out otherwise
}
