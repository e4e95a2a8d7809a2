package propose

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Command is one proposed command of setup or verify.
type Command struct {
	Run  string // a shell command, run in the repository's top folder
	When string // as in verify: "" always, "code" after changes of code (docs/spec 17)
	Why  string // the file that suggests it
	Off  string // why it is written as a comment only; "" = it is not a comment
	// Visible says that git does not ignore what the command makes, so that it
	// would look like work.
	Visible bool
}

// Found is what Look learned from the files of a repository.
type Found struct {
	Languages []string // display names: "Go", "Node"
	Setup     []Command
	Verify    []Command
	Tests     []string // globs of tests whose names are unusual
	Notes     []string // advice for the person, one line each
	Agents    []string // repositoryOf that may name more commands: AGENTS.md
}

// Limits on the size of a file and on the number of folders that Look reads.
const (
	maxFile    = 1 << 20
	maxFolders = 100
)

// Look reads the manifests in the top folder of a repository, and in its direct
// subfolders those of languages that the top folder lacks. onPath reports
// whether a program is installed: a command whose program is missing is written
// as a comment.
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
				continue // most likely a member of the top folder's workspace
			}
			if part, ok := l.look(sub); ok {
				f.add(l.name+" in "+sub.dir+"/", part)
			}
		}
	}
	f.makefile(top)
	f.tests(top)
	for _, page := range []string{"AGENTS.md", "CLAUDE.md"} {
		if top.has(page) {
			f.Agents = append(f.Agents, page)
		}
	}
	return f
}

// language is one of the languages that init knows (docs/spec 16). Its look
// reports false for a folder without that language.
type language struct {
	name string
	look func(folder) (part, bool)
}

var languages = []language{{"Go", lookGo}, {"Node", lookNode}, {"Python", lookPython}, {"Rust", lookRust}}

// part is the contribution of one language to Found.
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

// Active returns the commands that are not written as comments.
func Active(list []Command) []string {
	var out []string
	for _, c := range list {
		if c.Off == "" {
			out = append(out, c.Run)
		}
	}
	return out
}

// Setup returns the setup commands of a repository for which no setup is set.
// Those are left out that would make files that git does not ignore.
func Setup(repo fs.FS, onPath func(program string) bool) []string {
	return Active(slices.DeleteFunc(Look(repo, onPath).Setup, func(c Command) bool { return c.Visible }))
}

// folder is a folder of the repository in which Look searches for languages.
type folder struct {
	fs     fs.FS
	dir    string // "" for the top folder, else one name without slashes
	onPath func(string) bool
}

// skipped names folders whose manifests do not belong to the project itself.
var skipped = []string{"node_modules", "vendor", "third_party", "testdata", "examples", "example", "fixtures", "docs", "doc", "dist", "build", "target", "tmp"}

// below returns the direct subfolders that may hold a part of the project.
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

// plain reports whether a name needs no quoting in a shell. No commands are
// proposed for a folder whose name does.
func plain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}) && !strings.HasPrefix(name, "-")
}

// has reports whether one of the names is a regular file in the folder.
func (f folder) has(names ...string) bool { return f.first(names...) != "" }

// first returns the first of the names that is a regular file in the folder, or
// "".
func (f folder) first(names ...string) string {
	for _, name := range names {
		if info, err := fs.Stat(f.fs, path.Join(f.dir, name)); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// read returns a file's text; "" for a missing file and for one too large to be
// a manifest. It opens regular files only, because opening a FIFO would block.
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

// name returns the path of a file in this folder, for messages.
func (f folder) name(file string) string { return path.Join(f.dir, file) }

// ignores reports whether the .gitignore of the folder or of the top folder
// names an entry.
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

// command returns a Command that runs in this folder. It is written as a
// comment when its program is missing, unless own says that setup installs the
// program.
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

// code returns the command limited to runs after changes of code. That suits a
// linter.
func (c Command) code() Command {
	c.When = "code"
	return c
}

// off returns the command written as a comment, for the given reason. An
// earlier reason is kept.
func (c Command) off(why string) Command {
	if c.Off == "" {
		c.Off = why
	}
	return c
}
