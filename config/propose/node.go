package propose

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// manager is a package manager of Node: its lock files and its commands, without
// the program. install installs exactly the locked versions.
type manager struct {
	name    string
	locks   []string
	install string
	test    string // command that runs the script "test"
	run     string // prefix of a command that runs a script
	exec    string // prefix of a command that runs a package's program; "" = npx does
	// npx is what npx fetches and runs where the manager is not on PATH; "" = npx
	// is no way to it.
	npx      string
	corepack bool // corepack knows it
}

var managers = []manager{
	{"npm", []string{"package-lock.json", "npm-shrinkwrap.json"}, "ci", "test", "run ", "", "", false},
	{"pnpm", []string{"pnpm-lock.yaml"}, "install --frozen-lockfile", "test", "run ", "exec ", "pnpm", true},
	{"yarn", []string{"yarn.lock"}, "install --frozen-lockfile", "test", "run ", "run ", "yarn", true},
	{"bun", []string{"bun.lock", "bun.lockb"}, "install --frozen-lockfile", "run test", "run ", "x ", "bun", false}, // "bun test" would start bun's own test runner
}

// pnpmReleases are the releases of pnpm that read and write the versions of its
// lock file.
var pnpmReleases = []struct{ lock, release string }{{"lockfileVersion: 5", "pnpm@7"}, {"lockfileVersion: '6", "pnpm@8"}, {"lockfileVersion: '9", "pnpm@10"}}

// manifest holds the fields of package.json that Look uses.
type manifest struct {
	Scripts        map[string]string          `json:"scripts"`
	Dependencies   map[string]json.RawMessage `json:"dependencies"`
	Dev            map[string]json.RawMessage `json:"devDependencies"`
	PackageManager string                     `json:"packageManager"`
}

// lookNode proposes the scripts of package.json that check, lint and test. The
// package manager whose lockfile exists runs them.
func lookNode(f folder) (part, bool) {
	const file = "package.json"
	if !f.has(file) {
		return part{}, false
	}
	var p part
	var m manifest
	if err := json.Unmarshal([]byte(f.read(file)), &m); err != nil {
		p.notes = append(p.notes, fmt.Sprintf("%s cannot be read (%s), so no command was taken from it", f.name(file), jsonProblem(err)))
		return p, true
	}
	pm, lock, more := f.manager(m)
	if more {
		p.notes = append(p.notes, fmt.Sprintf("%s has lockfiles of several package managers; %s was taken", f.name("."), pm.name))
	}
	program, note := f.program(pm, m, lock)
	if note != "" {
		p.notes = append(p.notes, note)
	}
	if lock != "" || len(m.Dependencies)+len(m.Dev) > 0 {
		install := f.install(pm, program, lock)
		install.Visible = !f.ignores("node_modules")
		p.setup = append(p.setup, install)
		if install.Visible {
			p.notes = append(p.notes, "node_modules is not in "+f.name(".gitignore")+": setup fills it, and it would look like work")
		}
	}
	script := func(name, run, why string) Command {
		run = program + " " + run
		c := f.command(run, file, false)
		c.Why += ", " + why
		switch text := m.Scripts[name]; {
		case strings.Contains(text, "react-scripts test"): // watches for changes without end, unless CI is set
			c = f.command("CI=true "+run, file, false)
			c.Why += ", " + why
		case strings.Contains(text, "--watch") && !strings.Contains(text, "--watch=false") && !strings.Contains(text, "--watchAll=false"):
			c = c.off("it watches files and does not end")
		case strings.Contains(text, "--fix") || strings.Contains(text, "--write"):
			c = c.off("it changes files: name one that only looks")
		}
		return c
	}
	has := func(name string) bool { return strings.TrimSpace(m.Scripts[name]) != "" }
	typed := false
	for _, name := range []string{"check", "typecheck", "type-check", "check-types", "tsc"} {
		if has(name) {
			p.verify = append(p.verify, script(name, pm.run+name, "script "+name))
			typed = true
			break
		}
	}
	if _, dev := m.Dev["typescript"]; !typed && dev && f.has("tsconfig.json") {
		exec := program + " " + pm.exec
		if pm.exec == "" {
			exec = "npx --no-install "
		}
		c := f.command(exec+"tsc --noEmit", "tsconfig.json", false)
		p.verify = append(p.verify, c)
		typed = true
	}
	if !typed && has("build") {
		p.verify = append(p.verify, script("build", pm.run+"build", "script build").off("take it in if it is quick and makes only ignored files"))
	}
	if has("lint") {
		p.verify = append(p.verify, script("lint", pm.run+"lint", "script lint").code())
	}
	if has("test") && !strings.Contains(m.Scripts["test"], "no test specified") { // npm init writes this placeholder, which fails
		p.verify = append(p.verify, script("test", pm.test, "script test"))
	} else if pm.name == "bun" && f.has(bunTests...) {
		p.verify = append(p.verify, f.command(program+" test", f.first(bunTests...), false))
	}
	return p, true
}

