package proof

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nightporter/nightporter/internal/regexp"
)

// wrappers are programs that run the command in their arguments, each with
// the options that take a value and the number of operands before the command.
var wrappers = map[string]struct {
	values   string
	operands int
}{
	"env": {"-u --unset -C --chdir", 0}, "timeout": {"-k --kill-after -s --signal", 1}, "gtimeout": {"-k -s", 1},
	"nice": {"-n", 0}, "ionice": {"-c -n -p", 0}, "nohup": {}, "time": {"-f -o", 0}, "command": {}, "builtin": {}, "exec": {"-a", 0},
	"sudo": {"-u -g -h -p", 0}, "doas": {"-u", 0}, "stdbuf": {"-i -o -e", 0}, "setsid": {}, "xvfb-run": {"-n -s -e -f", 0}, "unbuffer": {},
	"chronic": {}, "xargs": {"-I -i -n -P -L -d -a -E -s --max-args --max-procs", 0}, "parallel": {"-j -n", 0}, "flock": {"-w -E", 1},
	"npx": {"-p --package -c --call", 0}, "bunx": {"-p", 0}, "pnpx": {}, "pipx": {}, "cross-env": {}, "cross-env-shell": {}, "dotenv": {"-e -f -c", 0}, "env-cmd": {"-f -e", 0},
	"c8": {"-r --reporter -o --reports-dir -x --exclude -n --include", 0}, "nyc": {"-r --reporter --report-dir", 0},
	"retry": {"-t -d", 0}, "wait-for-it": {}, "not": {}, "!": {}, "strace": {"-e -o", 0}, "faketime": {"-f", 1}, "ccache": {}, "firejail": {}, "catchsegv": {}, "valgrind": {},
	"winpty": {}, "start-server-and-test": {}, "aunit": {}, "gotestsum": {"--format -f --junitfile --packages", 0},
}

// runners of other programs by a subcommand, such as poetry run pytest.
var subRunners = map[string][]string{
	"poetry": {"run"}, "pipenv": {"run"}, "uv": {"run", "tool"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"}, "pixi": {"run"},
	"bundle": {"exec"}, "mise": {"exec", "x"}, "asdf": {"exec"}, "conda": {"run"}, "direnv": {"exec"}, "nix": {"run"}, "corepack": {"npm", "pnpm", "yarn"},
}

// interpreters run the file that is their first operand; values are their
// options with a value, code the options whose value is a program text, load
// those whose value is a file or module that is run first.
var interpreters = map[string]struct{ values, code, load string }{
	"python": {"-W -X -Q", "-c", ""}, "node": {"-C --conditions --env-file --test-name-pattern --test-reporter --test-reporter-destination --test-concurrency --title --input-type", "-e --eval -p --print -c --check", "-r --require --import --loader --experimental-loader"},
	"ruby": {"-I -C -E", "-e", "-r"}, "perl": {"-I", "-e -E", ""}, "php": {"-d -c", "-r", ""}, "Rscript": {"", "-e", ""}, "lua": {"", "-e", "-l"},
	"tsx": {"--tsconfig", "-e", "-r --require --import"}, "ts-node": {"-P --project -O", "-e", "-r --require"}, "babel-node": {}, "esno": {}, "vite-node": {"-c --config", "", ""}, "zx": {},
	"elixir": {"", "-e", "-r"}, "julia": {"--project", "-e -E", ""}, "groovy": {}, "java": {"-cp -classpath --class-path", "", ""}, "expect": {"", "-c", ""}, "awk": {"-F -v", "", "-f"}, "osascript": {"", "-e", ""}, "pwsh": {"", "-c -Command", "-File"}, "bats": {"-f -j", "", ""}, "dart": {},
}

var pythonName = regexp.MustCompile(`^(python|pypy)[0-9.]*$`)

// values drops what is not known: options are read from what is.
func texts(argv []arg) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		if a.known {
			out[i] = a.text
		}
	}
	return out
}

