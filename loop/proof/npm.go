package proof

import (
	"encoding/json"
	"slices"
	"strings"
)

// manifest is what is followed in a package.json.
type manifest struct {
	Name    string
	Scripts map[string]string
}

// manifest reads a package.json. Its keys are compared exactly, as npm does.
func (f *finder) manifest(p string) (manifest, bool) {
	text, ok := f.text(p)
	var top, scripts map[string]json.RawMessage
	if !ok || json.Unmarshal(trimBOM(text), &top) != nil {
		return manifest{}, false
	}
	out := manifest{Scripts: map[string]string{}}
	_ = json.Unmarshal(top["name"], &out.Name)   // a wrong type is no name
	_ = json.Unmarshal(top["scripts"], &scripts) // and no scripts
	for k, v := range scripts {
		var s string
		if json.Unmarshal(v, &s) == nil {
			out.Scripts[k] = s
		}
	}
	return out, true
}

// ownCommands are subcommands of the package managers that run no script of that name.
var ownCommands = []string{
	"add", "audit", "cache", "config", "create", "dedupe", "dlx", "exec", "help", "import", "info", "init", "link", "list", "ls", "login",
	"outdated", "pack", "patch", "prune", "publish", "rebuild", "remove", "root", "search", "set", "store", "unlink", "up", "update", "upgrade", "version", "view", "why", "x", "node", "fund", "doctor", "pkg", "bin", "whoami", "plugin", "constraints",
}

// packageManager follows npm, pnpm, yarn and bun.
func (f *finder) packageManager(base string, argv []arg, pl place) {
	args := texts(argv)
	pl = pl.child()
	var workspaces []string
	all := false
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		takes := false
		switch name {
		case "--prefix", "-C", "--cwd", "--dir", "-w", "--workspace", "--filter", "-F", "--script-shell", "--node-options", "--userconfig", "--loglevel":
			takes = name != "-w" || base == "npm"
		case "--workspaces", "-ws", "-r", "--recursive":
			all = true
		}
		if base == "pnpm" && name == "-w" || name == "--workspace-root" {
			pl.dir, pl.outside = "", false
		}
		if args[i] == "--" {
			break
		}
		if strings.HasPrefix(args[i], "-") && args[i] != "-" {
			n := 1
			if takes && !joined && i+1 < len(args) {
				value, n = args[i+1], 2
			}
			if takes {
				switch name {
				case "--prefix", "-C", "--cwd", "--dir":
					f.changeDir([]string{value}, &pl)
				case "-w", "--workspace", "--filter", "-F":
					workspaces = append(workspaces, value)
				}
			}
			argv = slices.Delete(slices.Clone(argv), i, i+n)
			args = texts(argv)
			i--
		}
	}
	if len(args) == 0 {
		if base == "yarn" {
			f.install(pl)
		}
		return
	}
	if base == "yarn" && args[0] == "workspace" && len(args) > 2 {
		workspaces, argv = append(workspaces, args[1]), argv[2:]
	} else if base == "yarn" && args[0] == "workspaces" && len(args) > 1 {
		all = true
		argv = argv[1:]
		for len(argv) > 0 && (argv[0].text == "foreach" || argv[0].text == "run") {
			argv = argv[1:]
		}
		argv = append([]arg{{text: "run", known: true}}, argv...)
	}
	args = texts(argv)
	if len(args) == 0 {
		return
	}
	dirs := []place{pl}
	if all || len(workspaces) > 0 {
		dirs = f.packages(pl, workspaces, all)
		if len(dirs) == 0 {
			f.need("workspace "+strings.Join(workspaces, " "), pl)
		}
		if root, ok := f.nearest(pl); ok {
			f.part(root, KindScript, f.enter(root, pl), "workspaces")
		}
	}
	for _, at := range dirs {
		f.subcommand(base, args, argv, at)
	}
}

