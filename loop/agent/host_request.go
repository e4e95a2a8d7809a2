package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Folders of a session's folder in which its supervisor and the daemon tell each
// other of hosts (ledger.HostRequest, ledger.HostAnswer), a file for each host and
// port. Each side writes one of them, whole files only, so neither has to be there
// when the other writes.
const (
	dirHostRequests = "net/asked"
	dirHostAnswers  = "net/answered"
)

// hostFile returns the name of the file about a host and port. A host has letters,
// digits, dots and hyphens only; an address of IPv6 has colons.
func hostFile(host string, port int) string {
	return strings.ReplaceAll(host, ":", "_") + "_" + strconv.Itoa(port) + ".json"
}

// HostRequests calls asked for each host that the session asks for and that has no
// answer, those of before the call first. It returns nil when ctx ends; for a
// session whose network is open, which asks for nothing, it returns nil at once.
func (r *Runner) HostRequests(ctx context.Context, session string, asked func(ledger.HostRequest)) error {
	if err := checkName("session", session); err != nil {
		return err
	}
	dir := filepath.Join(r.folder(session), dirHostRequests)
	if _, err := os.Stat(dir); isGone(err) {
		return nil
	}
	seen := map[string]bool{}
	look := func() {
		entries, _ := os.ReadDir(dir) // a folder that is gone has no requests
		for _, e := range entries {
			var h ledger.HostRequest
			if seen[e.Name()] || readJSON(filepath.Join(dir, e.Name()), &h) != nil || e.Name() != hostFile(h.Host, h.Port) {
				continue // a temporary name
			}
			seen[e.Name()] = true
			if _, err := os.Stat(filepath.Join(r.folder(session), dirHostAnswers, e.Name())); isGone(err) {
				h.Session = session
				asked(h)
			}
		}
	}
	return watchFolder(ctx, dir, look)
}

// AnswerHost settles a host for the rest of the session, whose supervisor reads it
// at once. A later answer replaces it. It does nothing for a session whose network
// is open or whose folder is gone.
func (r *Runner) AnswerHost(session string, a ledger.HostAnswer) error {
	if err := checkName("session", session); err != nil {
		return err
	}
	if strings.ContainsAny(a.Host, "/\\\x00") || a.Host == "" {
		return fmt.Errorf("%q is no host", a.Host)
	}
	dir := filepath.Join(r.folder(session), dirHostAnswers)
	if _, err := os.Stat(dir); isGone(err) {
		return nil
	}
	return writeJSON(filepath.Join(dir, hostFile(a.Host, a.Port)), a)
}

// makeHostFolders makes the folders of requests and answers.
func makeHostFolders(folder string) error {
	for _, dir := range []string{filepath.Dir(dirHostRequests), dirHostRequests, dirHostAnswers} {
		if err := makeDir(filepath.Join(folder, dir), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// watchFolder calls look at once, and after each change in a folder, until ctx ends.
// A folder that cannot be watched is an error.
func watchFolder(ctx context.Context, dir string, look func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Add(dir); err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	for {
		look()
		select {
		case <-w.Events:
		case err := <-w.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch %s: %w", dir, err)
			}
		case <-ctx.Done():
			return nil
		}
	}
}
