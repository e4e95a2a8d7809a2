package session

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/agent"
)

// Options configure how sessions run.
type Options struct {
	State  string                      // state folder
	Hat    string                      // path of the hat program; "" = beside this executable
	Shim   string                      // path of the program that supervises sessions; "" = beside this executable
	Agents map[string]agent.Definition // agents in addition to those of the configuration
	Hide   []string                    // files that no session sees
	Log    *slog.Logger
	Open   func(session string) error // opens the session's socket before it starts; nil: it has none
}

// Agent returns the options of a runner for a configuration.
func (o Options) Agent(cfg *config.Config) agent.Options {
	opts := agent.Options{
		State: o.State, Hat: o.Hat, Shim: o.Shim, SessionUser: string(cfg.SessionUser), Agents: Definitions(cfg), Prices: cfg.Prices(), Log: o.Log,
		Projects: grants(cfg), Hide: o.Hide,
	}
	if o.Open != nil {
		opts.BeforeStart = func(_ context.Context, session, _ string) error { return o.Open(session) }
	}
	opts.Limits = agent.Limits{
		Memory: cfg.Limits.MaxMemory(agent.MachineMemory()), Processes: cfg.Limits.MaxProcesses(), Files: cfg.Limits.MaxFiles(),
	}
	if cfg.Boundary == "required" {
		opts.Boundary = cfg.Boundary
	}
	for name, d := range o.Agents {
		opts.Agents[name] = d
	}
	if opts.Hat == "" {
		opts.Hat = SiblingProgram("hat")
	}
	if opts.Shim == "" {
		opts.Shim = SiblingProgram("nightporter-shim")
	}
	return opts
}

// Definitions returns the agents that can be started: the built-in ones with
// the configuration's changes, and those that the configuration adds by a
// command.
func Definitions(cfg *config.Config) map[string]agent.Definition {
	defs := agent.BuiltIn()
	for name, a := range cfg.Agents {
		d, known := defs[name]
		if !known && len(a.Command) == 0 {
			continue
		}
		if len(a.Command) > 0 {
			d.Command = a.Command
		}
		if a.Output != "" {
			d.Output = a.Output
		}
		d.Name, d.Dir, d.Prompt, d.EnvFile, d.PassEnv = name, cfg.Dir(), a.Prompt, a.EnvFile, a.PassEnv
		d.USDEstimate = a.USDEstimate
		d.MCP, d.Written, d.Terminal = a.MCP, a.EventBlock, a.Terminal
		defs[name] = d
	}
	return defs
}

// grants returns the folders that each project's sessions may use besides their
// work folder, and what its commands get.
func grants(cfg *config.Config) map[string]agent.Grant {
	all := map[string]agent.Grant{}
	for _, pr := range cfg.Projects {
		all[pr.Name] = agent.Grant{Read: pr.Read, Cache: pr.Cache, Shared: pr.Shared, TrustsRepo: pr.TrustRepo, Surroundings: agent.Surroundings{
			SetupEnvFile: pr.SetupEnvFile, SetupHome: pr.SetupHome, VerifyEnvFile: pr.VerifyEnvFile, PassEnv: pr.PassEnv,
			Repo: pr.Repo, RoomFiles: pr.RoomFiles,
		}}
	}
	return all
}

// SiblingProgram returns the path of a program in the folder of this executable, ""
// where it does not exist.
func SiblingProgram(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}
