package cloud

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/exchange"
	"github.com/nightporter/nightporter/loop/ledger"
)

func parse(t testing.TB, text string) (*document, State) {
	t.Helper()
	d, err := parseDocument(".wreck-it-state.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.state()
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// TestRecordedBytes makes of each recorded text the one that another program
// wrote after it, by edits of what differs.
func TestRecordedBytes(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.before.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	equal := 0
	for _, file := range files {
		read := func(file string) (*document, State) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, s := parse(t, string(text))
			if got := d.with(s, s).text; string(got) != string(text) {
				t.Errorf("%s is not written back as it was:\n%s", file, got)
			}
			return d, s
		}
		before, was := read(file)
		want, is := read(strings.Replace(file, ".before.", ".after.", 1))
		got := before.with(was, is)
		// The other program takes out empty lists and a last newline, which a person
		// had left; it writes
		// task_statuses in a random order, and edits pending_merge_issues.
		for _, key := range []string{keyMemory, keyTracked} {
			if n, ok := got.at(key); ok && len(n.items) == 0 {
				got = got.remove(key)
			}
		}
		for _, key := range []string{keyStatuses, keyPending} {
			if theirs, ok := want.at(key); ok {
				got = got.set(string(want.text[theirs.start:theirs.end]), after(key), key)
			} else {
				got = got.remove(key)
			}
		}
		if strings.TrimSuffix(string(got.text), "\n") != strings.TrimSuffix(string(want.text), "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", file, got.text, want.text)
			continue
		}
		equal++
	}
	t.Logf("%d recorded steps, byte for byte", equal)
}

func TestEdits(t *testing.T) {
	next := func(s State) State {
		s.Phase, s.Iteration, s.Task, s.Issue, s.Prompt = AgentWorking, 1, "Task 5", 7, "a <b> & \"c\"\n\u2028é"
		s.Memory = append(s.Memory, "one", "two")
		s.Tracked = append(s.Tracked, TrackedRequest{Request: 9, Task: "Task 5"})
		s.Statuses = map[string]Status{"Task 5": StatusInProgress}
		return s
	}
	for _, c := range []struct{ name, text, want string }{
		{"new file", newState, "{\n  \"phase\": \"agent_working\",\n  \"iteration\": 1,\n  \"current_task_id\": \"Task 5\",\n  \"issue_number\": 7,\n  \"last_prompt\": \"a <b> & \\\"c\\\"\\n\u2028é\",\n  \"memory\": [\n    \"one\",\n    \"two\"\n  ],\n  \"tracked_prs\": [\n    {\n      \"pr_number\": 9,\n      \"task_id\": \"Task 5\"\n    }\n  ],\n  \"task_statuses\": {\n    \"Task 5\": \"inprogress\"\n  }\n}"},
		{"one line", `{"iteration":0,"x":1.50,"phase":"needs_trigger"}`, "{\"iteration\":1,\"x\":1.50,\"phase\":\"agent_working\",\"current_task_id\":\"Task 5\",\"issue_number\":7,\"last_prompt\":\"a <b> & \\\"c\\\"\\n\u2028é\",\"memory\":[\"one\",\"two\"],\"tracked_prs\":[{\"pr_number\":9,\"task_id\":\"Task 5\"}],\"task_statuses\":{\"Task 5\":\"inprogress\"}}"},
		{"one line with spaces", "{ \"phase\": \"needs_trigger\", \"memory\": [\"zero\"] }\n\n", "{ \"phase\": \"agent_working\", \"iteration\": 1, \"current_task_id\": \"Task 5\", \"issue_number\": 7, \"last_prompt\": \"a <b> & \\\"c\\\"\\n\u2028é\", \"memory\": [\"zero\", \"one\", \"two\"], \"tracked_prs\": [{\"pr_number\": 9, \"task_id\": \"Task 5\"}], \"task_statuses\": {\"Task 5\": \"inprogress\"} }\n\n"},
		{"tabs, CRLF, null, unknown keys", "{\r\n\t\"phase\" : \"needs_trigger\",\r\n\t\"current_task_id\" : null,\r\n\t\"mine\" : {\"a\":[1,  2]},\r\n\t\"memory\" : [\"zero\"]\r\n}\r\n", "{\r\n\t\"phase\" : \"agent_working\",\r\n\t\"iteration\" : 1,\r\n\t\"current_task_id\" : \"Task 5\",\r\n\t\"mine\" : {\"a\":[1,  2]},\r\n\t\"issue_number\" : 7,\r\n\t\"last_prompt\" : \"a <b> & \\\"c\\\"\\n\u2028é\",\r\n\t\"memory\" : [\"zero\", \"one\", \"two\"],\r\n\t\"tracked_prs\" : [\r\n\t\t{\r\n\t\t\t\"pr_number\" : 9,\r\n\t\t\t\"task_id\" : \"Task 5\"\r\n\t\t}\r\n\t],\r\n\t\"task_statuses\" : {\r\n\t\t\"Task 5\" : \"inprogress\"\r\n\t}\r\n}\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, was := parse(t, c.text)
			got := d.with(was, next(was))
			if string(got.text) != c.want {
				t.Fatalf("got\n%q\nwant\n%q", got.text, c.want)
			}
			_, is := parse(t, string(got.text))
			back := got.with(is, State{Phase: was.Phase, Iteration: was.Iteration, Memory: is.Memory})
			if _, s := parse(t, string(back.text)); s.Task != "" || len(s.Tracked) != 0 || len(s.Statuses) != 0 {
				t.Errorf("not removed: %s", back.text)
			}
		})
	}
}

