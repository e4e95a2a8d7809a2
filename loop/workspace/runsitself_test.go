package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCaptureHoldsBackWhatRunsItself checks that a session's change of a file
// that runs by itself is undone, unless the task names it or a person allowed
// it.
func TestCaptureHoldsBackWhatRunsItself(t *testing.T) {
	for _, c := range []struct {
		name                string
		scope               ledger.Scope
		set, write          map[string]string
		files, outside, run []string
		hooks               string            // core.hooksPath
		link                map[string]string // links of the repository
	}{
		{name: "all kinds", scope: all, write: map[string]string{
			".claude/settings.json": "{}\n", ".mcp.json": "{}\n", ".vscode/tasks.json": "{}\n", "web/.idea/x.xml": "x\n", ".Bashrc": "x\n", "web/.zshenv": "x\n",
			".envrc": "x\n", ".husky/pre-commit": "x\n", ".githooks/pre-push": "x\n", "lefthook.yml": "x\n", "lefthook-local.yaml": "x\n",
			".pre-commit-config.yaml": "x\n", ".cursor/mcp.json": "{}\n", ".codex/config.toml": "x\n", "opencode.json": "{}\n", ".github/hooks/x.json": "{}\n",
			".github/workflow/ci.yml": "x\n", "envrc": "x\n", "docs.vscode/x": "x\n", "bashrc/profile": "x\n",
		}, files: []string{".github/workflow/ci.yml", "bashrc/profile", "docs.vscode/x", "envrc"},
			outside: []string{".Bashrc", ".claude/settings.json", ".codex/config.toml", ".cursor/mcp.json", ".envrc", ".githooks/pre-push", ".github/hooks/x.json", ".husky/pre-commit",
				".mcp.json", ".pre-commit-config.yaml", ".vscode/tasks.json", "lefthook-local.yaml", "lefthook.yml", "opencode.json", "web/.idea/x.xml", "web/.zshenv"},
			run: []string{".Bashrc", ".claude/settings.json", ".codex/config.toml", ".cursor/mcp.json", ".envrc", ".githooks/pre-push", ".github/hooks/x.json", ".husky/pre-commit",
				".mcp.json", ".pre-commit-config.yaml", ".vscode/tasks.json", "lefthook-local.yaml", "lefthook.yml", "opencode.json", "web/.idea/x.xml", "web/.zshenv"}},
		{name: "more kinds", scope: all, write: map[string]string{
			".devcontainer/devcontainer.json": "{}\n", "web/.yarnrc.yml": "x\n", ".yarn/releases/yarn.cjs": "x\n", ".npmrc": "x\n", ".mise.toml": "x\n", ".config/mise/config.toml": "x\n",
			".gitconfig": "x\n", ".yarn/patches/x.patch": "x\n", ".config/app.toml": "x\n", ".tool-versions": "x\n", "releases/yarn.cjs": "x\n",
		}, files: []string{".config/app.toml", ".tool-versions", ".yarn/patches/x.patch", "releases/yarn.cjs"},
			outside: []string{".config/mise/config.toml", ".devcontainer/devcontainer.json", ".gitconfig", ".mise.toml", ".npmrc", ".yarn/releases/yarn.cjs", "web/.yarnrc.yml"},
			run:     []string{".config/mise/config.toml", ".devcontainer/devcontainer.json", ".gitconfig", ".mise.toml", ".npmrc", ".yarn/releases/yarn.cjs", "web/.yarnrc.yml"}},
		{name: "what a push runs, and what steers agents", scope: all, write: map[string]string{
			".github/workflows/ci.yml": "x\n", ".gitlab-ci.yml": "x\n", "web/Jenkinsfile": "x\n", ".circleci/config.yml": "x\n", ".buildkite/pipeline.yml": "x\n", "azure-pipelines.yml": "x\n", ".lfsconfig": "x\n", "CLAUDE.md": "x\n", "web/agents.md": "x\n", ".cursorrules": "x\n", ".clinerules/a.md": "x\n", ".github/copilot-instructions.md": "x\n", ".github/instructions/a.md": "x\n", ".aider.conf.yml": "x\n",
			"package.json": "x\n", "Makefile": "x\n", "conftest.py": "x\n", "tests/conftest.py": "x\n", "build.rs": "x\n", ".github/CODEOWNERS": "x\n", ".github/dependabot.yml": "x\n", "copilot-instructions.md": "x\n", "docs2/AGENTS.txt": "x\n", "workflows/ci.yml": "x\n",
		}, files: []string{".github/CODEOWNERS", ".github/dependabot.yml", "Makefile", "build.rs", "conftest.py", "copilot-instructions.md", "docs2/AGENTS.txt", "package.json", "tests/conftest.py", "workflows/ci.yml"},
			outside: []string{".aider.conf.yml", ".buildkite/pipeline.yml", ".circleci/config.yml", ".clinerules/a.md", ".cursorrules", ".github/copilot-instructions.md", ".github/instructions/a.md", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".lfsconfig", "CLAUDE.md", "azure-pipelines.yml", "web/Jenkinsfile", "web/agents.md"},
			run:     []string{".aider.conf.yml", ".buildkite/pipeline.yml", ".circleci/config.yml", ".clinerules/a.md", ".cursorrules", ".github/copilot-instructions.md", ".github/instructions/a.md", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".lfsconfig", "CLAUDE.md", "azure-pipelines.yml", "web/Jenkinsfile", "web/agents.md"}},
		{name: "a workflow that the task names", scope: ledger.Scope{Task: "`.github/workflows/ci.yml`, AGENTS.md", Allowed: []string{"**"}},
			write: map[string]string{".github/workflows/ci.yml": "x\n", ".github/workflows/other.yml": "x\n", "AGENTS.md": "x\n", "CLAUDE.md": "x\n"},
			files: []string{".github/workflows/ci.yml", "AGENTS.md"}, outside: []string{".github/workflows/other.yml", "CLAUDE.md"}, run: []string{".github/workflows/other.yml", "CLAUDE.md"}},
		{name: "other spellings", scope: all, write: map[string]string{
			".CLAUDE/settings.json": "{}\n", ".cl\u200caude/settings.json": "{}\n", ".vscode. /tasks.json": "{}\n", ".envrc:x": "x\n", ".\u212Airo/hooks/a": "x\n", "a.go": "x\n",
		}, files: []string{"a.go"},
			outside: []string{".CLAUDE/settings.json", ".cl\u200caude/settings.json", ".envrc:x", ".vscode. /tasks.json", ".\u212Airo/hooks/a"},
			run:     []string{".CLAUDE/settings.json", ".cl\u200caude/settings.json", ".envrc:x", ".vscode. /tasks.json", ".\u212Airo/hooks/a"}},
		{name: "the folder of core.hooksPath", scope: all, hooks: "scripts/git", write: map[string]string{"scripts/git/pre-push": "x\n", "scripts/Git/pre-commit": "x\n", "scripts/gitx": "x\n"},
			files: []string{"scripts/gitx"}, outside: []string{"scripts/Git/pre-commit", "scripts/git/pre-push"}, run: []string{"scripts/Git/pre-commit", "scripts/git/pre-push"}},
		{name: "core.hooksPath that the task names", scope: ledger.Scope{Task: "`scripts/git`", Allowed: []string{"**"}}, hooks: "scripts/git", write: map[string]string{"scripts/git/pre-push": "x\n"},
			files: []string{"scripts/git/pre-push"}},
		{name: "core.hooksPath elsewhere", scope: all, hooks: "/usr/share/hooks", write: map[string]string{"usr/share/hooks/x": "x\n"}, files: []string{"usr/share/hooks/x"}},
		{name: "where links lead", scope: all, set: map[string]string{"config/envrc": "x\n"}, link: map[string]string{".envrc": "config/envrc", ".vscode": "tools/editor"},
			write: map[string]string{"config/envrc": "y\n", "tools/editor/tasks.json": "{}\n", "config/other": "x\n"},
			files: []string{"config/other"}, outside: []string{"config/envrc", "tools/editor/tasks.json"}, run: []string{"config/envrc", "tools/editor/tasks.json"}},
		{name: "what the repository has is not changed", scope: all, set: map[string]string{".husky/pre-commit": "npm test\n"}, write: map[string]string{".husky/pre-commit": "true\n"},
			outside: []string{".husky/pre-commit"}, run: []string{".husky/pre-commit"}},
		{name: "a glob names none", scope: ledger.Scope{Task: "`**`", Allowed: []string{"**"}}, write: map[string]string{".envrc": "x\n", "a.go": "x\n"},
			files: []string{"a.go"}, outside: []string{".envrc"}, run: []string{".envrc"}},
		{name: "the layout names none", scope: ledger.Scope{Layout: []string{".vscode/**", "cart"}, Allowed: []string{"**"}}, write: map[string]string{".vscode/x.json": "x\n", "cart/a.go": "x\n"},
			files: []string{"cart/a.go"}, outside: []string{".vscode/x.json"}, run: []string{".vscode/x.json"}},
		{name: "the task names them", scope: ledger.Scope{Task: "`.vscode/`, `**/.envrc`, lefthook.yml", Allowed: []string{"**"}}, write: map[string]string{".vscode/x.json": "x\n", "web/.envrc": "x\n", "lefthook.yml": "x\n", ".mcp.json": "{}\n"},
			files: []string{".vscode/x.json", "lefthook.yml", "web/.envrc"}, outside: []string{".mcp.json"}, run: []string{".mcp.json"}},
		{name: "a part of a task that names none", scope: ledger.Scope{Task: ".envrc", Within: "none", Allowed: []string{"**"}}, write: map[string]string{".envrc": "x\n"},
			outside: []string{".envrc"}, run: []string{".envrc"}},
		{name: "allowed", scope: ledger.Scope{Task: "cart", Also: []string{".envrc"}, Allowed: []string{"**"}}, write: map[string]string{".envrc": "x\n", "web/.envrc": "x\n"},
			files: []string{".envrc"}, outside: []string{"web/.envrc"}, run: []string{"web/.envrc"}},
		{name: "attributes", scope: all, set: map[string]string{"web/.gitattributes": "*.bin filter=crypt\n"}, write: map[string]string{
			".gitattributes":       "*.go text eol=lf diff=golang\n*.lock merge=union -diff\n# filter=x\n",
			"web/.gitattributes":   "*.bin filter=crypt\n*.txt text\n",
			"cart/.gitattributes":  "*.go filter=run\n",
			"docs2/.GitAttributes": "* merge=ours\n",
		}, files: []string{".gitattributes", "web/.gitattributes"}, outside: []string{"cart/.gitattributes", "docs2/.GitAttributes"}, run: []string{"cart/.gitattributes", "docs2/.GitAttributes"}},
		{name: "attributes that the task names", scope: ledger.Scope{Task: ".gitattributes", Allowed: []string{"**"}}, write: map[string]string{".gitattributes": "*.psd filter=lfs\n"},
			files: []string{".gitattributes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := shopWith(t, c.set)
			for p, target := range c.link {
				must(t, os.Symlink(target, filepath.Join(repo, p)))
				git(t, repo, "add", p)
				git(t, repo, "commit", "-q", "-m", "link")
			}
			if c.hooks != "" {
				git(t, repo, "config", "core.hooksPath", c.hooks)
			}
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			taken := session(t, w, base, "", c.scope, func(dir string) {
				for p, text := range c.write {
					writeFile(t, dir, p, text)
				}
			})
			if diff := cmp.Diff([][]string{c.files, c.outside, c.run, nil}, [][]string{paths(taken.Files), taken.Outside, taken.RunsItself, taken.Dropped}); diff != "" {
				t.Errorf("files, outside, runs by itself, dropped (-want +got):\n%s", diff)
			}
			for p, text := range c.set {
				if want := c.write[p]; slices.Contains(c.files, p) {
					text = want
				}
				if got := readFile(t, w.Work(only("r1", "")).Dir, p); got != text {
					t.Errorf("%s holds %q, want %q", p, got, text)
				}
			}
		})
	}
}