// manager finds the package manager: by its lockfile, else by package.json,
// else npm. more reports that several managers have lockfiles.
func (f folder) manager(m manifest) (pm manager, lock string, more bool) {
	named, _, _ := strings.Cut(m.PackageManager, "@")
	found := 0
	for _, candidate := range managers {
		file := f.first(candidate.locks...)
		if file == "" {
			continue
		}
		found++
		if found == 1 || candidate.name == named {
			pm, lock = candidate, file
		}
	}
	if found == 0 {
		pm = managers[0]
		for _, candidate := range managers {
			if candidate.name == named {
				pm = candidate
			}
		}
	}
	return pm, lock, found > 1
}

// bunTests are where tests for bun's own runner usually are.
var bunTests = []string{"*.test.ts", "test/*.test.ts", "tests/*.test.ts", "src/*.test.ts", "*.test.js", "test/*.test.js", "tests/*.test.js", "src/*.test.js"}

// program returns the words that start a package manager: its name, or the way to
// it where it is not on PATH, with a note.
func (f folder) program(pm manager, m manifest, lock string) (words, note string) {
	own := ""
	if files := f.all(".yarn/releases/yarn-*.cjs"); pm.name == "yarn" && len(files) == 1 && plain(path.Base(files[0])) {
		own = files[0]
	}
	switch named, _, _ := strings.Cut(m.PackageManager, "@"); {
	case f.onPath(pm.name):
		return pm.name, ""
	case own != "" && f.onPath("node"):
		return "node " + own, pm.name + " is not on PATH: node runs the one in the repository"
	case pm.corepack && f.onPath("corepack") && named == pm.name:
		return "corepack " + pm.name, pm.name + " is not on PATH: corepack fetches and runs it"
	case pm.npx != "" && f.onPath("npx"):
		pack := pm.npx
		for _, r := range pnpmReleases {
			if pm.name == "pnpm" && strings.Contains(f.read(lock), r.lock) {
				pack = r.release
			}
		}
		return "npx --yes " + pack, pm.name + " is not on PATH: npx fetches and runs it"
	case pm.corepack && f.onPath("corepack"):
		// Without a named version corepack takes the newest one, whatever the lock file,
		// and would write it into package.json.
		return "COREPACK_ENABLE_AUTO_PIN=0 corepack " + pm.name, pm.name + " is not on PATH: corepack fetches and runs its newest release"
	}
	return pm.name, ""
}

func (f folder) install(pm manager, program, lock string) Command {
	switch {
	case lock == "":
		args := map[string]string{"npm": "install --no-package-lock", "pnpm": "install --no-lockfile"}[pm.name]
		if args == "" {
			args = "install"
		}
		c := f.command(program+" "+args, "package.json", false)
		c.Why += "; there is no lockfile, so each night may get other versions"
		return c
	case pm.name == "yarn" && f.yarnBerry(lock):
		return f.command(program+" install --immutable", lock, false)
	}
	return f.command(program+" "+pm.install, lock, false)
}

// yarnBerry reports whether a lock file is of yarn 2 or later.
func (f folder) yarnBerry(lock string) bool {
	return f.has(".yarnrc.yml") || strings.Contains(f.read(lock), "__metadata:")
}

// jsonProblem describes a syntax error without quoting the file's content.
func jsonProblem(err error) string {
	if _, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // Unmarshal returns it as it is
		return "a value is not of the kind that npm expects"
	}
	return "it is not JSON"
}
