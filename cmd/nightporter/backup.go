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
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/backup"
	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/store"
)

func backupCommand() *cobra.Command {
	var f askFlags
	var logins bool
	cmd := &cobra.Command{
		Use: "backup FILE.tar.gz", Short: "Copy what cannot be made again into one file", Args: cobra.ExactArgs(1),
		Long: `Copy what cannot be made again into one file: the database, the operator's key,
and our bare repository of each project. It may be made while nightporter runs.
The file lets whoever has it give commands: keep it like a password. It does not
hold the configuration, nor any token named there.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return f.backup(ctx, cmd.OutOrStdout(), args[0], logins)
		},
	}
	cmd.Flags().StringVar(&f.state, "state", "", "state folder")
	cmd.Flags().StringVar(&f.config, "config", "", "configuration file")
	cmd.Flags().BoolVar(&logins, "with-logins", false, "also the agents' logins: whoever has the file can use them")
	return cmd
}

// backupFolder is the pattern of the temporary folders for copies of the
// database. They lie in the state folder, because both the daemon and this
// command can write there even if the daemon's unit restricts other paths.
const backupFolder = "backup-*"

// backup writes a backup of the state folder to file.
func (f *askFlags) backup(ctx context.Context, out io.Writer, file string, logins bool) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if err := checkAbsent(file); err != nil {
		return err
	}
	state, err := config.StateDir(f.state)
	if err != nil {
		return err
	}
	var m backup.Manifest
	err = f.ask(ctx, func(a asker) error {
		dir, err := os.MkdirTemp(state, backupFolder)
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		removeStale(state)
		database := filepath.Join(dir, backup.Database)
		// The process that holds the state folder copies the database. All
		// other files can be copied from here while the daemon works.
		r, err := a.View(ctx, api.View{Name: "backup", Args: map[string]string{"path": database}})
		if err == nil && !r.OK {
			err = errors.New(r.Text)
		}
		if err != nil {
			return err
		}
		heads, breaks, err := store.Check(ctx, database)
		if err != nil {
			return err
		}
		if len(breaks) > 0 {
			return fmt.Errorf("the ledger is altered, and nothing was written; to keep it all the same, stop nightporter and copy %s\n%s\n%s",
				state, breakLines(breaks), daemon.RestoreAdvice(state))
		}
		m = backup.Manifest{Program: Version, Time: time.Now().UTC(), Logins: logins}
		for _, h := range heads {
			m.Heads = append(m.Heads, h.String())
		}
		m, err = writeBackup(ctx, file, state, database, m)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "✓ %s\n  %s\n", file, describeBackup(m))
	if err := daemon.NoteBackup(state, daemon.Backup{File: file, Time: m.Time}); err != nil {
		fmt.Fprintf(out, "! nightporter verify will not know where this backup is: %v\n", err)
	}
	if !logins {
		fmt.Fprintln(out, "  without the agents' logins (--with-logins), and never with the configuration and its tokens")
	}
	return nil
}

// checkAbsent returns an error if the file exists.
func checkAbsent(file string) error {
	_, err := os.Lstat(file)
	switch {
	case err == nil:
		return fmt.Errorf("%s is there already, and a backup is never written over: name another file", file)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// removeStale removes the temporary folders of backups that were interrupted
// over a day ago.
func removeStale(state string) {
	for _, dir := range tempFolders(state, backupFolder) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir) // the next one tries again
		}
	}
}

// tempFolders returns the entries of dir that os.MkdirTemp has named by
// pattern.
func tempFolders(dir, pattern string) []string {
	var found []string
	entries, _ := os.ReadDir(dir) // an unreadable folder has no entries to remove
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), strings.TrimSuffix(pattern, "*")) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found
}

// writeBackup writes the whole file or none.
func writeBackup(ctx context.Context, file, state, database string, m backup.Manifest) (_ backup.Manifest, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*") // mode 0600
	if err != nil {
		return m, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // removes the temporary name; the link remains
	}()
	w := backup.NewWriter(f)
	if err := w.Add(ctx, backup.Database, database); err != nil {
		return m, err
	}
	if err := w.Add(ctx, backup.Key, filepath.Join(state, backup.Key)); err != nil {
		return m, err
	}
	if err := w.AddAttachments(ctx, filepath.Join(state, backup.Attachments)); err != nil {
		return m, err
	}
	// Not by a glob: the state folder's own name may look like one.
	repositories, err := os.ReadDir(filepath.Join(state, backup.Repositories))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	for _, r := range repositories {
		if filepath.Ext(r.Name()) != ".git" {
			continue // one that is being made, or was moved away
		}
		if err := w.AddRepository(ctx, filepath.Join(state, backup.Repositories, r.Name())); err != nil {
			return m, err
		}
	}
	if m.Logins {
		if err := w.AddLogins(ctx, filepath.Join(state, backup.Logins)); err != nil {
			return m, err
		}
	}
	if m, err = w.Close(m); err != nil {
		return m, err
	}
	if err := f.Sync(); err != nil {
		return m, err
	}
	crash.Point("before-backed-up")
	return m, publish(f.Name(), file)
}

// publish gives a finished file its name. It fails if the name is taken.
func publish(from, to string) error {
	if err := fsutil.Publish(from, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// describeBackup summarises a backup in one line.
func describeBackup(m backup.Manifest) string {
	ends := make([]string, 0, len(m.Heads))
	for _, h := range m.Heads {
		end, _, _ := strings.Cut(h, ":")
		ends = append(ends, end)
	}
	repositories := "no repository"
	if names := m.Repositories(); len(names) > 0 {
		repositories = "repositories of " + strings.Join(names, ", ")
	}
	ledgerStore := "an empty ledger"
	if len(ends) > 0 {
		ledgerStore = "ledger up to " + strings.Join(ends, ", ")
	}
	return fmt.Sprintf("%s, %s, %d files, %.1f MB, of %s", ledgerStore, repositories, len(m.Files), float64(m.Size())/1e6, m.Time.Local().Format("2006-01-02 15:04:05 MST"))
}

func breakLines(breaks []store.Break) string {
	lines := make([]string, 0, len(breaks))
	for _, b := range breaks {
		lines = append(lines, "  "+b.String())
	}
	return strings.Join(lines, "\n")
}
