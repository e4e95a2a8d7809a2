package proof

import (
	"maps"
	"path"
	"strings"
)

// rootMark stands for the tree's absolute path in values of shell words.
const rootMark = "\x01"

// place is where a command stands and what is known there.
type place struct {
	dir     string              // working directory in the tree
	outside bool                // the working directory is not in the tree, or not known
	vars    map[string][]string // values of shell variables, alternatives each
	args    []string            // positional arguments
	script  string              // $0
	sure    bool                // without this command the verification cannot be green
	errexit bool
	wanted  bool // reached through something that the start's commands need and the start had not
	via     string
	name    string // the command or file that is read, for reports
	depth   int
	funcs   map[string]body
}

// child is a copy whose changes of folder and variables stay its own.
func (pl place) child() place {
	pl.vars = maps.Clone(pl.vars)
	pl.funcs = maps.Clone(pl.funcs)
	return pl
}

// within is a copy for a command that may not be run.
func (pl place) unsure() place {
	pl.sure = false
	return pl
}

// resolve returns the path in the tree that a command's argument means.
func (pl place) resolve(p string) (string, bool) {
	switch {
	case strings.HasPrefix(p, rootMark):
		p = strings.TrimLeft(p[len(rootMark):], "/")
	case strings.HasPrefix(p, "/"), strings.HasPrefix(p, "~"), pl.outside:
		return "", false
	default:
		p = pl.dir + "/" + p
	}
	return clean(p)
}

// clean normalises a path in the tree, "" for its root, and reports whether it
// stays in the tree.
func clean(p string) (string, bool) {
	p = path.Clean(strings.TrimLeft(p, "/"))
	if p == "." {
		return "", true
	}
	if p == ".." || strings.HasPrefix(p, "../") || strings.ContainsAny(p, "\x00\x01") {
		return "", false
	}
	return p, true
}

// join resolves a path that a file in the folder dir names.
func join(dir, p string) (string, bool) {
	if strings.HasPrefix(p, "/") {
		return "", false
	}
	return clean(dir + "/" + p)
}
