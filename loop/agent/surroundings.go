package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Surroundings are what commands of a project get besides the repository
// (docs/spec 9.5). Sessions of agents get none of it. All paths are absolute.
type Surroundings struct {
	SetupEnvFile  string   // NAME=VALUE lines for setup of committed files
	SetupHome     string   // folder whose content such setup finds in HOME
	VerifyEnvFile string   // NAME=VALUE lines for all commands but setup
	PassEnv       []string // names of the daemon's variables for all commands

	// RoomFiles are globs below Repo, the user's checkout, of files that rooms
	// get. No session reads them there.
	Repo      string
	RoomFiles []string
}

// roomFiles returns the files of the user's checkout that rooms get.
func (s Surroundings) roomFiles() []string {
	var paths []string
	for _, g := range s.RoomFiles {
		found, err := fs.Glob(os.DirFS(s.Repo), g)
		if err != nil {
			continue // it matches nothing
		}
		for _, p := range found {
			path := filepath.Join(s.Repo, p)
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// paths returns the paths that no session may read.
func (s Surroundings) paths() []string {
	return slices.DeleteFunc([]string{s.SetupEnvFile, s.SetupHome, s.VerifyEnvFile}, func(p string) bool { return p == "" })
}

// Limits of a SetupHome. A folder with more in it is a home, named by mistake.
const (
	maxHomeFiles = 1000
	maxHomeBytes = 16 << 20
)

// isTrusted reports whether a session is setup of files that a person or a
// commit vouches for. Only such setup gets a project's credentials: install
// scripts that a session wrote would have them otherwise.
func isTrusted(l ledger.Launch) bool { return l.Kind == ledger.KindSetup && l.Cache.Trusted }

// withholds reports whether the session is setup that does not get what the
// configuration has for setup.
func (s Surroundings) withholds(l ledger.Launch) bool {
	return l.Kind == ledger.KindSetup && !isTrusted(l) && s.SetupEnvFile+s.SetupHome != ""
}

// vars returns the variables of a command as NAME=VALUE.
func (s Surroundings) vars(l ledger.Launch) ([]string, error) {
	vars := inheritVars(nil, s.PassEnv)
	key, file := "verify_env_file", s.VerifyEnvFile
	if l.Kind == ledger.KindSetup {
		if key, file = "setup_env_file", s.SetupEnvFile; !isTrusted(l) {
			file = ""
		}
	}
	if file == "" {
		return vars, nil
	}
	more, err := readEnvFile(key, file)
	return lastValues(append(vars, more...)), err
}

// secrets returns the names of the variables of a command whose values must not
// stay in what it leaves.
func (s Surroundings) secrets(l ledger.Launch) []string {
	if !isTrusted(l) || s.SetupEnvFile == "" {
		return nil
	}
	vars, err := readEnvFile("setup_env_file", s.SetupEnvFile)
	if err != nil {
		return nil // the command does not start
	}
	return secretVars(vars)
}

// values returns all variables of which a command of the project may have some.
// It leaves out what cannot be read.
func (s Surroundings) values() []string {
	vars := inheritVars(nil, s.PassEnv)
	for _, file := range []string{s.SetupEnvFile, s.VerifyEnvFile} {
		if file == "" {
			continue
		}
		if more, err := readEnvFile("", file); err == nil {
			vars = append(vars, more...) // a name may have two values
		}
	}
	return vars
}

func readEnvFile(key, file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: key + ": " + err.Error(), Remedy: "put NAME=VALUE lines there, mode 0600, or take " + key + " out of the configuration",
		}}}
	}
	return parseEnvFile(file, data)
}

// fillHome copies SetupHome into a session's HOME. It is idempotent.
func (r *Runner) fillHome(from, home string) error {
	return walkHome(from, func(rel string, info fs.FileInfo) error {
		to := filepath.Join(home, rel)
		if info.IsDir() {
			if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return r.user.chown(to)
		}
		if err := copytree.File(filepath.Join(from, rel), to); err != nil {
			return err
		}
		return errors.Join(os.Chmod(to, info.Mode().Perm()&0o700), r.user.chown(to))
	})
}

// walkHome calls each with every path below a SetupHome, folders before their
// content. It refuses links: what they lead to could be anything.
func walkHome(dir string, each func(rel string, info fs.FileInfo) error) error {
	var files, size int64
	bad := func(path, text, remedy string) error {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: fmt.Sprintf("setup_home: %s %s", path, text), Remedy: remedy}}}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == dir {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !d.IsDir() && !info.Mode().IsRegular() {
			return bad(path, "is a link or no file", "put a copy there: only files and folders are taken")
		}
		files++
		if info.Mode().IsRegular() {
			size += info.Size()
		}
		if files > maxHomeFiles || size > maxHomeBytes {
			return bad(dir, "has more than 1000 files or 16 MB", "name a folder that holds only what setup needs in HOME, such as .npmrc")
		}
		return each(rel, info)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return bad(dir, "does not exist", "make the folder, or take setup_home out of the configuration")
	}
	return err
}

// CheckCommands reports what keeps commands of a project from getting what the
// configuration names for them. The error is a *ledger.InputError; it never holds
// a value.
func (r *Runner) CheckCommands(project string) error {
	s := r.o.Projects[project].Surroundings
	var all []ledger.Diagnostic
	add := func(err error) {
		var in *ledger.InputError
		if errors.As(err, &in) {
			all = append(all, in.Diagnostics...)
		} else if err != nil {
			all = append(all, ledger.Diagnostic{Text: err.Error()})
		}
	}
	for _, f := range []struct{ key, file string }{{"setup_env_file", s.SetupEnvFile}, {"verify_env_file", s.VerifyEnvFile}} {
		if f.file != "" {
			_, err := readEnvFile(f.key, f.file)
			add(err)
		}
	}
	if s.SetupHome != "" {
		add(walkHome(s.SetupHome, func(string, fs.FileInfo) error { return nil }))
	}
	if len(all) > 0 {
		return &ledger.InputError{Diagnostics: all}
	}
	return nil
}