// operand returns the index of the first argument that is no option.
func operand(args []string, values string) int {
	takes := strings.Fields(values)
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return i + 1
		case !strings.HasPrefix(args[i], "-") || args[i] == "-":
			return i
		case slices.Contains(takes, args[i]):
			i++
		}
	}
	return len(args)
}

// option returns the value of an option, as "-f x", "-fx", "--file x" or
// "--file=x".
func option(args []string, names ...string) (string, bool) {
	for i, a := range args {
		for _, n := range names {
			switch {
			case a == n && i+1 < len(args):
				return args[i+1], true
			case strings.HasPrefix(n, "--") && strings.HasPrefix(a, n+"="):
				return a[len(n)+1:], true
			case len(n) == 2 && strings.HasPrefix(a, n) && len(a) > 2 && !strings.HasPrefix(a, "--"):
				return strings.TrimPrefix(a[2:], "="), true
			}
		}
	}
	return "", false
}

// command follows one command with its arguments.
func (f *finder) command(argv []arg, redirs []*syntax.Redirect, pl *place) {
	for len(argv) > 0 && argv[0].known && strings.Contains(argv[0].text, "=") && assignment.MatchString(argv[0].text) { // env A=b cmd
		name, value, _ := strings.Cut(argv[0].text, "=")
		*pl = pl.child()
		pl.vars[name] = []string{value}
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return
	}
	if !argv[0].known {
		f.lost(*pl, argv[0].text)
		return
	}
	if pl.depth > maxDepth {
		f.lost(*pl, "more: too deep")
		return
	}
	name := argv[0].text
	if strings.Contains(name, "/") {
		if p, ok := pl.resolve(name); ok {
			f.script(p, argv[1:], *pl)
			return
		}
	} else if p, ok := f.onPath(name, *pl); ok {
		f.script(p, argv[1:], *pl)
		return
	}
	base := path.Base(name)
	if pythonName.MatchString(base) {
		base = "python"
	}
	if at := strings.IndexByte(base, '@'); at > 0 { // npx pnpm@10
		base = base[:at]
	}
	args := texts(argv[1:])
	f.programs[base] = true
	pl.depth++
	defer func() { pl.depth-- }()
	switch base {
	case "cd", "pushd":
		f.changeDir(args, pl)
	case "popd":
		pl.outside = true
	case "set":
		for _, a := range args {
			if strings.HasPrefix(a, "-") && strings.Contains(a, "e") || a == "errexit" {
				pl.errexit = true
			}
		}
	case ".", "source":
		f.source(argv[1:], pl)
	case "eval", "trap":
		f.evaluate(argv[1:], *pl)
	case "sh", "bash", "dash", "zsh", "ksh", "ash":
		f.subshell(argv[1:], redirs, *pl)
	case "npm", "pnpm", "yarn", "bun":
		f.packageManager(base, argv[1:], *pl)
	case "run-s", "run-p", "npm-run-all", "npm-run-all2":
		for _, a := range args {
			f.packageScripts(a, pl.child())
		}
	case "concurrently", "wireit":
		for i, a := range args {
			switch {
			case !argv[i+1].known || strings.HasPrefix(a, "-"):
			case strings.HasPrefix(a, "npm:"):
				f.packageScripts(a[4:], *pl)
			default:
				f.shell(a, pl.unsure())
			}
		}
	case "turbo", "nx", "lerna":
		f.monorepo(base, args, *pl)
	case "make", "gmake":
		f.make(argv[1:], *pl)
	case "just", "task", "tox", "nox", "rake", "grunt", "gulp", "invoke", "inv", "act", "pre-commit", "ctest", "meson", "bazel", "tilt", "earthly", "dagger":
		f.taskFile(base, args, *pl)
	case "go":
		f.goTool(args, *pl)
	case "find":
		for i, a := range args {
			if a == "-exec" || a == "-execdir" || a == "-ok" {
				f.command(argv[i+2:], nil, pl)
			}
		}
	case "coverage":
		if len(args) > 0 && args[0] == "run" {
			f.interpret("python", argv[2:], *pl)
		}
	default:
		f.wrapped(base, argv[1:], args, redirs, pl)
	}
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// wrapped follows wrappers and interpreters.
func (f *finder) wrapped(base string, argv []arg, args []string, redirs []*syntax.Redirect, pl *place) {
	if w, ok := wrappers[base]; ok {
		if base == "npx" || base == "bunx" {
			if text, ok := option(args, "-c", "--call"); ok {
				f.shell(text, *pl)
				return
			}
		}
		if dir, ok := option(args, "-C", "--chdir"); ok && base == "env" {
			*pl = pl.child()
			f.changeDir([]string{dir}, pl)
		}
		i := operand(args, w.values)
		for n := 0; n < w.operands && i < len(args); n++ {
			i++
		}
		if i < len(argv) {
			inner := pl.child()
			f.command(argv[i:], redirs, &inner)
		}
		return
	}
	if subs, ok := subRunners[base]; ok {
		i := operand(args, "-C --directory --project -p")
		if i < len(args) && slices.Contains(subs, args[i]) {
			if base != "corepack" { // its subcommand is the program
				i++
			}
			i += operand(args[i:], "--with --extra --group --python -p -n --env-file --package -e")
			if i < len(argv) {
				inner := pl.child()
				if base == "hatch" || base == "pdm" || base == "pixi" {
					f.projectScript(base, args[i], *pl)
				}
				f.command(argv[i:], redirs, &inner)
			}
		}
		return
	}
	if _, ok := interpreters[base]; ok {
		f.interpret(base, argv, *pl)
		return
	}
	// Tests that a command names and the tree has not.
	for _, a := range args {
		if p, ok := pl.resolve(a); ok && strings.ContainsAny(a, "/.") && !strings.HasPrefix(a, "-") && !f.has(p) && !f.folders[p] {
			f.need("operand "+p, *pl)
		}
	}
	// Plugins and configuration that a runner is told to use.
	for _, o := range []string{"-c", "--config", "--config-file", "--rcfile", "--settings", "-p", "--require", "-r", "--import", "--setupFiles", "--globalSetup", "--rootdir"} {
		if v, ok := option(args, o); ok {
			if p, ok := pl.resolve(v); ok && f.has(p) {
				f.whole(p, KindConfig, f.enter(p, *pl))
			} else if p, ok := pl.resolve(strings.ReplaceAll(v, ".", "/") + ".py"); ok && f.has(p) {
				f.whole(p, KindConfig, f.enter(p, *pl))
			}
		}
	}
}

// onPath finds a program in folders of the tree that the command put on PATH.
func (f *finder) onPath(name string, pl place) (string, bool) {
	for _, v := range pl.vars["PATH"] {
		for _, dir := range strings.Split(v, ":") {
			if d, ok := pl.resolve(dir); ok && dir != "" && f.has(strings.TrimPrefix(d+"/"+name, "/")) {
				return strings.TrimPrefix(d+"/"+name, "/"), true
			}
		}
	}
	return "", false
}

func (f *finder) changeDir(args []string, pl *place) {
	i := operand(args, "")
	if i >= len(args) || args[i] == "" || args[i] == "-" {
		pl.outside = true
		return
	}
	dir, ok := pl.resolve(args[i])
	pl.dir, pl.outside = dir, !ok
	if ok && !f.folders[dir] {
		f.need(dir+"/", *pl)
	}
	if ok && f.wanted[dir+"/"] {
		pl.wanted = true
	}
}

// source follows a file that the shell reads into itself.
func (f *finder) source(argv []arg, pl *place) {
	if len(argv) == 0 {
		return
	}
	p, ok := pl.resolve(argv[0].text)
	if !argv[0].known || argv[0].text == "" {
		f.lost(*pl, "source "+argv[0].text)
		return
	}
	if !ok {
		return
	}
	if !f.has(p) {
		f.need(p, *pl)
		return
	}
	if f.subject(p, *pl) {
		return
	}
	at := f.enter(p, *pl)
	f.whole(p, KindScript, at)
	f.items[p].sourced = true
	text, ok := f.text(p)
	if !ok || !f.first(at, "source\x00"+p) {
		return
	}
	file, ok := parseShell(string(text))
	if !ok {
		at.name = p
		f.lost(at, "the file: it is no shell script that can be read")
		return
	}
	// In the same shell: folder, variables and functions stay.
	saved := *pl
	pl.name, pl.via, pl.wanted, pl.depth = p, p, at.wanted, at.depth
	f.stmts(file.Stmts, pl)
	pl.name, pl.via, pl.wanted, pl.depth, pl.sure, pl.errexit = saved.name, saved.via, saved.wanted, saved.depth, saved.sure, saved.errexit
}

// evaluate follows the text of eval and trap.
func (f *finder) evaluate(argv []arg, pl place) {
	var parts []string
	for _, a := range argv {
		if !a.known {
			f.lost(pl, a.text)
			return
		}
		parts = append(parts, a.text)
	}
	f.shell(strings.Join(parts, " "), pl.unsure())
}

// subshell follows sh FILE, sh -c TEXT, and a script on standard input.
func (f *finder) subshell(argv []arg, redirs []*syntax.Redirect, pl place) {
	args := texts(argv)
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "e") {
			pl.errexit = true
		}
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+1 < len(args) {
			if !argv[i+1].known {
				f.lost(pl, argv[i+1].text)
				return
			}
			inner := pl.child()
			inner.args = args[min(i+3, len(args)):]
			f.shell(args[i+1], inner)
			return
		}
	}
	i := operand(args, "-o -O --rcfile --init-file +o")
	if i < len(args) && args[i] != "-" {
		if !argv[i].known || args[i] == "" {
			f.lost(pl, argv[i].text)
			return
		}
		if p, ok := pl.resolve(args[i]); ok {
			f.scriptAs("sh", p, argv[i+1:], pl)
		}
		return
	}
	for _, r := range redirs {
		switch {
		case r.Hdoc != nil:
			if v := f.word(r.Hdoc, &pl); v.known {
				f.shell(orEmpty(v.values)[0], pl)
			}
		case r.Op == syntax.RdrIn || r.Op == syntax.WordHdoc:
			if v := f.word(r.Word, &pl); v.known && len(v.values) > 0 {
				if r.Op == syntax.WordHdoc {
					f.shell(v.values[0], pl)
				} else if p, ok := pl.resolve(v.values[0]); ok {
					f.scriptAs("sh", p, nil, pl)
				}
			}
		}
	}
}

