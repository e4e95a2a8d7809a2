package diskuse

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kind is a kind of content of a state folder. The texts are contracts: they are
// printed with --json.
type Kind string

// Kinds of content, in the order in which they are shown.
const (
	Ledger       Kind = "ledger"
	Attachments  Kind = "attachments" // pictures and voice notes that people sent
	Repositories Kind = "repositories"
	Runs         Kind = "runs"
	Sessions     Kind = "sessions"
	Caches       Kind = "caches" // what sessions and setup downloaded and built
	Setup        Kind = "setup"  // layers of setup, and the last room
	Logs         Kind = "logs"
	Backups      Kind = "backups"
	Programs     Kind = "programs" // copies of this program that sessions run from
	Rest         Kind = "rest"     // logins, keys
)

// kinds lists the paths of each kind: patterns of names in the state folder, and
// below those the pattern of the items that are counted.
var kinds = []struct {
	kind  Kind
	paths []string
	items string // relative to paths; "" counts the paths themselves
}{
	{Ledger, []string{"nightporter.db*"}, ""},
	{Attachments, []string{"attachments"}, "*"},
	{Repositories, []string{"repos"}, "*.git"},
	{Runs, []string{"runs"}, "*"},
	{Sessions, []string{"sessions"}, "*"},
	{Caches, []string{"caches", "cache"}, "*/*"},
	{Setup, []string{"rooms"}, "*/layers/*"},
	{Logs, []string{"*.log", "*.log.*", "*-*.log"}, ""},
	{Backups, []string{"backups", "backup-*"}, "*"},
	{Programs, []string{"bin"}, "*"},
}

// Usage is what a state folder takes on its disk.
type Usage struct {
	State string `json:"state"`
	Bytes int64  `json:"bytes"`
	Kinds []Use  `json:"kinds"`
	Free  uint64 `json:"free"` // bytes that are free on the disk
	Disk  uint64 `json:"disk"` // bytes of the disk
	// Unread counts folders that could not be read; their sizes are unknown.
	Unread int `json:"unread,omitempty"`
}

// Use is what one kind takes.
type Use struct {
	Kind   Kind      `json:"kind"`
	Bytes  int64     `json:"bytes"`
	Items  int       `json:"items"`
	Oldest time.Time `json:"oldest,omitzero"` // when the oldest item was changed last
}

// Of returns the use of one kind.
func (u Usage) Of(k Kind) Use {
	for _, use := range u.Kinds {
		if use.Kind == k {
			return use
		}
	}
	return Use{Kind: k}
}

// Look measures a state folder. Files that vanish meanwhile are left out.
func Look(ctx context.Context, state string) (Usage, error) {
	u := Usage{State: state}
	entries, err := os.ReadDir(state)
	if err != nil {
		return u, err
	}
	if u.Free, u.Disk, err = Disk(state); err != nil {
		return u, err
	}
	m := meter{ctx: ctx, seen: map[inode]bool{}}
	uses := make([]Use, 0, len(kinds)+1)
	rest := Use{Kind: Rest}
	taken := map[string]bool{}
	for _, k := range kinds {
		use := Use{Kind: k.kind}
		for _, e := range entries {
			if taken[e.Name()] || !matches(e.Name(), k.paths) {
				continue
			}
			taken[e.Name()] = true
			path := filepath.Join(state, e.Name())
			use.Bytes += m.size(path)
			items := []string{path}
			if k.items != "" && e.IsDir() {
				items = glob(path, k.items)
			}
			for _, item := range items {
				use.count(item)
			}
		}
		uses = append(uses, use)
	}
	for _, e := range entries {
		if !taken[e.Name()] {
			rest.Bytes += m.size(filepath.Join(state, e.Name()))
			rest.Items++
		}
	}
	u.Kinds, u.Unread = append(uses, rest), m.unread
	for _, use := range u.Kinds {
		u.Bytes += use.Bytes
	}
	return u, context.Cause(ctx)
}

func (u *Use) count(item string) {
	info, err := os.Lstat(item)
	if err != nil {
		return
	}
	u.Items++
	if at := info.ModTime(); u.Oldest.IsZero() || at.Before(u.Oldest) {
		u.Oldest = at
	}
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		if ok, err := filepath.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}

// glob returns the paths below dir that match a pattern, hidden ones left out.
// dir itself is no pattern: its name may look like one.
func glob(dir, pattern string) (found []string) {
	first, rest, more := strings.Cut(pattern, "/")
	entries, _ := os.ReadDir(dir) // one that cannot be read has nothing to count
	for _, e := range entries {
		if ok, err := filepath.Match(first, e.Name()); err != nil || !ok || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case !more:
			found = append(found, path)
		case e.IsDir():
			found = append(found, glob(path, rest)...)
		}
	}
	return found
}

// Disk returns the free bytes and the size of the disk that a folder is on.
func Disk(dir string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	block := uint64(s.Bsize) //nolint:unconvert // another type on other systems
	return uint64(s.Bavail) * block, s.Blocks * block, nil
}

type inode struct{ dev, ino uint64 }

// meter adds up the blocks of files. A file with several links counts once.
type meter struct {
	ctx    context.Context //nolint:containedctx // one measurement
	seen   map[inode]bool
	unread int
}

// size returns the bytes of all blocks of path and below it.
func (m *meter) size(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if m.ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				m.unread++
			}
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // it has vanished
		}
		s, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			bytes += info.Size()
			return nil
		}
		if s.Nlink > 1 && !info.IsDir() {
			id := inode{uint64(s.Dev), s.Ino} //nolint:unconvert // another type on other systems
			if m.seen[id] {
				return nil
			}
			m.seen[id] = true
		}
		bytes += s.Blocks * 512
		return nil
	})
	return bytes
}
