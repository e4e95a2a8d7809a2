package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// landlockABI returns the kernel's Landlock version, 0 for none.
func landlockABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// First Landlock versions that control moving files between folders, and
// truncating files.
const (
	abiRefer    = 2
	abiTruncate = 3
)

// devices are writable at every level, because they store nothing. Of /dev a
// session reaches these alone: terminals, disks and cards are missing.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// applyLandlock puts this process and its successors under Landlock. They read
// everything that is not hidden, write the plan's folders, and cannot signal
// processes outside or connect to their abstract sockets, as far as the kernel
// supports it. Below level 3 they reach no terminal: the machine's belong to
// others. The rules apply to the files that the paths name now, so the
// mounts must exist before.
func applyLandlock(p plan) error {
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
	}
	if p.Level >= 3 {
		// The mounts have replaced the hidden paths; shared memory and
		// terminals belong to the session.
		rules = append(rules, landlock.RODirs("/").WithResolveUnix(), dirs("/dev/shm"),
			landlock.RWDirs("/dev/pts").IgnoreIfMissing().WithIoctlDev())
	} else {
		rules = append(rules, readRules(p)...)
	}
	cfg := landlock.V9
	cfg = landlock.MustConfig(cfg.HandledAccessFS, cfg.Scoped) // no rules for the network
	if err := cfg.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// readRules returns rules that allow reading everything that is not hidden.
// Landlock has no exceptions: a folder that contains a hidden path is itself
// not allowed, but all its other entries are. Entries created later in such a
// folder stay unreadable.
func readRules(p plan) []landlock.Rule {
	var dirs, files []string
	var walk func(path string)
	walk = func(path string) {
		if path == "/dev" || slices.Contains(p.Hide, path) {
			return // of /dev the rules for devices open what a session may have
		}
		fi, err := os.Lstat(path)
		if err != nil || fi.Mode()&os.ModeSymlink != 0 {
			return // the walk reaches a link's target by its own path
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
			return // a folder that cannot be listed is left out
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
