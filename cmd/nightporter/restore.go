package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/backup"
	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/store"
)

func restoreCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "restore FILE.tar.gz", Short: "Make a state folder from a backup", Args: cobra.ExactArgs(1),
		Long: `Make a state folder from a backup. The folder must be missing or empty: what is
there is never mixed with what comes. Everything is checked first (hashes, the
ledger's chain); it is there whole, or not at all.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			state, err := config.StateDir(dir)
			if err != nil {
				return err
			}
			if state, err = filepath.Abs(state); err != nil {
				return err
			}
			m, err := restore(ctx, args[0], state, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if file, err := filepath.Abs(args[0]); err == nil {
				_ = daemon.NoteBackup(state, daemon.Backup{File: file, Time: m.Time}) // without it, verify names none
			}
			printRestored(cmd.OutOrStdout(), state, m, cmd.Flags().Changed("state"))
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "state", "", "state folder: missing, or empty")
	return cmd
}

// keepFree is the space in bytes that a restore leaves free on the disk.
const keepFree = 256 << 20

// restore creates the state folder from a backup. After an error the folder is
// as it was before.
func restore(ctx context.Context, file, state string, warn io.Writer) (backup.Manifest, error) {
	none := backup.Manifest{}
	if err := checkEmpty(state); err != nil {
		return none, err
	}
	f, err := os.Open(file)
	if err != nil {
		return none, err
	}
	defer func() { _ = f.Close() }()
	parent := filepath.Dir(state)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return none, err
	}
	// On the same file system, so that one rename puts it into place.
	pattern := "." + filepath.Base(state) + ".restore-*"
	removeAbandoned(tempFolders(parent, pattern))
	dir, err := os.MkdirTemp(parent, pattern) // mode 0700
	if err != nil {
		return none, err
	}
	placed := false
	defer func() {
		if !placed {
			_ = os.RemoveAll(dir)
		}
	}()
	// Lock it before it has its final name.
	lock, err := statelock.Take(dir)
	if err != nil {
		return none, err
	}
	defer func() { _ = lock.Release() }()

	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return none, err
	}
	m, err := backup.Extract(ctx, f, dir, int64(disk.Bavail)*int64(disk.Bsize)-keepFree) //nolint:unconvert // another type on other systems
	if err != nil {
		return none, err
	}
	if err := proveLedger(ctx, dir, m); err != nil {
		return none, err
	}
	// Without a key the next start makes one; with a damaged one nothing starts.
	if err := socket.CheckOperatorKey(dir); err != nil {
		if err := os.Remove(filepath.Join(dir, backup.Key)); err != nil {
			return none, err
		}
		fmt.Fprintln(warn, "! the operator's key is damaged in this backup: nightporter makes a new one when it starts")
	}
	for _, name := range m.Repositories() {
		repository := filepath.Join(dir, backup.Repositories, name+".git")
		if err := backup.CheckConfig(ctx, repository); err != nil {
			return none, err
		}
		// The ledger is useful without an intact repository.
		if err := backup.CheckObjects(ctx, repository); err != nil {
			fmt.Fprintf(warn, "! the repository of %s is not whole in this backup, an unfinished attempt may be lost: %v\n", name, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return none, context.Cause(ctx)
	}
	crash.Point("before-restored")
	unix.Sync() // one sync: thousands of small files would take minutes
	// rename(2) replaces an empty folder and refuses any other.
	// os.Rename would refuse every existing folder.
	if err := unix.Rename(dir, state); err != nil {
		return none, renameError(state, err)
	}
	placed = true
	crash.Point("after-restored")
	return m, syncFolder(parent)
}

// removeAbandoned removes the folders of restores that were killed. A running
// restore holds the lock of its folder.
func removeAbandoned(left []string) {
	for _, dir := range left {
		if _, held, err := statelock.Held(dir); err == nil && !held {
			_ = os.RemoveAll(dir) // the next one tries again
		}
	}
}

// checkEmpty returns an error if the state folder contains anything.
func checkEmpty(state string) error {
	entries, err := os.ReadDir(state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty, and nothing in it is written over: move it away (mv %s %s.old), or name another one (--state DIR)",
			state, quote(state), quote(state))
	}
	return nil
}

// renameError explains why the folder could not be renamed, with a remedy.
func renameError(state string, err error) error {
	switch {
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.EXDEV):
		return fmt.Errorf("%s is a file system of its own and cannot be replaced: restore into a folder in it, and name that one with --state from then on (%w)", state, err)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("somebody put something into %s meanwhile: is nightporter running there? (%w)", state, err)
	}
	return err
}

// proveLedger opens the database, which migrates an old one, and verifies it
// against its own hashes and the manifest.
func proveLedger(ctx context.Context, dir string, m backup.Manifest) (err error) {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var known []store.Anchor
	for _, h := range m.Heads {
		a, err := store.ParseAnchor(h)
		if err != nil {
			return fmt.Errorf("the backup's manifest: %w", err)
		}
		a.Source = "the backup's manifest"
		known = append(known, a)
	}
	breaks, err := s.VerifyAgainst(ctx, known)
	if err != nil {
		return err
	}
	if len(breaks) > 0 {
		return fmt.Errorf("the ledger in this backup is altered, and nothing was restored: take another backup\n%s", breakLines(breaks))
	}
	return nil
}

// printRestored prints what was restored and what to do next.
func printRestored(out io.Writer, state string, m backup.Manifest, named bool) {
	flag := ""
	if named {
		flag = " --state " + quote(state)
	}
	fmt.Fprintf(out, "✓ restored to %s\n  %s\n", state, describeBackup(m))
	fmt.Fprintf(out, "Next:\n")
	fmt.Fprintf(out, "  nightporter verify%s   holds the ledger against its commits\n", flag)
	fmt.Fprintf(out, "  nightporter status%s   where it stands; a session that was at work then begins again\n", flag)
	if !m.Logins {
		fmt.Fprintf(out, "  nightporter login AGENT%s   logins are not in this backup\n", flag)
	}
	fmt.Fprintf(out, "  The configuration and its tokens were never in it: put them back where they were.\n")
	fmt.Fprintf(out, "  Go on with it in one place only: a second nightporter on the same repository or bot undoes the first one's work.\n")
}
