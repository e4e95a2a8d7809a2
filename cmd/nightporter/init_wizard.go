package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config/propose"
)

// initFlags are the flags of `nightporter init`.
type initFlags struct {
	repo, config, state     string
	add, force, sample, yes bool

	source, agent, timezone string
	setup, verify, tests    []string
	tokenFile, telegramAPI  string
	digest, quiet, network  string
}

// define adds the flags to the command.
func (f *initFlags) define(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.repo, "repo", "", "git repository (default: the one of this folder)")
	fl.StringVar(&f.config, "config", "", "file to write (default: where nightporter looks for it)")
	fl.StringVar(&f.state, "state", "", "state folder")
	fl.BoolVar(&f.add, "add", false, "append the project to the file that is there")
	fl.BoolVar(&f.force, "force", false, "put the file that is there aside and write a new one")
	fl.BoolVar(&f.sample, "sample-plan", false, "write a first plan where the repository has none")
	fl.BoolVar(&f.yes, "yes", false, "ask nothing; take what is found, and these flags")
	fl.StringVar(&f.source, "source", "", "where the tasks are: KIND:PATH, or the path of a list")
	fl.StringVar(&f.agent, "agent", "", "agent that sessions run")
	fl.StringArrayVar(&f.setup, "setup", nil, "command that prepares the work folder; may be repeated")
	fl.StringArrayVar(&f.verify, "verify", nil, "verification command; may be repeated")
	fl.StringArrayVar(&f.tests, "tests", nil, "glob of tests with unusual names; may be repeated")
	fl.StringVar(&f.network, "network", "", "what sessions reach: open, ports or none (default: none, where it can be)")
	fl.StringVar(&f.timezone, "timezone", "", "the clock you live by, such as Europe/Berlin")
	fl.StringVar(&f.tokenFile, "telegram-token-file", "", "file with a Telegram bot's token; - for standard input")
	fl.StringVar(&f.telegramAPI, "telegram-api", "", "address of a Bot API server of your own")
	fl.StringVar(&f.digest, "digest", "", "time of the morning's summary, HH:MM")
	fl.StringVar(&f.quiet, "quiet", "", "hours in which nothing rings, HH:MM-HH:MM")
	cmd.MarkFlagsMutuallyExclusive("add", "force")
}

// initWizard is the state of one `nightporter init`.
type initWizard struct {
	flags        initFlags
	cmd          *cobra.Command
	ask          *dialog // nil = nothing is asked
	out, err     io.Writer
	findingsText strings.Builder // printed after the repository has been examined
}

// given reports whether the person has named a value by its flag.
func (p *initWizard) given(flag string) bool { return p.cmd.Flags().Changed(flag) }

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
	for _, f := range []struct{ name, value string }{{"--repo", p.flags.repo}, {"--config", p.flags.config}, {"--state", p.flags.state}} {
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
