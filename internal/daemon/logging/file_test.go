package logging

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogBeginsAnew checks that the log's size is bounded and that rotation
// neither loses nor tears a line.
func TestLogBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nightporter.log")
	l, err := Open(path)
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
	again, err := Open(path)
	if err != nil || again.size != 5<<20 {
		t.Errorf("opened again at %d, %v", again.size, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRedact checks that no token of a chat, an agent or a forge is logged.
func TestRedact(t *testing.T) {
	const token = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	if got := Redact("Post \"https://api.telegram.org/bot" + token + "/getMe\": EOF"); strings.Contains(got, "AAHd") {
		t.Error(got)
	}
}