func (f *finder) subcommand(base string, args []string, argv []arg, pl place) {
	sub := args[0]
	switch {
	case sub == "run" || sub == "run-script" || sub == "rum" || sub == "urn":
		if len(args) < 2 {
			return
		}
		if !argv[1].known {
			f.lost(pl, base+" run "+argv[1].text)
			return
		}
		if _, ok := f.jsFile(args[1], pl); ok && base == "bun" {
			f.interpret("node", argv[1:], pl)
			return
		}
		f.packageScript(args[1], argv[2:], pl)
	case sub == "t" || sub == "tst" || sub == "test" || sub == "start" || sub == "stop" || sub == "restart":
		if base == "bun" && sub == "test" {
			f.programs["bun test"] = true
			return
		}
		if sub == "t" || sub == "tst" {
			sub = "test"
		}
		f.packageScript(sub, argv[1:], pl)
	case sub == "it" || sub == "install-test":
		f.install(pl)
		f.packageScript("test", nil, pl)
	case sub == "ci" || sub == "install" || sub == "i":
		f.install(pl)
	case sub == "exec" || sub == "x" || sub == "dlx" || sub == "node":
		i := 1 + operand(args[1:], "-p --package -c --call")
		if text, ok := option(args[1:], "-c", "--call"); ok {
			f.shell(text, pl)
		} else if sub == "node" {
			f.interpret("node", argv[1:], pl)
		} else if i < len(argv) {
			f.command(argv[i:], nil, &pl)
		}
	case slices.Contains(ownCommands, sub):
	case !argv[0].known:
		f.lost(pl, base+" "+argv[0].text)
	default: // yarn lint, pnpm lint: a script, else a program
		f.packageScript(sub, argv[1:], pl)
	}
}

// nearest is the package.json that a package manager uses in a folder.
func (f *finder) nearest(pl place) (string, bool) {
	if pl.outside {
		return "", false
	}
	for dir := pl.dir; ; dir = parent(dir) {
		if p := strings.TrimPrefix(dir+"/package.json", "/"); f.has(p) {
			return p, true
		}
		if dir == "" {
			return "", false
		}
	}
}

// packages are the folders of packages by name, path or filter.
func (f *finder) packages(pl place, names []string, all bool) []place {
	var out []place
	for _, p := range f.bases["package.json"] {
		if strings.Contains("/"+p, "/node_modules/") || len(out) > maxValues {
			continue
		}
		m, _ := f.manifest(p)
		match := all && parent(p) != ""
		for _, n := range names {
			dir, ok := pl.resolve(strings.Trim(n, ".{}/ "))
			match = match || n == m.Name || ok && dir == parent(p) || strings.ContainsAny(n, "*") && (globMatch(n, m.Name) || globMatch(strings.Trim(n, "./{}"), parent(p)))
		}
		if match {
			at := pl.child()
			at.dir, at.outside = parent(p), false
			out = append(out, at)
		}
	}
	return out
}

// packageScripts follows all scripts that a pattern of npm-run-all names.
func (f *finder) packageScripts(pattern string, pl place) {
	p, ok := f.nearest(pl)
	if !ok || strings.HasPrefix(pattern, "-") {
		return
	}
	m, _ := f.manifest(p)
	pattern, _, _ = strings.Cut(pattern, " ")
	glob := strings.ReplaceAll(pattern, ":", "/")
	found := false
	for name := range m.Scripts {
		if name == pattern || globMatch(glob, strings.ReplaceAll(name, ":", "/")) {
			found = true
			f.packageScript(name, nil, pl)
		}
	}
	if !found {
		f.packageScript(pattern, nil, pl)
	}
}

