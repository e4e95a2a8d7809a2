package adapter

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// pathOnlyCells lists the cells that only an agent found on PATH has.
var pathOnlyCells = []string{"Program", "Install", "Measured"}

// TestEveryCell: every cell of a row is set. A cell that does not apply
// has its empty value, which differs from the zero value.
func TestEveryCell(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range agents {
		if seen[a.Name] {
			t.Errorf("%s has two rows", a.Name)
		}
		seen[a.Name] = true
		row := reflect.ValueOf(*a)
		for i := range row.NumField() {
			cell := row.Type().Field(i).Name
			empty := row.Field(i).IsZero()
			switch {
			case slices.Contains(pathOnlyCells, cell) && a.Origin != FromPath:
				if !empty {
					t.Errorf("%s is not found on PATH, and has %s", a.Name, cell)
				}
			case empty:
				t.Errorf("%s lacks %s: where it does not apply, say so by its empty value", a.Name, cell)
			}
		}
	}
}

// TestHomeFiles: files of settings are JSON, which programs ignore in silence where it is
// broken, and those of programs that are told of the stop hook there name it.
func TestHomeFiles(t *testing.T) {
	for _, a := range agents {
		named := false
		for path, text := range a.Home {
			if strings.HasSuffix(path, ".json") && !json.Valid([]byte(text)) {
				t.Errorf("%s: %s is not JSON:\n%s", a.Name, path, text)
			}
			named = named || strings.Contains(text, `"command":"`+stopHookCommand+`"`) || strings.Contains(text, `"bash":"`+stopHookCommand+`"`)
		}
		if want := a.StopHook == HomeStopHook; named != want {
			t.Errorf("%s: its files name the stop hook: %v, want %v", a.Name, named, want)
		}
	}
}

// TestLogins: the row of an agent with a login has every field that login and
// sessions need.
func TestLogins(t *testing.T) {
	for _, name := range LoginNames() {
		l := Find(name).Login
		row := reflect.ValueOf(*l)
		for i := range row.NumField() {
			if row.Field(i).IsZero() {
				t.Errorf("the login of %s lacks %s", name, row.Type().Field(i).Name)
			}
		}
		if !strings.Contains(LoginHelp(), "nightporter login "+name+" ") {
			t.Errorf("the help does not say how to log in %s:\n%s", name, LoginHelp())
		}
		for file, path := range l.Home {
			if !slices.ContainsFunc(Secrets(), func(s string) bool { return path == s || strings.HasPrefix(path, s+"/") }) {
				t.Errorf("%s keeps %s in %s of a home, which no cell hides", name, file, path)
			}
		}
	}
}

// TestFind: every name that the configuration accepts has a row.
func TestFind(t *testing.T) {
	for _, name := range strings.Fields("claude codex opencode gemini qwen pi copilot demo") {
		if !slices.Contains(Names(), name) {
			t.Errorf("%s, which configurations name, is no agent any more", name)
		}
	}
	if outputs := Outputs(); !slices.Contains(outputs, Text) || !slices.Contains(outputs, Claude) || slices.Contains(outputs, Scripted) {
		t.Errorf("outputs: %q", outputs)
	}
	for output, want := range map[string]string{"": Text, Text: Text, Claude: Claude, Scripted: Scripted, Codex: Codex, Gemini: Gemini, Qwen: Qwen, "x": ""} {
		got := ""
		if a := FindOutput(output); a != nil {
			got = a.Name
		}
		if got != want {
			t.Errorf("output %q is read by %q, want %q", output, got, want)
		}
	}
	if Find(Text) != nil || Find("x") != nil {
		t.Error("Find takes a form of output")
	}
	if Find(Default) == nil {
		t.Errorf("the agent that works by default, %s, is not built", Default)
	}
}
