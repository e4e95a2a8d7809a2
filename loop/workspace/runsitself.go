package workspace

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/glob"
)

// selfRunner is a file or folder that a program runs, or takes commands or
// instructions from, once it is checked out or pushed, without being asked.
type selfRunner struct {
	names  []string // last components, or the last two
	folder bool     // with everything below it
	reason string
}

// runsItself is the table of what runs by itself, at any depth. A session's change
// of one is undone like a change out of scope, unless the task's own scope names
// the file or a person allows it (docs/spec 9.6). Case and what file systems leave
// out of names are ignored.
var runsItself = []selfRunner{
	{[]string{".claude", ".codex", ".cursor", ".gemini", ".opencode", ".pi", ".qwen", ".windsurf", ".continue", ".kiro", ".amazonq", ".roo", ".crush"}, true,
		"hooks, commands and servers of coding agents"},
	{[]string{".mcp.json", "opencode.json", "opencode.jsonc", "crush.json", ".crush.json", ".aider.conf.yml"}, false, "servers and settings of coding agents"},
	{[]string{".github/hooks"}, true, "hooks of Copilot"},
	{[]string{".vscode", ".idea", ".zed", ".fleet"}, true, "tasks and tools that editors start"},
	{[]string{".exrc", ".vimrc", ".lvimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"}, false, "commands that editors run"},
	{[]string{".devcontainer"}, true, "commands that editors run on the host and in containers"},
	{[]string{".devcontainer.json"}, false, "as .devcontainer"},
	{[]string{".husky", ".githooks", ".git-hooks", ".lefthook"}, true, "git hooks"},
	{[]string{
		"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml",
		"lefthook-local.yml", "lefthook-local.yaml", "lefthook-local.toml", "lefthook-local.json", ".lefthook-local.yml", ".lefthook-local.yaml",
		".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml", ".simple-git-hooks.json", ".simple-git-hooks.js", ".simple-git-hooks.cjs",
	}, false, "commands of git hooks"},
	{[]string{".gitconfig"}, false, "configuration of git, which people include from their own"},
	{[]string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout",
	}, false, "commands of shells"},
	{[]string{".envrc", ".mise.toml", "mise.toml", ".mise.local.toml", "mise.local.toml"}, false, "commands that run when a shell enters the folder"},
	{[]string{".direnv", ".mise", ".config/mise"}, true, "as .envrc and mise.toml"},
	{[]string{".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs"}, false, "programs that npm, yarn and pnpm start in place of their own"},
	{[]string{".yarn/releases", ".yarn/plugins"}, true, "programs that yarn starts in place of its own"},
	{[]string{
		".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows", ".gitlab/ci", ".circleci", ".buildkite", ".woodpecker", ".semaphore", ".teamcity",
	}, true, "commands that a push runs with the secrets of the repository"},
	{[]string{
		".gitlab-ci.yml", "Jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", "bitbucket-pipelines.yml", ".travis.yml", ".drone.yml", ".woodpecker.yml",
		".cirrus.yml", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", "cloudbuild.yml", "buildspec.yml",
	}, false, "commands that a push runs with the secrets of the repository"},
	{[]string{".gitmodules", ".lfsconfig"}, false, "addresses that git fetches from"},
	{[]string{
		"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "AGENT.md", "GEMINI.md", "QWEN.md",
		".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints", ".github/copilot-instructions.md",
	}, false, "instructions that every later session, and the person's own agent, follows"},
	{[]string{".github/instructions", ".github/prompts", ".github/agents", ".github/chatmodes", ".clinerules", ".agents"}, true, "as CLAUDE.md"},
}

// attributesName is the name of a file that can have programs run by git.
const attributesName = ".gitattributes"

// runners finds what runs by itself by the components of a path. It is made from
// the table once.
var runners = func() (by struct{ files, folders map[string]bool }) {
	by.files, by.folders = map[string]bool{}, map[string]bool{}
	for _, r := range runsItself {
		for _, name := range r.names {
			if r.folder {
				by.folders[foldName(name)] = true
			} else {
				by.files[foldName(name)] = true
			}
		}
	}
	return by
}()

// runner returns the component of a path because of which it runs by itself, ""
// for any other path. The content of .gitattributes decides, see setsDriver.
func runner(p string) string {
	before := ""
	for rest, more := p, true; more; {
		var c string
		c, rest, more = strings.Cut(rest, "/")
		name := foldName(plainName(c))
		both := before + "/" + name
		if runners.folders[name] || before != "" && runners.folders[both] || !more && (runners.files[name] || runners.files[both]) {
			return c
		}
		before = name
	}
	return ""
}

