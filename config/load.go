package config

import (
	"fmt"
	"path/filepath"
)

// Load reads nightporter.toml, and the hats and patterns beside it. It resolves
// relative paths against the file's folder, and "~/" against the home folder.
// The error is one *Error with all mistakes.
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
	c := &checker{doc: doc, cfg: cfg}
	c.shared()
	c.agents()
	for i := range cfg.Projects {
		c.project(i)
	}
	if len(cfg.Projects) == 0 { // hats and patterns are checked with each project
		c.catalogue(nil)
	}
	if err := newError(append(problems, c.problems...)); err != nil {
		return nil, err
	}
	return cfg, nil
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
	c.findTokens()
	for i := range c.Projects {
		p := &c.Projects[i]
		p.Repo, p.SetupEnvFile, p.SetupHome, p.VerifyEnvFile = c.path(p.Repo), c.path(p.SetupEnvFile), c.path(p.SetupHome), c.path(p.VerifyEnvFile)
		for _, paths := range [][]string{p.Read, p.Cache, p.Shared} {
			for j, s := range paths {
				paths[j] = c.path(s)
			}
		}
	}
}