// packageScript follows a script of package.json with those before and after
// it. A name without script is a program.
func (f *finder) packageScript(name string, extra []arg, pl place) {
	p, ok := f.nearest(pl)
	if !ok {
		f.need("package.json of "+pl.dir, pl)
		return
	}
	wanted := f.wanted["package.json of "+pl.dir]
	m, ok := f.manifest(p)
	if !ok {
		f.part(p, KindScript, f.enter(p, pl))
		return
	}
	key := p + " script " + name
	at := f.enter(key, pl)
	at.wanted = at.wanted || wanted
	f.npmrc(p, at)
	at.dir, at.outside, at.name, at.errexit = parent(p), false, p+" "+name, true
	at.vars = map[string][]string{"PATH": {"node_modules/.bin"}}
	if v := pl.vars["PATH"]; v != nil {
		at.vars["PATH"] = append([]string{"node_modules/.bin"}, v...)
	}
	via := at
	if via.via == "" {
		via.via = "a command"
	}
	text, ok := m.Scripts[name]
	if !ok {
		f.need(key, pl)
		via.via = p
		f.part(p, KindScript, via, "scripts."+name)
		f.command(append([]arg{{text: name, known: true}}, extra...), nil, &at)
		return
	}
	// Pre and post run where they exist: a new one is no part that was needed.
	hook := via
	hook.wanted = pl.wanted || wanted
	f.part(p, KindScript, hook, "scripts.pre"+name, "scripts.post"+name)
	f.part(p, KindScript, via, "scripts."+name)
	at.via = p
	for _, a := range extra {
		if a.known && a.text != "--" {
			text += " '" + strings.ReplaceAll(a.text, "'", `'\''`) + "'"
		}
	}
	f.shell(text, at)
	for _, h := range []string{"pre" + name, "post" + name} {
		if t := m.Scripts[h]; t != "" {
			f.shell(t, at)
		}
	}
}

// install follows the scripts that run when dependencies are installed.
func (f *finder) install(pl place) {
	p, ok := f.nearest(pl)
	if !ok {
		return
	}
	m, ok := f.manifest(p)
	if !ok {
		return
	}
	at := f.enter(p, pl)
	at.dir, at.outside, at.via, at.name = parent(p), false, p, p
	f.npmrc(p, at)
	for _, n := range []string{"preinstall", "install", "postinstall", "prepare"} {
		f.part(p, KindScript, at, "scripts."+n)
		if t := m.Scripts[n]; t != "" {
			f.shell(t, at)
		}
	}
}

// npmrcKeys decide how scripts are run.
var npmrcKeys = []string{"script-shell", "node-options", "shell", "ignore-scripts", "if-present", "prefix", "workspaces", "workspace", "shell-emulator", "enable-pre-post-scripts", "scripts-prepend-node-path"}

// npmrc adds the settings beside a package.json that decide how its scripts
// are run; registries and tokens are none of them.
func (f *finder) npmrc(manifest string, pl place) {
	pl.wanted = false
	for _, dir := range dedup([]string{parent(manifest), ""}) {
		p := strings.TrimPrefix(dir+"/.npmrc", "/")
		if !f.has(p) {
			continue
		}
		pl.via = manifest
		var parts []string
		for _, k := range npmrcKeys {
			parts = append(parts, "."+k)
		}
		f.part(p, KindConfig, pl, parts...)
	}
}

// monorepo follows tools that run a script of all packages.
func (f *finder) monorepo(base string, args []string, pl place) {
	var names []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && a != "run" && a != "run-many" && a != "affected" {
			_, target, ok := strings.Cut(a, ":")
			if !ok || base != "nx" {
				target = a
			}
			names = append(names, target)
		}
	}
	if v, ok := option(args, "-t", "--target", "--targets"); ok {
		names = append(names, strings.Split(v, ",")...)
	}
	for _, at := range f.packages(pl, nil, true) {
		p, _ := f.nearest(at)
		m, _ := f.manifest(p)
		for _, n := range names {
			if _, ok := m.Scripts[n]; ok {
				f.packageScript(n, nil, at.unsure())
			}
		}
	}
	for _, n := range []string{"turbo.json", "nx.json", "lerna.json", "project.json"} {
		for _, p := range f.bases[n] {
			if !excluded(p) {
				f.whole(p, KindConfig, f.enter(p, pl))
			}
		}
	}
}
