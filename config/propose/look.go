package propose

import (
	"fmt"
	"io/fs"
	"maps"
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
	Left      []string // manifests for which nothing is proposed
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
// whether a program is installed: a command whose program is missing, and that
// nothing else can run, is written as a comment.
func Look(repo fs.FS, onPath func(program string) bool) Found {
	var f Found
	top := folder{fs: repo, onPath: onPath}
	covered := f.look(top, nil)
	for _, sub := range top.below() {
		within := f.look(sub, covered)
		for _, deep := range sub.below() {
			f.leave(deep, within)
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

// look adds the commands for one folder. covered says of the languages of the
// folder above whether their commands run its parts too. The result says the same
// of this folder's languages and of those above.
func (f *Found) look(in folder, covered map[string]bool) map[string]bool {
	f.leave(in, covered)
	all := maps.Clone(covered)
	if all == nil {
		all = map[string]bool{}
	}
	for _, l := range languages {
		if _, above := covered[l.name]; above {
			continue
		}
		p, ok := l.look(in)
		if !ok {
			continue
		}
		all[l.name] = slices.ContainsFunc(l.parts, func(p parts) bool { return p.in(in) })
		name := l.name
		if in.dir != "" {
			name += " in " + in.dir + "/"
		}
		if made := slices.DeleteFunc(p.makes, in.ignores); len(p.verify) > 0 && len(made) > 0 {
			p.notes = append(p.notes, "builds make "+strings.Join(made, ", ")+": put that into "+in.name(".gitignore")+", else it would look like work")
		}
		f.add(name, p)
	}
	return all
}

// leave notes the manifests of a folder for which nothing is proposed: those
// deeper than one folder, and those of languages of a folder above whose commands
// do not run its parts.
func (f *Found) leave(in folder, covered map[string]bool) {
	for _, l := range languages {
		runs, above := covered[l.name]
		if runs || !above && !strings.Contains(in.dir, "/") {
			continue
		}
		if file := in.first(l.manifests...); file != "" {
			f.Left = append(f.Left, in.name(file))
		}
	}
}

// maxLeft is the number of manifests that LeftOut names.
const maxLeft = 5

// LeftOut names the manifests for which nothing is proposed, in one sentence, ""
// for none.
func (f Found) LeftOut() string {
	if len(f.Left) == 0 {
		return ""
	}
	text := strings.Join(f.Left[:min(len(f.Left), maxLeft)], ", ")
	if more := len(f.Left) - maxLeft; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "left out: " + text + ". Add commands of their own, unless the proposed ones run them too"
}

// part is the contribution of one language to Found.
type part struct {
	setup, verify []Command
	notes         []string
	makes         []string // what the commands of verify make, and git has to ignore
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
