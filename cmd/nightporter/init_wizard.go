package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/nightporter/nightporter/config/propose"
)

// initWizard is one `nightporter init`.
type initWizard struct {
	flags    initFlags
	out, err io.Writer
	said     strings.Builder // what was found, to be printed once all of it is known
}

// say notes one line of what was found.
func (p *initWizard) say(sign, what, format string, args ...any) {
	fmt.Fprintf(&p.said, "%s %-9s  %s\n", sign, what, propose.Plain(fmt.Sprintf(format, args...)))
}

// hint notes a line that says more about the one before.
func (p *initWizard) hint(format string, args ...any) {
	fmt.Fprintf(&p.said, "  %-9s  %s\n", "", propose.Plain(fmt.Sprintf(format, args...)))
}

// again is the flags that were given, for the same command once more.
func (p *initWizard) again() string {
	var b strings.Builder
	for _, f := range []struct{ name, value string }{{"--repo", p.flags.repo}, {"--config", p.flags.config}} {
		if f.value != "" {
			b.WriteString(" " + f.name + " " + quote(f.value))
		}
	}
	return b.String()
}

// ownedLike gives what was made as root in somebody's folder to that somebody.
func ownedLike(folder string, made ...string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	for _, path := range slices.Backward(made) {
		if err := os.Lchown(path, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	return nil
}

// initFlags are the flags of `nightporter init`.
type initFlags struct {
	repo, config       string
	add, force, sample bool
}
