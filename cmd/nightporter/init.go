package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/loop/ledger"
)

func initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Look at a repository and write a configuration for it",
		Long: `Look at a repository and write a configuration for it: its plan, what verifies
it, the agent to use. Every line says why it is there; no secret is in it.
Nothing is run and no network is used.

A configuration that is there already is never changed without being told so:
the project is printed instead. --add appends it; --force puts the old file
aside, under another name, and writes a new one.

Exit codes: 0 done, or printed · 3 not possible, with the reason`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := &initWizard{flags: f, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			if err := p.run(cmd.Context()); err != nil {
				problems(p.err, err)
				return exitCode(exitUsage)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.repo, "repo", "", "git repository (default: the one of this folder)")
	fl.StringVar(&f.config, "config", "", "file to write (default: where nightporter looks for it)")
	fl.BoolVar(&f.add, "add", false, "append the project to the file that is there")
	fl.BoolVar(&f.force, "force", false, "put the file that is there aside and write a new one")
	fl.BoolVar(&f.sample, "sample-plan", false, "write a first plan where the repository has none")
	cmd.MarkFlagsMutuallyExclusive("add", "force")
	return cmd
}

func (p *initWizard) run(ctx context.Context) error {
	file, err := p.file()
	if err != nil {
		return err
	}
	cfg, err := p.existing(file)
	if err != nil {
		return err
	}
	project, err := p.project(ctx, cfg)
	if err != nil {
		return err
	}
	for _, known := range cfg.Projects {
		if known.Name == project.Name {
			p.say(bot.SignDone, "project", "%s is in %s already", project.Name, file)
			fmt.Fprint(p.out, p.said.String())
			p.next(cfg, file, project, false)
			return nil
		}
	}
	there := cfg.File != ""
	if there && !p.flags.add && !p.flags.force {
		// The block alone goes to standard output, so that it can be kept.
		fmt.Fprint(p.err, p.said.String())
		fmt.Fprintf(p.err, "\n! %s is there and was left as it is.\n  Its new part is below; to append it: nightporter init --add%s\n\n", file, p.again())
		fmt.Fprint(p.out, propose.Block(project))
		return nil
	}
	aside := ""
	switch {
	case there && p.flags.add:
		err = appendFile(file, propose.Block(project))
	default:
		if there {
			if aside, err = putAside(file); err != nil {
				return err
			}
		}
		zone, why := hostZone()
		if zone == "" {
			p.say(bot.SignLook, "timezone", "not known here; put yours into the file")
		} else {
			p.say(bot.SignDone, "timezone", "%s", zone)
		}
		global := propose.Global{Timezone: zone, ZoneWhy: why, Folder: filepath.Dir(file)}
		err = createFile(file, propose.File(global, project), p.flags.config == "")
	}
	if err != nil {
		if aside != "" { // nothing is to be lost by a failed attempt
			err = errors.Join(err, os.Rename(aside, file))
		}
		return err
	}
	fmt.Fprint(p.out, p.said.String())
	if aside != "" {
		fmt.Fprintf(p.out, "\n%s The old file is %s", bot.SignDone, aside)
	}
	fmt.Fprintf(p.out, "\n%s %s %s\n", bot.SignDone, map[bool]string{true: "Appended to", false: "Wrote"}[there && p.flags.add], file)
	p.next(cfg, file, project, cfg.Telegram != nil)
	return nil
}

// file is where the configuration belongs, absolute.
func (p *initWizard) file() (string, error) {
	file := p.flags.config
	if file == "" {
		file = config.DefaultFile()
	}
	if file == "" {
		return "", &ledger.InputError{Findings: []ledger.Finding{{
			Text: "there is no place for a configuration: neither HOME nor XDG_CONFIG_HOME is set", Fix: "Name one: --config FILE",
		}}}
	}
	return filepath.Abs(file)
}

// existing reads the file that is there, which has to be right before anything
// is added to it, or is an empty Config.
func (p *initWizard) existing(file string) (*config.Config, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) || p.flags.force && err == nil {
		cfg := config.Empty()
		if err == nil {
			cfg.File = file
		}
		return cfg, nil
	}
	return config.Load(file)
}

