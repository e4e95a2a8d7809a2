package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/loop/ledger"
)

// hatFlags are the flags of `nightporter hats`.
type hatFlags struct {
	repo, config string
	asJSON       bool
}

func hatsCommand() *cobra.Command {
	var f hatFlags
	cmd := &cobra.Command{
		Use:   "hats",
		Short: "The hats that sessions wear, and the routes between them",
		Long: `The hats that sessions wear, and the routes between them: those built in, those
beside the configuration, and those of a repository that is trusted. Nothing is
changed, and no nightporter need be running.

Exit codes: 0 all is well · 3 something to mend, or no such hat or pattern`,
		Args: cobra.NoArgs,
	}
	list := &cobra.Command{Use: "list", Short: "All hats, and where each comes from", Args: cobra.NoArgs, RunE: f.withConfig(f.list)}
	cmd.RunE = list.RunE
	show := &cobra.Command{Use: "show NAME", Short: "One hat as it is in force", Args: cobra.ExactArgs(1), RunE: f.withConfig(f.show)}
	check := &cobra.Command{Use: "check", Short: "Look for what is wrong with hats and patterns", Args: cobra.NoArgs, RunE: f.withConfig(f.check)}
	draw := &cobra.Command{Use: "draw [PATTERN]", Short: "Which hat follows which: in the project's pattern, or another one", Args: cobra.MaximumNArgs(1), RunE: f.withConfig(f.draw)}
	cmd.AddCommand(list, show, check, draw)
	cmd.PersistentFlags().StringVar(&f.repo, "repo", "", "git repository (default: this folder's project)")
	cmd.PersistentFlags().StringVar(&f.config, "config", "", "configuration file")
	for _, c := range []*cobra.Command{cmd, list} {
		c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON Lines")
	}
	return cmd
}

// withConfig loads the configuration for one of the commands and prints
// mistakes with their remedies.
func (f *hatFlags) withConfig(run func(out io.Writer, cfg *config.Config, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := loadConfig(f.config)
		if err == nil {
			err = run(cmd.OutOrStdout(), cfg, args)
		}
		if err != nil {
			printProblems(cmd.ErrOrStderr(), err)
			return exitCode(exitUsage)
		}
		return nil
	}
}

// project returns the selected project. It returns nil without an error outside
// of any project: only the built-in hats and those beside the configuration
// count then.
func (f *hatFlags) project(cfg *config.Config) (*config.Project, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("this folder: %w", err)
	}
	p, err := cfg.Pick(config.Overrides{Repo: f.repo}, dir)
	switch {
	case err == nil:
		return &p, nil
	case f.repo != "":
		return nil, err
	}
	return nil, nil
}

func (f *hatFlags) open(cfg *config.Config, p *config.Project) (hatCatalog, error) {
	hats, err := config.Hats(cfg, p)
	if err != nil {
		return hatCatalog{}, err
	}
	patterns, err := config.Patterns(cfg, p)
	if err != nil {
		return hatCatalog{}, err
	}
	c := hatCatalog{hats: hats, patterns: patterns, from: map[string]string{}}
	var own config.Project
	if p != nil {
		own = *p
	}
	for _, dir := range own.HatFolders(cfg) {
		if filepath.Base(dir) != "hats" {
			continue
		}
		if err := c.scanFolder(dir); err != nil {
			return hatCatalog{}, err
		}
	}
	if p != nil { // a project can give a hat another agent, model and effort
		if s, err := p.Settings(cfg, config.Overrides{}, time.Now()); err == nil {
			c.hats, c.agent = s.Hats, s.Agent
		}
	}
	return c, nil
}

// hatLine is a hat in the output of `hats list --json`. Fields are added, never
// renamed.
type hatLine struct {
	Name   string   `json:"name"`
	Role   string   `json:"role"`
	Writes bool     `json:"writes"`
	Emits  []string `json:"emits"`
	From   string   `json:"from"` // "built in", or the path of its file

	Agent    string   `json:"agent,omitempty"` // "" outside of a project, for a hat that names none
	Model    string   `json:"model,omitempty"` // "" = the agent's own default
	Tier     string   `json:"tier,omitempty"`  // that Model stands for; "" = it is named, or the default
	Effort   string   `json:"effort,omitempty"`
	Escalate bool     `json:"escalate,omitempty"`
	Fallback []string `json:"fallback,omitempty"` // of the hat itself
}

