package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Level returns the highest boundary level that works on this machine
// (docs/spec 12.1), and the reason why each higher one fails. 0 means that no
// session can start. The first call runs an empty session at each level, which
// takes some hundredths of a second; later calls return the same result.
func (r *Runner) Level() (int, []string) {
	r.levelOnce.Do(func() {
		top := 3
		if r.o.MaxLevel > 0 && r.o.MaxLevel < top {
			top = r.o.MaxLevel
			r.reasons = append(r.reasons, fmt.Sprintf("level %d is the highest that the configuration allows", top))
		}
		for level := top; level >= 1; level-- {
			err := r.tryLevel(level)
			if err == nil {
				r.level = level
				return
			}
			r.reasons = append(r.reasons, fmt.Sprintf("level %d: %v", level, err))
		}
	})
	return r.level, r.reasons
}

// tryLevel runs an empty session at a level.
func (r *Runner) tryLevel(level int) error {
	switch abi := landlockABI(); {
	case level == 3 && abi < 1, level == 2 && abi < abiTruncate:
		return fmt.Errorf("the kernel's Landlock is version %d, and %d is needed (Linux 6.2 or newer, \"landlock\" in the kernel's lsm= list)", abi, map[int]int{3: 1, 2: abiTruncate}[level])
	}
	if level < 3 {
		if err := r.checkReachable(); err != nil {
			return err
		}
	}
	// The trial uses the state folder, because the result depends on its file
	// system and location.
	dir, err := os.MkdirTemp(r.o.State, "try-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Mkdir(filepath.Join(dir, dirEndRequest), 0o700); err != nil {
		return err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	if err := r.user.chown(work); err != nil {
		return err
	}
	if r.user.uid >= 0 && level < 3 {
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
	}
	p := plan{
		Level: level, Dir: work, UID: r.user.uid, GID: r.user.gid,
		Argv:  []string{"/bin/sh", "-c", "echo ok >tried"},
		Env:   []string{"PATH=/usr/bin:/bin"},
		Write: []string{work}, Read: []string{r.bin}, Hide: append([]string(nil), r.hide...),
		Grace: ledger.Duration(time.Second), Rest: ledger.Duration(time.Second),
	}
	r.resolvePaths(&p)
	return r.tryPlan(dir, p)
}

func (r *Runner) tryPlan(dir string, p plan) error {
	env := p.Env
	p.Env = nil
	s := spec{Version: FolderVersion, Session: "try", Kind: ledger.KindVerify, State: r.o.State, Plan: p,
		Wall: ledger.Duration(20 * time.Second), Timing: r.o.Timing}
	for n, v := range map[string]any{fileEnv: env, fileSpec: s} {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, n), data, 0o600); err != nil {
			return err
		}
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Program(), "shim", dir)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.ExtraFiles = []*os.File{lock}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, oneLine(string(out)))
	}
	var x ledger.Exit
	if err := readJSON(filepath.Join(dir, fileExit), &x); err != nil {
		return err
	}
	if x.Reason != ledger.ExitSelf || x.Code != 0 {
		return fmt.Errorf("%s", firstOf(x.Text, oneLine(x.Tail), string(x.Reason)+" "+strconv.Itoa(x.Code)))
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "tried")); err != nil {
		return fmt.Errorf("a session's file did not appear: %w", err)
	}
	return nil
}

// checkReachable reports whether the session's user can reach its files at
// levels without mounts.
func (r *Runner) checkReachable() error {
	if dir := r.user.barrier(filepath.Join(r.bin, "hat")); dir != "" {
		return fmt.Errorf("the user of sessions, uid %d, cannot reach the state folder: chmod o+x %s", r.user.uid, dir)
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
