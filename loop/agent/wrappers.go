package agent

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/loop/ledger"
)

// makeWrappers puts a wrapper in front of each installed program that the
// session's hat is denied a use of (docs/spec 12.1). own are the folders that the
// session may write. Like prepare, it can be done again.
//
// Commands of the project go without: they are what the daemon runs to check
// the work, and a test that pushes by force to a repository of its own is as
// good as any other there.
func (r *Runner) makeWrappers(box string, l ledger.Launch, own []string) error {
	rules := guard.Rules{Hat: l.Hat, Denied: l.Denied, Protected: l.Protected, Roots: own}
	dir := filepath.Join(box, boxWrap)
	if err := makeDir(dir, 0o755); err != nil {
		return err
	}
	data, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	if err := fsutil.Replace(filepath.Join(dir, guard.RulesFile), data, 0o644); err != nil {
		return err
	}
	for _, n := range rules.Programs() {
		if !r.finds(n) {
			continue // a name that finds nothing stays one
		}
		err := os.Symlink(filepath.Join(r.bin, "hat"), filepath.Join(dir, n))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// finds reports whether sessions would find a program of this name on PATH.
func (r *Runner) finds(program string) bool {
	for _, dir := range r.path {
		fi, err := os.Stat(filepath.Join(dir, program))
		if err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