// agentText says which agent and model a hat has, for people.
func (l hatLine) agentText() string {
	model := l.Model
	switch {
	case model == "" && l.Tier != "" && l.Agent == "":
		model = l.Tier + " model"
	case model == "":
		model = "default model"
	case l.Tier != "":
		model += " (" + l.Tier + ")"
	}
	text := strings.TrimSpace(l.Agent + " " + model)
	if l.Effort != "" {
		text += ", effort " + l.Effort
	}
	if l.Escalate {
		text += ", escalates"
	}
	if len(l.Fallback) > 0 {
		text += ", else " + strings.Join(l.Fallback, ", ")
	}
	return text
}

func (f *hatFlags) list(out io.Writer, cfg *config.Config, _ []string) error {
	p, err := f.project(cfg)
	if err != nil {
		return err
	}
	c, err := f.open(cfg, p)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(c.hats))
	wide, events := 0, 0
	for _, name := range names {
		wide, events = max(wide, len(name)), max(events, len(strings.Join(c.hats[name].Emits, " ")))
	}
	enc := json.NewEncoder(out)
	for _, name := range names {
		h := c.hats[name]
		line := hatLine{
			Name: name, Role: h.Role, Writes: h.Writes(), Emits: h.Emits, From: c.origin(name),
			Agent: cmp.Or(h.Agent, c.agent), Model: h.Model, Tier: string(h.Tier), Effort: h.Effort, Escalate: h.Escalate, Fallback: h.Fallbacks,
		}
		if c.agent == "" && ledger.IsTier(h.Model) { // outside of a project
			line.Model, line.Tier = "", h.Model
		}
		if f.asJSON {
			if err := enc.Encode(line); err != nil {
				return fmt.Errorf("print: %w", err)
			}
			continue
		}
		does := "reads"
		if line.Writes {
			does = "writes"
		}
		fmt.Fprintf(out, "%s  %-6s  %s  %s\n", bot.Pad(name, wide, 0), does, bot.Pad(strings.Join(h.Emits, " "), events, 0), bot.CleanPre(line.From))
		fmt.Fprintf(out, "%s  %s\n", strings.Repeat(" ", wide), bot.Clean(h.Role))
		fmt.Fprintf(out, "%s  %s\n", strings.Repeat(" ", wide), bot.Clean(line.agentText()))
	}
	if note := untrustedNote(p); note != "" && !f.asJSON {
		fmt.Fprintln(out, note)
	}
	return nil
}

