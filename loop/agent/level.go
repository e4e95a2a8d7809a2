package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	dir, err := r.makeTrial("work")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	work := filepath.Join(dir, "work")
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
	if err := r.tryPlan(dir, p); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(work, "tried")); err != nil {
		return fmt.Errorf("a session's file did not appear: %w", err)
	}
	return nil
}

// removeTrials removes folders of trials and probes whose process was killed. A trial ends
// within seconds; another process may have one in progress.
func (r *Runner) removeTrials() {
	const abandoned = 10 * time.Minute
	found, _ := filepath.Glob(filepath.Join(r.o.State, trialPrefix+"*"))
	for _, dir := range found {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > abandoned {
			_ = removeAll(dir) // the next start tries it again
		}
	}
	probes, _ := filepath.Glob(r.folder(probeName + "*"))
	for _, dir := range probes {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > abandoned {
			_ = r.removeProbe(filepath.Base(dir)) // likewise
		}
	}
}

// trialPrefix begins the names of folders of trials.
const trialPrefix = "try-"

// makeTrial makes a folder for a trial session, with folders of the session's
// user in it. It lies in the state folder, because the result of a trial depends
// on its file system and location.
func (r *Runner) makeTrial(folders ...string) (string, error) {
	dir, err := os.MkdirTemp(r.o.State, trialPrefix)
	if err != nil {
		return "", err
	}
	err = os.Mkdir(filepath.Join(dir, dirEndRequest), 0o700)
	for _, name := range folders {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, name), 0o700), r.user.chown(filepath.Join(dir, name)))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// Mounts reports whether sessions on this machine can have folders mounted
// (ledger.Launch.Mounts), including overlays, and if not, why. The first call
// tries it with a session; later calls return the same result.
func (r *Runner) Mounts() (bool, string) {
	r.mountsOnce.Do(func() {
		level, _ := r.Level()
		if level < 3 {
			r.noMounts = fmt.Sprintf("sessions are shut in with level %d here, and mounts need level 3", level)
			return
		}
		if err := r.tryMounts(); err != nil {
			r.noMounts = err.Error()
			if onOverlay(r.o.State) {
				r.noMounts = "the state folder lies on an overlay itself, as in a container: put it on a volume or another disk (--state DIR)"
			}
		}
	})
	return r.noMounts == "", r.noMounts
}

// ClosedNetwork reports whether sessions on this machine can have a closed network
// (ledger.NetworkNone), and if not, why. The first call tries it with a session;
// later calls return the same result.
func (r *Runner) ClosedNetwork() (bool, string) {
	r.networkOnce.Do(func() {
		level, _ := r.Level()
		if level < 2 {
			r.noNetwork = fmt.Sprintf("sessions are shut in with level %d here, and a closed network needs level 3 or 2", level)
			return
		}
		if err := r.tryNetwork(level); err != nil {
			r.noNetwork = "the kernel does not close the network of a session: " + err.Error()
		}
	})
	return r.noNetwork == "", r.noNetwork
}

// tryNetwork runs a session that reaches its proxy and nothing else (tryDial).
func (r *Runner) tryNetwork(level int) error {
	dir, err := r.makeTrial("work")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if r.user.uid >= 0 && level < 3 {
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
	}
	p := plan{
		Level: level, Dir: filepath.Join(dir, "work"), UID: r.user.uid, GID: r.user.gid,
		Argv:  []string{r.shim(), "shim-inner", "dial"},
		Env:   []string{"PATH=/usr/bin:/bin"},
		Write: []string{filepath.Join(dir, "work")}, Read: []string{r.bin}, Hide: slices.Clone(r.hide),
		Grace: ledger.Duration(time.Second), Rest: ledger.Duration(time.Second),
		Closed: true, Resolver: filepath.Join(dir, fileResolver),
	}
	if err := errors.Join(makeHostFolders(dir), writeResolver(p.Resolver)); err != nil {
		return err
	}
	r.resolvePaths(&p)
	return r.tryPlan(dir, p)
}

// tryMounts runs a session that changes, creates and deletes files of an overlay.
func (r *Runner) tryMounts() error {
	dir, err := r.makeTrial("room", "lower", "upper", "kernel")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at := func(name string) string { return filepath.Join(dir, name) }
	defer func() { _ = os.Chmod(filepath.Join(at("kernel"), "work"), 0o700) }() // the kernel makes it inaccessible, and it would stay
	for _, name := range []string{"changed", "deleted"} {
		file := filepath.Join(at("lower"), name)
		if err := os.WriteFile(file, []byte("lower\n"), 0o644); err != nil {
			return err
		}
		if err := r.user.chown(file); err != nil {
			return err
		}
	}
	p := plan{
		Level: 3, Dir: at("room"), UID: r.user.uid, GID: r.user.gid,
		Argv:   []string{"/bin/sh", "-c", "echo upper >>changed && rm deleted && mkdir new && echo ok >new/tried"},
		Env:    []string{"PATH=/usr/bin:/bin"},
		Write:  []string{at("room")},
		Mounts: []ledger.Mount{{At: at("room"), Lower: []string{at("lower")}, Upper: at("upper"), Work: at("kernel")}},
		Read:   []string{r.bin}, Hide: slices.Clone(r.hide),
		Grace: ledger.Duration(time.Second), Rest: ledger.Duration(time.Second),
	}
	r.resolvePaths(&p)
	if err := r.tryPlan(dir, p); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(at("upper"), "new", "tried")); err != nil {
		return fmt.Errorf("a session's file did not appear: %w", err)
	}
	if data, err := os.ReadFile(filepath.Join(at("lower"), "changed")); err != nil || string(data) != "lower\n" {
		return errors.Join(errors.New("a session's change reached the folder below"), err)
	}
	return nil
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
	cmd := exec.CommandContext(ctx, r.shim(), "shim", dir)
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