// project looks at the repository and proposes its [[project]].
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
		return propose.Project{}, &ledger.InputError{Findings: []ledger.Finding{{
			Text: fmt.Sprintf("the path of the repository, %q, is not UTF-8, and a configuration has to be", picked.Repo), Fix: "Rename the folder, or make a link to it and run nightporter init there",
		}}}
	}
	if strings.ContainsAny(picked.Repo, "\r\n") {
		return propose.Project{}, &ledger.InputError{Findings: []ledger.Finding{{
			Text: fmt.Sprintf("the path of the repository, %q, holds a line break, and git's answers cannot be read then", picked.Repo), Fix: "Rename the folder",
		}}}
	}
	fmt.Fprintf(&p.said, "Looked at %s\n", propose.Plain(picked.Repo))
	out := propose.Project{Name: picked.Name, Repo: picked.Repo}
	if err := p.source(ctx, &out); err != nil {
		return out, err
	}
	root, err := os.OpenRoot(picked.Repo) // links that lead out of it are not followed
	if err != nil {
		return out, fmt.Errorf("look at the repository: %w", err)
	}
	defer func() { _ = root.Close() }()
	out.Found = propose.Look(root.FS(), onPath)
	p.commands("setup", out.Found.Setup)
	p.commands("verify", out.Found.Verify)
	if len(propose.Holds(out.Found.Verify)) == 0 {
		p.say(bot.SignLook, "verify", "no command proves a task's work")
		p.hint(`name one in the file: verify = ["make test"]`)
	}
	for _, note := range out.Found.Notes {
		p.say(bot.SignLook, "look", "%s", note)
	}
	out.Protected = protectedBranches(ctx, picked.Repo)
	p.say(bot.SignDone, "protected", "%s", strings.Join(out.Protected, ", "))
	p.agent(cfg, &out)
	return out, nil
}

// commands says what of a list holds and what was left out.
func (p *initWizard) commands(what string, list []propose.Command) {
	sign := bot.SignDone
	for _, c := range list {
		if c.Off == "" {
			p.say(sign, what, "%s", c.Run)
		}
	}
	for _, c := range list {
		if c.Off != "" {
			p.say(bot.SignAway, what, "%s (left out: %s)", c.Run, c.Off)
		}
	}
}

// next says which commands come next.
func (p *initWizard) next(before *config.Config, file string, project propose.Project, phone bool) {
	flags := ""
	if p.flags.config != "" {
		flags = " --config " + quote(file)
	}
	check := "nightporter run --check" + flags
	if len(before.Projects) > 0 && !p.flags.force {
		check += " --repo " + quote(project.Repo)
	}
	pair := "beside it, once the file has Telegram's token"
	if phone {
		pair = "beside it: lets your phone in"
	}
	fmt.Fprintln(p.out, "\nNext")
	for _, l := range [][2]string{
		{check, "tries what would fail at 3:00; no agent works"},
		{"nightporter up" + flags, "stays, and works when told to"},
		{"nightporter pair" + flags, pair},
	} {
		fmt.Fprintf(p.out, "  %-*s  %s\n", max(24, len(check)), l[0], l[1])
	}
}

// checked loads text as if it were the file, so that nothing is ever put there
// that nightporter itself would refuse.
func checked(file, text string, write func(tmp string) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".nightporter-*.toml")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already where it became the file
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if _, err := config.Load(tmp.Name()); err != nil {
		return fmt.Errorf("the proposal does not hold, and nothing was written; please write %s by hand:\n%w", file, err)
	}
	return write(tmp.Name())
}

// createFile writes a new configuration. It never replaces one, not even one
// that appears at this moment.
func createFile(file, text string, private bool) error {
	mode := fs.FileMode(0o755)
	if private {
		mode = 0o700 // as the XDG base directory specification has it
	}
	if err := os.MkdirAll(filepath.Dir(file), mode); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return checked(file, text, func(tmp string) error {
		if err := os.Link(tmp, file); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
		return nil
	})
}

// appendFile adds text to the end of a file, whose bytes stay as they are, and
// whose links, owner and mode do too.
func appendFile(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("append to the configuration: %w", err)
	}
	eol := "\n"
	if strings.Contains(string(old), "\r\n") {
		eol = "\r\n"
		text = strings.ReplaceAll(text, "\n", eol)
	}
	if len(old) > 0 {
		text = eol + text
		if old[len(old)-1] != '\n' {
			text = eol + text
		}
	}
	return checked(file, string(old)+text, func(string) error {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return fmt.Errorf("append to the configuration: %w", err)
		}
		n, err := f.WriteString(text)
		if err != nil && n > 0 { // half a project would keep nightporter from starting
			err = errors.Join(err, f.Truncate(int64(len(old))))
		}
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("append to the configuration: %w", err)
		}
		return nil
	})
}

// putAside renames a file to the first free of FILE.1, FILE.2, ….
func putAside(file string) (string, error) {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.%d", file, n)
		err := os.Link(file, aside) // unlike a rename, it never replaces anything
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = os.Remove(file)
		}
		if err != nil {
			return "", fmt.Errorf("put the old configuration aside: %w", err)
		}
		return aside, nil
	}
}
