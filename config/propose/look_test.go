package propose

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// repositoryOf makes a repository from pairs of name and content.
func repositoryOf(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

// describe renders each command as one line: "when: run", with a leading –
// where it is written as a comment.
func describe(list []Command) []string {
	var out []string
	for _, c := range list {
		line := c.Run
		if c.When != "" {
			line = c.When + ": " + line
		}
		if c.Off != "" {
			line = "– " + line
		}
		out = append(out, line)
	}
	return out
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name    string
		repo    fstest.MapFS
		missing string // programs that are not installed
		setup   []string
		verify  []string
		note    string // part of the only note
	}{
		{name: "nothing", repo: repositoryOf("README.md", "x")},
		{name: "Go", repo: repositoryOf("go.mod", "module x"), verify: []string{"go build ./...", "go test ./..."}},
		{
			name: "Go with a linter", repo: repositoryOf("go.mod", "module x", ".golangci.yml", ""),
			verify: []string{"go build ./...", "go test ./...", "code: golangci-lint run"},
		},
		{
			name: "a program that is not there", repo: repositoryOf("go.mod", "module x", ".golangci.yml", ""), missing: "golangci-lint",
			verify: []string{"go build ./...", "go test ./...", "– code: golangci-lint run"},
		},
		{
			name: "Go workspace", repo: repositoryOf("go.work", "use ./a", "a/go.mod", "module a"),
			verify: []string{`go build $(go list -f '{{.Dir}}/...' -m)`, `go test $(go list -f '{{.Dir}}/...' -m)`},
		},
		{name: "Rust", repo: repositoryOf("Cargo.toml", ""), verify: []string{"cargo check", "code: cargo clippy", "cargo test"}},
		{name: "Rust without clippy", repo: repositoryOf("Cargo.toml", ""), missing: "cargo-clippy", verify: []string{"cargo check", "– code: cargo clippy", "cargo test"}},
		{
			name:  "npm",
			repo:  repositoryOf("package.json", `{"scripts":{"check":"tsc","lint":"eslint .","test":"vitest run","build":"vite build"}}`, "package-lock.json", "{}", ".gitignore", "node_modules\n"),
			setup: []string{"npm ci"}, verify: []string{"npm run check", "code: npm run lint", "npm test"},
		},
		{
			name:  "npm init's test",
			repo:  repositoryOf("package.json", `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`),
			setup: nil, verify: nil,
		},
		{
			name:  "no lockfile",
			repo:  repositoryOf("package.json", `{"scripts":{"test":"node --test"},"dependencies":{"a":"1"}}`, ".gitignore", "/node_modules/"),
			setup: []string{"npm install --no-package-lock"}, verify: []string{"npm test"},
		},
		{
			name:  "pnpm, typed without a script",
			repo:  repositoryOf("package.json", `{"devDependencies":{"typescript":"5"}}`, "pnpm-lock.yaml", "", "tsconfig.json", "{}", ".gitignore", "**/node_modules"),
			setup: []string{"pnpm install --frozen-lockfile"}, verify: []string{"pnpm exec tsc --noEmit"},
		},
		{
			name:  "yarn 1",
			repo:  repositoryOf("package.json", `{"scripts":{"test":"jest"}}`, "yarn.lock", "# yarn lockfile v1", ".gitignore", "node_modules"),
			setup: []string{"yarn install --frozen-lockfile"}, verify: []string{"yarn test"},
		},
		{
			name:  "yarn 4",
			repo:  repositoryOf("package.json", `{"scripts":{"typecheck":"tsc"}}`, "yarn.lock", "__metadata:\n  version: 8", ".gitignore", "node_modules"),
			setup: []string{"yarn install --immutable"}, verify: []string{"yarn run typecheck"},
		},
		{
			name:  "bun's own test runner is not the script",
			repo:  repositoryOf("package.json", `{"scripts":{"test":"vitest run"}}`, "bun.lock", "", ".gitignore", "node_modules"),
			setup: []string{"bun install --frozen-lockfile"}, verify: []string{"bun run test"},
		},
		{
			name:  "two lockfiles, one named",
			repo:  repositoryOf("package.json", `{"packageManager":"pnpm@9.1.0"}`, "package-lock.json", "", "pnpm-lock.yaml", "", ".gitignore", "node_modules"),
			setup: []string{"pnpm install --frozen-lockfile"}, note: "several package managers; pnpm was taken",
		},
		{
			name:   "scripts that do not end, or change files",
			repo:   repositoryOf("package.json", `{"scripts":{"test":"vitest --watch","lint":"prettier --write .","build":"x"}}`),
			verify: []string{"– npm run build", "– code: npm run lint", "– npm test"},
		},
		{
			name:   "react-scripts",
			repo:   repositoryOf("package.json", `{"scripts":{"test":"react-scripts test"}}`),
			verify: []string{"CI=true npm test"},
		},
		{name: "package.json that is none", repo: repositoryOf("package.json", `{"scripts": [`), note: "package.json cannot be read (it is not JSON)"},
		{name: "package.json of another kind", repo: repositoryOf("package.json", `{"scripts": 5}`), note: "not of the kind"},
		{
			name: "node_modules not ignored", repo: repositoryOf("package.json", "{}", "package-lock.json", "{}"),
			setup: []string{"npm ci"}, note: "node_modules is not in .gitignore",
		},
		{
			name:   "Python with all",
			repo:   repositoryOf("pyproject.toml", "[tool.mypy]\nstrict = true\n[tool.ruff]\n[tool.pytest.ini_options]\n"),
			verify: []string{"mypy .", "code: ruff check .", "pytest"},
		},
		{
			name:  "uv",
			repo:  repositoryOf("pyproject.toml", "[dependency-groups]\ndev = [\"pytest>=8\", \"ruff\"]\n", "uv.lock", ""),
			setup: []string{"uv sync"}, verify: []string{"code: uv run ruff check .", "uv run pytest"},
		},
		{
			name:  "poetry",
			repo:  repositoryOf("pyproject.toml", "[tool.poetry.group.dev.dependencies]\npytest = \"^8\"\n", "poetry.lock", ""),
			setup: []string{"poetry install"}, verify: []string{"poetry run pytest"},
		},
		{
			name:    "requirements, .venv ignored",
			repo:    repositoryOf("requirements.txt", "flask\n", "requirements-dev.txt", "pytest==8.0\n", ".gitignore", ".venv/\n", "mypy.ini", ""),
			missing: "mypy", setup: []string{"python3 -m venv .venv", ".venv/bin/pip install --quiet -r requirements.txt", ".venv/bin/pip install --quiet -r requirements-dev.txt"},
			verify: []string{"– mypy .", ".venv/bin/pytest"},
		},
		{
			name: "requirements, .venv not ignored", repo: repositoryOf("requirements.txt", "pytest\n"),
			setup:  []string{"– python3 -m venv .venv", "– .venv/bin/pip install --quiet -r requirements.txt"},
			verify: []string{"pytest"},
		},
		{name: "pytest-cov is another package", repo: repositoryOf("requirements.txt", "pytest-cov\n"), setup: []string{"– python3 -m venv .venv", "– .venv/bin/pip install --quiet -r requirements.txt"}},
		{name: "pyproject.toml that is none", repo: repositoryOf("pyproject.toml", "[tool"), note: "is not TOML"},
		{name: "a Makefile alone", repo: repositoryOf("Makefile", "test := x\n\nlint:\n\ttrue\ntest: build\n\ttrue\n"), verify: []string{"code: make lint", "make test"}},
		{name: "a Makefile without tests", repo: repositoryOf("Makefile", "all:\n\ttrue\ntesting:\n\ntest := 1\n")},
		{name: "a Makefile with check alone", repo: repositoryOf("Makefile", "check::\n\ttrue\n"), verify: []string{"make check"}},
		{name: "a Makefile besides", repo: repositoryOf("Makefile", "test:\n\ttrue\n", "go.mod", "module x"), verify: []string{"go build ./...", "go test ./...", "– make test"}},
		{
			name:   "parts below",
			repo:   repositoryOf("go.mod", "module x", "web/package.json", `{"scripts":{"test":"vitest run"}}`, "tools/go.mod", "module tools", "docs/package.json", `{"scripts":{"test":"x"}}`, ".hidden/Cargo.toml", ""),
			verify: []string{"go build ./...", "go test ./...", "cd web && npm test"},
		},
		{name: "a folder with a name for a shell", repo: repositoryOf("$(reboot)/go.mod", "module x", "a b/go.mod", "module x", "-x/go.mod", "module x")},
		{name: "too large to be one", repo: repositoryOf("package.json", `{"scripts":{"test":"`+strings.Repeat("x", maxFile)+`"}}`), note: "cannot be read"},
		{name: "a folder of that name", repo: repositoryOf("go.mod/x", "", "package.json/x", "", "Makefile/x", "")},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Look(c.repo, func(p string) bool { return p != c.missing })
			if d := cmp.Diff(c.setup, describe(f.Setup)); d != "" {
				t.Errorf("setup (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.verify, describe(f.Verify)); d != "" {
				t.Errorf("verify (-want +got):\n%s", d)
			}
			switch {
			case c.note == "" && len(f.Notes) > 0, c.note != "" && (len(f.Notes) != 1 || !strings.Contains(f.Notes[0], c.note)):
				t.Errorf("notes %q, want one with %q", f.Notes, c.note)
			}
		})
	}
}