// interpret follows python x.py, node -r setup.js x.js and their kind.
func (f *finder) interpret(base string, argv []arg, pl place) {
	in := interpreters[base]
	args := texts(argv)
	code, load := strings.Fields(in.code), strings.Fields(in.load)
	runner := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, joined := strings.Cut(a, "=")
		switch {
		case base == "python" && (a == "-m" || strings.HasPrefix(a, "-m") && len(a) > 2 && a[1] != '-'):
			mod := strings.TrimPrefix(a, "-m")
			if mod == "" {
				if i++; i >= len(args) {
					return
				}
				mod = args[i]
			}
			f.module(mod, argv[i+1:], pl)
			return
		case slices.Contains(code, a):
			return
		case slices.Contains(load, name):
			if !joined {
				if i++; i >= len(args) {
					return
				}
				value = args[i]
			}
			if p, ok := f.jsFile(value, pl); ok {
				f.script(p, nil, pl)
			}
		case base == "node" && a == "--test":
			runner = true
		case strings.HasPrefix(a, "-") && slices.Contains(strings.Fields(in.values), a):
			i++
		case strings.HasPrefix(a, "-") && argv[i].known:
		case !argv[i].known:
			f.lost(pl, base+" "+argv[i].text)
			return
		case runner:
			// Operands of node --test are tests, which are found by their names.
			if p, ok := f.jsFile(a, pl); ok && !f.match.test(p) {
				f.whole(p, KindTest, pl)
			}
		default:
			p, ok := f.jsFile(a, pl)
			if !ok {
				p, ok = pl.resolve(a)
			}
			if !ok {
				return
			}
			if base == "python" && f.folders[p] && f.has(p+"/__main__.py") {
				p += "/__main__.py"
			}
			f.scriptAs(base, p, argv[i+1:], pl)
			if yarnRelease.MatchString(p) {
				f.packageManager("yarn", argv[i+1:], pl)
			}
			return
		}
	}
}

