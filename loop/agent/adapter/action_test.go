package adapter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLastAction reads streams of real sessions as they grow: the actions in the
// order in which a person would see them.
func TestLastAction(t *testing.T) {
	for name, want := range map[string][]string{
		"claude/background-after-the-event": {"tail", "hat emit"},
		"claude/denied-rm-rf-keep":          {"rm"},
		"claude/faults-500-at-turn-2":       {"echo hi"},
		"claude/faults-401-at-turn-1":       nil,
		"codex/works":                       {"echo hi", "edits cart/total.go", "cat total.go"},
		"opencode/works":                    {"echo hi", "edits cart/total.go", "reads cart/total.go", "edits cart/total.go", "searches cart"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all := lines(data)
		var got []string
		for n := range all {
			if text := LastAction(all[:n+1], "/work").String(); text != "" && (len(got) == 0 || got[len(got)-1] != text) {
				got = append(got, text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestLastActionUnknown: what is no tool call of a known program is passed over,
// and a call that cannot be told is nothing, never the one before.
func TestLastActionUnknown(t *testing.T) {
	use := func(name, input string) string {
		return `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t1","name":"` + name + `","input":` + input + `}]}}`
	}
	test := use("Bash", `{"command":"npm test"}`)
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{"npm test", `{"broken`, `{}`, `{"type":"assistant"}`, `{"type":"user","message":{"content":"words"}}`}, ""},
		{[]string{test, `{"type":"user","message":{"content":"words"}}`, "from standard error"}, "npm test"},
		{[]string{test, use("TodoWrite", `{"todos":[]}`)}, "npm test"},
		{[]string{test, use("Bash", `{"command":["no","text"]}`)}, "uses Bash"},
		{[]string{test, use("Bash", `{"command":"if then"}`)}, ""},
		{[]string{test, use("Edit", `{"file_path":"/work/order/adapter.go","old_string":"a"}`)}, "edits order/adapter.go"},
		{[]string{test, use("Edit", `{"file_path":"/workshop/a.go"}`)}, "edits /workshop/a.go"},
		{[]string{test, use("NotebookEdit", `{"notebook_path":"/work/a.ipynb"}`)}, "edits a.ipynb"},
		{[]string{test, use("Grep", `{"pattern":"func New","path":"/work/x"}`)}, "searches x"},
		{[]string{test, use("Grep", `{"pattern":"hunter2"}`)}, "searches"},
		{[]string{test, use("WebFetch", `{"url":"https://u:p@x"}`)}, "reads the web"},
		{[]string{test, use("mcp__db__query", `{"limit":5}`)}, "uses mcp__db__query"},
		{[]string{test, `{"type":"item.started","item":{"type":"command_execution","command":["npm","test"]}}`}, ""},
		{[]string{test, `{"type":"item.completed","item":{"type":"file_change","changes":[]}}`}, ""},
		{[]string{test, `{"type":"item.started","item":{"type":"mcp_tool_call","server":"db","tool":"query"}}`}, "uses query"},
		{[]string{test, `{"type":"item.completed","item":{"type":"todo_list","items":[]}}`}, "npm test"},
		{[]string{test, `{"type":"tool_use","tool_id":"run_shell_command"}`}, "npm test"}, // of another program
		{[]string{test, `{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"go vet ./..."}}`}, "go vet"},
		{[]string{test, `{"type":"tool_use","tool_name":"replace","parameters":{"file_path":"/work/a.go"}}`}, "edits a.go"},
		{[]string{test, `{"type":"tool_use","tool_name":"update_topic","parameters":{}}`}, "npm test"},
	} {
		if got := LastAction(c.lines, "/work").String(); got != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}

// TestCommandWords: the program and its first argument, without what prepares
// it, and without options, which may carry a password.
func TestCommandWords(t *testing.T) {
	for command, want := range map[string]string{
		"":                                       "",
		"npm test":                               "npm test",
		"go test ./... -run X 2>&1 | tail -5":    "go test",
		"cd cart && CI=1 go vet ./...":           "go vet",
		"cd cart":                                "cd cart",
		"set -e; export KEY=hunter2; make check": "make check",
		"KEY=hunter2 ./deploy.sh prod":           "./deploy.sh prod",
		"KEY=hunter2":                            "",
		"env KEY=hunter2 FOO=1 npm ci":           "npm ci",
		"timeout -k 5 60 npm test":               "timeout",
		"timeout 60 npm test":                    "npm test",
		"timeout 60":                             "timeout",
		"nohup nice make all &":                  "make all",
		"time make all":                          "make all",
		"mysql -phunter2 shop":                   "mysql",
		"curl --user me:hunter2 https://x":       "curl",
		`/bin/bash -lc 'cd x && npm test'`:       "npm test",
		`bash -c "sh -c 'npm test'"`:             "npm test",
		`bash -e build.sh`:                       "bash",
		"bash build.sh now":                      "bash build.sh",
		`echo "two words" three`:                 "echo two words",
		`echo $HOME x`:                           "echo",
		`$EDITOR x`:                              "",
		`"$(which go)" test`:                     "",
		"/usr/bin/python3 /work/x/run.py":        "python3 x/run.py",
		"/work/bin/lint all":                     "bin/lint all",
		"cat > a.go <<'EOF'\npackage a\nEOF":     "cat",
		"for f in a b; do gofmt -w $f; done":     "gofmt",
		"cat > a.go <<'EOF'\n" + strings.Repeat("x\n", maxFrom): "cat",
		strings.Repeat("x", maxFrom+1):                          "",
		strings.Repeat("$(", maxFrom/2):                         "",
		"\x00\xff":                                              "",
		"(":                                                     "",
	} {
		if got := strings.Join(commandWords(command, "/work"), " "); got != want {
			t.Errorf("%.60q: %q, want %q", command, got, want)
		}
	}
}

// FuzzLastAction: no stream makes the reader fail, and every word stands in the
// text from which it was taken or is a verb of ours.
func FuzzLastAction(f *testing.F) {
	f.Add("cd x && npm test", "Edit", "/work/a")
	f.Add("bash -c '", "", "")
	f.Fuzz(func(t *testing.T, command, tool, path string) {
		if a := commandAction(command, "/work"); len(a.Words) > 2 {
			t.Errorf("%q: %q", command, a.Words)
		}
		line, err := json.Marshal(map[string]any{"type": "tool_use", "part": map[string]any{"tool": tool, "state": map[string]any{"input": map[string]string{"command": command, "filePath": path}}}})
		if err != nil {
			t.Fatal(err)
		}
		LastAction([]string{string(line), command}, "/work")
	})
}
