package cloudagent

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/cloud/copilot"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/github"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// Open returns what one step works with. It reads the token and the remote's
// address, and does not use the network.
func (s Settings) Open(ctx context.Context) (cloud.Options, error) {
	source, err := task.Open(s.Source.Kind, s.Source.Path, s.Repo, task.Options{})
	if err != nil {
		return cloud.Options{}, err
	}
	token, err := s.token()
	if err != nil {
		return cloud.Options{}, err
	}
	address, err := s.address(ctx)
	if err != nil {
		return cloud.Options{}, err
	}
	api := s.API
	if api == "" {
		api = forge.KindOf(ledger.ForgeGitHub).API(address)
	}
	hub, err := github.New(github.Options{API: api, Owner: address.Owner, Name: address.Name, Token: token})
	if err != nil {
		return cloud.Options{}, err
	}
	return cloud.Options{
		File:   s.State,
		Agent:  copilot.New(copilot.Options{Forge: hub, Name: s.Agent, Base: s.Base}),
		Policy: cloud.Policy{Name: filepath.Base(s.State), Agent: s.Agent, AllowMerge: s.AllowMerge},
		Now:    time.Now,
		Tasks: func(ctx context.Context) ([]ledger.Task, error) {
			snapshot, err := source.Read(ctx)
			return snapshot.Tasks, err
		},
	}, nil
}

// token reads the token. The environment has it only where it is asked for by the
// name of its variable, because sessions and commands inherit the rest of it.
func (s Settings) token() (forge.Token, error) {
	if s.TokenEnv == "" {
		return forge.ReadToken(s.TokenFile, config.IsCredential(s.TokenFile))
	}
	token := strings.TrimSpace(os.Getenv(s.TokenEnv))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", &ledger.ForgeError{Failure: ledger.ForgeLogin, Text: "the variable " + s.TokenEnv + " has no token", Remedy: "Set it, or name a file: --token-file FILE"}
	}
	return forge.Token(token), nil
}

// address returns the repository of the remote on its forge.
func (s Settings) address(ctx context.Context) (forge.Address, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", s.Repo, "remote", "get-url", "--", s.Remote)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if err != nil {
		return forge.Address{}, problem(fmt.Sprintf("%s has no remote %q", s.Repo, s.Remote), "git remote add "+s.Remote+" ADDRESS, or name another one: --remote NAME")
	}
	address, err := forge.Parse(strings.TrimSpace(string(out)))
	if err != nil {
		return address, err
	}
	if address.Owner == "" || address.Kind != ledger.ForgeGitHub && s.API == "" {
		return address, problem(fmt.Sprintf("the remote %q is no repository on GitHub", s.Remote), "Cloud agents work through GitHub. If it is a GitHub Enterprise, name its interface: --api https://HOST/api/v3/")
	}
	return address, nil
}
