package logging

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogRotation checks that the log's size is bounded and that rotation
// neither loses nor tears a line.
func TestLogRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nightporter.log")
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
	files, err := filepath.Glob(filepath.Join(dir, "nightporter*.log"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %q, %v", files, err)
	}
	lines := 0
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxLog<<20 || info.Size()%int64(len(line)) != 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %d bytes, mode %s", name, info.Size(), info.Mode())
		}
		lines += int(info.Size()) / len(line)
	}
	if lines != 25 {
		t.Errorf("%d lines of 25", lines)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Write(line); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 6<<20 {
		t.Errorf("opened again, it has %v, %v", info, err)
	}
}

// TestLogNotOpened checks that Open returns an error for an unwritable log.
func TestLogNotOpened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(file, "nightporter.log")); err == nil {
		t.Error("a log was opened below a file")
	}
}

// TestRedact checks that no token of a chat, an agent or a forge is logged.
func TestRedact(t *testing.T) {
	const token = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
	if got := Redact("Post \"https://api.telegram.org/bot" + token + "/getMe\": EOF"); strings.Contains(got, "AAHd") {
		t.Error(got)
	}
}
