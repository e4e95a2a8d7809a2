package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

func initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Look at a repository and write a configuration for it",
		Long: `Look at a repository and write a configuration for it: its plan, what verifies
it, the agent to use. Every line says why it is there; no secret is in it.

On a terminal it asks about what it found, for a Telegram bot's token, which is
not shown and goes into a file that only you can read, and about the digest and
quiet hours. Enter takes what is proposed; Ctrl-C ends it, and nothing was
written. In the end it tries what would fail at 3:00, and lets your phone in.

It proposes that sessions reach named hosts alone, where this machine can hold them
to it: an empty session tries that.

With --yes, and without a terminal, it asks nothing and runs nothing else; Telegram is
asked only about a token from --telegram-token-file.

A configuration that is there already is never changed without being told so:
the project is printed instead. --add appends it; --force puts the old file
aside, under another name, and writes a new one.

Exit codes: 0 done, or printed · 1 written, and something is left to mend
3 not possible, with the reason · 130 ended at a question`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := &initWizard{flags: f, cmd: cmd, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			in, _ := cmd.InOrStdin().(*os.File)
			if out, ok := p.out.(*os.File); ok && !f.yes && interactive(in) && interactive(out) {
				p.ask = newDialog(in, p.out)
			}
			err := p.run(cmd.Context())
			var code exitCode
			switch {
			case errors.Is(err, errEnded):
				fmt.Fprintf(p.out, "\n%s Ended, and nothing was written.\n", bot.SignAway)
				return exitCode(130)
			case errors.As(err, &code):
				return code
			case err != nil:
				printProblems(p.err, err)
				return exitCode(exitUsage)
			}
			return nil
		},
	}
	f.define(cmd)
	return cmd
}

// initDraft is what one init is about to write.
type initDraft struct {
	file     string
	before   *config.Config // what the file has; empty without one
	exists   bool           // the file is there, and is appended to
	replaces bool           // the file is there, and is put aside
	known    bool           // the file has the project
	project  propose.Project
	global   propose.Global
	token    string            // to be written to global.TokenFile; "" = nothing is
	sample   bool              // the first plan is written, too
	login    map[string][]byte // of the agent's sessions; nil = it is left as it is
}

// live reports whether a chat will be configured.
func (d initDraft) live() bool { return d.global.TokenFile != "" || len(platform.Used(d.before)) > 0 }

func (p *initWizard) run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	d, err := p.draft(ctx)
	if err != nil {
		return err
	}
	if p.ask != nil {
		for line := range strings.Lines(p.findingsText.String()) {
			p.ask.say(strings.TrimSuffix(line, "\n"))
		}
		p.findingsText.Reset()
	}
	add, err := p.decide(ctx, &d)
	if err == nil && !d.known && !p.given("network") {
		err = p.proposeNetwork(&d)
	}
	switch {
	case err != nil:
		return err
	case !add && d.known:
		fmt.Fprint(p.out, p.findingsText.String())
		if p.ask == nil {
			p.printNextSteps(d)
			return nil
		}
	case !add:
		// Standard output receives the block alone, so that it can be
		// redirected to a file.
		fmt.Fprint(p.err, p.findingsText.String())
		fmt.Fprintf(p.err, "\n! %s is there and was left as it is.\n  Its new part is below; to append it: nightporter init --add%s\n\n", d.file, p.repeatedFlags())
		fmt.Fprint(p.out, propose.Block(d.project))
		return nil
	default:
		fmt.Fprint(p.out, p.findingsText.String())
		fmt.Fprintln(p.out)
		if err := p.write(d); err != nil {
			return err
		}
		p.report(d)
	}
	if err := p.saveLogin(d); err != nil {
		return err
	}
	if p.ask == nil {
		p.printNextSteps(d)
		return nil
	}
	return p.finish(ctx, stop, d)
}

// draft looks at the repository and at the configuration, and takes what flags name.
func (p *initWizard) draft(ctx context.Context) (initDraft, error) {
	file, err := p.configFile()
	if err != nil {
		return initDraft{}, err
	}
	cfg, err := p.loadExisting(file)
	if err != nil {
		return initDraft{}, err
	}
	project, err := p.project(ctx, cfg)
	if err != nil {
		return initDraft{}, err
	}
	d := initDraft{file: file, before: cfg, project: project, exists: cfg.File != "" && !p.flags.force, replaces: cfg.File != "" && p.flags.force}
	d.global.Folder = filepath.Dir(file)
	for _, k := range cfg.Projects {
		d.known = d.known || k.Name == project.Name
	}
	if d.known {
		p.addLine(bot.SignDone, "project", "%s is in %s already", project.Name, file)
	}
	return d, p.takeFlags(ctx, &d)
}

// decide completes the draft by answers, and reports whether there is anything to
// write.
func (p *initWizard) decide(ctx context.Context, d *initDraft) (write bool, err error) {
	add := !d.known && (!d.exists || p.flags.add)
	if p.ask == nil {
		return add || d.known && d.global.TokenFile != "", nil
	}
	if !d.known && !add {
		if add, err = p.ask.agree(ctx, fmt.Sprintf("%s is there. Add %s to it?", d.file, d.project.Name)); err != nil || !add {
			return false, err
		}
	}
	if add || !d.live() {
		p.ask.say("Enter takes what is in [ ]. Ctrl-C ends this, and nothing is written.")
	}
	if add {
		if err := p.askProject(ctx, d); err != nil {
			return false, err
		}
	}
	if err := p.askPhone(ctx, d); err != nil {
		return false, err
	}
	if err := p.askLogin(ctx, d); err != nil {
		return false, err
	}
	return add || d.global.TokenFile != "", nil
}

