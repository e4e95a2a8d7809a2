package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// addAgentFiles writes the files of an agent's row to a session's HOME. What setup_home
// has put there stays.
func (r *Runner) addAgentFiles(home string, a *adapter.Agent) error {
	if len(a.Home) == 0 {
		return nil
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("files of agent %s: %w", a.Name, err)
	}
	defer func() { _ = root.Close() }()
	for _, path := range slices.Sorted(maps.Keys(a.Home)) {
		if err := r.addHomeFile(root, path, a.Home[path]); err != nil {
			return fmt.Errorf("files of agent %s: %w", a.Name, err)
		}
	}
	return nil
}

func (r *Runner) addHomeFile(root *os.Root, path, content string) error {
	if _, err := root.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := root.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	for p := path; p != "."; p = filepath.Dir(p) {
		if err := r.user.chown(filepath.Join(root.Name(), p)); err != nil {
			return err
		}
	}
	return nil
}
