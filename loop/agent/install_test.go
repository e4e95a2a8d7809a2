package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestInstall: a folder of programs is used again for the same programs only. Go
// programs are told apart by their build ids, others by their content.
func TestInstall(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	id := buildID(self)
	if len(id) < 40 || bytes.Count(program, id) == 0 {
		t.Fatalf("the build id of this program is %q", id)
	}
	other := bytes.ReplaceAll(program, id, bytes.Repeat([]byte("x"), len(id)))
	state := t.TempDir()
	folders := map[string]string{}
	for _, c := range []struct {
		name    string
		content []byte
		same    string // as which one before
	}{
		{"a program", program, ""},
		{"the program again", program, "a program"},
		{"another build", other, ""},
		{"half of a program", program[:len(program)/2], ""},
		{"a script", []byte("#!/bin/sh\n"), ""},
		{"another script", []byte("#!/bin/sh\n:\n"), ""},
		{"the script again", []byte("#!/bin/sh\n"), "a script"},
	} {
		file := filepath.Join(t.TempDir(), "nightporter")
		if err := os.WriteFile(file, c.content, 0o755); err != nil {
			t.Fatal(err)
		}
		dir, err := install(Options{State: state, Self: file})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for name, earlier := range folders {
			if (earlier == dir) != (name == c.same) {
				t.Errorf("%s is in %s, %s in %s", c.name, dir, name, earlier)
			}
		}
		if got, err := os.ReadFile(filepath.Join(dir, "nightporter")); err != nil || !bytes.Equal(got, c.content) {
			t.Errorf("%s: %d bytes are installed, %v", c.name, len(got), err)
		}
		if c.same == "" {
			folders[c.name] = dir
		}
	}
}

// TestInstallMCP: `hat mcp` becomes the nightporter beside it, so that is installed
// for agents that are offered its tools, and for them alone.
func TestInstallMCP(t *testing.T) {
	program := func(name string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n# "+name+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	o := Options{State: t.TempDir(), Self: program("nightporter"), Hat: program("hat"), Shim: program("nightporter-shim")}
	for _, offered := range []bool{false, true} {
		o.Agents = map[string]Definition{"plain": {}, "tools": {MCP: offered}}
		dir, err := install(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "nightporter")); (err == nil) != offered {
			t.Errorf("tools offered %v: nightporter beside hat: %v", offered, err)
		}
	}
}
