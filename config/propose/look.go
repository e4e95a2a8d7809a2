package propose

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Command is one line of setup or verify.
type Command struct {
	Run  string // as a shell takes it, in the repository's top folder
	When string // as in verify: "" always, "code" after changes of code (docs/spec 17)
	Why  string // what it was taken from
	Off  string // why it is written as a comment only; "" where it holds
}

// Found is what the files of a repository say about how it is verified.
type Found struct {
	Languages []string // as people call them: "Go", "Node"
	Setup     []Command
	Verify    []Command
	Notes     []string // what a person should know or mend, one line each
	Agents    []string // pages that may name more commands: AGENTS.md
}

// Largest file that is read here, and most folders that are looked into.
const (
	maxFile    = 1 << 20
	maxFolders = 100
)

// Look reads the manifests in the top folder of a repository, and those of
// languages that it lacks in the folders right below. onPath says whether a
// program is there: a command of one that is not stays a comment.
func Look(repo fs.FS, onPath func(program string) bool) Found {
	var f Found
	top := folder{fs: repo, onPath: onPath}
	seen := map[string]bool{}
	for _, l := range languages {
		if part, ok := l.look(top); ok {
			seen[l.name] = true
			f.add(l.name, part)
		}
	}
	for _, sub := range top.below() {
		for _, l := range languages {
			if seen[l.name] {
				continue // a workspace of the top folder's, most likely
			}
			if part, ok := l.look(sub); ok {
				f.add(l.name+" in "+sub.dir+"/", part)
			}
		}
	}
	f.makefile(top)
	for _, page := range []string{"AGENTS.md", "CLAUDE.md"} {
		if top.has(page) {
			f.Agents = append(f.Agents, page)
		}
	}
	return f
}

// language is one of the four that init knows (docs/spec 16). look reports false for a folder
// that has none of it.
type language struct {
	name string
	look func(folder) (part, bool)
}

var languages = []language{{"Go", lookGo}, {"Node", lookNode}, {"Python", lookPython}, {"Rust", lookRust}}

// part is what one language contributes.
type part struct {
	setup, verify []Command
	notes         []string
}

func (f *Found) add(name string, p part) {
	f.Languages = append(f.Languages, name)
	f.Setup = append(f.Setup, p.setup...)
	f.Verify = append(f.Verify, p.verify...)
	f.Notes = append(f.Notes, p.notes...)
}

// Holds returns the commands that are no mere comments.
func Holds(list []Command) []string {
	var out []string
	for _, c := range list {
		if c.Off == "" {
			out = append(out, c.Run)
		}
	}
	return out
}

// folder is a folder of the repository in which a language is looked for.
type folder struct {
	fs     fs.FS
	dir    string // "" for the top, else one plain name
	onPath func(string) bool
}

// skipped hold manifests of their own that are not the project's.
var skipped = []string{"node_modules", "vendor", "third_party", "testdata", "examples", "example", "fixtures", "docs", "doc", "dist", "build", "target", "tmp"}

// below returns the folders right below that may hold a part of the project.
func (f folder) below() []folder {
	entries, err := fs.ReadDir(f.fs, ".")
	if err != nil {
		return nil
	}
	var out []folder
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || slices.Contains(skipped, name) || !plain(name) {
			continue
		}
		if out = append(out, folder{fs: f.fs, dir: name, onPath: f.onPath}); len(out) == maxFolders {
			break
		}
	}
	return out
}

// plain reports whether a name means itself to a shell: one that does not is
// no folder that commands should be proposed for.
func plain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}) && !strings.HasPrefix(name, "-")
}

// has reports whether one of the names is a regular file here.
func (f folder) has(names ...string) bool { return f.first(names...) != "" }

// first returns the first of the names that is a regular file here, or "".
func (f folder) first(names ...string) string {
	for _, name := range names {
		if info, err := fs.Stat(f.fs, path.Join(f.dir, name)); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// read returns a file's text, "" where there is none or it is too large to be
// a manifest. Only regular files are opened: opening a FIFO would not return.
func (f folder) read(name string) string {
	if !f.has(name) {
		return ""
	}
	file, err := f.fs.Open(path.Join(f.dir, name))
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(text) > maxFile {
		return ""
	}
	return string(text)
}

// name is a file of this folder as people are told of it.
func (f folder) name(file string) string { return path.Join(f.dir, file) }

// ignores reports whether the folder's or the top's .gitignore names an entry.
func (f folder) ignores(entry string) bool {
	top := folder{fs: f.fs}
	for _, line := range strings.Split(f.read(".gitignore")+"\n"+top.read(".gitignore"), "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "**/")
		if strings.Trim(line, "/") == entry {
			return true
		}
	}
	return false
}

// command makes a Command that runs in this folder. It stays a comment where
// its program is missing; own says that setup puts it there.
func (f folder) command(run, why string, own bool) Command {
	c := Command{Run: run, Why: f.name(why)}
	if program, _, _ := strings.Cut(strings.TrimPrefix(run, "CI=true "), " "); !own && !f.onPath(program) {
		c.Off = program + " is not on PATH"
	}
	if f.dir != "" {
		c.Run = fmt.Sprintf("cd %s && %s", f.dir, run)
	}
	return c
}

// code makes a command hold after changes of code only, as a linter does
// (seed 001: "after code changes").
func (c Command) code() Command {
	c.When = "code"
	return c
}

// off makes a command a comment, unless it is one already.
func (c Command) off(why string) Command {
	if c.Off == "" {
		c.Off = why
	}
	return c
}
