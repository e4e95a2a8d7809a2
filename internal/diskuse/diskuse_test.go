package diskuse

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fsutil"
)

var now = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// put writes a file of 100 kB and gives the folder at its top the age of its last
// use.
func put(t *testing.T, state, name string, age time.Duration) {
	t.Helper()
	path := filepath.Join(state, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	touch(t, path, age)
}

func touch(t *testing.T, path string, age time.Duration) {
	t.Helper()
	if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
		t.Fatal(err)
	}
}

const day = 24 * time.Hour

// newState makes the caches of a project at work and of one that rests.
func newState(t *testing.T) string {
	state := t.TempDir()
	for name, age := range map[string]time.Duration{
		"caches/shop/base": 90 * day, "caches/shop/own": 40 * day, "caches/shop/task-1": 10 * day,
		"caches/blog/base": 90 * day, "caches/blog/old": 80 * day, "caches/blog/older": 85 * day,
		"caches/new/base": 90 * day, "caches/new/own": time.Hour,
	} {
		put(t, state, name+"/0/file", age)
		touch(t, filepath.Join(state, name), age)
	}
	for name, age := range map[string]time.Duration{"rooms/shop/layers/a": 60 * day, "rooms/shop/layers/b": 2 * day} {
		put(t, state, name+"/tree/file", age)
		put(t, state, name+"/layer.json", age)
	}
	// Go's module cache has folders that cannot be written.
	if err := os.Chmod(filepath.Join(state, "caches/blog/older/0"), 0o500); err != nil {
		t.Fatal(err)
	}
	return state
}

// left returns the caches and layers that are there, sorted.
func left(state string) []string {
	var names []string
	for _, i := range cacheItems(state) {
		rel, _ := filepath.Rel(state, i.path)
		names = append(names, rel)
	}
	slices.Sort(names)
	return names
}

func TestTrim(t *testing.T) {
	none := func(string) bool { return false }
	all := left(newState(t))
	for name, c := range map[string]struct {
		less int64 // bytes by which the bound is below what is there
		busy func(string) bool
		gone []string
	}{
		"room enough": {less: 0, busy: none},
		"oldest":      {less: 50_000, busy: none, gone: []string{"caches/blog/older"}},
		"by use, the base after what lies over it": {
			less: 400_000, busy: none,
			gone: []string{"caches/blog/base", "caches/blog/old", "caches/blog/older", "rooms/shop/layers/a"},
		},
		"busy":             {less: 50_000, busy: func(p string) bool { return p == "blog" }, gone: []string{"rooms/shop/layers/a"}},
		"all that may go":  {less: 10e6, busy: none, gone: slices.DeleteFunc(slices.Clone(all), func(n string) bool { return strings.HasPrefix(n, "caches/new/") })},
		"nothing may go":   {less: 10e6, busy: func(string) bool { return true }},
		"used an hour ago": {less: 10e6, busy: func(p string) bool { return p != "new" }},
	} {
		t.Run(name, func(t *testing.T) {
			state := newState(t)
			u, err := Look(t.Context(), state)
			if err != nil {
				t.Fatal(err)
			}
			done, err := Trim(t.Context(), state, u.Of(Caches).Bytes+u.Of(Setup).Bytes-c.less, now, c.busy)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return slices.Contains(c.gone, n) })
			if got := left(state); !slices.Equal(got, want) {
				t.Errorf("left %v\nwant %v", got, want)
			}
			if done.Items != len(c.gone) || (done.Freed > 0) != (len(c.gone) > 0) {
				t.Errorf("%+v, want %d dropped", done, len(c.gone))
			}
			u, err = Look(t.Context(), state)
			if have := u.Of(Caches).Bytes + u.Of(Setup).Bytes; err != nil || have < done.Left-100_000 || have > done.Left+100_000 {
				t.Errorf("%d bytes are left, %v; Trim says %d", have, err, done.Left)
			}
		})
	}
}

func TestLook(t *testing.T) {
	state := newState(t)
	for _, name := range []string{
		"nightporter.db", "nightporter.db-wal", "nightporter.log", "nightporter-2026-11-01T00-00-00.000.log", "backups/a.tar.gz",
		"repos/shop.git/objects/aa/b", "runs/r1/work/x", "sessions/r1-1/output.head", "sessions/r1-2/output.head", "bin/1/nightporter", "operator.key",
	} {
		put(t, state, name, day)
	}
	touch(t, filepath.Join(state, "sessions/r1-1"), 9*day)
	touch(t, filepath.Join(state, "sessions/r1-2"), 3*day)
	if err := os.Link(filepath.Join(state, "sessions/r1-1/output.head"), filepath.Join(state, "sessions/r1-2/again")); err != nil {
		t.Fatal(err)
	}
	u, err := Look(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	items := map[Kind]int{Ledger: 2, Repositories: 1, Runs: 1, Sessions: 2, Caches: 8, Setup: 2, Logs: 2, Backups: 1, Programs: 1, Rest: 1}
	var sum int64
	for _, use := range u.Kinds {
		sum += use.Bytes
		if use.Items != items[use.Kind] {
			t.Errorf("%s: %d items, want %d", use.Kind, use.Items, items[use.Kind])
		}
	}
	if s := u.Of(Sessions); s.Bytes < 200_000 || s.Bytes > 290_000 || !s.Oldest.Equal(now.Add(-9*day)) {
		t.Errorf("sessions %+v, want two files of 100 kB, the oldest 9 days ago", s)
	}
	if sum != u.Bytes || u.Free == 0 || u.Disk < u.Free {
		t.Errorf("%+v, want the sum %d", u, sum)
	}
}

// TestTrimBesideStart drops caches while sessions start that use them: a cache that
// was marked as used after it was listed stays, be the mark set before Trim takes
// the lock or while it waits for it.
func TestTrimBesideStart(t *testing.T) {
	for _, item := range []string{"caches/blog/old", "rooms/shop/layers/a"} {
		for _, waits := range []bool{false, true} {
			state := newState(t)
			dir, mark := filepath.Join(state, "caches/blog"), filepath.Join(state, item)
			if strings.HasPrefix(item, "rooms") {
				dir, mark = filepath.Join(state, "rooms/shop"), filepath.Join(mark, layerRecord)
			}
			once := false
			starts := func(project string) bool {
				if once || project != filepath.Base(dir) {
					return false
				}
				once = true
				unlock, err := fsutil.Lock(dir)
				if err != nil {
					t.Fatal(err)
				}
				start := func() {
					touch(t, mark, 0)
					unlock()
				}
				if waits {
					go start()
				} else {
					start()
				}
				return false
			}
			if _, err := Trim(t.Context(), state, 0, now, starts); err != nil {
				t.Fatal(err)
			}
			if got := left(state); !slices.Contains(got, item) || slices.Contains(got, "caches/shop/own") {
				t.Errorf("left %v, want %s and nothing that nobody uses", got, item)
			}
		}
	}
}
