package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// landlockABI is the kernel's Landlock version, 0 where there is none.
func landlockABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// Versions of Landlock. Before 3, files outside can be cut to nothing; before
// 2, files cannot be moved between folders at all.
const (
	abiRefer    = 2
	abiTruncate = 3
)

// devices may be written in every boundary: nothing is kept in them.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}

// restrict puts this process, and what it becomes, under Landlock: it reads
// what is not hidden, writes the plan's folders, and reaches no process
// outside by signal or abstract socket where the kernel can refuse that.
// Paths are looked up now, so the mounts come before.
func restrict(p plan) error {
	abi := landlockABI()
	dirs := func(paths ...string) landlock.FSRule {
		r := landlock.RWDirs(paths...).IgnoreIfMissing().WithResolveUnix()
		if abi >= abiRefer {
			r = r.WithRefer()
		}
		return r
	}
	rules := []landlock.Rule{
		dirs(p.Write...),
		landlock.RWFiles(devices...).IgnoreIfMissing().WithIoctlDev(),
		landlock.RWDirs("/dev/pts").IgnoreIfMissing().WithIoctlDev(),
	}
	if p.Level >= 3 {
		// What is hidden is not there any more; /dev/shm is the session's own.
		rules = append(rules, landlock.RODirs("/").WithResolveUnix(), dirs("/dev/shm"))
	} else {
		rules = append(rules, readable(p)...)
	}
	cfg := landlock.V9
	cfg = landlock.MustConfig(cfg.HandledAccessFS, cfg.Scoped) // the network stays open
	if err := cfg.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// readable allows reading everything but what is hidden. Landlock knows no
// exceptions, so a folder that holds something hidden is not allowed but each
// of its other entries is. What appears in such a folder later cannot be read.
func readable(p plan) []landlock.Rule {
	var dirs, files []string
	var walk func(path string)
	walk = func(path string) {
		if slices.Contains(p.Hide, path) {
			return
		}
		fi, err := os.Lstat(path)
		if err != nil || fi.Mode()&os.ModeSymlink != 0 {
			return // a link's target has its own place in the walk
		}
		if !fi.IsDir() {
			files = append(files, path)
			return
		}
		if !slices.ContainsFunc(p.Hide, func(h string) bool { return within(h, path) }) {
			dirs = append(dirs, path)
			return
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return // who cannot list it had little use of it
		}
		for _, e := range entries {
			walk(filepath.Join(path, e.Name()))
		}
	}
	walk("/")
	for _, r := range p.Read {
		if slices.ContainsFunc(p.Hide, func(h string) bool { return within(r, h) }) {
			walk(r)
		}
	}
	return []landlock.Rule{
		landlock.RODirs(dirs...).IgnoreIfMissing().WithResolveUnix(),
		landlock.ROFiles(files...).IgnoreIfMissing().WithResolveUnix(),
	}
}
