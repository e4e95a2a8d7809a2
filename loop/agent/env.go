package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop/ledger"
)

// caches are the folders below STATE/cache/PROJECT and the variables that
// send tools there. HOME is new for every session; without these, every
// session would fetch and build everything again. What a tool reads as its
// configuration must not lie in one: a session would leave it to those that
// verify its work. These tools keep theirs below HOME.
var caches = [][2]string{
	{"GOCACHE", "go-build"},
	{"GOMODCACHE", "go-mod"},
	{"npm_config_cache", "npm"},
	{"PIP_CACHE_DIR", "pip"},
	{"XDG_CACHE_HOME", "xdg"},
}

// cargoHome is CARGO_HOME, below the session's HOME. Cargo reads its
// configuration there (config.toml can name another compiler, or a runner that
// stands in for the tests), so sessions share only cargoCaches of it.
const cargoHome = ".cargo"

// cargoCaches are the folders of CARGO_HOME that are caches, and where each
// lies below STATE/cache/PROJECT. They lie there side by side, in a folder
// that sessions own: below one of their own, the next Start could be led
// elsewhere by a link in the parent's place.
var cargoCaches = [][2]string{
	{"registry", "cargo-registry"},
	{"git", "cargo-git"},
}

// cacheDirs are the folders that makeCache makes.
func cacheDirs() []string {
	var dirs []string
	for _, c := range append(caches[:len(caches):len(caches)], cargoCaches...) {
		dirs = append(dirs, c[1])
	}
	return dirs
}

// makeCargoHome makes a session's CARGO_HOME with links to the project's
// caches. Like prepare, it can be done again.
func (r *Runner) makeCargoHome(box, project string) error {
	dir := filepath.Join(box, boxHome, cargoHome)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	for _, c := range cargoCaches {
		err := os.Symlink(filepath.Join(r.cache(project), c[1]), filepath.Join(dir, c[0]))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return r.user.give(dir)
}

// toolchains are folders of programs that install other programs, by the
// variable that names them and the place below a home where they are without
// it. What they put on PATH are stand-ins that look there for the real thing,
// and a session has a HOME of its own. They hold no secrets, and are read-only
// to a session.
var toolchains = [][2]string{
	{"RUSTUP_HOME", ".rustup"},
	{"PYENV_ROOT", ".pyenv"},
	{"RBENV_ROOT", ".rbenv"},
	{"NODENV_ROOT", ".nodenv"},
	{"VOLTA_HOME", ".volta"},
	{"ASDF_DATA_DIR", ".asdf"},
	{"MISE_DATA_DIR", ".local/share/mise"},
}

// installed are the toolchains of who started the daemon, as variables.
func installed() []string {
	home, _ := os.UserHomeDir() // unknown: only what variables name
	var vars []string
	for _, c := range toolchains {
		dir := os.Getenv(c[0])
		if dir == "" && home != "" {
			dir = filepath.Join(home, c[1])
		}
		if fi, err := os.Stat(dir); filepath.IsAbs(dir) && err == nil && fi.IsDir() {
			vars = append(vars, c[0]+"="+dir)
		}
	}
	return vars
}

// installedIn are the folders of installed.
func installedIn() []string {
	var dirs []string
	for _, v := range installed() {
		_, dir, _ := strings.Cut(v, "=")
		dirs = append(dirs, dir)
	}
	return dirs
}

// environment is the whole environment of a session: docs/spec 17 and what a
// program needs to find its way. Nothing of the daemon's own environment is in
// it but PATH, cut to what exists, where toolchains are, and the variables that
// the configuration names.
func (r *Runner) environment(l ledger.Launch, d Definition) ([]string, error) {
	box := filepath.Join(r.folder(l.Session), dirBox)
	home := filepath.Join(box, boxHome)
	first := []string{filepath.Join(box, boxBin)}
	if l.Kind == ledger.KindAgent {
		first = append(first, filepath.Join(box, boxWrap))
	}
	env := []string{
		"PATH=" + strings.Join(append(first, r.path...), ":"),
		"HOME=" + home,
		"TMPDIR=" + filepath.Join(box, boxTmp),
		"LANG=C.UTF-8",
		"TERM=dumb",
		"USER=" + r.user.name,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"CARGO_HOME=" + filepath.Join(home, cargoHome),
		"GOFLAGS=-modcacherw", // else a module cache cannot be removed
	}
	for _, c := range caches {
		env = append(env, c[0]+"="+filepath.Join(r.cache(l.Project), c[1]))
	}
	env = pass(append(env, installed()...), r.o.PassEnv)
	if l.Kind != ledger.KindAgent {
		// An agent's keys are the agent's: what a session wrote, and is now
		// being verified, must not find them.
		return env, nil
	}
	if a, err := d.adapter(); err == nil {
		env = append(env, a.Vars...)
	}
	env = pass(env, d.PassEnv)
	if d.EnvFile != "" {
		path := d.file(d.EnvFile)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("env_file of agent %q: %w", d.Name, err)
		}
		vars, err := parseEnvFile(path, data)
		if err != nil {
			return nil, err
		}
		env = append(env, vars...)
	}
	return last(append(env,
		api.EnvSocket+"="+r.SocketPath(l.Session),
		api.EnvToken+"="+l.Token,
		api.EnvSession+"="+l.Session,
		api.EnvRun+"="+l.Run,
		api.EnvTask+"="+l.Task,
		api.EnvName+"="+l.Hat,
	)), nil
}

// pass adds the named variables of the daemon's environment, where they are set.
func pass(env, names []string) []string {
	for _, n := range names {
		if v, ok := os.LookupEnv(n); ok {
			env = append(env, n+"="+v)
		}
	}
	return last(env)
}

// last keeps the last value of each variable, in the place of its first.
func last(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, e := range env {
		n, _, _ := strings.Cut(e, "=")
		if i, ok := at[n]; ok {
			out[i] = e
			continue
		}
		at[n] = len(out)
		out = append(out, e)
	}
	return out
}

// parseEnvFile reads lines NAME=VALUE. Empty lines, lines that begin with #
// and a leading "export " are passed over; a value may stand in quotes.
// Nothing is expanded. The error names file and line, never a value.
func parseEnvFile(path string, data []byte) ([]string, error) {
	var env []string
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if n == 1 {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
		key, value, ok := strings.Cut(line, "=")
		if !ok || !isVar(key) {
			return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
				File: path, Line: n, Text: "this is not NAME=VALUE", Remedy: "write one variable a line, for example API_KEY=…",
			}}}
		}
		value = strings.TrimSpace(value)
		if q := len(value) - 1; q > 0 && (value[0] == '"' || value[0] == '\'') && value[q] == value[0] {
			value = value[1:q]
		}
		if strings.ContainsRune(value, 0) {
			return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: path, Line: n, Text: "the value of " + key + " holds a NUL byte"}}}
		}
		env = append(env, key+"="+value)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return env, nil
}

func isVar(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