// yarnRelease matches the yarn that a repository has.
var yarnRelease = regexp.MustCompile(`(?:^|/)\.yarn/releases/yarn-[^/]*\.c?js$`)

// module follows python -m NAME: a package of the tree, else a program of that
// name.
func (f *finder) module(mod string, argv []arg, pl place) {
	p := strings.ReplaceAll(mod, ".", "/")
	for _, dir := range []string{"", "src/"} {
		for _, file := range []string{p + ".py", p + "/__main__.py"} {
			if q, ok := pl.resolve(dir + file); ok && f.has(q) {
				f.scriptAs("python", q, argv, pl)
				if init, _ := pl.resolve(dir + p + "/__init__.py"); f.has(init) && strings.HasSuffix(q, "__main__.py") {
					f.whole(init, KindScript, f.enter(init, pl))
				}
				return
			}
		}
	}
	argv = append([]arg{{text: mod, known: true}}, argv...)
	f.command(argv, nil, &pl)
}

// jsFile resolves a file as node does: with the extension left out, or a
// folder with an index.
func (f *finder) jsFile(name string, pl place) (string, bool) {
	p, ok := pl.resolve(name)
	if !ok {
		return "", false
	}
	return f.jsModule(p)
}

func (f *finder) jsModule(p string) (string, bool) {
	for _, end := range []string{"", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts", ".json", "/index.js", "/index.mjs", "/index.cjs", "/index.ts", "/index.tsx"} {
		if f.has(p + end) {
			return p + end, true
		}
	}
	// TypeScript imports ./x.js and means ./x.ts.
	if stem, ok := strings.CutSuffix(p, ".js"); ok {
		for _, end := range []string{".ts", ".tsx"} {
			if f.has(stem + end) {
				return stem + end, true
			}
		}
	}
	return "", false
}

