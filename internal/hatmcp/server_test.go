package hatmcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/internal/socket"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

// fakeServer is the daemon's side of a session's socket. It records requests.
type fakeServer struct {
	mu    sync.Mutex
	asked []any
	reply api.Reply
	err   error
}

func (f *fakeServer) answer(q any) (api.Reply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q)
	return f.reply, f.err
}

func (f *fakeServer) Emit(_ context.Context, _ string, e api.Emit) (api.Reply, error) {
	return f.answer(e)
}
func (f *fakeServer) Task(_ context.Context, _ string, q api.TaskQuery) (api.Reply, error) {
	return f.answer(q)
}
func (f *fakeServer) Guidance(context.Context, string) (api.Reply, error) {
	return f.answer("guidance")
}
func (f *fakeServer) Note(_ context.Context, _, kind string, n api.Note) (api.Reply, error) {
	return f.answer([]any{kind, n})
}
func (f *fakeServer) Session(context.Context, string) (api.Reply, error) { return f.answer("session") }
func (f *fakeServer) Write(_ context.Context, _ string, w api.Write) (api.Reply, error) {
	return f.answer(w)
}
func (*fakeServer) Throttled(context.Context, string, int) {}

// set sets the next reply, and returns what was asked before.
func (f *fakeServer) set(r api.Reply, err error) []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked, f.reply, f.err = nil, r, err
	return asked
}

// session is a session with a socket, and an agent's program with hat mcp in it.
type session struct {
	fake *fakeServer
	env  []string
	mcp  *mcp.ClientSession
}

func begin(t *testing.T) *session {
	t.Helper()
	s := &session{fake: &fakeServer{}}
	path := filepath.Join(t.TempDir(), "s")
	l, err := socket.Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	served := socket.ServeSession(l, s.fake, "token", "r1-1", slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = served.Close(context.Background()) })
	s.env = []string{api.EnvSocket + "=" + path, api.EnvToken + "=token", api.EnvTask + "=Task 5"}
	cmd := exec.Command(filepath.Join(programtest.BinDir(), "hat"), "mcp")
	cmd.Env = s.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if s.mcp, err = mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil); err != nil {
		t.Fatal(err, errs.String())
	}
	t.Cleanup(func() {
		// Closing its input ends it, with nothing to say.
		if err := s.mcp.Close(); err != nil || errs.Len() > 0 {
			t.Errorf("end: %v, stderr %q", err, errs.String())
		}
	})
	return s
}

// call calls a tool.
func (s *session) call(t *testing.T, name, arguments string) (text string, failed bool) {
	t.Helper()
	r, err := s.mcp.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text, r.IsError
}

// hat runs hat.
func (s *session) hat(t *testing.T, args ...string) (text string, failed bool) {
	t.Helper()
	cmd := exec.Command(filepath.Join(programtest.BinDir(), "hat"), args...)
	cmd.Env = s.env
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err != nil {
		return strings.TrimPrefix(strings.TrimSuffix(errs.String(), "\n"), "hat: "), true
	}
	return strings.TrimSuffix(out.String(), "\n"), false
}

// TestTools holds the tools that an agent is offered, and what is said of them.
func TestTools(t *testing.T) {
	s := begin(t)
	list, err := s.mcp.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(list.Tools, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "tools.txt", s.mcp.InitializeResult().Instructions+"\n\n"+string(text)+"\n")
}

