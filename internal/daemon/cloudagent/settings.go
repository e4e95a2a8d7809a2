package cloudagent

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/cloud/copilot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// usualState is the state file of a repository that names none.
const usualState = ".wreck-it-state.json"

// Flags are what `tick` was typed with. Zero values are flags that were left out.
type Flags struct {
	Source     config.Source
	State      string // state file
	Ralph      string
	Agent      string
	Remote     string
	API        string
	TokenFile  string
	TokenEnv   string // name of the environment variable that has the token
	AllowMerge bool
}

// Settings say whose tasks go to which agent.
type Settings struct {
	Repo       string
	Source     config.Source
	State      string // path of the state file
	Agent      string
	Base       string // branch that the agent starts from; "" = the default one
	Remote     string
	API        string // "" = by the remote's address
	TokenFile  string
	TokenEnv   string // has priority over TokenFile
	AllowMerge bool
}

// Resolve returns the settings of a project. Flags have priority over the
// project's configuration, and that over the repository's.
func Resolve(cfg *config.Config, p config.Project, f Flags) (Settings, error) {
	c := p.Cloud
	if c == nil {
		c = &config.Cloud{TokenFile: cfg.ForgeToken("")}
	}
	s := Settings{
		Repo: p.Repo, Source: p.Source, State: cmp.Or(f.State, c.State), Agent: cmp.Or(f.Agent, c.Agent),
		Remote: cmp.Or(f.Remote, c.Remote, "origin"), API: cmp.Or(f.API, c.API),
		TokenFile: cmp.Or(f.TokenFile, c.TokenFile), TokenEnv: f.TokenEnv, AllowMerge: f.AllowMerge || p.AllowMerge,
	}
	if f.Source.Path != "" {
		s.Source = f.Source
	}
	if name := cmp.Or(f.Ralph, c.Ralph); name != "" {
		r, err := readRalph(p.Repo, name)
		if err != nil {
			return s, err
		}
		s.State, s.Agent, s.Base = cmp.Or(s.State, statePath(p.Repo, r.State)), cmp.Or(s.Agent, r.Agent), r.Branch
	}
	s.State, s.Agent = cmp.Or(s.State, statePath(p.Repo, usualState)), cmp.Or(s.Agent, copilot.Kinds[0].Name)
	return s, s.check()
}

// statePath returns where a state file of a repository lies: in the work tree that
// wreck-it makes of its state branch, where there is one.
func statePath(repo, name string) string {
	dir := filepath.Join(repo, ".wreck-it", "state")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return filepath.Join(dir, name)
	}
	return filepath.Join(repo, name)
}

func (s Settings) check() error {
	if s.Source.Path == "" {
		return problem("which tasks? The project names no source", "Name it: --source plan:PATH")
	}
	if copilot.New(copilot.Options{Name: s.Agent}) == nil {
		return problem(fmt.Sprintf("no cloud agent %q; there is %s", s.Agent, strings.Join(copilot.Names(), ", ")), "")
	}
	if info, err := os.Stat(s.State); err == nil && info.IsDir() {
		return problem(s.State+" is a folder", "--state names a file here: --state "+filepath.Join(s.State, usualState))
	}
	return nil
}

func problem(text, remedy string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: text, Remedy: remedy}}}
}
