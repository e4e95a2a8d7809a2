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
	"github.com/nightporter/nightporter/internal/fsutil"
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
Nothing is run and no network is used.

A configuration that is there already is never changed without being told so:
the project is printed instead. --add appends it; --force puts the old file
aside, under another name, and writes a new one.

Exit codes: 0 done, or printed · 3 not possible, with the reason`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := &initWizard{flags: f, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			if err := p.run(cmd.Context()); err != nil {
				printProblems(p.err, err)
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
	file, err := p.configFile()
	if err != nil {
		return err
	}
	cfg, err := p.loadExisting(file)
	if err != nil {
		return err
	}
	project, err := p.project(ctx, cfg)
	if err != nil {
		return err
	}
	for _, known := range cfg.Projects {
		if known.Name == project.Name {
			p.addLine(bot.SignDone, "project", "%s is in %s already", project.Name, file)
			fmt.Fprint(p.out, p.findingsText.String())
			p.printNextSteps(cfg, file, project, false)
			return nil
		}
	}
	exists := cfg.File != ""
	if exists && !p.flags.add && !p.flags.force {
		// Standard output receives the block alone, so that it can be
		// redirected to a file.
		fmt.Fprint(p.err, p.findingsText.String())
		fmt.Fprintf(p.err, "\n! %s is there and was left as it is.\n  Its new part is below; to append it: nightporter init --add%s\n\n", file, p.repeatedFlags())
		fmt.Fprint(p.out, propose.Block(project))
		return nil
	}
	backup := ""
	switch {
	case exists && p.flags.add:
		err = appendFile(file, propose.Block(project))
	default:
		if exists {
			if backup, err = renameAside(file); err != nil {
				return err
			}
		}
		zone, why := hostZone()
		if zone == "" {
			p.addLine(bot.SignLook, "timezone", "not known here; put yours into the file")
		} else {
			p.addLine(bot.SignDone, "timezone", "%s", zone)
		}
		global := propose.Global{Timezone: zone, ZoneWhy: why, Folder: filepath.Dir(file)}
		err = createFile(file, propose.File(global, project), p.flags.config == "")
	}
	if err != nil {
		if backup != "" { // a failed attempt must not lose the old file
			err = errors.Join(err, os.Rename(backup, file))
		}
		return err
	}
	fmt.Fprint(p.out, p.findingsText.String())
	if backup != "" {
		fmt.Fprintf(p.out, "\n%s The old file is %s", bot.SignDone, backup)
	}
	fmt.Fprintf(p.out, "\n%s %s %s\n", bot.SignDone, map[bool]string{true: "Appended to", false: "Wrote"}[exists && p.flags.add], file)
	p.printNextSteps(cfg, file, project, cfg.Telegram != nil)
	return nil
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
	if err := p.chooseSource(ctx, &out); err != nil {
		return out, err
	}
	root, err := os.OpenRoot(picked.Repo) // does not follow links that lead out of the repository
	if err != nil {
		return out, fmt.Errorf("look at the repository: %w", err)
	}
	defer func() { _ = root.Close() }()
	out.Found = propose.Look(root.FS(), onPath)
	p.reportCommands("setup", out.Found.Setup)
	p.reportCommands("verify", out.Found.Verify)
	if len(propose.Active(out.Found.Verify)) == 0 {
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
	p.chooseAgent(cfg, &out)
	return out, nil
}

// reportCommands reports the proposed commands of a list and the omitted ones.
func (p *initWizard) reportCommands(what string, list []propose.Command) {
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

// printNextSteps prints the commands to run next.
func (p *initWizard) printNextSteps(before *config.Config, file string, project propose.Project, phone bool) {
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

// writeChecked loads text as the configuration before write makes it the file,
// so that init never writes a file that nightporter refuses.
func writeChecked(file, text string, write func(tmp string) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".nightporter-*.toml")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone if it became the file
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if _, err := config.Load(tmp.Name()); err != nil {
		return fmt.Errorf("the proposal does not hold, and nothing was written; please write %s by hand:\n%w", file, err)
	}
	return write(tmp.Name())
}

// createFile writes a new configuration. It never replaces a file, even if one
// appears during the call.
func createFile(file, text string, private bool) error {
	mode := fs.FileMode(0o755)
	if private {
		mode = 0o700 // as the XDG base directory specification requires
	}
	if err := os.MkdirAll(filepath.Dir(file), mode); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return writeChecked(file, text, func(tmp string) error {
		if err := fsutil.Publish(tmp, file); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
		return nil
	})
}

// appendFile adds text to the end of a file. It keeps the file's bytes, links,
// owner and mode.
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
	return writeChecked(file, string(old)+text, func(string) error {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return fmt.Errorf("append to the configuration: %w", err)
		}
		n, err := f.WriteString(text)
		if err != nil && n > 0 { // removes an incomplete section, with which nightporter would not start
			err = errors.Join(err, f.Truncate(int64(len(old))))
		}
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("append to the configuration: %w", err)
		}
		return nil
	})
}

// renameAside renames a file to the first unused name of FILE.1, FILE.2, ….
func renameAside(file string) (string, error) {
	for n := 1; ; n++ {
		backup := fmt.Sprintf("%s.%d", file, n)
		err := fsutil.Publish(file, backup)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("put the old configuration aside: %w", err)
		}
		return backup, nil
	}
}
