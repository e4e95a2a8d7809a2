package proof

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLay holds what Lay writes, byte for byte.
func TestLay(t *testing.T) {
	for name, c := range map[string]struct {
		path, from, onto string
		parts            []string
		want             string
	}{
		"json: a value": {"package.json", `{"scripts":{"test":"jest"}}`, "{\n\t\"name\": \"x\",\r\n\t\"scripts\": { \"test\": \"true\", \"b\": \"c\" }, \"dependencies\": {\"a\":\"1\"}\n}", []string{"scripts.test"},
			"{\n\t\"name\": \"x\",\r\n\t\"scripts\": { \"test\": \"jest\", \"b\": \"c\" }, \"dependencies\": {\"a\":\"1\"}\n}"},
		"json: first removed":   {"package.json", `{}`, "{\n  \"jest\": {\"a\": [\"}\", 1]},\n  \"x\": 1\n}\n", []string{"jest"}, "{\n  \"x\": 1\n}\n"},
		"json: middle removed":  {"package.json", `{}`, "{\n  \"a\": 1,\n  \"jest\": {},\n  \"x\": 1\n}\n", []string{"jest"}, "{\n  \"a\": 1,\n  \"x\": 1\n}\n"},
		"json: last removed":    {"package.json", `{}`, "{\n  \"a\": 1,\n  \"jest\": \"\\\"\"\n}\n", []string{"jest"}, "{\n  \"a\": 1\n}\n"},
		"json: only removed":    {"package.json", `{}`, "{ \"jest\": 1 }", []string{"jest"}, "{ }"},
		"json: put back":        {"package.json", "{\"scripts\": {\"test\": \"a\"}, \"jest\": {\"x\":\n1}}", "{\n  \"a\": 1\n}\n", []string{"scripts.test", "jest"}, "{\n  \"a\": 1,\n  \"scripts\": { \"test\": \"a\" },\n  \"jest\": {\"x\":\n1}\n}\n"},
		"json: into scripts":    {"package.json", `{"scripts":{"test":"a"}}`, "{\n  \"scripts\": {\n    \"b\": \"c\"\n  }\n}\n", []string{"scripts.test"}, "{\n  \"scripts\": {\n    \"b\": \"c\",\n    \"test\": \"a\"\n  }\n}\n"},
		"json: into no scripts": {"package.json", `{"scripts":{"test":"a"}}`, `{"scripts":{}}`, []string{"scripts.test"}, `{"scripts":{ "test": "a"}}`},
		"json: byte order mark": {"package.json", `{"jest":1}`, "\xef\xbb\xbf{\"jest\":2}", []string{"jest"}, "\xef\xbb\xbf{\"jest\":1}"},
		"json: no file":         {"package.json", "", "{\"a\":1,\"jest\":2}", []string{"jest"}, "{\"a\":1}"},

		"toml: a table": {"pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\" # quiet\n", "# top\n[project]\nname = 'x' # [y]\ndependencies = [\n  \"a\", # ]\n]\n\n[tool.pytest.ini_options]\naddopts = \"\"\"\n[x]\n\"\"\"\n# of pytest\nb = 1\n\n# of ruff\n[tool.ruff]\nline-length = 1\n", []string{"tool.pytest"},
			"# top\n[project]\nname = 'x' # [y]\ndependencies = [\n  \"a\", # ]\n]\n\n[tool.pytest.ini_options]\naddopts = \"-q\" # quiet\n\n# of ruff\n[tool.ruff]\nline-length = 1\n"},
		"toml: removed":        {"pyproject.toml", "", "[project]\nname = \"x\"\n[tool.pytest]\na = 1\n[tool.pytest.b]\nc = 1\n", []string{"tool.pytest"}, "[project]\nname = \"x\"\n"},
		"toml: put back":       {"pyproject.toml", "[tool.pytest]\na = 1", "[project]\nname = \"x\"", []string{"tool.pytest"}, "[project]\nname = \"x\"\n[tool.pytest]\na = 1\n"},
		"toml: dotted keys":    {"pyproject.toml", "[tool]\npytest.a = 1\nx = 1\n", "tool.pytest.a = 2\ntool.y = 1\n[project]\nz = 1\n", []string{"tool.pytest"}, ""},
		"toml: keys of tables": {"Cargo.toml", "[package]\nname = \"x\"\nautotests = true\n[lib]\ntest = true\n", "[package]\nname = \"y\"\nautotests = false\n\n[dependencies]\na = \"1\"\n", []string{"package.autotests", "lib.test", "test"}, "[package]\nautotests = true\nname = \"y\"\n\n[dependencies]\na = \"1\"\n[lib]\ntest = true\n"},
		"toml: arrays":         {"Cargo.toml", "[[test]]\nname = \"a\"\n[[test]]\nname = \"b\"\n", "[[test]]\nname = \"a\"\nharness = false\n[dependencies]\nx = 1\n", []string{"test"}, "[[test]]\nname = \"a\"\n[[test]]\nname = \"b\"\n[dependencies]\nx = 1\n"},

		"ini: a section":    {"setup.cfg", "[tool:pytest]\naddopts =\n  -q\n", "[metadata]\nname = x\n[tool:pytest]\naddopts = --co\n[options]\ninstall_requires =\n  a\n", iniRunner, "[metadata]\nname = x\n[tool:pytest]\naddopts =\n  -q\n[options]\ninstall_requires =\n  a\n"},
		"ini: dependencies": {"tox.ini", "[testenv]\ndeps = a\ncommands = pytest\n", "[testenv]\ndeps =\n  b\n  c\ncommands = true\n", iniRunner, "[testenv]\ncommands = pytest\ndeps =\n  b\n  c\n"},
		"ini: keys":         {".npmrc", "registry=a\n", "registry=b\nscript-shell=/bin/true\n", dotted(npmrcKeys), "registry=b\n"},

		"make: a target":      {"Makefile", "test: a\n\tgo test\n\n# of lint\nlint:\n\tx\n", "A = 1\ntest:\n\ttrue\n\nnew:\n\ty\n\nlint:\n\tx2\n", []string{"target test"}, "A = 1\ntest: a\n\tgo test\n\nnew:\n\ty\n\nlint:\n\tx2\n"},
		"make: removed twice": {"Makefile", "test:\n\ta\n", "test:\n\tb\ntest:\n\tc\nx:\n", []string{"target test"}, "test:\n\ta\nx:\n"},
		"make: conditional":   {"Makefile", "ifdef CI\ntest:\n\ta\nelse\ntest:\n\tb\nendif\n", "ifdef CI\ntest:\n\ttrue\nendif\nx:\n", []string{"target test"}, "ifdef CI\ntest:\n\ta\nelse\ntest:\n\tb\nendif\nx:\n"},
		"make: the default":   {"Makefile", "a:\n\tx\nb:\n", "b:\na:\n\ty\n", []string{"first", "target a"}, "a:\n\tx\nb:\n"},
		"make: no newline":    {"Makefile", "t:\n\tx", "A=1", []string{"target t"}, "A=1\nt:\n\tx\n"},

		"rust: a module": {"src/lib.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n fn x() { let c = '}'; }\n}\n", "fn b<'a>() { \"#[cfg(test)] mod tests {\"; }\n#[cfg(test)]\nmod tests { /* } */ }\nfn c() {}\n", []string{"mod tests"}, "fn b<'a>() { \"#[cfg(test)] mod tests {\"; }\n#[cfg(test)]\nmod tests {\n fn x() { let c = '}'; }\n}\nfn c() {}\n"},
		"rust: put back": {"src/lib.rs", "#[cfg(test)]\nmod tests { r#\"}\"#; }", "fn b() {}", []string{"mod tests"}, "fn b() {}\n\n#[cfg(test)]\nmod tests { r#\"}\"#; }\n"},

		"go.mod: a replacement": {"go.mod", "module m\nreplace a => ../a\n", "module m\nrequire x v1\nreplace (\n\ta => ./fake\n\tb => ./b\n)\n", []string{"replace a"}, "module m\nrequire x v1\nreplace (\n\tb => ./b\n)\nreplace a => ../a\n"},

		"no mixed file":        {"a.txt", "a", "b", []string{"x"}, ""},
		"broken":               {"package.json", `{"jest":1}`, `{"jest":`, []string{"jest"}, ""},
		"a key twice":          {"package.json", `{"jest":1}`, `{"jest":2,"jest":3}`, []string{"jest"}, ""},
		"toml that is another": {"pyproject.toml", "[tool]\npytest = 1\n", "tool = {pytest = 2, b = 3}\n", []string{"tool.pytest"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var from []byte
			if c.from != "" {
				from = []byte(c.from)
			}
			got, ok := Lay(c.path, from, []byte(c.onto), c.parts)
			if ok != (c.want != "") {
				t.Fatalf("%v %q", ok, got)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

// TestFollow holds where commands lead.
func TestFollow(t *testing.T) {
	all := tree("a.sh", "true\n", "dir/b.sh*", "#!/usr/bin/env bash\ntrue\n", "c.py", "import os\nos.system('sh a.sh')\n", "pkg/__main__.py", "x", "pkg/__init__.py", "", "pkg/mod.py", "x", "setup.js", "x", "run.js", "require('child_process').execSync('./dir/b.sh')\n", "dir/run.mjs", "x",
		"Makefile", "D = dir\nS := $(D)/b.sh\nt:\n\t@cd $(D) && ./b.sh\n\t-sh $(S)\nu:\n\t$(MAKE) t\n\t$(shell x)\n", "package.json", `{"name":"root","scripts":{"a":"sh a.sh","a:b":"sh dir/b.sh","c":"npm run a && run-s a:*"}}`, "Taskfile.yml", "tasks:\n  t:\n    cmds:\n      - sh a.sh\n      - cmd: \"python c.py\"\n", "noxfile.py", "session.run('bash', 'x')\n", ".yarn/releases/yarn-4.5.0.cjs", "x", "link@", "a.sh", "loop@", "loop", ".github/workflows/ci.yml", "x", "cmd/x/main.go", "package main", "cmd/x/x_test.go", "package main", "f.sh", "f() { sh \"$1\"; }\nf a.sh\nunused() { sh dir/b.sh; }\n", "cyc.sh", "sh cyc.sh\nsh a.sh\n", "here.sh", "bash <<'X'\nsh a.sh\nX\n", "cfg.ini", "x")
	for command, want := range map[string]string{
		"sh a.sh":                                            "a.sh",
		"sh -e ./a.sh arg":                                   "a.sh",
		"./dir/b.sh":                                         "dir/b.sh",
		"cd dir && ./b.sh":                                   "dir/b.sh",
		"(cd dir; true); sh a.sh":                            "a.sh",
		"env -u B A=1 sh a.sh":                               "a.sh",
		"A=1 timeout -k 5 60 sh a.sh":                        "a.sh",
		"bash -c 'cd dir; . ./b.sh'":                         "dir/b.sh",
		"bash < a.sh":                                        "a.sh",
		"for f in a dir/b; do sh $f.sh; done":                "a.sh dir/b.sh",
		"for f in dir/*.sh; do \"$f\"; done":                 "dir/b.sh",
		"if true; then sh a.sh; fi | tee log":                "a.sh",
		"find dir -name '*.sh' -exec sh a.sh \\;":            "a.sh",
		"ls *.sh | xargs -n1 sh a.sh":                        "a.sh",
		"X=a; sh ${X}.sh; sh ${Y:-dir/b.sh}":                 "a.sh dir/b.sh",
		"R=$(git rev-parse --show-toplevel); sh \"$R/a.sh\"": "a.sh",
		"python3 -u c.py":                                    "a.sh c.py",
		"python -m pkg":                                      "pkg/__init__.py pkg/__main__.py",
		"python -m pkg.mod":                                  "pkg/mod.py",
		"python -W ignore pkg":                               "pkg/__main__.py",
		"node -r ./setup.js run":                             "dir/b.sh run.js setup.js",
		"node --import ./dir/run.mjs --test":                 "dir/run.mjs",
		"poetry run python c.py":                             "a.sh c.py",
		"npx --yes cross-env A=1 node run.js":                "dir/b.sh run.js",
		"xvfb-run -a sh a.sh":                                "a.sh",
		"make t":                                             "Makefile dir/b.sh",
		"make -s -j 4 u":                                     "Makefile dir/b.sh",
		"npm run a -- x":                                     "a.sh package.json",
		"COREPACK_ENABLE_AUTO_PIN=0 corepack pnpm run a":     "a.sh package.json",
		"npx --yes pnpm@8 run a && npx --yes bun run a:b":    "a.sh dir/b.sh package.json",
		"node .yarn/releases/yarn-4.5.0.cjs a":               ".yarn/releases/yarn-4.5.0.cjs a.sh package.json",
		"npm run c":                                          "a.sh dir/b.sh package.json",
		"cd dir && npm run a":                                "a.sh package.json",
		"yarn a && pnpm run a:b":                             "a.sh dir/b.sh package.json",
		"concurrently \"npm:a\" \"sh dir/b.sh\"":             "a.sh dir/b.sh package.json",
		"task t":                                             "Taskfile.yml a.sh c.py",
		"nox -s t":                                           "noxfile.py",
		"act -j test":                                        ".github/workflows/ci.yml",
		"sh link":                                            "a.sh link",
		"./loop; sh f.sh":                                    "a.sh f.sh loop",
		"sh cyc.sh":                                          "a.sh cyc.sh",
		"sh here.sh":                                         "a.sh here.sh",
		"go run ./cmd/x -v":                                  "cmd/x/main.go",
		"trap 'sh a.sh' EXIT; eval \"sh dir/b.sh\"":          "a.sh dir/b.sh",
		"mytool --config cfg.ini":                            "cfg.ini",
		"go test ./... && cargo test":                        "",
		"echo sh a.sh":                                       "",
		"/usr/bin/true ../x.sh; ../y.sh; ~/z.sh":             "",
	} {
		set, err := Find(all, Project{Commands: []string{command}, Tests: []string{"!**"}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range set.Items {
			if it.reached {
				got = append(got, it.Path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s\n got %q\nwant %q", command, got, want)
		}
	}
}

// TestUnknown holds that what cannot be followed is said.
func TestUnknown(t *testing.T) {
	f := tree("a.sh", "$CMD x\nsh \"$1\"\n", "bad.sh", "if; then (\n", "Makefile", "t:\n\t$(call x,y) z\nu: ## tests; and more\n\tfor p in a b; do echo $$p; done\n")
	for command, want := range map[string]string{
		"$TEST_COMMAND":    `$TEST_COMMAND: cannot follow "$TEST_COMMAND"`,
		"sh a.sh":          `a.sh: cannot follow "$CMD x"|a.sh: cannot follow "\"$1\""`,
		"eval \"$(curl)\"": `eval "$(curl)": cannot follow "\"$(curl)\""`,
		"sh bad.sh":        `bad.sh: cannot follow "if; then ("`,
		"npm run \"$X\"":   `npm run "$X": cannot follow "npm run \"$X\""`,
		"make u":           "",
		"make t":           `Makefile: cannot follow "$(call x,y) z"`,
		"sh a.sh tests":    `a.sh: cannot follow "$CMD x"`,
	} {
		set, _ := Find(f, Project{Commands: []string{command}})
		if got := strings.Join(set.Unknown, "|"); got != want {
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
}
