package workspace

import (
	"context"
	"path"
	"slices"
	"strings"
)

// runsItself lists the files and folders, at any depth, that a program on
// somebody's machine runs or takes commands from once they are checked out,
// without being asked. A session's change of one is undone like a change out of
// scope, unless the task's own scope names the file or a person allows it
// (docs/spec 9.6). Case is ignored, as some file systems do.
var runsItself = struct {
	folders []string // with everything below
	files   []string
}{
	folders: []string{
		".claude", ".codex", ".cursor", ".gemini", ".opencode", ".pi", ".qwen", // hooks, commands and servers of agents
		".vscode", ".idea", ".zed", // tasks and tools of editors
		".husky", ".githooks", ".lefthook", // git hooks
	},
	files: []string{
		".mcp.json", "opencode.json", "opencode.jsonc",
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout",
		".envrc", ".exrc", ".nvimrc", ".nvim.lua",
		"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json",
		"lefthook-local.yml", "lefthook-local.yaml", "lefthook-local.toml", "lefthook-local.json",
		".lefthook.yml", ".lefthook.yaml", ".lefthook-local.yml", ".lefthook-local.yaml",
		".pre-commit-config.yaml", ".pre-commit-config.yml",
	},
}

// hooksFolder holds hooks of Copilot in a folder that has other uses.
const hooksFolder = ".github/hooks"

// attributesName is the name of a file that can have programs run by git.
const attributesName = ".gitattributes"

// runner returns the component of a path because of which it runs by itself, ""
// for any other path. The content of .gitattributes decides, see setsDriver.
func runner(p string) string {
	rest := ""
	for c := range strings.SplitSeq(p, "/") {
		rest = strings.TrimPrefix(rest+"/"+c, "/")
		same := func(name string) bool { return foldName(name) == foldName(c) }
		switch {
		case slices.ContainsFunc(runsItself.folders, same):
			return c
		case len(rest) < len(p):
		case slices.ContainsFunc(runsItself.files, same):
			return c
		}
		if strings.HasSuffix("/"+foldName(rest), "/"+foldName(hooksFolder)) {
			return c
		}
	}
	return ""
}

// namesRunner reports whether the task's own scope names a path by one of its
// components, or a person allowed it. A glob that only happens to match does
// not name it.
func (r *scope) namesRunner(p, component string) bool {
	if matchAny(r.granted, p) {
		return true
	}
	return r.own.has(p, func(list []string, p string) bool {
		return slices.ContainsFunc(list, func(g string) bool {
			return match(g, p) && slices.ContainsFunc(strings.Split(unescape(g), "/"), func(c string) bool { return foldName(c) == foldName(component) })
		})
	})
}

// heldBack reports whether a change is undone because its file runs by itself.
func (l *sessionDiff) heldBack(ctx context.Context, scope *scope, c change) (bool, error) {
	if by := runner(c.path); by != "" {
		return !scope.namesRunner(c.path, by), nil
	}
	base := path.Base(c.path)
	if foldName(base) != foldName(attributesName) || c.new.hash == "" || scope.namesRunner(c.path, base) {
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
