package workspace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// checkout returns a folder that is taken for a repository that is there.
func checkout(t *testing.T) string {
	t.Helper()
	repo := t.TempDir()
	must(t, os.Mkdir(filepath.Join(repo, ".git"), 0o755))
	return repo
}

// TestMirror: lines are appended to a file a run; the end is the last whole line of the
// newest file that has one, and a line that was cut off is gone.
func TestMirror(t *testing.T) {
	repo := checkout(t)
	m, house := NewMirror(repo, "shop"), NewMirror(repo, "")
	file := func(name string) string { return filepath.Join(repo, ".ralph", "events", name) }
	end := func(wantRun int, want string) {
		t.Helper()
		run, line, err := m.End(t.Context())
		if run != wantRun || string(line) != want || err != nil {
			t.Errorf("end: r%d %.40q, %v; want r%d %.40q", run, line, err, wantRun, want)
		}
	}
	end(0, "")
	long := strings.Repeat("x", 200<<10)
	must(t, errors.Join(
		m.Append(t.Context(), 0, []byte("zero\n")),
		m.Append(t.Context(), 9, []byte("nine\n"+long+"\n")),
		house.Append(t.Context(), 0, []byte("shared\n")),
		NewMirror(repo, "shop-r1").Append(t.Context(), 11, []byte("of another project\n")),
	))
	end(9, long)
	must(t, m.Append(t.Context(), 10, []byte("ten\n"+long)))
	end(10, "ten")
	if text, err := os.ReadFile(file("shop-r10.jsonl")); string(text) != "ten\n" || err != nil {
		t.Errorf("after a line that was cut off: %.40q, %v", text, err)
	}
	must(t, os.WriteFile(file("shop-r12.jsonl"), []byte("half a line"), 0o600))
	end(10, "ten")
	if info, err := os.Stat(file("house.jsonl")); err != nil || info.Mode() != 0o600 {
		t.Errorf("house.jsonl: %v, %v", info, err)
	}
	if ignored, err := os.ReadFile(filepath.Join(repo, ".ralph", ".gitignore")); string(ignored) != "*\n" || err != nil {
		t.Errorf(".gitignore: %q, %v", ignored, err)
	}

	must(t, m.SetAside(t.Context()))
	end(0, "")
	must(t, errors.Join(m.Append(t.Context(), 10, []byte("another ten\n")), m.SetAside(t.Context())))
	for name, want := range map[string]string{"shop-r10.jsonl.1.old": "ten\n", "shop-r10.jsonl.2.old": "another ten\n", "shop-r1-r11.jsonl": "of another project\n", "house.jsonl": "shared\n"} {
		if text, err := os.ReadFile(file(name)); string(text) != want || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestMirrorInTheWay: anything but plain files in a real folder is refused, and nothing
// outside is written.
func TestMirrorInTheWay(t *testing.T) {
	for name, put := range map[string]func(repo, outside string) error{
		"a link as .ralph": func(repo, outside string) error { return os.Symlink(outside, filepath.Join(repo, ".ralph")) },
		"a link as events": func(repo, outside string) error {
			return errors.Join(os.Mkdir(filepath.Join(repo, ".ralph"), 0o755), os.Symlink(outside, filepath.Join(repo, ".ralph", "events")))
		},
		"a link as a file": func(repo, outside string) error {
			dir := filepath.Join(repo, ".ralph", "events")
			return errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(filepath.Join(outside, "mine"), filepath.Join(dir, "shop-r1.jsonl")))
		},
		"a folder as a file": func(repo, _ string) error {
			return os.MkdirAll(filepath.Join(repo, ".ralph", "events", "shop-r1.jsonl"), 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo, outside := checkout(t), t.TempDir()
			mine := filepath.Join(outside, "mine")
			must(t, errors.Join(os.WriteFile(mine, []byte("mine"), 0o644), put(repo, outside)))
			m := NewMirror(repo, "shop")
			_, _, ended := m.End(t.Context())
			appended := m.Append(t.Context(), 1, []byte("line\n"))
			for what, err := range map[string]error{"End": ended, "Append": appended} {
				if _, is := errors.AsType[*ledger.InputError](err); !is {
					t.Errorf("%s: %v, want an error that says what is in the way", what, err)
				}
			}
			left, err := os.ReadDir(outside)
			if text, readErr := os.ReadFile(mine); len(left) != 1 || err != nil || readErr != nil || !bytes.Equal(text, []byte("mine")) {
				t.Errorf("outside: %v, %q", left, text)
			}
		})
	}
}