// TestLookTests holds that folders of tests with unusual names are proposed, and no
// others.
func TestLookTests(t *testing.T) {
	f := Look(repositoryOf("qa/a.txt", "", "web/smoke-tests/b.yml", "", "test/c.js", "", "qa/qa/d", "", "features", "a file", "src/e.go", "", "node_modules/qa/f", ""), func(string) bool { return true })
	if want := []string{"qa/**", "web/smoke-tests/**"}; !slices.Equal(f.Tests, want) {
		t.Errorf("%q, want %q", f.Tests, want)
	}
}

// TestLookOpensRegularFilesOnly: Look opens regular files only; a FIFO would
// block init for ever.
func TestLookOpensRegularFilesOnly(t *testing.T) {
	repo := fstest.MapFS{}
	for _, name := range []string{"go.mod", "package.json", "pyproject.toml", "Cargo.toml", "Makefile", ".gitignore", "requirements.txt"} {
		repo[name] = &fstest.MapFile{Mode: fs.ModeNamedPipe, Data: []byte("test:")}
	}
	if f := Look(repo, func(string) bool { return true }); len(f.Verify)+len(f.Setup)+len(f.Languages) > 0 {
		t.Errorf("found %+v", f)
	}
}

func TestHolds(t *testing.T) {
	got := Active([]Command{{Run: "a"}, {Run: "b", Off: "why"}, {Run: "c"}})
	if !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("got %q", got)
	}
}
