package toolchain

import (
	"os"
	"path/filepath"
	"strings"
)

// Manager is a program that installs versions of other programs.
type Manager struct {
	Name     string
	Variable string // environment variable with its folder
	Folder   string // default folder, below HOME
	versions string // folder of a tool's versions, below Folder; TOOL is its name
	install  string // command that installs TOOL in VERSION
	// Inherits reports that sessions get Variable, because the manager's proxies
	// on PATH look there for the real program.
	Inherits bool
}

// Managers are all known managers.
var Managers = []Manager{
	{"rustup", "RUSTUP_HOME", ".rustup", "toolchains", "rustup toolchain install VERSION", true},
	{"pyenv", "PYENV_ROOT", ".pyenv", "versions", "pyenv install VERSION", true},
	{"rbenv", "RBENV_ROOT", ".rbenv", "versions", "rbenv install VERSION", true},
	{"nodenv", "NODENV_ROOT", ".nodenv", "versions", "nodenv install VERSION", true},
	{"volta", "VOLTA_HOME", ".volta", "tools/image/TOOL", "volta install TOOL@VERSION", true},
	{"asdf", "ASDF_DATA_DIR", ".asdf", "installs/TOOL", "asdf install TOOL VERSION", true},
	{"mise", "MISE_DATA_DIR", ".local/share/mise", "installs/TOOL", "mise install TOOL@VERSION", true},
	{"nvm", "NVM_DIR", ".nvm", "versions/node", "nvm install VERSION", false},
}

// Home is where managers are looked for. Both functions may return "".
type Home struct {
	Dir string // HOME
	Env func(string) string
}

// User returns the Home of the user who started this process.
func User() Home {
	dir, _ := os.UserHomeDir() // when unknown, only managers that variables name are found
	return Home{Dir: dir, Env: os.Getenv}
}

// Of returns the folder of a manager, "" if it is not installed.
func (h Home) Of(m Manager) string {
	dir := h.Env(m.Variable)
	if dir == "" && h.Dir != "" {
		dir = filepath.Join(h.Dir, m.Folder)
	}
	if info, err := os.Stat(dir); !filepath.IsAbs(dir) || err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// installed reports whether a manager in dir has a version of a tool. Managers
// take 3.12 for the newest 3.12.x, and rustup adds the machine to a name.
func (m Manager) installed(dir, tool, version string) bool {
	entries, _ := os.ReadDir(filepath.Join(dir, filepath.FromSlash(m.named(m.versions, tool, ""))))
	for _, e := range entries {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(e.Name(), "v"), version)
		switch {
		case !ok:
		case rest == "", m.Name != "rustup" && rest[0] == '.':
			return true
		case m.Name == "rustup" && rest[0] == '-' && (len(rest) < 2 || rest[1] < '0' || rest[1] > '9'): // nightly is not nightly-2026-01-02
			return true
		}
	}
	return false
}

// named puts a tool and a version into one of the manager's patterns.
func (m Manager) named(pattern, tool, version string) string {
	return strings.NewReplacer("TOOL", tool, "VERSION", version).Replace(pattern)
}
