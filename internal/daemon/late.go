package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/store"
)

// NotMountedError is the error of a daemon that would begin a new ledger
// although a configured repository has branches of an earlier one. The state
// folder's disk may be mounted later; a ledger made below its mount point would
// be hidden then, and would do everything once more until then.
type NotMountedError struct {
	State  string // state folder
	Repo   string // repository of a configured project
	Branch string // one of its branches of an earlier ledger
	Rename string // command that renames all of them
}

// Error names the branch, and the command that begins anew.
func (e *NotMountedError) Error() string {
	return fmt.Sprintf("no ledger is in %s, and %s has a branch of an earlier one: %s\n"+
		"  Is a disk not mounted yet? To begin anew, rename such branches:\n    %s", e.State, e.Repo, e.Branch, e.Rename)
}

// Fault says that the start succeeds once the disk is there.
func (e *NotMountedError) Fault() ledger.Fault { return ledger.FaultMachine }

// MayPass reports whether a start that failed with err can succeed later without
// a change of the configuration: the disk is full or read-only, or the state
// folder's disk is not mounted. A damaged ledger stays one.
func MayPass(err error) bool {
	f := fault.Of(err)
	return f != "" && f != ledger.FaultLedger
}

// branchTime limits the look at one repository for branches.
const branchTime = 5 * time.Second

// MakeState creates the state folder of a daemon that stays. If there is no
// ledger in it, and a configured repository has branches of an earlier one, it
// changes nothing and returns a *NotMountedError.
func MakeState(ctx context.Context, state string, cfg *config.Config) error {
	if _, err := os.Stat(filepath.Join(state, store.Name)); os.IsNotExist(err) {
		if err := checkMounted(ctx, state, cfg); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}

// checkMounted returns a *NotMountedError if a configured repository has
// branches of nightporter. Call it for a ledger without entries only. A
// repository that cannot be read proves nothing.
func checkMounted(ctx context.Context, state string, cfg *config.Config) error {
	if len(workTraces(state)) > 0 {
		return nil // the ledger is lost, which is another error
	}
	for _, pr := range cfg.Projects {
		ctx, cancel := context.WithTimeout(ctx, branchTime)
		branches, err := workspace.RunBranches(ctx, pr.Repo, pr.Name)
		cancel()
		if err == nil && len(branches) > 0 {
			return &NotMountedError{State: state, Repo: pr.Repo, Branch: branches[0], Rename: workspace.RenameBranches(project.Quote(pr.Repo), branches)}
		}
	}
	return nil
}
