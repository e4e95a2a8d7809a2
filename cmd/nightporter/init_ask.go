package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// why is the reason that the file gives for what a person has named.
const why = "Yours."

// takeFlags takes into the draft what flags name, and the host's time zone.
func (p *initWizard) takeFlags(ctx context.Context, d *initDraft) error {
	f := p.flags
	for _, x := range []struct {
		flag string
		take func() error
		is   func() string // what was taken; nil = it says so itself
	}{
		{"source", func() error { return takeSource(ctx, d, f.source) }, func() string { return d.project.Source }},
		{"agent", func() error { return takeAgent(d, f.agent) }, func() string { return f.agent }},
		{"setup", func() error { d.project.Found.Setup = ownCommands(f.setup); return nil }, func() string { return strings.Join(f.setup, "; ") }},
		{"verify", func() error { d.project.Found.Verify = ownCommands(f.verify); return nil }, func() string { return strings.Join(f.verify, "; ") }},
		{"tests", func() error { d.project.Found.Tests = f.tests; return validGlobs(f.tests...) }, func() string { return strings.Join(f.tests, " ") }},
		{"network", func() error { return takeNetwork(d, f.network) }, func() string { return f.network }},
		{"timezone", func() error { d.global.Timezone, d.global.ZoneWhy = f.timezone, why; return validZone(f.timezone) }, func() string { return f.timezone }},
		{"digest", func() error { d.global.Digest = f.digest; return validClock(f.digest) }, func() string { return f.digest }},
		{"quiet", func() error { d.global.Quiet = f.quiet; return validHours(f.quiet) }, func() string { return f.quiet }},
		{"telegram-token-file", func() error { return p.takeTokenFile(ctx, d) }, nil},
	} {
		if !p.given(x.flag) {
			continue
		}
		if err := x.take(); err != nil {
			return err
		}
		if x.is != nil {
			p.addLine(bot.SignDone, x.flag, "%s", x.is())
		}
	}
	if !p.given("timezone") {
		p.takeHostZone(d)
	}
	if d.exists && d.global.Digest+d.global.Quiet != "" && d.global.TokenFile == "" {
		return refused(d.file+" is there, and its [digest] is yours to change", "Leave --digest and --quiet out, and write them there")
	}
	return nil
}

// takeHostZone takes the host's time zone into a new file.
func (p *initWizard) takeHostZone(d *initDraft) {
	d.global.Timezone, d.global.ZoneWhy = hostZone()
	switch zone := d.global.Timezone; {
	case d.exists || p.ask != nil:
	case zone == "":
		p.addLine(bot.SignLook, "timezone", "not known here; put yours into the file")
	default:
		p.addLine(bot.SignDone, "timezone", "%s", zone)
	}
}

