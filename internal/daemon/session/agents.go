package session

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/agent"
)

// Options say how sessions are run.
type Options struct {
	State  string                      // folder
	Hat    string                      // hat program; "" = look beside this one
	Agents map[string]agent.Definition // besides those of the configuration
	Hide   []string                    // files that no session sees
	Log    *slog.Logger
	Open   func(session string) error // its socket, before it starts; nil: none
}

// Agent returns the options of the runner for a configuration.
func (o Options) Agent(cfg *config.Config) agent.Options {
	opts := agent.Options{
		State: o.State, Hat: o.Hat, SessionUser: string(cfg.SessionUser), Agents: Definitions(cfg), Log: o.Log,
		Projects: grants(cfg), Hide: o.Hide, BeforeStart: func(_ context.Context, session, _ string) error { return o.Open(session) },
	}
	if cfg.Boundary == "required" {
		opts.Boundary = cfg.Boundary
	}
	for name, d := range o.Agents {
		opts.Agents[name] = d
	}
	if opts.Hat == "" {
		opts.Hat = Beside("hat")
	}
	return opts
}

// Definitions are the agents that can be started: the built-in ones, as the
// config changes them, and its commands.
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
		defs[name] = d
	}
	return defs
}

func grants(cfg *config.Config) map[string]agent.Grant {
	all := map[string]agent.Grant{}
	for _, pr := range cfg.Projects {
		all[pr.Name] = agent.Grant{Read: pr.Read, Cache: pr.Cache}
	}
	return all
}

// Beside finds a program in the folder of this one; "" where it is not.
func Beside(name string) string {
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
