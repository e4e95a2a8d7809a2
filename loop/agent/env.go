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
	"github.com/nightporter/nightporter/internal/toolchain"
	"github.com/nightporter/nightporter/loop/ledger"
)

// caches lists the environment variables that direct tools to caches below
// STATE/cache/PROJECT. HOME is new for every session; without these caches
// every session would download and build everything again. A folder from which
// a tool reads its configuration must not be among them: a session could change
// the tools that verify its work. Such tools use the session's HOME.
var caches = [][2]string{
	{"GOCACHE", "go-build"},
	{"GOMODCACHE", "go-mod"},
	{"npm_config_cache", "npm"},
	{"PIP_CACHE_DIR", "pip"},
	{"XDG_CACHE_HOME", "xdg"},
}

// cargoHome is CARGO_HOME, below the session's HOME. Cargo reads its
// configuration there (config.toml can name another compiler, or a runner that
// replaces the tests), so sessions share only cargoCaches.
const cargoHome = ".cargo"

// cargoCaches maps cache folders in CARGO_HOME to their names below
// STATE/cache/PROJECT. They lie side by side there, in a folder that sessions
// own. In a nested folder, a session could replace the parent by a link and
// redirect the next Start.
var cargoCaches = [][2]string{
	{"registry", "cargo-registry"},
	{"git", "cargo-git"},
}

// cacheDirs returns the names of the folders that makeCache makes.
func cacheDirs() []string {
	var dirs []string
	for _, c := range append(caches[:len(caches):len(caches)], cargoCaches...) {
		dirs = append(dirs, c[1])
	}
	return dirs
}

// makeCargoHome makes a session's CARGO_HOME with links to the project's
// caches. It is idempotent, like prepare.
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
	return r.user.chown(dir)
}

// toolchainVars returns the variables of the toolchains of the user who started
// the daemon. They put proxies on PATH that look up the real program in their
// folder, which they would not find with the session's own HOME. The folders hold
// no secrets, and sessions cannot write them.
func toolchainVars() []string {
	home := toolchain.User()
	var vars []string
	for _, m := range toolchain.Managers {
		if dir := home.Of(m); m.Inherits && dir != "" {
			vars = append(vars, m.Variable+"="+dir)
		}
	}
	return vars
}

// toolchainDirs returns the folders that toolchainVars names.
func toolchainDirs() []string {
	var dirs []string
	for _, v := range toolchainVars() {
		_, dir, _ := strings.Cut(v, "=")
		dirs = append(dirs, dir)
	}
	return dirs
}

// environment returns the complete environment of a session: the variables of
// docs/spec 17 and the ones that programs need to work. From the daemon's own
// environment it takes only PATH without missing folders, the toolchains, and
// the variables that the configuration names.
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
		"GOFLAGS=-modcacherw", // otherwise the module cache could not be deleted
	}
	for _, c := range caches {
		env = append(env, c[0]+"="+filepath.Join(r.cache(l.Project), c[1]))
	}
	env = inheritVars(append(env, toolchainVars()...), r.o.PassEnv)
	if l.Kind != ledger.KindAgent {
		// An agent's keys are for the agent only: files of a session, which are
		// being verified now, must not read them.
		vars, err := r.o.Projects[l.Project].vars(l)
		return lastValues(append(env, vars...)), err
	}
	if a, err := d.adapter(); err == nil {
		env = append(env, a.Vars...)
	}
	env = inheritVars(env, d.PassEnv)
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
	return lastValues(append(env,
		api.EnvSocket+"="+r.SocketPath(l.Session),
		api.EnvToken+"="+l.Token,
		api.EnvSession+"="+l.Session,
		api.EnvRun+"="+l.Run,
		api.EnvTask+"="+l.Task,
		api.EnvName+"="+l.Hat,
	)), nil
}

// inheritVars adds those of the named variables that the daemon's environment
// has.
func inheritVars(env, names []string) []string {
	for _, n := range names {
		if v, ok := os.LookupEnv(n); ok {
			env = append(env, n+"="+v)
		}
	}
	return lastValues(env)
}

// lastValues keeps the last value of each variable, at the position of its
// first.
func lastValues(env []string) []string {
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

// parseEnvFile reads lines NAME=VALUE. It skips empty lines, lines that begin
// with # and a leading "export "; a value may be quoted. It expands nothing. An
// error names file and line, never a value.
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
