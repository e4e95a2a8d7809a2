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

// addAgentFiles writes the files of an agent's row to a session's HOME; trusted says whether
// the repository is. What setup_home has put there stays.
func (r *Runner) addAgentFiles(home string, a *adapter.Agent, trusted bool) error {
	files := maps.Clone(a.Home)
	if !trusted {
		maps.Copy(files, a.Untrusted)
	}
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("files of agent %s: %w", a.Name, err)
	}
	defer func() { _ = root.Close() }()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := r.addHomeFile(root, path, files[path]); err != nil {
			return fmt.Errorf("files of agent %s: %w", a.Name, err)
		}
	}
	return nil
}

// ReadsRepository returns paths below the repository of a project from which an agent's
// program reads settings, although the project does not trust it: nothing of the program
// keeps it from them, and the boundary level cannot hide them.
func (r *Runner) ReadsRepository(project, name string) []string {
	a, err := r.o.Agents[name].adapter()
	if level, _ := r.Level(); err != nil || level >= 3 || r.o.Projects[project].TrustsRepo {
		return nil
	}
	return a.Settings
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
