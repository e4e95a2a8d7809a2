package propose

import (
	"encoding/json"
	"fmt"
	"strings"
)

// manager is a package manager of Node: its lock files and its commands.
// install installs exactly the locked versions.
type manager struct {
	name    string
	locks   []string
	install string
	test    string // command that runs the script "test"
	run     string // prefix of a command that runs a script
	exec    string // prefix of a command that runs a package's program
}

var managers = []manager{
	{"npm", []string{"package-lock.json", "npm-shrinkwrap.json"}, "npm ci", "npm test", "npm run ", "npx --no-install "},
	{"pnpm", []string{"pnpm-lock.yaml"}, "pnpm install --frozen-lockfile", "pnpm test", "pnpm run ", "pnpm exec "},
	{"yarn", []string{"yarn.lock"}, "yarn install --frozen-lockfile", "yarn test", "yarn run ", "yarn run "},
	{"bun", []string{"bun.lock", "bun.lockb"}, "bun install --frozen-lockfile", "bun run test", "bun run ", "bunx "}, // "bun test" would start bun's own test runner
}

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
	if lock != "" || len(m.Dependencies)+len(m.Dev) > 0 {
		install := f.install(pm, lock)
		install.Visible = !f.ignores("node_modules")
		p.setup = append(p.setup, install)
		if install.Visible {
			p.notes = append(p.notes, "node_modules is not in "+f.name(".gitignore")+": setup fills it, and it would look like work")
		}
	}
	script := func(name, run, why string) Command {
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
		c := f.command(pm.exec+"tsc --noEmit", "tsconfig.json", false)
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

func (f folder) install(pm manager, lock string) Command {
	switch {
	case lock == "":
		run := map[string]string{"npm": "npm install --no-package-lock", "pnpm": "pnpm install --no-lockfile"}[pm.name]
		if run == "" {
			run = pm.name + " install"
		}
		c := f.command(run, "package.json", false)
		c.Why += "; there is no lockfile, so each night may get other versions"
		return c
	case pm.name == "yarn" && (f.has(".yarnrc.yml") || strings.Contains(f.read(lock), "__metadata:")): // yarn 2 and later
		return f.command("yarn install --immutable", lock, false)
	}
	return f.command(pm.install, lock, false)
}

// jsonProblem describes a syntax error without quoting the file's content.
func jsonProblem(err error) string {
	if _, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // Unmarshal returns it as it is
		return "a value is not of the kind that npm expects"
	}
	return "it is not JSON"
}
