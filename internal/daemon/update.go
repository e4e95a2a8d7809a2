package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/backup"
	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/store"
)

// backups is the folder of the state folder for copies of the ledger that are
// made before its form changes.
const backups = "backups"

// program describes this daemon to the database.
func (d *Daemon) program() store.Program {
	p := store.Program{Version: d.o.Version, Format: loop.StateVersion}
	if d.o.Config.Retention.KeptBackups() > 0 {
		p.BeforeChange = d.copyLedger
	}
	return p
}

// copyLedger makes a backup of the ledger as an earlier program left it, for the
// way back (docs/operating.md, "Updates"). It has no repositories: an update
// changes nothing in them, and a large one would delay the start.
func (d *Daemon) copyLedger(ctx context.Context, by store.Program, copyTo func(string) error) error {
	file, err := d.writeLedgerCopy(ctx, by, copyTo)
	if err != nil {
		return fmt.Errorf("this version changes the form of the ledger, and no copy of it could be made first: %w. Make room, or do without copies: [retention] backups = 0", err)
	}
	d.Log.Info("the ledger was copied before its form changes", "file", file, "written by", by.Version)
	d.updated = file
	d.removeLedgerCopies()
	return nil
}

func (d *Daemon) writeLedgerCopy(ctx context.Context, by store.Program, copyTo func(string) error) (file string, err error) {
	dir := filepath.Join(d.o.State, backups)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(dir, ".new-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	database := filepath.Join(tmp, backup.Database)
	if err := copyTo(database); err != nil {
		return "", err
	}
	heads, err := store.Heads(ctx, database) // a broken chain is copied as it is
	if err != nil {
		return "", err
	}
	if _, err := socket.OperatorKey(d.o.State); err != nil { // a restored folder has no key yet
		return "", err
	}
	m := backup.Manifest{Program: by.Version, Time: time.Now().UTC()}
	for _, h := range heads {
		m.Heads = append(m.Heads, h.String())
	}
	whole := filepath.Join(tmp, "backup")
	f, err := os.OpenFile(whole, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	w := backup.NewWriter(f)
	err = w.Add(ctx, backup.Database, database)
	if err == nil {
		err = w.Add(ctx, backup.Key, filepath.Join(d.o.State, backup.Key))
	}
	if err == nil {
		_, err = w.Close(m)
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	// Sorts by time, and says which program can read it.
	name := m.Time.Format("20060102T150405Z") + "-before-" + fileWord(d.o.Version)
	if by.Version != "" {
		name += "-from-" + fileWord(by.Version)
	}
	file = filepath.Join(dir, name+".tar.gz")
	if err := os.Rename(whole, file); err != nil {
		return "", err
	}
	return file, fsutil.SyncDir(dir)
}

// fileWord returns a version as a part of a file's name.
func fileWord(version string) string {
	return strings.Map(func(c rune) rune {
		if c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, version)
}

// ledgerCopies returns the copies made before updates, the oldest first.
func ledgerCopies(state string) []string {
	entries, _ := os.ReadDir(filepath.Join(state, backups)) // without the folder there is none
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tar.gz") && strings.Contains(e.Name(), "-before-") {
			files = append(files, filepath.Join(state, backups, e.Name()))
		}
	}
	slices.Sort(files)
	return files
}

// removeLedgerCopies removes the oldest copies beyond the number that the
// configuration keeps.
func (d *Daemon) removeLedgerCopies() {
	files := ledgerCopies(d.o.State)
	for _, file := range files[:max(0, len(files)-d.o.Config.Retention.KeptBackups())] {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.Log.Warn("an old copy of the ledger is not removed", "error", err)
		}
	}
}

// newer adds the way back to the error for a ledger of a later program.
func newer(state string, err error) error {
	if !errors.Is(err, store.ErrNewer) {
		return err
	}
	files := ledgerCopies(state)
	if len(files) == 0 {
		return err
	}
	return fmt.Errorf("%w\n  Or go back to the ledger from before an update, without what was done since:\n    %s\n    (docs/operating.md, Updates)", err, files[len(files)-1])
}
