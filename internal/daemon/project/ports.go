package project

import (
	"context"
	"os/exec"
	"time"

	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/toolchain"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// Ports opens the adapters of a project with these settings. Mistakes in the
// source's path or kind are a *ledger.InputError.
func (c *Catalog) Ports(ctx context.Context, s ledger.Settings) (engine.Ports, error) {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil || s.Timezone == "" || s.Timezone == "Local" {
		zone = time.Local
	}
	source, err := c.OpenSource(s, task.Options{CommitStatus: s.CommitStatus, BdWrite: s.BdWrite, Zone: zone})
	if err != nil {
		return engine.Ports{}, err
	}
	w, err := c.Workspace(ctx, s, source.Owned())
	if err != nil {
		return engine.Ports{}, err
	}
	place := c.place
	place.Folders, place.Rooms = w, w
	hats := &hatFiles{catalog: c, project: s.Project, repo: s.Repo}
	return engine.Ports{
		Source: source, Adder: adder{source}, Repository: repository{w, place.Agents, s.Sign, c.owner}, Files: w, Scoper: w, Place: place, Notebook: workspace.NewNotebook(s.Repo),
		Hats: hats, Kinds: hats.kinds, Zone: zone,
		Publisher: publisher{c, s, w, &openedForge{}}, Redact: secret.Redact,
		Toolchains: func(ctx context.Context, tree string) ([]ledger.Diagnostic, error) {
			files, err := w.TreeFS(ctx, tree)
			if err != nil {
				return nil, err
			}
			return toolchain.Missing(files, toolchain.User()), nil
		},
		Proposed: func(ctx context.Context, tree string) ([]string, error) {
			files, err := w.TreeFS(ctx, tree)
			if err != nil {
				return nil, err
			}
			return propose.Setup(files, installed), nil
		},
		Reads: func(ctx context.Context, tree, agent string) ([]string, error) {
			return w.Holding(ctx, tree, c.owner.ReadsRepository(s.Project, agent))
		},
		Installed: installed, WantedHosts: c.owner.WantedHosts, OneSession: c.owner.OneSession,
	}, nil
}

// installed reports whether a program is on the PATH of this process, which sessions
// have, too.
func installed(program string) bool { _, err := exec.LookPath(program); return err == nil }

// repository tries what sessions can have of this machine while a run begins: the
// first preflight of a process needs both, and each takes about a second.
type repository struct {
	*workspace.Workspace
	agents engine.Agents
	sign   bool
	owner  Owner
}

// Begin implements engine.Repository.
func (r repository) Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error) {
	tried := make(chan struct{})
	go func() {
		defer close(tried)
		r.agents.Mounts() // and the level; both are remembered
	}()
	base, err := r.Workspace.Begin(ctx, b)
	<-tried
	if err == nil && r.sign && !r.owner.HidesAgents() {
		return base, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   "sign = true, and sessions could ask the agent that holds your key for signatures: they have your user, and the boundary does not hide its socket",
			Remedy: "Make boundary level 3 possible (nightporter doctor says what it lacks), or run nightporter as root, so that sessions have another user.",
		}}}
	}
	return base, err
}

// Workspace opens a project's repository and work folder. owned are the files
// that only the task source may change.
func (c *Catalog) Workspace(ctx context.Context, s ledger.Settings, owned []string) (*workspace.Workspace, error) {
	uid, gid := c.owner.User()
	return workspace.Open(ctx, workspace.Options{
		State: c.state, Project: s.Project, Repo: s.Repo, Protected: s.Protected, Owned: owned, RoomFiles: s.RoomFiles, Sign: s.Sign, Hooks: s.Hooks, SessionUID: uid, SessionGID: gid,
		Mounts: func() bool { ok, _ := c.owner.Mounts(); return ok },
	})
}