// TestVerbs calls each verb as a tool and by hat: both ask the same of nightporter, and
// have the same answer, in the same words.
func TestVerbs(t *testing.T) {
	s := begin(t)
	done := api.Reply{OK: true, Text: "Kept.", Receipt: "r1-1/7"}
	tasks := api.Reply{OK: true, Tasks: []api.Task{{ID: "Task 5", Title: "Totals", Status: "active", Current: true}, {ID: "Task 11", Title: "Rest", Status: "done"}}}
	task := api.Reply{OK: true, Task: &api.Task{ID: "Task 5", Title: "Totals", Status: "active", Body: "Half up.", Acceptance: []string{"1.005"}}}
	guidance := api.Reply{OK: true, Guidance: []api.Guidance{{ID: "g9", Text: "Wrap it", Bound: true}}}
	refused := api.Reply{Text: "build.complete needs files_modified"}
	for _, c := range []struct {
		tool, arguments string
		hat             []string
		reply           api.Reply
		err             error
		fails           bool
	}{
		{tool: "emit", arguments: `{"type":"x.y"}`, hat: []string{"emit", "x.y"}, reply: done},
		{tool: "emit", arguments: `{"type":"x.y","data":{"n":1.50,"b":12345678901234567890,"a":"<ü>"}}`, hat: []string{"emit", "x.y", "--data", `{"n": 1.50, "b": 12345678901234567890, "a": "<ü>"}`}, reply: done},
		{tool: "emit", arguments: `{"type":"x.y","data":{}}`, hat: []string{"emit", "x.y"}, reply: refused, fails: true},
		{tool: "emit", arguments: `{"type":"x.y","data":{}}`, hat: []string{"emit", "x.y"}, err: errors.New("broken"), fails: true},
		{tool: "ask", arguments: `{"text":"A or B?","options":["A","B"],"choice":"A"}`, hat: []string{"ask", "A or B?", "--option", "A", "--option", "B", "--choice", "A"}, reply: done},
		{tool: "ask", arguments: `{"text":"Which?"}`, hat: []string{"ask", "Which?"}, reply: done},
		{tool: "task_list", arguments: `{}`, hat: []string{"task", "list"}, reply: tasks},
		{tool: "task_show", arguments: `{}`, hat: []string{"task", "show"}, reply: task},
		{tool: "task_show", arguments: `{"id":"Task 6"}`, hat: []string{"task", "show", "Task 6"}, reply: refused, fails: true},
		{tool: "task_add", arguments: `{"title":"Round","depends_on":["3"],"complexity":3}`, hat: []string{"task", "add", "Round", "--depends-on", "3", "--complexity", "3"}, reply: done},
		{tool: "task_add", arguments: `{"tasks":[{"title":"A"},{"title":"B"}]}`, hat: []string{"task", "add", "--data", `{"tasks":[{"title":"A"},{"title":"B"}]}`}, reply: done},
		{tool: "guidance", arguments: `{}`, hat: []string{"guidance"}, reply: guidance},
		{tool: "note", arguments: `{"text":"the cache is cold"}`, hat: []string{"note", "the cache is cold"}, reply: done},
		{tool: "memory_add", arguments: `{"text":"half up","kind":"decision"}`, hat: []string{"memory", "add", "--kind", "decision", "half up"}, reply: done},
		{tool: "memory_list", arguments: `{}`, hat: []string{"memory", "list"}, reply: done},
	} {
		t.Run(c.tool, func(t *testing.T) {
			s.fake.set(c.reply, c.err)
			got, failed := s.call(t, c.tool, c.arguments)
			asked := s.fake.set(c.reply, c.err)
			want, wantFailed := s.hat(t, c.hat...)
			if got != want || failed != wantFailed || failed != c.fails {
				t.Errorf("the tool fails %v with %q, hat %v with %q", failed, got, wantFailed, want)
			}
			if d := cmp.Diff(s.fake.set(api.Reply{}, nil), asked); d != "" || len(asked) != 1 {
				t.Errorf("asked (-hat +tool):\n%s", d)
			}
		})
	}
}

// TestInvalid checks that what is no request is a tool's error and is not sent.
func TestInvalid(t *testing.T) {
	s := begin(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"emit", `{}`, `missing properties: ["type"]`},
		{"emit", `{"type":""}`, "which event?"},
		{"emit", `{"type":"x","data":"{}"}`, `want "object"`},
		{"emit", `{"type":"x","Data":{}}`, "unexpected additional properties"},
		{"emit", `{"type":"x","data":{"a":"` + strings.Repeat("x", api.MaxEvent) + `"}}`, "data has 262152 bytes, at most 262144"},
		{"ask", `{"text":"?","options":["A"],"choice":"B"}`, `"B" is none of the options`},
		{"task_add", `{"titel":"x"}`, "unexpected additional properties"},
		{"note", `{"text":""}`, "text is missing"},
	} {
		if text, failed := s.call(t, c.tool, c.arguments); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s %.100s: fails %v, %q; want in it %q", c.tool, c.arguments, failed, text, c.want)
		}
	}
	if asked := s.fake.set(api.Reply{}, nil); len(asked) > 0 {
		t.Errorf("sent: %v", asked)
	}
}

// TestCalls checks that calls at the same time have answers of their own.
func TestCalls(t *testing.T) {
	s := begin(t)
	s.fake.set(api.Reply{OK: true}, nil)
	var wg sync.WaitGroup
	var all []string
	for range 8 {
		wg.Go(func() {
			text, failed := s.call(t, "note", `{"text":"x"}`)
			if failed {
				t.Error(text)
			}
		})
	}
	wg.Wait()
	for _, a := range s.fake.set(api.Reply{}, nil) {
		all = append(all, a.([]any)[1].(api.Note).Text)
	}
	if want := slices.Repeat([]string{"x"}, 8); !slices.Equal(all, want) {
		t.Errorf("notes: %v", all)
	}
}
