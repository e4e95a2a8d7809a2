package propose

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// folder is a folder of the repository in which Look searches for languages.
type folder struct {
	fs     fs.FS
	dir    string // "" for the top folder, else its path; no name in it needs quoting
	onPath func(string) bool
}

// skipped names folders whose manifests do not belong to the project itself.
var skipped = []string{
	"node_modules", "vendor", "third_party", "subprojects", "external", "testdata", "examples", "example", "samples", "fixtures",
	"docs", "doc", "dist", "build", "_build", "builddir", "target", "obj", "tmp",
}

// below returns the direct subfolders that may hold a part of the project.
func (f folder) below() []folder {
	entries, err := fs.ReadDir(f.fs, path.Join(f.dir, "."))
	if err != nil {
		return nil
	}
	var out []folder
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || slices.Contains(skipped, name) || !plain(name) {
			continue
		}
		if out = append(out, folder{fs: f.fs, dir: path.Join(f.dir, name), onPath: f.onPath}); len(out) == maxFolders {
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
// "". A name may be a pattern of path.Match in its last element.
func (f folder) first(names ...string) string {
	for _, name := range names {
		if strings.Contains(name, "*") {
			if all := f.all(name); len(all) > 0 {
				return all[0]
			}
			continue
		}
		if info, err := fs.Stat(f.fs, path.Join(f.dir, name)); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// all returns the regular files in the folder that match a pattern, sorted.
func (f folder) all(pattern string) []string {
	found, err := fs.Glob(f.fs, path.Join(f.dir, pattern))
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range found {
		if info, err := fs.Stat(f.fs, p); err == nil && info.Mode().IsRegular() {
			names = append(names, strings.TrimPrefix(p, path.Join(f.dir, ".")+"/"))
		}
	}
	return names
}

// hasFolder reports whether the folder has a subfolder of a name.
func (f folder) hasFolder(name string) bool {
	info, err := fs.Stat(f.fs, path.Join(f.dir, name))
	return err == nil && info.IsDir()
}

// runs reports whether a file may be executed.
func (f folder) runs(name string) bool {
	info, err := fs.Stat(f.fs, path.Join(f.dir, name))
	return err == nil && info.Mode()&0o111 != 0
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
// names an entry, or a folder above it, by its name or by a pattern.
func (f folder) ignores(entry string) bool {
	top := folder{fs: f.fs}
	return listed(f.read(".gitignore"), entry) || listed(top.read(".gitignore"), entry) || listed(top.read(".gitignore"), path.Join(f.dir, entry))
}

func listed(ignore, entry string) bool {
	for line := range strings.Lines(ignore) {
		line = strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "**/"), "/")
		for p := entry; p != "." && line != ""; p = path.Dir(p) {
			if ok, err := path.Match(line, p); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// leading are the assignments in front of a command's program.
var leading = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*`)

// command returns a Command that runs in this folder. It is written as a comment
// when its program is missing, or one of the others that it needs, unless own
// says that setup installs the program. A need may name alternatives: "cc|gcc".
func (f folder) command(run, why string, own bool, needs ...string) Command {
	c := Command{Run: run, Why: f.name(why)}
	program, _, _ := strings.Cut(strings.TrimPrefix(run, leading.FindString(run)), " ")
	if !own && !strings.Contains(program, "/") { // a path is a file of the repository, or what setup installs
		needs = append([]string{program}, needs...)
	}
	for _, n := range needs {
		if !slices.ContainsFunc(strings.Split(n, "|"), f.onPath) {
			c = c.off(missing(n))
		}
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

// fills says what the command makes. Where git does not ignore that, it would look
// like work.
func (f folder) fills(c Command, made ...string) Command {
	c.Visible = slices.ContainsFunc(made, func(name string) bool { return !f.ignores(name) })
	return c
}
