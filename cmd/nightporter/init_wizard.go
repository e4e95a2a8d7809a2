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

// initFlags are the flags of `nightporter init`.
type initFlags struct {
	repo, config       string
	add, force, sample bool
}

// initWizard is the state of one `nightporter init`.
type initWizard struct {
	flags        initFlags
	out, err     io.Writer
	findingsText strings.Builder // printed after the repository has been examined
}

// addLine adds a line to the findings.
func (p *initWizard) addLine(sign, what, format string, args ...any) {
	fmt.Fprintf(&p.findingsText, "%s %-9s  %s\n", sign, what, propose.Plain(fmt.Sprintf(format, args...)))
}

// addDetail adds a continuation line to the findings.
func (p *initWizard) addDetail(format string, args ...any) {
	fmt.Fprintf(&p.findingsText, "  %-9s  %s\n", "", propose.Plain(fmt.Sprintf(format, args...)))
}

// repeatedFlags returns the given flags, for a suggestion to repeat the
// command.
func (p *initWizard) repeatedFlags() string {
	var b strings.Builder
	for _, f := range []struct{ name, value string }{{"--repo", p.flags.repo}, {"--config", p.flags.config}} {
		if f.value != "" {
			b.WriteString(" " + f.name + " " + quote(f.value))
		}
	}
	return b.String()
}

// chownLike gives files that root has made in a user's folder to that user.
func chownLike(folder string, made ...string) error {
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
