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
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// caches lists the environment variables that direct tools to caches below
// STATE/cache/PROJECT. HOME is new for every session; without these caches
// every session would download and build everything again. A folder from which
// a tool reads its configuration must not be among them: a session could change
// the tools that verify its work. Such tools use the session's HOME.
//
// Many tools use XDG_CACHE_HOME and have no row: uv, poetry, yarn 1, corepack,
// deno, bun, composer, swift.
var caches = [][2]string{
	{"GOCACHE", "go-build"},
	{"GOMODCACHE", "go-mod"},
	{"npm_config_cache", "npm"},
	{"PIP_CACHE_DIR", "pip"},
	{"NUGET_PACKAGES", "nuget"},
	{"BUNDLE_USER_CACHE", "bundle"},
	{"XDG_CACHE_HOME", "xdg"},
}

// homeCache is a folder of a session's HOME with links to caches of the project.
// It is for tools that read their configuration beside their caches: config.toml of
// cargo can name another compiler, or a runner that replaces the tests, and so can
// init.gradle of Gradle. Sessions share the caches only.
type homeCache struct {
	dir   string      // below HOME
	links [][2]string // name in dir, and of the folder below STATE/cache/PROJECT
}

// homeCaches have a folder each below STATE/cache/PROJECT, which lie side by side
// there, in a folder that sessions own. In a nested folder, a session could replace
// the parent by a link and redirect the next Start.
var homeCaches = []homeCache{
	{".cargo", [][2]string{{"registry", "cargo-registry"}, {"git", "cargo-git"}}},
	{".gradle", [][2]string{{"caches", "gradle-caches"}, {"wrapper", "gradle-wrapper"}}},
	{".m2", [][2]string{{"repository", "maven-repository"}, {"wrapper", "maven-wrapper"}}},
	{".local/share/pnpm", [][2]string{{"store", "pnpm-store"}}},
	{".yarn/berry", [][2]string{{"cache", "yarn-cache"}}},
}

// homeVars returns variables by which tools find their folders in a session's HOME.
// Java takes the home of the account for it, whatever HOME says, and sessions
// cannot write that.
func homeVars(home string) []string {
	return []string{
		"CARGO_HOME=" + filepath.Join(home, ".cargo"),
		"GRADLE_USER_HOME=" + filepath.Join(home, ".gradle"),
		"MAVEN_OPTS=-Duser.home=" + home,
	}
}

// cacheDirs returns the names of the folders that makeCache makes.
func cacheDirs() []string {
	var dirs []string
	for _, c := range caches {
		dirs = append(dirs, c[1])
	}
	for _, h := range homeCaches {
		for _, l := range h.links {
			dirs = append(dirs, l[1])
		}
	}
	return dirs
}

// makeHomeCaches makes the folders in a session's HOME that link to its caches. It is
// idempotent, like prepare, and follows no link that leads out of the HOME, which the
// session's user owns.
func (r *Runner) makeHomeCaches(box, caches string) error {
	home, err := os.OpenRoot(filepath.Join(box, boxHome))
	if err != nil {
		return err
	}
	defer func() { _ = home.Close() }()
	for _, h := range homeCaches {
		dir := ""
		for name := range strings.SplitSeq(h.dir, "/") {
			dir = filepath.Join(dir, name)
			if err := home.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
			if r.user.uid < 0 {
				continue
			}
			if err := home.Lchown(dir, r.user.uid, r.user.gid); err != nil {
				return err
			}
		}
		for _, l := range h.links {
			target, link := filepath.Join(caches, l[1]), filepath.Join(dir, l[0])
			if is, err := home.Readlink(link); err == nil && is != target {
				if err := home.Remove(link); err != nil { // of a start that was cut off
					return err
				}
			}
			if err := home.Symlink(target, link); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
	}
	return nil
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
		"GOFLAGS=-modcacherw", // otherwise the module cache could not be deleted
	}
	env = append(env, homeVars(home)...)
	seen := r.seenCaches(l)
	for _, c := range caches {
		env = append(env, c[0]+"="+filepath.Join(seen, c[1]))
	}
	env = inheritVars(append(env, toolchainVars()...), r.o.PassEnv)
	if l.Kind == ledger.KindShot {
		env = append(env, ledger.EnvScreenshot+"="+r.shotPath(l.Session))
	}
	if l.Kind != ledger.KindAgent {
		// An agent's keys are for the agent only: files of a session, which are
		// being verified now, must not read them.
		vars, err := r.o.Projects[l.Project].vars(l)
		return lastValues(append(env, vars...)), err
	}
	if a, err := d.adapter(); err == nil {
		env = append(env, rowVars(a, home)...)
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

// rowVars returns the variables of an agent's row for a session with that HOME.
func rowVars(a *adapter.Agent, home string) []string {
	var vars []string
	for _, v := range a.Vars {
		vars = append(vars, strings.Replace(v, "=~/", "="+home+"/", 1))
	}
	return vars
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
