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

// makeWrappers puts a wrapper before each installed program of which the
// session's hat is denied a use (docs/spec 12.1). own lists the folders that
// the session may write. It is idempotent, like prepare.
//
// Commands of the project get no wrappers: the daemon runs them to check the
// work, and a test may legitimately force-push to a repository of its own.
func (r *Runner) makeWrappers(box string, l ledger.Launch, own []string) error {
	rules := guard.Rules{
		Hat: l.Hat, Denied: l.Denied, Deploying: guard.Deploying(), Allowed: l.Allowed, Protected: l.Protected, Roots: own,
	}
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
		if !r.hasProgram(n) {
			continue // without an installed program there is nothing to wrap
		}
		err := os.Symlink(filepath.Join(r.bin, "hat"), filepath.Join(dir, n))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// hasProgram reports whether a session would find the program on PATH.
func (r *Runner) hasProgram(program string) bool {
	for _, dir := range r.path {
		fi, err := os.Stat(filepath.Join(dir, program))
		if err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
