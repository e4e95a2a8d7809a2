package hatcli

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/verb"
)

// fakeServer serves a session's socket. It records requests and returns a fixed
// reply.
type fakeServer struct {
	asked []any
	reply api.Reply
	err   error
}

func (d *fakeServer) answer(q any) (api.Reply, error) {
	d.asked = append(d.asked, q)
	return d.reply, d.err
}

func (d *fakeServer) Emit(_ context.Context, _ string, e api.Emit) (api.Reply, error) {
	return d.answer(e)
}
func (d *fakeServer) Task(_ context.Context, _ string, q api.TaskQuery) (api.Reply, error) {
	return d.answer(q)
}
func (d *fakeServer) Guidance(context.Context, string) (api.Reply, error) {
	return d.answer(api.Empty{})
}
func (d *fakeServer) Note(_ context.Context, _, kind string, n api.Note) (api.Reply, error) {
	return d.answer([]any{kind, n})
}
func (*fakeServer) Throttled(context.Context, string, int) {}

func (d *fakeServer) Session(context.Context, string) (api.Reply, error) { return d.answer("session") }

func (d *fakeServer) Write(_ context.Context, _ string, w api.Write) (api.Reply, error) {
	return d.answer(w)
}

// hatRun is one run of hat against a real socket.
type hatRun struct {
	code        int
	out, errOut string
	asked       []any
}

func callHat(t *testing.T, d *fakeServer, stdin string, args ...string) hatRun {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := socket.Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s := socket.ServeSession(l, d, "token", "r1-1", log)
	env := map[string]string{api.EnvSocket: path, api.EnvToken: "token", api.EnvTask: "Task 5"}
	var out, errOut bytes.Buffer
	code := run(args, strings.NewReader(stdin), &out, &errOut, func(k string) string { return env[k] }, time.Second)
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return hatRun{code, out.String(), errOut.String(), d.asked}
}

func TestRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte("\ufeff{\n  \"a\": \"<b> & ü\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ok := api.Reply{OK: true, Receipt: "r1-1/7", Text: "Kept."}
	task := api.Reply{OK: true, Task: &api.Task{ID: "Task 5", Title: "Totals", Status: "active"}}
	event := func(typ, data string) api.Emit { return api.Emit{Type: typ, Data: json.RawMessage(data)} }
	tests := []struct {
		name  string
		args  []string
		stdin string
		reply api.Reply
		want  any
		out   string // part of the output
	}{
		{"emit without data", []string{"emit", "x.y"}, "", ok, event("x.y", "{}"), "Accepted x.y: r1-1/7\nKept.\n" + verb.SessionEnded},
		{"emit data", []string{"emit", "x.y", "--data", `{"n": 1.50, "u":"\u00fc", "n": 2}`}, "", ok, event("x.y", `{"n":1.50,"u":"\u00fc","n":2}`), verb.SessionEnded},
		{"emit data first, with =", []string{"emit", `--data={"a":"b=c"}`, "x.y"}, "", ok, event("x.y", `{"a":"b=c"}`), verb.SessionEnded},
		{"emit from file", []string{"emit", "x.y", "--data", "@" + file}, "", ok, event("x.y", `{"a":"<b> & ü"}`), verb.SessionEnded},
		{"emit from stdin", []string{"emit", "x.y", "--data", "-"}, `{"a":[]}`, ok, event("x.y", `{"a":[]}`), verb.SessionEnded},
		{"ask", []string{"ask", "A or B?", "--option", "A", "--option", "B", "--choice", "A"}, "", ok, event("question.asked", `{"text":"A or B?","options":["A","B"],"choice":"A"}`), verb.SessionEnded},
		{"ask without quotes", []string{"ask", "A", "or", "B?"}, "", ok, event("question.asked", `{"text":"A or B?","options":[]}`), verb.SessionEnded},
		{"task show", []string{"task", "show"}, "", task, api.TaskQuery{ID: "Task 5"}, "Task 5: Totals\nStatus: active\n"},
		{"task show id", []string{"task", "show", "Task", "6", "--json"}, "", task, api.TaskQuery{ID: "Task 6"}, `"status": "active"`},
		{"task list", []string{"task", "list"}, "", api.Reply{OK: true, Tasks: []api.Task{{ID: "Task 5", Title: "Totals", Status: "active", Current: true}, {ID: "Task 11", Title: "Rest", Status: "done"}}}, api.TaskQuery{}, "▸ Task 5   active  Totals\n  Task 11  done    Rest\n"},
		{"task list, none, json", []string{"task", "list", "--json"}, "", api.Reply{OK: true}, api.TaskQuery{}, "[]\n"},
		{"task add by flags", []string{"task", "add", "Round", "half up", "--scope", "cart/", "--depends-on", "3", "--depends-on", "4", "--acceptance", "1.005 becomes 1.01", "--priority", "P1", "--complexity", "3"}, "", ok,
			api.TaskQuery{Add: json.RawMessage(`{"title":"Round half up","scope":"cart/","depends_on":["3","4"],"acceptance":["1.005 becomes 1.01"],"priority":"P1","complexity":3}`)}, "Kept.\n"},
		{"task add", []string{"task", "add", "--data", `{"title":"x"}`}, "", ok, api.TaskQuery{Add: json.RawMessage(`{"title":"x"}`)}, "Kept.\n"},
		{"guidance", []string{"guidance"}, "", api.Reply{OK: true, Guidance: []api.Guidance{{ID: "g9", Text: "Wrap it", Bound: true}, {ID: "g10", Text: "Soon"}}}, api.Empty{}, "g9 (for you): Wrap it\ng10 (for information): Soon\nYour event"},
		{"no guidance", []string{"guidance"}, "", api.Reply{OK: true}, api.Empty{}, "There is no guidance.\n"},
		{"note", []string{"note", "the", "cache", "is", "cold"}, "", ok, []any{"note", api.Note{Text: "the cache is cold"}}, "Kept.\n"},
		{"note with a dash", []string{"note", "--", "--fast is slow"}, "", ok, []any{"note", api.Note{Text: "--fast is slow"}}, "Kept.\n"},
		{"memory add", []string{"memory", "add", "--kind", "decision", "half up"}, "", api.Reply{OK: true}, []any{"memory", api.Note{Kind: "decision", Text: "half up"}}, "Done.\n"},
		{"memory list", []string{"memory", "list"}, "", ok, []any{"memory", api.Note{}}, "Kept.\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := callHat(t, &fakeServer{reply: tt.reply}, tt.stdin, tt.args...)
			if got.code != api.ExitAccepted || got.errOut != "" {
				t.Errorf("exit %d, stderr %q", got.code, got.errOut)
			}
			if diff := cmp.Diff([]any{tt.want}, got.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if !strings.Contains(got.out, tt.out) {
				t.Errorf("stdout %q, want in it %q", got.out, tt.out)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		stdin string
		want  []string // in stderr
	}{
		{"nothing", nil, "", []string{"a command is missing", "hat emit TYPE"}},
		{"unknown command", []string{"emti"}, "", []string{`no command "emti"`, "hat emit TYPE"}},
		{"emit nothing", []string{"emit"}, "", []string{"which event?", "example:"}},
		{"data without flag", []string{"emit", "x", `{"a":1}`}, "", []string{"go after --data", `{"a":1}`}},
		{"no value", []string{"emit", "x", "--data"}, "", []string{"--data needs a value"}},
		{"twice", []string{"emit", "x", "--data", "{}", "--data", "{}"}, "", []string{"given twice"}},
		{"unknown flag", []string{"emit", "x", "--date", "{}"}, "", []string{"no flag --date"}},
		{"bare flag with value", []string{"task", "list", "--json=1"}, "", []string{"--json takes no value"}},
		{"empty data", []string{"emit", "x", "--data", " "}, "", []string{"is empty; write {}"}},
		{"array", []string{"emit", "x", "--data", "[1]"}, "", []string{"one JSON object", "begins with ["}},
		{"broken in the middle", []string{"emit", "x", "--data", `{"ü": tru}`}, "", []string{"line 1, column 10", "\n  {\"ü\": tru}\n           ^\n", "example:"}},
		{"broken in a later line", []string{"emit", "x", "--data", "-"}, "{\n  \"a\": 1,\n  \"b\" 2\n}", []string{"standard input is not JSON: line 3, column 7", "\n    \"b\" 2\n        ^\n"}},
		{"truncated", []string{"emit", "x", "--data", `{"a":`}, "", []string{"line 1, column 6", "unexpected end"}},
		{"two objects", []string{"emit", "x", "--data", `{}{}`}, "", []string{"line 1, column 3"}},
		{"not UTF-8", []string{"emit", "x", "--data", "-"}, "{\"a\":\"\xff\"}", []string{"not UTF-8"}},
		{"argument not UTF-8", []string{"note", "a\xff"}, "", []string{"not UTF-8"}},
		{"no file", []string{"emit", "x", "--data", "@nowhere.json"}, "", []string{"nowhere.json", "no such file"}},
		{"too large", []string{"emit", "x", "--data", "-"}, `{"a":"` + strings.Repeat("x", api.MaxEvent) + `"}`, []string{"at most 262144", "put long text into a file"}},
		{"endless", []string{"emit", "x", "--data", "-"}, strings.Repeat(" ", 5*api.MaxEvent), []string{"is over"}},
		{"ask nothing", []string{"ask", "--option", "A"}, "", []string{"what is the question?"}},
		{"choice is no option", []string{"ask", "?", "--option", "A", "--choice", "B"}, "", []string{`"B" is none of the options`}},
		{"task alone", []string{"task"}, "", []string{"list, show or add?"}},
		{"task add without a title", []string{"task", "add", "--scope", "cart/"}, "", []string{"title is missing"}},
		{"task add with both", []string{"task", "add", "x", "--data", `{"title":"x"}`}, "", []string{"or --data"}},
		{"task add too complex", []string{"task", "add", "x", "--complexity", "11"}, "", []string{"from 1 to 10"}},
		{"task other", []string{"task", "drop"}, "", []string{`no "drop"`}},
		{"guidance word", []string{"guidance", "now"}, "", []string{"only --json"}},
		{"note nothing", []string{"note"}, "", []string{"text is missing"}},
		{"memory other", []string{"memory", "drop"}, "", []string{`no "drop"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := callHat(t, &fakeServer{reply: api.Reply{OK: true}}, tt.stdin, tt.args...)
			if got.code != api.ExitUsage || len(got.asked) > 0 || got.out != "" {
				t.Errorf("exit %d, asked %v, stdout %q; want usage, nothing sent", got.code, got.asked, got.out)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.errOut, want) {
					t.Errorf("stderr:\n%s\nwant in it %q", got.errOut, want)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	got := callHat(t, &fakeServer{reply: api.Reply{Text: "build.complete needs files_modified"}}, "", "emit", "build.complete")
	want := hatRun{code: api.ExitRefused, errOut: "hat: refused: build.complete needs files_modified\n", asked: got.asked}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(hatRun{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLater(t *testing.T) {
	absent := map[string]string{api.EnvSocket: filepath.Join(t.TempDir(), "none"), api.EnvToken: "token"}
	var out, errOut bytes.Buffer
	code := run([]string{"emit", "x"}, nil, &out, &errOut, func(k string) string { return absent[k] }, 20*time.Millisecond)
	if code != api.ExitLater || out.Len() > 0 || !strings.Contains(errOut.String(), "exactly the same again") {
		t.Errorf("daemon absent: exit %d, %q, %q", code, out.String(), errOut.String())
	}
	if got := callHat(t, &fakeServer{err: context.DeadlineExceeded}, "", "guidance"); got.code != api.ExitLater || len(got.asked) != 1 {
		t.Errorf("daemon failed: exit %d after %d tries, want %d after one", got.code, len(got.asked), api.ExitLater)
	}
}

func TestOutsideSession(t *testing.T) {
	for _, env := range []map[string]string{{}, {api.EnvSocket: "/tmp/s"}, {api.EnvToken: "t"}} {
		var out, errOut bytes.Buffer
		code := run([]string{"guidance"}, nil, &out, &errOut, func(k string) string { return env[k] }, time.Second)
		if code != api.ExitUsage || !strings.Contains(errOut.String(), "only inside a session") {
			t.Errorf("env %v: exit %d, %q", env, code, errOut.String())
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-h"}, {"emit", "--help"}, {"ask", "-h"}, {"task", "--help"}, {"task", "list", "-h"}, {"guidance", "-h"}, {"note", "-h"}, {"memory", "-h"}, {"version"}} {
		var out, errOut bytes.Buffer
		code := Main(args, nil, &out, &errOut, func(string) string { return "" })
		if code != 0 || errOut.Len() > 0 || !strings.Contains(out.String(), "hat") {
			t.Errorf("%v: exit %d, %q, %q", args, code, out.String(), errOut.String())
		}
	}
}
