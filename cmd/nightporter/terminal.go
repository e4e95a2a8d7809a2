package main

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/nightporter/nightporter/internal/daemon/project"
)

// quote quotes a word for a POSIX shell if necessary.
func quote(s string) string { return project.Quote(s) }

// interactive reports whether r is a terminal.
func interactive(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colour reports whether w is a terminal that may show colours.
func colour(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}

// columns returns the columns of the terminal w, 0 for anything else.
func columns(w io.Writer) int {
	n, _ := terminalSize(w)
	return n
}

// terminalSize returns columns and lines of a terminal, 0 for anything else.
func terminalSize(w io.Writer) (width, height int) {
	if f, ok := w.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			return w, h
		}
	}
	return 0, 0
}

// tildePath replaces the home folder at the start of a path by a tilde.
func tildePath(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
			return "~/" + rel
		}
	}
	return path
}