func TestMalformed(t *testing.T) {
	deep := `{"phase":"needs_trigger","x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}"
	for _, c := range []struct {
		text string
		line int
		want string
	}{
		{"", 1, "empty"},
		{" \n\t", 1, "empty"},
		{"{\n  \"phase\": \"needs_trigger\",\n  \"iteration\": 1,\n}", 4, "no valid JSON"},
		{"{\"phase\": \"needs_trigger\"", 1, "no valid JSON"},
		{"{\n\"phase\": \"needs_trigger\",\n<<<<<<< HEAD\n}", 3, "no valid JSON"},
		{"[]", 1, "expected a JSON object"},
		{"\n\n{\n\"iteration\": 1}", 3, `"phase" is missing`},
		{"{\n\"phase\": \"need_trigger\"}", 2, `meant "needs_trigger"?`},
		{"{\n\"phase\": 3}", 2, "expected a text"},
		{"{\"phase\": \"completed\",\n\"phase\": \"completed\"}", 2, "twice"},
		{"{\"phase\": \"completed\",\n\"iteration\": \"1\"}", 2, "whole number"},
		{"{\"phase\": \"completed\",\n\n\"issue_number\": -1}", 3, "negative"},
		{"{\"phase\": \"completed\",\n\"memory\": [1]}", 2, "list of texts"},
		{"{\"phase\": \"completed\",\n\"tracked_prs\": {}}", 2, "list of objects"},
		{"{\"phase\": \"completed\",\n\"tracked_prs\": [\n1]}", 3, "expected an object"},
		{"{\"phase\": \"completed\",\n\"task_statuses\": []}", 2, "object of texts"},
		{"{\"phase\": \"completed\",\n\"nightporter\": {\"attempts\": \"x\"}}", 2, "own object"},
		{"{\"phase\": \"completed\",\n\"x\": \"\xff\"}", 2, "UTF-8"},
		{"\ufeff{\"phase\": \"completed\"}", 1, "byte order mark"},
		{deep, 1, "nested"},
	} {
		d, err := parseDocument("s.json", []byte(c.text))
		if err == nil {
			_, err = d.state()
		}
		var in *ledger.InputError
		if !errors.As(err, &in) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := in.Diagnostics[0]; got.Line != c.line || !strings.Contains(got.Text, c.want) || got.File != "s.json" {
			t.Errorf("%q: %d %s; want line %d, %s", c.text, got.Line, got.Text, c.line, c.want)
		}
	}
}

// TestNoStateFile: what cannot be a state file is the person's to mend, and neither
// a fault nor somebody's edit, which the next call would get over.
func TestNoStateFile(t *testing.T) {
	for says, make := range map[string]func(path string) error{
		"is a link to a file that is not there": func(path string) error { return os.Symlink("nowhere.json", path) },
		"is no regular file":                    func(path string) error { return unix.Mkfifo(path, 0o600) },
		"is larger than 8 MB": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, maxFile+1))
		},
	} {
		t.Run(says, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			_, _, err := read(t.Context(), path)
			in, ok := errors.AsType[*ledger.InputError](err)
			if !ok || !strings.Contains(in.Diagnostics[0].Text, says) || in.Diagnostics[0].Remedy == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestTrade puts a text back that somebody saved right before the exchange.
func TestTrade(t *testing.T) {
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "state.json")
	for file, text := range map[string]string{temp: "next", path: "theirs"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := exchange.Files(temp, path); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this file system exchanges no files")
	} else if err != nil {
		t.Fatal(err)
	}
	if err := exchange.Files(temp, path); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedError
	err := trade(temp, path, []byte("was"))
	if text, _ := os.ReadFile(path); !errors.As(err, &changed) || string(text) != "theirs" {
		t.Errorf("%v, the file has %q", err, text)
	}
	err = trade(temp, path, []byte("theirs"))
	if text, _ := os.ReadFile(path); err != nil || string(text) != "next" {
		t.Errorf("%v, the file has %q", err, text)
	}
}

// FuzzState edits whatever is a state file, and sees that nothing is lost.
func FuzzState(f *testing.F) {
	f.Add(newState, "note")
	f.Add(`{"phase":"completed","memory":["a"],"task_statuses":{"a":"failed"},"x":[{},[]]}`, "\x00\"")
	f.Add("{\r\n\t\"phase\" : \"agent_working\" , \"memory\":[ ]}\r\n", "é")
	f.Fuzz(func(t *testing.T, text, note string) {
		d, err := parseDocument("s.json", []byte(text))
		if err != nil {
			return
		}
		was, err := d.state()
		if err != nil {
			return
		}
		if got := d.with(was, was).text; string(got) != text {
			t.Fatalf("%q was written as %q", text, got)
		}
		next := was
		next.Phase, next.Iteration, next.Task, next.Issue = AgentWorking, was.Iteration+1, note, 0
		next.Memory = append(append([]string(nil), was.Memory...), note)
		next.Tracked = append(append([]TrackedRequest(nil), was.Tracked...), TrackedRequest{Request: 1 << 40, Task: note})
		next.Statuses = map[string]Status{note: StatusFailed}
		next.Own = Own{Task: note, Attempts: 2}
		_, is := parse(t, string(d.with(was, next).text))
		want := strings.ToValidUTF8(note, "\ufffd")
		if is.Task != want || is.Issue != 0 || is.Memory[len(was.Memory)] != want || is.Own.Task != want || fmt.Sprint(is.Memory[:len(was.Memory)]) != fmt.Sprint(was.Memory) {
			t.Fatalf("%q with %q became %+v", text, note, is)
		}
	})
}
