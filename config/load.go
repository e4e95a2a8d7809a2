package config

import (
	"fmt"
	"path/filepath"
)

// Load reads nightporter.toml, and the hats and patterns beside it. It resolves
// relative paths against the file's folder, and "~/" against the home folder.
// The error is one *Error with all mistakes.
//
// What a project needs outside of these files, such as its repository, may come
// later than nightporter and is no mistake of theirs: it is reported only beside
// others. Project.Check looks at it.
func Load(path string) (*Config, error) {
	file, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	doc, problems := readDocument(path, maxConfigBytes)
	if doc == nil {
		return nil, newError(problems)
	}
	cfg := &Config{File: file, dir: filepath.Dir(path)}
	problems = bind(doc, cfg)
	cfg.resolve()
	for i := range cfg.Projects {
		cfg.Projects[i].doc, cfg.Projects[i].index = doc, i
	}
	c := &checker{doc: doc, cfg: cfg}
	c.shared()
	c.agents()
	c.problems = append(c.problems, cfg.readPrices()...)
	for i := range cfg.Projects {
		c.project(i)
	}
	if len(cfg.Projects) == 0 { // hats and patterns are checked with each project
		c.catalogue(nil)
	}
	if problems = append(problems, c.problems...); len(problems) == 0 {
		return cfg, nil
	}
	for i := range cfg.Projects { // all that a person has to repair, at once
		problems = append(problems, cfg.Projects[i].outside(cfg, "")...)
	}
	return nil, newError(problems)
}

// Empty returns the Config of a host without a config file: every setting has
// its default.
func Empty() *Config { return &Config{} }

// resolve makes every path absolute. It leaves a command without a slash alone:
// the system looks that up in PATH.
func (c *Config) resolve() {
	for name, a := range c.Agents {
		a.EnvFile = c.path(a.EnvFile)
		if len(a.Command) > 0 && (isRelative(a.Command[0]) || isHome(a.Command[0])) {
			a.Command[0] = c.path(a.Command[0])
		}
		c.Agents[name] = a
	}
	if t := c.Transcribe; len(t) > 0 && (isRelative(t[0]) || isHome(t[0])) {
		t[0] = c.path(t[0])
	}
	for _, h := range c.Hooks {
		if len(h.Run) > 0 && (isRelative(h.Run[0]) || isHome(h.Run[0])) {
			h.Run[0] = c.path(h.Run[0])
		}
	}
	c.findTokens()
	for i := range c.Projects {
		p := &c.Projects[i]
		p.Repo, p.SetupEnvFile, p.SetupHome, p.VerifyEnvFile = c.path(p.Repo), c.path(p.SetupEnvFile), c.path(p.SetupHome), c.path(p.VerifyEnvFile)
		if p.Cloud != nil {
			p.Cloud.State = c.path(p.Cloud.State)
			p.Cloud.TokenFile = c.ForgeToken(p.Cloud.TokenFile)
		}
		for _, paths := range [][]string{p.Read, p.Cache, p.Shared} {
			for j, s := range paths {
				paths[j] = c.path(s)
			}
		}
	}
}
