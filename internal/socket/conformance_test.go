package socket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/api"
)

func TestSessionRoutes(t *testing.T) {
	tests := []struct {
		name string
		path string
		body any
		want any
	}{
		{"emit", api.PathEmit, api.Emit{Type: "x", Data: json.RawMessage(`{"n":1.50,"s":"<\u00fc>"}`)}, []any{"r14-25", api.Emit{Type: "x", Data: json.RawMessage(`{"n":1.50,"s":"<\u00fc>"}`)}}},
		{"largest event", api.PathEmit, api.Emit{Type: "x", Data: largestEvent(0)}, []any{"r14-25", api.Emit{Type: "x", Data: largestEvent(0)}}},
		{"task", api.PathTask, api.TaskQuery{ID: "Task 5"}, []any{"r14-25", api.TaskQuery{ID: "Task 5"}}},
		{"guidance", api.PathGuidance, api.Empty{}, []any{"r14-25"}},
		{"note", api.PathNote, api.Note{Text: "n"}, []any{"r14-25", KindNote, api.Note{Text: "n"}}},
		{"session", api.PathSession, api.Empty{}, []any{"r14-25"}},
		{"write", api.PathWrite, api.Write{Path: "/work/a.go"}, []any{"r14-25", api.Write{Path: "/work/a.go"}}},
		{"memory", api.PathMemory, api.Note{Kind: "k", Text: "n"}, []any{"r14-25", KindMemory, api.Note{Kind: "k", Text: "n"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &handler{}
			path := open(t, newSession(h, token, "r14-25", discardLog, nil), defaults)
			if err := api.Call(t.Context(), path, token, tt.path, tt.body, &api.Reply{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tt.want}, h.seen, asBytes); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// asBytes compares JSON byte by byte and prints it as text.
var asBytes = cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })

// largestEvent returns an event of the maximum size plus over bytes.
func largestEvent(over int) json.RawMessage {
	return json.RawMessage(`{"a":"` + strings.Repeat("x", api.MaxEvent+over-len(`{"a":""}`)) + `"}`)
}

func TestReplyArrivesWhole(t *testing.T) {
	want := api.Reply{
		OK: true, Text: "ü <b>\n\x00", Receipt: "r14-25/3", Data: json.RawMessage(`{"big":"` + strings.Repeat("y", 3<<20) + `"}`),
		Task: &api.Task{ID: "Task 5"}, Tasks: []api.Task{{ID: "a"}}, Guidance: []api.Guidance{{ID: "g1", Bound: true}},
	}
	h := &handler{emit: func(context.Context, string, api.Emit) (api.Reply, error) { return want, nil }}
	path := open(t, newSession(h, token, "s", discardLog, nil), defaults)
	var got api.Reply
	if err := api.Call(t.Context(), path, token, api.PathEmit, api.Emit{Type: "x"}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, asBytes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHandlerErrors(t *testing.T) {
	tests := []struct {
		name string
		do   func() (api.Reply, error)
		want error
		text string
	}{
		{"later", func() (api.Reply, error) { return api.Reply{}, fmt.Errorf("%w: the disk is full", api.ErrLater) }, api.ErrLater, "the disk is full"},
		{"internal", func() (api.Reply, error) { return api.Reply{}, errors.New("secret path") }, api.ErrInternal, "its log says why"},
		{"panic", func() (api.Reply, error) { panic("secret path") }, api.ErrInternal, "its log says why"},
		{"no JSON in the reply", func() (api.Reply, error) { return api.Reply{OK: true, Data: json.RawMessage("{")}, nil }, api.ErrInternal, "its log says why"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &handler{emit: func(context.Context, string, api.Emit) (api.Reply, error) { return tt.do() }}
			path := open(t, newSession(h, token, "s", discardLog, nil), defaults)
			err := api.Try(t.Context(), path, token, api.PathEmit, api.Emit{Type: "x"}, &api.Reply{})
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %v with %q", err, tt.want, tt.text)
			}
			if err := api.Call(t.Context(), path, token, api.PathGuidance, api.Empty{}, &api.Reply{}); err != nil {
				t.Errorf("the next request: %v", err)
			}
		})
	}
}

// TestHandlerErrorsRepeated: Call repeats a request that the handler defers,
// and none that fails otherwise.
func TestHandlerErrorsRepeated(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		want  error
		tries int
	}{
		{"later", api.ErrLater, nil, 3},
		{"internal", errors.New("secret path"), api.ErrInternal, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tries := 0
			h := &handler{emit: func(context.Context, string, api.Emit) (api.Reply, error) {
				if tries++; tries < 3 {
					return api.Reply{}, tt.err
				}
				return api.Reply{OK: true}, nil
			}}
			path := open(t, newSession(h, token, "s", discardLog, nil), defaults)
			var reply api.Reply
			err := api.Call(t.Context(), path, token, api.PathEmit, api.Emit{Type: "x"}, &reply)
			if !errors.Is(err, tt.want) || reply.OK != (tt.want == nil) || tries != tt.tries {
				t.Errorf("%+v, %v after %d tries, want %v after %d", reply, err, tries, tt.want, tt.tries)
			}
		})
	}
}

// TestRestartWithinWindow kills a daemon between its commit and its answer, and
// starts it again within the window: one event, one receipt.
func TestRestartWithinWindow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	var mu sync.Mutex
	kept := map[string]string{} // receipt by event
	took := make(chan struct{}, 1)
	dying := make(chan struct{})
	emit := func(answered bool) *handler {
		return &handler{emit: func(ctx context.Context, session string, e api.Emit) (api.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			key := session + e.Type + string(e.Data)
			if kept[key] == "" {
				kept[key] = fmt.Sprint("receipt-", len(kept)+1)
			}
			if !answered {
				took <- struct{}{}
				<-dying
				<-ctx.Done() // the caller never sees this reply
			}
			return api.Reply{OK: true, Receipt: kept[key]}, nil
		}}
	}
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	first := Serve(l, newSession(emit(false), token, "r14-25", discardLog, nil), discardLog)

	type result struct {
		reply api.Reply
		err   error
	}
	got := make(chan result, 1)
	go func() {
		var r result
		r.err = api.Call(t.Context(), path, token, api.PathEmit, api.Emit{Type: "x", Data: json.RawMessage(`{"a":1}`)}, &r.reply)
		got <- r
	}()
	<-took
	close(dying)
	if err := first.Close(cancelledContext()); err == nil {
		t.Error("closing by force reported nothing")
	}
	l, err = Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	second := Serve(l, newSession(emit(true), token, "r14-25", discardLog, nil), discardLog)
	r := <-got
	if r.err != nil || r.reply.Receipt != "receipt-1" || len(kept) != 1 {
		t.Errorf("%+v, %v, kept %v", r.reply, r.err, kept)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOperator(t *testing.T) {
	state := t.TempDir()
	if _, err := Operator(state); !errors.Is(err, ErrNoState) {
		t.Errorf("before any start: %v, want ErrNoState", err)
	}
	key, err := OperatorKey(state)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(OperatorPath(state), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	h := &handler{}
	s := Serve(l, NewOperator(h, key, discardLog), discardLog)
	defer s.Close(t.Context())
	c, err := Operator(state)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Command(t.Context(), api.Command{Text: "/pause", Project: "shop"}); err != nil || r.Text != "done" {
		t.Errorf("command: %+v, %v", r, err)
	}
	if r, err := c.View(t.Context(), api.View{Name: "status", Args: map[string]string{"a": "b"}}); err != nil || string(r.Data) != `{"run":"r14"}` {
		t.Errorf("view: %+v, %v", r, err)
	}
	sent, ok := h.seen[0].(api.Command)
	if !ok || !strings.HasPrefix(sent.Key, "cli:") || len(sent.Key) < 20 || sent.Text != "/pause" {
		t.Errorf("command arrived as %+v", h.seen[0])
	}
	// Neither a session's token nor an empty one is accepted.
	for _, wrong := range []string{token, "", key[1:]} {
		var r api.Reply
		if err := api.Call(t.Context(), OperatorPath(state), wrong, api.PathCommand, api.Command{Key: "k", Text: "/stop"}, &r); err != nil || r.OK {
			t.Errorf("key %q: %+v, %v", wrong, r, err)
		}
	}
	if len(h.seen) != 2 {
		t.Errorf("reached the handler: %v", h.seen[2:])
	}
	// A command without a key could not be recognized when it is repeated.
	var r api.Reply
	if err := api.Call(t.Context(), OperatorPath(state), key, api.PathCommand, api.Command{Text: "/stop"}, &r); err != nil || r.OK {
		t.Errorf("without a key: %+v, %v", r, err)
	}
}

func TestOperatorKey(t *testing.T) {
	state := t.TempDir()
	keys := make(chan string, 8)
	var wg sync.WaitGroup
	for range cap(keys) {
		wg.Go(func() {
			key, err := OperatorKey(state)
			if err != nil {
				t.Error(err)
			}
			keys <- key
		})
	}
	wg.Wait()
	first := <-keys
	for range cap(keys) - 1 {
		if k := <-keys; k != first || len(k) != 64 {
			t.Errorf("two keys: %q, %q", first, k)
		}
	}
	path := filepath.Join(state, "operator.key")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info.Mode(), err)
	}
	if left, err := os.ReadDir(state); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	spoil := map[string]func() error{
		"mode":    func() error { return os.Chmod(path, 0o640) },
		"content": func() error { return os.WriteFile(path, []byte("abc"), 0o600) },
		"empty":   func() error { return os.Truncate(path, 0) },
		"link": func() error {
			if err := os.Rename(path, path+".moved"); err != nil {
				return err
			}
			return os.Symlink(path+".moved", path)
		},
	}
	for name, f := range spoil {
		if err := errors.Join(os.RemoveAll(path), os.RemoveAll(path+".moved")); err != nil {
			t.Fatal(err)
		}
		if _, err := OperatorKey(state); err != nil {
			t.Fatal(err)
		}
		if err := f(); err != nil {
			t.Fatal(err)
		}
		if key, err := OperatorKey(state); err == nil || key != "" || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%s: %q, %v; want an error with the remedy", name, key, err)
		}
	}
	if _, err := OperatorKey(filepath.Join(state, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
