package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/diskuse"
	"github.com/nightporter/nightporter/internal/statelock"
)

func duCommand() *cobra.Command {
	var state, file string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "du", Short: "What the state folder takes on the disk", Args: cobra.NoArgs,
		Long: `What the state folder takes on the disk, by kind, with what becomes of it. It only
looks, and may be typed at any time.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := config.StateDir(state)
			if err != nil {
				return err
			}
			// Without a readable configuration the defaults are shown.
			keep := config.Retention{}
			cfg, cfgErr := loadConfig(file)
			if cfgErr == nil {
				keep = cfg.Retention
			} else {
				fmt.Fprintln(cmd.ErrOrStderr(), "! the configuration has mistakes: what follows names the usual times (see nightporter doctor)")
			}
			return diskUse(cmd.Context(), cmd.OutOrStdout(), dir, keep, asJSON)
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "state folder")
	cmd.Flags().StringVar(&file, "config", "", "configuration file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// kindUse is one kind for scripts.
type kindUse struct {
	diskuse.Use

	Removed string `json:"removed"` // what becomes of it, for people
}

func diskUse(ctx context.Context, out io.Writer, state string, keep config.Retention, asJSON bool) error {
	u, err := diskuse.Look(ctx, state)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no state folder at %s: nothing was ever started there (name another: --state DIR)", state)
	}
	if err != nil {
		return statelock.Foreign(state, err)
	}
	bound := keep.Caches(u.Disk)
	kinds := make([]kindUse, 0, len(u.Kinds))
	for _, use := range u.Kinds {
		kinds = append(kinds, kindUse{use, becomes(use.Kind, keep, bound)})
	}
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			diskuse.Usage

			Kinds     []kindUse `json:"kinds"`
			CacheSize int64     `json:"cache_size"`
		}{u, kinds, bound})
	}
	fmt.Fprintf(out, "%s\n%s; %s free on its disk\n\n", state, bytesText(u.Bytes), bytesText(int64(min(u.Free, 1<<62))))
	now := time.Now()
	for _, k := range kinds {
		if k.Bytes == 0 && k.Items == 0 {
			continue
		}
		items, age := "", ""
		switch k.Kind {
		case diskuse.Ledger, diskuse.Rest:
		default:
			items, age = fmt.Sprint(k.Items), ageText(now.Sub(k.Oldest))
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-12s %6s %4s %4s  %s", k.Kind, bytesText(k.Bytes), items, age, k.Removed), " "))
	}
	if u.Unread > 0 {
		fmt.Fprintf(out, "! %d folders could not be read: they take more\n", u.Unread)
	}
	if made := u.Of(diskuse.Caches).Bytes + u.Of(diskuse.Setup).Bytes; made >= worthFreeing(u.Disk) {
		fmt.Fprintf(out, "\nTo free %s now, stop nightporter, then:\n  cd %s && rm -rf caches rooms\nThey are made again when they are needed.\n", bytesText(made), quote(state))
	}
	return nil
}

// worthFreeing returns the least that is worth a command: 100 MB, or a hundredth of
// a smaller disk.
func worthFreeing(disk uint64) int64 { return int64(min(100e6, max(disk/100, 1))) }

// becomes says what becomes of a kind of content.
func becomes(k diskuse.Kind, keep config.Retention, bound int64) string {
	after := func(d time.Duration) string { return fmt.Sprintf("removed after %d d", int(d.Hours()/24)) }
	switch k {
	case diskuse.Ledger:
		return "kept for ever"
	case diskuse.Attachments:
		return "kept until you erase them"
	case diskuse.Repositories:
		return "kept: all that was done"
	case diskuse.Runs, diskuse.Sessions:
		return after(keep.KeptSessions())
	case diskuse.Programs:
		return "old ones " + after(keep.KeptSessions())
	case diskuse.Caches:
		return "with setup at most " + bytesText(bound)
	case diskuse.Setup:
		return "made again when missing"
	case diskuse.Logs:
		return "one old log is kept"
	case diskuse.Backups:
		return fmt.Sprintf("the newest %d are kept", keep.KeptBackups())
	}
	return "keys, logins"
}

// bytesText formats a number of bytes in at most seven columns.
func bytesText(n int64) string {
	size, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if size < 999.5 {
			break
		}
		size, unit = size/1000, next
	}
	if size < 9.95 && unit != "B" {
		return fmt.Sprintf("%.1f %s", size, unit)
	}
	return fmt.Sprintf("%.0f %s", size, unit)
}

// ageText formats an age in days or, below two days, in hours.
func ageText(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%d h", max(0, int(d.Hours())))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
