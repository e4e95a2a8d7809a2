package main

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/nightporter/nightporter/internal/daemon/project"
)

// quote quotes a word for a shell where it needs that.
func quote(s string) string { return project.Quote(s) }

func interactive(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func colour(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}

func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// short writes a path below the home folder with a tilde.
func short(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
			return "~/" + rel
		}
	}
	return path
}