// goTool follows go run ./pkg and go generate; go test needs no script.
func (f *finder) goTool(args []string, pl place) {
	if dir, ok := option(args, "-C"); ok {
		pl = pl.child()
		f.changeDir([]string{dir}, &pl)
	}
	i := operand(args, "-C")
	if i >= len(args) {
		return
	}
	sub, rest := args[i], args[i+1:]
	f.programs["go "+sub] = true
	if o, ok := option(rest, "-overlay", "--overlay", "-modfile", "--modfile"); ok {
		if p, ok := pl.resolve(o); ok && f.has(p) {
			f.whole(p, KindConfig, f.enter(p, pl))
		}
	}
	if sub != "run" {
		return
	}
	for _, a := range rest[operand(rest, "-exec -tags -ldflags -gcflags -mod -modfile -overlay -C"):] {
		p, ok := pl.resolve(a)
		switch {
		case !ok || strings.HasPrefix(a, "-"):
			return
		case strings.HasSuffix(a, ".go"):
			if f.has(p) {
				f.whole(p, KindScript, f.enter(p, pl))
			} else {
				f.need(p, pl)
			}
			continue
		case !strings.HasPrefix(a, "."):
			return
		case !f.folders[p]:
			f.need(p+"/", pl)
		}
		at := f.enter(p+"/", pl)
		for _, e := range f.below(p) {
			if parent(e.Path) == p && strings.HasSuffix(e.Path, ".go") && !strings.HasSuffix(e.Path, "_test.go") {
				f.whole(e.Path, KindScript, at)
			}
		}
		return
	}
}