// shippedNotes says of each agent in use that its models are shipped, and how to
// have its defaults back: who set no tiers may not expect them.
func shippedNotes(cfg *config.Config, projects []*config.Project) []string {
	var notes []string
	for _, p := range projects {
		if p == nil {
			continue
		}
		s, err := p.Settings(cfg, config.Overrides{}, time.Now())
		if err != nil {
			continue // told as a mistake
		}
		for _, agent := range slices.Sorted(maps.Keys(s.Models)) {
			t, shipped := cfg.TiersOf(agent)
			note := fmt.Sprintf("%s %s: strong = %s, fast = %s, light = %s, as shipped\n    Others, or its own defaults: tiers = {strong = \"…\"}, or tiers = {}, in [agents.%s]", bot.SignLater, agent, t.Strong, t.Fast, t.Light, agent)
			if shipped && !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// untrustedNote returns a note that a repository's own hats and patterns are
// ignored, "" where it has none or is trusted.
func untrustedNote(p *config.Project) string {
	if p == nil || p.TrustRepo {
		return ""
	}
	for _, folder := range []string{"hats", "patterns"} {
		dir := filepath.Join(p.Repo, ".nightporter", folder)
		if files, err := filepath.Glob(filepath.Join(dir, "*.toml")); err == nil && len(files) > 0 {
			return fmt.Sprintf("%s %s is not read: whoever may write there would decide what sessions are told\n    Where you trust them: trust_repo = true in the project's configuration", bot.SignAway, bot.CleanPre(dir))
		}
	}
	return ""
}

func (f *hatFlags) show(out io.Writer, cfg *config.Config, args []string) error {
	p, err := f.project(cfg)
	if err != nil {
		return err
	}
	c, err := f.open(cfg, p)
	if err != nil {
		return err
	}
	h, ok := c.hats[args[0]]
	if !ok {
		return fmt.Errorf("there is no hat %q (there are %s)", args[0], strings.Join(slices.Sorted(maps.Keys(c.hats)), " "))
	}
	text, err := toml.Marshal(hatToFile(h))
	if err != nil {
		return fmt.Errorf("hat %s: %w", h.Name, err)
	}
	where := ""
	if p != nil {
		where = ", as " + p.Name + " has it"
	}
	fmt.Fprintf(out, "# %s: %s%s\n\n", h.Name, bot.CleanPre(c.origin(h.Name)), where)
	if _, err = out.Write(text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n# Denied to every hat besides, unless a task (Allow:) or its project (allow) names one:\n%s", commentLines(guard.Deploying()))
	return err
}

// commentLines returns the words as lines of comments for a terminal.
func commentLines(words []string) string {
	const width = 76
	var b strings.Builder
	line := "#"
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		if len(line)+1+len(w) > width {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + w
	}
	return b.String() + line + "\n"
}

func (f *hatFlags) draw(out io.Writer, cfg *config.Config, args []string) error {
	p, err := f.project(cfg)
	if err != nil {
		return err
	}
	c, err := f.open(cfg, p)
	if err != nil {
		return err
	}
	name := strings.Join(args, "")
	if p != nil && name == "" {
		s, err := p.Settings(cfg, config.Overrides{}, time.Now())
		if err != nil {
			return err
		}
		name = s.Pattern.Name
	}
	if name == "" {
		return fmt.Errorf("which pattern: %s", strings.Join(slices.Sorted(maps.Keys(c.patterns)), " "))
	}
	pattern, ok := c.patterns[name]
	if !ok {
		return fmt.Errorf("there is no pattern %q (there are %s)", name, strings.Join(slices.Sorted(maps.Keys(c.patterns)), " "))
	}
	if len(args) == 0 {
		fmt.Fprintln(out, name)
	}
	pattern.Consensus = pattern.Consensus || p != nil && p.Consensus
	fmt.Fprintln(out, strings.TrimRight(config.Draw(pattern, c.hats), "\n"))
	return nil
}

// check checks the hats and patterns of all projects.
func (f *hatFlags) check(out io.Writer, cfg *config.Config, _ []string) error {
	var all []*config.Project
	for n := range cfg.Projects {
		all = append(all, &cfg.Projects[n])
	}
	p, err := f.project(cfg)
	if err != nil {
		return err
	}
	if p == nil || !slices.ContainsFunc(all, func(o *config.Project) bool { return o.Name == p.Name }) {
		all = append(all, p)
	}
	hats, patterns := map[string]bool{}, map[string]bool{}
	var notes []string
	wrong := &config.Error{}
	for _, p := range all {
		c, err := f.open(cfg, p)
		var found *config.Error
		if errors.As(err, &found) {
			for _, i := range found.Diagnostics { // shared mistakes are reported once
				if !slices.Contains(wrong.Diagnostics, i) {
					wrong.Diagnostics = append(wrong.Diagnostics, i)
				}
			}
			wrong.More += found.More
			continue
		}
		if err != nil {
			return err
		}
		if note := untrustedNote(p); note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
		for _, f := range project.Idle(c.hats) {
			if note := fmt.Sprintf("%s %s\n    %s", bot.SignLook, f.Text, f.Remedy); !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		for name := range c.hats {
			hats[name+"\x00"+c.origin(name)] = true
		}
		for name := range c.patterns {
			patterns[name] = true
		}
	}
	if len(wrong.Diagnostics) > 0 {
		return wrong
	}
	notes = append(notes, shippedNotes(cfg, all)...)
	for _, note := range notes {
		fmt.Fprintln(out, note)
	}
	fmt.Fprintf(out, "%s %s, %s\n", bot.SignDone, bot.Plural(len(hats), "hat"), bot.Plural(len(patterns), "pattern"))
	return nil
}
