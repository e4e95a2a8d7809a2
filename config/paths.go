package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Find returns the config file to read: the one named by --config, which must
// exist, else $XDG_CONFIG_HOME/nightporter/nightporter.toml (~/.config where
// that is not set), else "". A missing default file is no error: run needs
// none.
func Find(explicit string) (string, error) {
	if explicit != "" {
		if _, err := os.Stat(explicit); err != nil {
			return "", &Error{Diagnostics: []ledger.Diagnostic{{File: explicit, Text: systemText(err)}}}
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
		// The file may exist and hold settings; continuing without them could
		// do harm.
		return "", &Error{Diagnostics: []ledger.Diagnostic{{File: file, Text: systemText(err)}}}
	}
	return file, nil
}

// DefaultFile returns the config file that is read without --config, whether it
// exists or not: $XDG_CONFIG_HOME/nightporter/nightporter.toml, with ~/.config
// where that is not set. It returns "" without a home folder.
func DefaultFile() string {
	dir := xdg("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "nightporter", "nightporter.toml")
}

// StateDir returns the absolute path of the state folder: the one of --state,
// else $XDG_STATE_HOME/nightporter, else /var/lib/nightporter for root and
// ~/.local/state/nightporter for other users. It does not create the folder.
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

// xdg returns a base folder of the XDG specification, or "" when there is none.
// It ignores relative values, as the specification demands.
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

// path makes a path from the config file absolute; "" stays "".
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

// secret returns the file of a token: the configured one, else the systemd
// credential, else the default name beside the config.
func (c *Config) secret(file, credential, usual string) string {
	if file != "" {
		return c.path(file)
	}
	for _, dir := range credentialDirs() {
		f := filepath.Join(dir, credential)
		if _, err := os.Stat(f); err == nil {
			return f
		}
	}
	return c.path(usual)
}

// ForgeToken returns the file of GitHub's token: the named one, else the systemd
// credential, else the usual name beside the config.
func (c *Config) ForgeToken(file string) string {
	return c.secret(file, "github-token", "github.token")
}

// serviceCredentials has the credentials of nightporter.service while it runs. Only
// its account can read them, and finds them there for a command that it types.
const serviceCredentials = "/run/credentials/nightporter.service"

// credentialDirs returns the folders that may have systemd's credentials.
func credentialDirs() []string {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" {
		return []string{filepath.Clean(dir), serviceCredentials}
	}
	return []string{serviceCredentials}
}

// IsCredential reports whether a file is a credential of systemd, which protects
// it whatever its mode says.
func IsCredential(file string) bool { return slices.Contains(credentialDirs(), filepath.Dir(file)) }

// isHome reports whether a path begins at the home folder.
func isHome(s string) bool { return s == "~" || strings.HasPrefix(s, "~/") }

// isRelative reports whether a command is written as a relative path.
func isRelative(s string) bool { return strings.Contains(s, "/") && !filepath.IsAbs(s) }

// isRepository reports whether dir is, or lies in, a git repository. The
// workspace reports unsupported ones (bare, shallow) later.
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

// checkRepo returns why dir cannot be a project's repository, or "".
func checkRepo(dir string) string {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir + " is missing"
	case err != nil:
		return fmt.Sprintf("%s cannot be read: %s", dir, systemText(err))
	case !st.IsDir():
		return dir + " is not a folder"
	case !isRepository(dir):
		return dir + " is not a git repository"
	}
	return ""
}

// systemText returns the system's error text without operation and path,
// because a problem names the file itself.
func systemText(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "file is missing"
	}
	return err.Error()
}

// sanitise turns a folder's name into a valid project name.
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
