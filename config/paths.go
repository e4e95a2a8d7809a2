package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Find returns the config file to read: the one named by --config, which then
// has to be there, else $XDG_CONFIG_HOME/nightporter/nightporter.toml
// (~/.config where that is not set), else "": run needs none.
func Find(explicit string) (string, error) {
	if explicit != "" {
		if _, err := os.Stat(explicit); err != nil {
			return "", &Error{Diagnostics: []ledger.Diagnostic{{File: explicit, Text: reason(err)}}}
		}
		return explicit, nil
	}
	file := DefaultFile()
	if file == "" {
		return "", nil
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		// There may be settings, and going on without them is no choice of ours.
		return "", &Error{Diagnostics: []ledger.Diagnostic{{File: file, Text: reason(err)}}}
	}
	return file, nil
}

// DefaultFile is the config file that is read where --config names none,
// whether it is there or not: $XDG_CONFIG_HOME/nightporter/nightporter.toml,
// with ~/.config where that is not set. "" where there is no home either.
func DefaultFile() string {
	dir := xdg("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "nightporter", "nightporter.toml")
}

// StateDir returns the absolute path of the state folder: the one of --state,
// else $XDG_STATE_HOME/nightporter, else /var/lib/nightporter as root and
// ~/.local/state/nightporter for everybody else. It makes no folder.
func StateDir(flag string) (string, error) {
	if flag != "" {
		dir, err := filepath.Abs(flag)
		if err != nil {
			return "", fmt.Errorf("state folder: %w", err)
		}
		return dir, nil
	}
	if os.Geteuid() == 0 && !filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) {
		return "/var/lib/nightporter", nil
	}
	dir := xdg("XDG_STATE_HOME", filepath.Join(".local", "state"))
	if dir == "" {
		return "", &Error{Diagnostics: []ledger.Diagnostic{{
			Text:   "no state folder: neither HOME nor XDG_STATE_HOME is set",
			Remedy: "Name one: --state DIR",
		}}}
	}
	return filepath.Join(dir, "nightporter"), nil
}

// xdg is a base folder, or "" when there is none. Relative values are ignored,
// as the XDG base directory specification says.
func xdg(variable, below string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, below)
}

// path makes a path of the file absolute; "" stays.
func (c *Config) path(s string) string {
	if s == "" || filepath.IsAbs(s) {
		return s
	}
	if isHome(s) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, strings.TrimPrefix(s, "~"))
		}
	}
	return filepath.Join(c.Dir(), s)
}

// secret is the file of a token: as written, else the systemd credential, else
// the usual name beside the config.
func (c *Config) secret(file, credential, usual string) string {
	if file != "" {
		return c.path(file)
	}
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" {
		f := filepath.Join(dir, credential)
		if _, err := os.Stat(f); err == nil {
			return f
		}
	}
	return c.path(usual)
}

// isHome reports whether a path begins at the home folder.
func isHome(s string) bool { return s == "~" || strings.HasPrefix(s, "~/") }

// isRelative reports whether a command is written as a relative path.
func isRelative(s string) bool { return strings.Contains(s, "/") && !filepath.IsAbs(s) }

// isRepository reports whether dir is, or lies in, a git repository. What is
// odd about one (bare, shallow) is the workspace's to say.
func isRepository(dir string) bool {
	exists := func(names ...string) bool {
		_, err := os.Stat(filepath.Join(names...))
		return err == nil
	}
	if exists(dir, "HEAD") && exists(dir, "objects") && exists(dir, "refs") {
		return true
	}
	for ; ; dir = filepath.Dir(dir) {
		if exists(dir, ".git") {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// checkRepo says what keeps dir from being a project's repository, or "".
func checkRepo(dir string) string {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir + " is missing"
	case err != nil:
		return fmt.Sprintf("%s cannot be read: %s", dir, reason(err))
	case !st.IsDir():
		return dir + " is not a folder"
	case !isRepository(dir):
		return dir + " is not a git repository"
	}
	return ""
}

// reason is what the system said, without operation and path, which a problem
// names itself.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "file is missing"
	}
	return err.Error()
}

// sanitise makes a name of a project out of a folder's.
func sanitise(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
	}
	name := b.String()
	if len(name) > 32 {
		name = name[:32]
	}
	if name = strings.Trim(name, "-"); name == "" {
		return "project"
	}
	return name
}
