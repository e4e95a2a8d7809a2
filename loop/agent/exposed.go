package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Exposed lists what sessions on this machine can do to other processes of
// their user, in the words of doctor. It is empty where they can do nothing that
// is known of. At level 3 a session sees its own processes alone.
func (r *Runner) Exposed() []string {
	level, _ := r.Level()
	switch level {
	case 1:
		return []string{"signals, limits, memory and terminals of all processes of their user: level 1 prevents nothing"}
	case 2:
		var out []string
		if abi := landlockABI(); abi < abiScope {
			out = append(out, fmt.Sprintf("signals to all processes of their user: the kernel's Landlock is version %d, and %d refuses them (Linux 6.12)", abi, abiScope))
		}
		if !hasSeccomp() {
			out = append(out, "limits and priorities of all processes of their user: the kernel has no seccomp")
		}
		return out
	}
	return nil
}

// Terminals reports whether sessions on this machine can open terminals of their
// own, and if not, why. The first call tries it with a session; later calls
// return the same result.
func (r *Runner) Terminals() (bool, string) {
	r.terminalsOnce.Do(func() {
		level, _ := r.Level()
		switch level {
		case 3:
			if err := r.tryTerminals(); err != nil {
				r.noTerminals = err.Error()
			}
		case 2:
			r.noTerminals = "sessions are shut in with level 2, and below level 3 the machine's terminals are the only ones"
		}
	})
	return r.noTerminals == "", r.noTerminals
}

// tryTerminals runs a session that opens a terminal.
func (r *Runner) tryTerminals() error {
	dir, err := r.makeTrial("work")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := plan{
		Level: 3, Dir: filepath.Join(dir, "work"), UID: r.user.uid, GID: r.user.gid,
		Argv:  []string{"/bin/sh", "-c", ": <>/dev/ptmx"},
		Env:   []string{"PATH=/usr/bin:/bin"},
		Write: []string{filepath.Join(dir, "work")}, Read: []string{r.bin}, Hide: slices.Clone(r.hide),
		Grace: ledger.Duration(time.Second), Rest: ledger.Duration(time.Second),
	}
	r.resolvePaths(&p)
	if err := r.tryPlan(dir, p); err != nil {
		return errors.Join(errors.New("the kernel gives a session no terminals of its own"), err)
	}
	return nil
}
