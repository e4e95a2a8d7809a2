package settle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/settle"
)

// file is the file of a test, whose times are those of the test's clock.
type file struct {
	t    *testing.T
	path string
}

// open opens the file as an editor does, which truncates it or not.
func (f file) open(flag int) *os.File {
	editor, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|flag, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	f.touch(0)
	return editor
}

func (f file) write(editor *os.File, text string) {
	if err := editor.Truncate(0); err != nil {
		f.t.Error(err)
	}
	if _, err := editor.WriteAt([]byte(text), 0); err != nil {
		f.t.Error(err)
	}
	f.touch(0)
}

// touch gives the file the time that is this far from now.
func (f file) touch(from time.Duration) {
	at := time.Now().Add(from)
	if err := os.Chtimes(f.path, at, at); err != nil {
		f.t.Error(err)
	}
}

func (f file) read(ctx context.Context, own ...settle.Stamp) (string, error) {
	data, info, err := settle.Read(ctx, func() (*os.File, error) { return os.Open(f.path) }, 20, func(s settle.Stamp) bool { return len(own) > 0 && own[0] == s })
	if err == nil && info.Size() < int64(len(data)) {
		f.t.Errorf("%d bytes of a file of %d", len(data), info.Size())
	}
	return string(data), err
}

// own is the stamp of the file as it is.
func (f file) own() settle.Stamp {
	info, err := os.Stat(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	return settle.StampOf(info)
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		lease  bool                    // needs a system that can tell who has a file open
		editor func(f file) (own bool) // what happens to the file; what it leaves running goes on during the read
		want   string
		min    time.Duration // of the read
		max    time.Duration
	}{
		{"at rest", false, func(f file) bool { f.open(0).Close(); f.touch(-time.Hour); return false }, "old", 0, 0},
		{"of the future", false, func(f file) bool { f.touch(time.Hour); return false }, "old", 0, 0},
		{"just written", false, func(f file) bool { f.touch(0); return false }, "old", settle.Time, settle.Time},
		{"just written by us", false, func(f file) bool { f.touch(0); return true }, "old", 0, 0},
		{"longer than the limit", false, func(f file) bool {
			editor := f.open(0)
			f.write(editor, "a text of more than twenty bytes")
			editor.Close()
			return false
		}, "a text of more than ", settle.Time, settle.Time},
		{"empty", false, func(f file) bool { f.open(os.O_TRUNC).Close(); return false }, "", settle.EmptyTime, settle.EmptyTime},
		{"truncated, and slow to be written", true, func(f file) bool {
			editor := f.open(os.O_TRUNC)
			go func() {
				time.Sleep(settle.OpenTime / 2)
				f.write(editor, "new")
				editor.Close()
			}()
			return false
		}, "new", settle.OpenTime / 2, settle.OpenTime/2 + 2*settle.Time},
		{"open, and about to be truncated", true, func(f file) bool {
			editor := f.open(0)
			f.touch(-time.Hour)
			go func() {
				time.Sleep(settle.OpenTime / 2)
				f.write(editor, "new")
				editor.Close()
			}()
			return true
		}, "new", settle.OpenTime / 2, settle.OpenTime/2 + 2*settle.Time},
		{"open all day", true, func(f file) bool {
			editor := f.open(0)
			f.t.Cleanup(func() { editor.Close() })
			return false
		}, "old", settle.OpenTime, settle.OpenTime},
		{"truncated again and again", false, func(f file) bool {
			f.open(os.O_TRUNC).Close()
			go func() {
				for range 12 {
					time.Sleep(settle.EmptyTime / 4)
					f.open(os.O_TRUNC).Close()
				}
				editor := f.open(0)
				f.write(editor, "new")
				editor.Close()
			}()
			return false
		}, "new", 3 * settle.EmptyTime, 3*settle.EmptyTime + 2*settle.Time},
		{"written without end", false, func(f file) bool {
			f.touch(0)
			go func() {
				for range 200 {
					f.touch(0)
					time.Sleep(settle.Time / 2)
				}
			}()
			return false
		}, "old", time.Second, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.lease && runtime.GOOS != "linux" {
				t.Skip("SKIPPED: this system does not tell who has a file open")
			}
			f := file{t, filepath.Join(t.TempDir(), "file")}
			if err := os.WriteFile(f.path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				f.t = t
				var own []settle.Stamp
				if c.editor(f) {
					own = append(own, f.own())
				}
				began := time.Now()
				got, err := f.read(t.Context(), own...)
				if took := time.Since(began); err != nil || got != c.want || took < c.min || took > c.max {
					t.Errorf("read %q in %v, %v; want %q in %v to %v", got, took, err, c.want, c.min, c.max)
				}
				time.Sleep(settle.OpenTime) // until the editor has ended
			})
		})
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := (file{t, filepath.Join(dir, "none")}).read(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if got, err := (file{t, dir}).read(t.Context()); err == nil {
		t.Errorf("a folder: read %q", got)
	}
	f := file{t, filepath.Join(dir, "file")}
	f.open(0).Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