// runner returns the component of a path because of which it runs by itself in
// this repository: by its name, because core.hooksPath of the user's repository
// names its folder, or because a link of such a name leads to it.
func (l *sessionDiff) runner(p string) string {
	if by := runner(p); by != "" {
		return by
	}
	for _, target := range l.runs {
		if f := foldName(p); inFolder(f, foldName(target)) {
			return path.Base(target)
		}
	}
	return ""
}

// findRunners finds what runs by itself in this repository besides the table.
func (l *sessionDiff) findRunners(ctx context.Context, entries []treeEntry) error {
	if data, err := os.ReadFile(filepath.Join(l.folder.dir, hooksFile)); err == nil && len(data) > 0 {
		l.runs = append(l.runs, string(data))
	}
	for _, e := range entries {
		if e.mode != modeSymlink || runner(e.path) == "" {
			continue
		}
		target, err := l.w.fileContent(ctx, e.hash)
		if err != nil {
			return err
		}
		if !leavesRepo(e.path, string(target)) {
			l.runs = append(l.runs, path.Join(path.Dir(e.path), string(target)))
		}
	}
	return nil
}

// hooksFile, beside a work folder, holds the folder below the repository that
// core.hooksPath of the user's repository named when the run began.
const hooksFile = "hooks-path"

// saveHooks records the value of core.hooksPath.
func (w *Workspace) saveHooks(t userRepo, run, value string) error {
	dir, err := w.runDir(run)
	if err != nil {
		return err
	}
	if value != "" && !filepath.IsAbs(value) {
		value = filepath.Join(t.top, value)
	}
	rel, err := filepath.Rel(t.top, value)
	if value == "" || err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") || strings.HasPrefix(rel, ".git/") {
		rel = ""
	}
	return os.WriteFile(filepath.Join(dir, hooksFile), []byte(filepath.ToSlash(rel)), 0o600)
}

// namesRunner reports whether the task's own scope names a path by one of its
// components, or a person allowed it. A glob that only happens to match does
// not name it.
func (r *scope) namesRunner(p, component string) bool {
	if glob.MatchAny(r.granted, p) {
		return true
	}
	return r.own.has(p, func(list []string, p string) bool {
		return slices.ContainsFunc(list, func(g string) bool {
			return glob.Match(g, p) && slices.ContainsFunc(strings.Split(glob.Unescape(g), "/"), func(c string) bool { return foldName(plainName(c)) == foldName(plainName(component)) })
		})
	})
}

// heldBack reports whether a change is undone because its file runs by itself.
func (l *sessionDiff) heldBack(ctx context.Context, scope *scope, c change) (bool, error) {
	if by := l.runner(c.path); by != "" {
		return !scope.namesRunner(c.path, by), nil
	}
	base := path.Base(c.path)
	if foldName(plainName(base)) != foldName(attributesName) || c.new.hash == "" || scope.namesRunner(c.path, base) {
		return false, nil
	}
	text, err := l.w.fileContent(ctx, c.new.hash)
	if err != nil {
		return false, err
	}
	old := map[string]bool{}
	if e, was := l.input[c.path]; was {
		before, err := l.w.fileContent(ctx, e.hash)
		if err != nil {
			return false, err
		}
		for line := range strings.Lines(string(before)) {
			old[strings.TrimSpace(line)] = true
		}
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !old[line] && setsDriver(line) {
			return true, nil
		}
	}
	return false, nil
}

// setsDriver reports whether a line of .gitattributes names a filter, or a diff
// or merge driver, that git does not have built in: a program of the
// configuration of whoever checks it out.
func setsDriver(line string) bool {
	if strings.HasPrefix(line, "#") {
		return false
	}
	for _, attribute := range strings.Fields(line) { // the pattern is among them: a quoted one may have spaces
		name, value, _ := strings.Cut(attribute, "=")
		switch {
		case value == "":
		case name == "filter":
			return true
		case name == "diff" && !slices.Contains(builtInDiff, value):
			return true
		case name == "merge" && !slices.Contains(builtInMerge, value):
			return true
		}
	}
	return false
}

// Drivers that git has built in (gitattributes(5)).
var (
	builtInMerge = []string{"text", "binary", "union"}
	builtInDiff  = []string{
		"ada", "bash", "bibtex", "cpp", "csharp", "css", "dts", "elixir", "fortran", "fountain", "golang", "html", "ini", "java", "kotlin",
		"markdown", "matlab", "objc", "pascal", "perl", "php", "python", "ruby", "rust", "scheme", "tex",
	}
)
