package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestLogBeginsAnew: the log never grows without end, and no line is lost or
// torn where it begins anew.
func TestLogBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nightporter.log")
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	line := append(bytes.Repeat([]byte("x"), 1<<20-1), '\n')
	for range 25 {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range []string{path, path + ".1"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > maxLog || len(data)%len(line) != 0 {
			t.Errorf("%s has %d bytes", name, len(data))
		}
		lines += bytes.Count(data, []byte("\n"))
	}
	if lines != 25 {
		t.Errorf("%d lines of 25", lines)
	}
	again, err := openLog(path)
	if err != nil || again.size != 5<<20 {
		t.Errorf("opened again at %d, %v", again.size, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
