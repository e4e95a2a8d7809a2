package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// hatFiles reads and watches one project's hats and patterns on disk: those
// beside the configuration and, if the repository is trusted, those in it.
type hatFiles struct {
	catalog *Catalog
	project string
	repo    string
	armed   func() // called when all folders are watched; for tests
}

// hatQuiet is how long the folders must be unchanged before they are read:
// saving a file causes several events.
const hatQuiet = 100 * time.Millisecond

// of returns the project from the configuration in force or, if it is not
// configured, a project made from the repository alone.
func (h *hatFiles) of() (config.Project, error) {
	if pr, ok := h.catalog.Find(h.project); ok {
		return pr, nil
	}
	return h.catalog.Config().Pick(config.Overrides{Repo: h.repo}, h.repo)
}

// Read returns the pattern and hats with which a run with these settings would
// start now. It keeps the agent of s and the name of its pattern.
func (h *hatFiles) Read(s ledger.Settings) (ledger.Pattern, map[string]ledger.Hat, error) {
	pr, err := h.of()
	if err != nil {
		return ledger.Pattern{}, nil, err
	}
	o := config.Overrides{Repo: h.repo, Source: s.Source.String(), Pattern: s.Pattern.Name}
	if plain, err := pr.Settings(h.catalog.Config(), config.Overrides{Repo: h.repo, Source: o.Source, Pattern: o.Pattern}, time.Now()); err == nil && plain.Agent == s.Agent {
		return plain.Pattern, plain.Hats, nil
	}
	o.Agent = s.Agent
	now, err := pr.Settings(h.catalog.Config(), o, time.Now())
	return now.Pattern, now.Hats, err
}

// kinds returns the kinds of fixes that the project knows now.
func (h *hatFiles) kinds() ([]triage.Kind, error) {
	pr, err := h.of()
	if err != nil {
		return nil, err
	}
	return config.Kinds(h.catalog.Config(), &pr)
}

// Watch calls changed after a .toml file in one of the folders changed, until
// ctx ends. It also sees folders that are created later.
func (h *hatFiles) Watch(ctx context.Context, changed func()) error {
	pr, err := h.of()
	if err != nil {
		return err
	}
	folders := pr.HatFolders(h.catalog.Config())
	if len(folders) == 0 {
		return nil
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch hats: %w", err)
	}
	defer w.Close()
	arm := func() {
		for _, dir := range folders {
			// A missing folder is watched through its nearest existing parent.
			for dir != filepath.Dir(dir) {
				if err := w.Add(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
					break
				}
				dir = filepath.Dir(dir)
			}
		}
	}
	// The state is taken before the folders are watched, and compared once
	// after: a file that changes in between causes no event.
	last := hatState(folders)
	arm()
	if h.armed != nil {
		h.armed()
	}
	quiet := time.NewTimer(hatQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-w.Events:
			if !ok {
				return nil
			}
			if ev.Op != fsnotify.Chmod {
				quiet.Reset(hatQuiet)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return nil
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch hats: %w", err)
			}
			quiet.Reset(hatQuiet)
		case <-quiet.C:
			arm()
			if now := hatState(folders); now != last {
				last = now
				changed()
			}
		}
	}
}

// hatState returns a fingerprint of the folders' .toml files by name, size and
// time: events also come for unrelated files nearby.
func hatState(folders []string) string {
	var b strings.Builder
	for _, dir := range folders {
		entries, _ := os.ReadDir(dir) // an unreadable folder counts as empty; Read reports it
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(dir, e.Name()))
			if err != nil || !strings.HasSuffix(e.Name(), ".toml") {
				continue
			}
			fmt.Fprintf(&b, "%s/%s %d %d\n", dir, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