// askProject asks about the project: its tasks, its agent and its commands. What a flag
// has named is not asked.
func (p *initWizard) askProject(ctx context.Context, d *initDraft) error {
	for _, q := range []struct {
		flag string
		ask  func(context.Context, *initDraft) error
	}{
		{"source", p.askSource}, {"agent", p.askAgent}, {"setup", p.askSetup}, {"verify", p.askVerify}, {"tests", p.askTests},
	} {
		if p.given(q.flag) {
			continue
		}
		if err := q.ask(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (p *initWizard) askSource(ctx context.Context, d *initDraft) error {
	_, err := p.ask.ask(ctx, "Where are the tasks?", d.project.Source, func(answer string) error { return takeSource(ctx, d, answer) })
	if err != nil {
		return err
	}
	sample := sampleOf()
	if _, err := os.Lstat(filepath.Join(d.project.Repo, sample.Path)); err == nil || d.project.Source != task.Proposed().Name+":"+sample.Path {
		return nil
	}
	d.sample, err = p.ask.agree(ctx, "Write it, with one harmless task?")
	return err
}

// sampleOf returns the first plan of a repository that has none.
func sampleOf() *task.Sample { return task.Proposed().Sample }

// takeSource takes KIND:PATH, or the path of a list that shows its kind, as the source.
// A list has to be readable.
func takeSource(ctx context.Context, d *initDraft, text string) error {
	if !strings.Contains(text, ":") && task.FindKind(text) == nil {
		if _, err := os.Stat(filepath.Join(d.project.Repo, text)); err != nil {
			return refused("there is no "+text+" in "+d.project.Repo, "Write the list's path, as from there")
		}
		text = task.KindAuto + ":" + text
	}
	var s config.Source
	if err := s.UnmarshalText([]byte(text)); err != nil {
		return refused(err.Error(), "")
	}
	repo := d.project.Repo
	kind, path, err := task.Resolve(ctx, repo, s.Kind, s.Path)
	if err != nil {
		return err
	}
	d.project.SourceWhy = why
	if _, label := task.FindKind(kind).Label(path); !label {
		source, err := task.Open(kind, path, repo, task.Options{})
		if err != nil {
			return err
		}
		list, err := source.Read(ctx)
		if err != nil {
			return err
		}
		open := slices.DeleteFunc(list.Tasks, func(t ledger.Task) bool { return t.Mark == ledger.MarkDone })
		d.project.SourceWhy = fmt.Sprintf("%s %s, %d open.", why, countNoun(len(list.Tasks), "task"), len(open))
	}
	d.project.Source = kind + ":" + path
	d.project.Others = slices.DeleteFunc(d.project.Others, func(o string) bool { return strings.HasPrefix(o, d.project.Source+" (") })
	return nil
}

func (p *initWizard) askAgent(ctx context.Context, d *initDraft) error {
	proposal := d.project.Agent
	if proposal == "" {
		proposal = "none yet"
	}
	_, err := p.ask.ask(ctx, "Which agent works?", proposal, func(answer string) error { return takeAgent(d, answer) })
	return err
}

// takeAgent takes an agent that nightporter or the file knows.
func takeAgent(d *initDraft, name string) error {
	names := d.before.AgentNames()
	if !slices.Contains(names, name) {
		remedy := "One of " + strings.Join(names, ", ")
		if near := nearest.Of(name, names); near != "" {
			remedy = "Meant " + near + "?"
		}
		return refused(fmt.Sprintf("no agent %q", name), remedy)
	}
	d.project.Agent, d.project.AgentWhy = name, why
	return nil
}

func (p *initWizard) askSetup(ctx context.Context, d *initDraft) error {
	list, changed, err := p.ask.list(ctx, "What prepares a new work folder?", propose.Active(d.project.Found.Setup), nil)
	if changed {
		d.project.Found.Setup = ownCommands(list)
	}
	return err
}

func (p *initWizard) askVerify(ctx context.Context, d *initDraft) error {
	list, changed, err := p.ask.list(ctx, "What proves that work is right?", propose.Active(d.project.Found.Verify), nil)
	if changed {
		d.project.Found.Verify = ownCommands(list)
	}
	return err
}

// askTests asks about tests only where unusual ones were found.
func (p *initWizard) askTests(ctx context.Context, d *initDraft) error {
	if len(d.project.Found.Tests) == 0 {
		return nil
	}
	list, changed, err := p.ask.list(ctx, "Where are tests with unusual names?", d.project.Found.Tests, func(glob string) error { return validGlobs(glob) })
	if changed {
		d.project.Found.Tests = list
	}
	return err
}

// ownCommands returns commands that a person has named.
func ownCommands(list []string) []propose.Command {
	var out []propose.Command
	for _, c := range list {
		out = append(out, propose.Command{Run: c, Why: "yours"})
	}
	return out
}

func validGlobs(globs ...string) error {
	for _, g := range globs {
		if !doublestar.ValidatePattern(g) {
			return refused(fmt.Sprintf("%q is no pattern of paths", g), "Write it like qa/**")
		}
	}
	return nil
}

func takeNetwork(d *initDraft, text string) error {
	if !slices.Contains([]ledger.NetworkMode{ledger.NetworkOpen, ledger.NetworkPorts, ledger.NetworkNone}, ledger.NetworkMode(text)) {
		return refused(fmt.Sprintf("no network %q", text), "One of open, ports, none")
	}
	d.project.Network = propose.Network{Mode: text, Why: why}
	return nil
}

func validClock(text string) error { return new(config.Clock).UnmarshalText([]byte(text)) }

func validHours(text string) error { return new(config.Hours).UnmarshalText([]byte(text)) }

func validZone(name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		return refused(fmt.Sprintf("no time zone %q", name), "Write it like Europe/Berlin")
	}
	return nil
}

// refused is an error with a remedy about something that a person has given.
func refused(text, remedy string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: text, Remedy: remedy}}}
}