// configFile returns the absolute path of the configuration.
func (p *initWizard) configFile() (string, error) {
	file := p.flags.config
	if file == "" {
		file = config.DefaultFile()
	}
	if file == "" {
		return "", &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: "there is no place for a configuration: neither HOME nor XDG_CONFIG_HOME is set", Remedy: "Name one: --config FILE",
		}}}
	}
	return filepath.Abs(file)
}

// loadExisting loads the present configuration, which must be valid before
// anything is added to it. Without a file it returns an empty Config.
func (p *initWizard) loadExisting(file string) (*config.Config, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) || p.flags.force && err == nil {
		cfg := config.Empty()
		if err == nil {
			cfg.File = file
		}
		return cfg, nil
	}
	return config.Load(file)
}

// project examines the repository and proposes its [[project]] section.
func (p *initWizard) project(ctx context.Context, cfg *config.Config) (propose.Project, error) {
	top, err := topFolder(ctx, p.flags.repo)
	if err != nil {
		return propose.Project{}, err
	}
	others := *cfg
	if p.flags.force {
		others.Projects = nil
	}
	picked, err := others.Pick(config.Overrides{Repo: top}, top)
	if err != nil {
		return propose.Project{}, err
	}
	if strings.ToValidUTF8(picked.Repo, "") != picked.Repo {
		return propose.Project{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: fmt.Sprintf("the path of the repository, %q, is not UTF-8, and a configuration has to be", picked.Repo), Remedy: "Rename the folder, or make a link to it and run nightporter init there",
		}}}
	}
	if strings.ContainsAny(picked.Repo, "\r\n") {
		return propose.Project{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: fmt.Sprintf("the path of the repository, %q, holds a line break, and git's answers cannot be read then", picked.Repo), Remedy: "Rename the folder",
		}}}
	}
	fmt.Fprintf(&p.findingsText, "Looked at %s\n", propose.Plain(picked.Repo))
	for _, d := range workspace.NoCommits(ctx, picked.Repo) {
		p.addLine(bot.SignLook, "repository", "%s", d.Text)
		p.addDetail("%s", d.Remedy)
	}
	out := propose.Project{Name: picked.Name, Repo: picked.Repo}
	if !p.given("source") {
		if err := p.chooseSource(ctx, &out); err != nil {
			return out, err
		}
	}
	root, err := os.OpenRoot(picked.Repo) // does not follow links that lead out of the repository
	if err != nil {
		return out, fmt.Errorf("look at the repository: %w", err)
	}
	defer func() { _ = root.Close() }()
	out.Found = propose.Look(root.FS(), onPath)
	p.reportCommands("setup", out.Found.Setup)
	p.reportCommands("verify", out.Found.Verify)
	if len(propose.Active(out.Found.Verify)) == 0 && !p.given("verify") {
		p.addLine(bot.SignLook, "verify", "no command proves a task's work")
		p.addDetail(`name one in the file: verify = ["make test"]`)
	}
	for _, note := range out.Found.Notes {
		p.addLine(bot.SignLook, "look", "%s", note)
	}
	if left := out.Found.LeftOut(); left != "" {
		p.addLine(bot.SignLook, "look", "%s", left)
	}
	out.Protected = protectedBranches(ctx, picked.Repo)
	p.addLine(bot.SignDone, "protected", "%s", strings.Join(out.Protected, ", "))
	if !p.given("agent") {
		p.chooseAgent(cfg, &out)
	}
	return out, nil
}

// reportCommands reports the proposed commands of a list and the omitted ones, unless a
// flag names others.
func (p *initWizard) reportCommands(what string, list []propose.Command) {
	if p.given(what) {
		return
	}
	sign := bot.SignDone
	for _, c := range list {
		if c.Off == "" {
			p.addLine(sign, what, "%s", c.Run)
		}
	}
	for _, c := range list {
		if c.Off != "" {
			p.addLine(bot.SignAway, what, "%s (left out: %s)", c.Run, c.Off)
		}
	}
}

// report says what was written.
func (p *initWizard) report(d initDraft) {
	fmt.Fprintf(p.out, "%s %s %s\n", bot.SignDone, map[bool]string{true: "Appended to", false: "Wrote"}[d.exists], d.file)
	if d.token != "" {
		fmt.Fprintf(p.out, "%s Wrote %s, which only you can read\n", bot.SignDone, filepath.Join(d.global.Folder, d.global.TokenFile))
	}
	if d.sample {
		fmt.Fprintf(p.out, "%s Wrote %s: change it as you like\n", bot.SignDone, filepath.Join(d.project.Repo, sampleOf().Path))
	}
}

// commands returns the commands that come next, with the flags that they need.
func (p *initWizard) commands(d initDraft) (check, run, up string) {
	flags := ""
	for _, f := range []struct{ name, value string }{{"--config", p.flags.config}, {"--state", p.flags.state}} {
		if f.value != "" {
			flags += " " + f.name + " " + quote(f.value)
		}
	}
	repo := ""
	if len(d.before.Projects) > 0 && !d.replaces {
		repo = " --repo " + quote(d.project.Repo)
	}
	up = "nightporter up" + flags
	if d.live() {
		up += " --pair"
	}
	return "nightporter run --check" + flags + repo, "nightporter run" + flags + repo, up
}

// printNextSteps prints the commands to run next.
func (p *initWizard) printNextSteps(d initDraft) {
	check, _, up := p.commands(d)
	why := "stays, and works when told to; for a phone, run init on a terminal"
	if d.live() {
		why = "stays, works when told to, and lets your phone in"
	}
	fmt.Fprintln(p.out, "\nNext")
	for _, l := range [][2]string{{check, "tries what would fail at 3:00; no agent works"}, {up, why}} {
		fmt.Fprintf(p.out, "  %-*s  %s\n", max(24, len(check)), l[0], l[1])
	}
}
