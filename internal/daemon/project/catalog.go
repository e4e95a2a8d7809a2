package project

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Catalog is the configuration in force and what follows from it: which
// projects are worked on, what people have to know of each, and the adapters
// of a project's source, repository, notebook and hats. It is safe for
// concurrent use.
type Catalog struct {
	Warnings
	state   string
	owner   Owner
	begun   *config.Config
	cfg     atomic.Pointer[config.Config]
	working atomic.Pointer[[]string]
}

// Owner says as which user sessions run; -1 means as the daemon.
type Owner interface{ User() (uid, gid int) }

// NewCatalog returns the catalog of a state folder that works on no project
// yet.
func NewCatalog(state string, cfg *config.Config, owner Owner) *Catalog {
	c := &Catalog{state: state, begun: cfg, owner: owner}
	c.Use(cfg)
	c.Work(nil)
	return c
}

// State is the state folder.
func (c *Catalog) State() string { return c.state }

// Config is the configuration in force.
func (c *Catalog) Config() *config.Config { return c.cfg.Load() }

// Begun is the configuration that this process was started with: its chats are
// those.
func (c *Catalog) Begun() *config.Config { return c.begun }

// Use puts another configuration in force.
func (c *Catalog) Use(cfg *config.Config) { c.cfg.Store(cfg) }

// Working lists the projects that this process works on; the others it only
// shows.
func (c *Catalog) Working() []string { return *c.working.Load() }

// Works reports whether this process works on a project.
func (c *Catalog) Works(project string) bool { return slices.Contains(c.Working(), project) }

// Work sets the projects that this process works on.
func (c *Catalog) Work(projects []string) { c.working.Store(&projects) }

// Find returns a project of the configuration in force.
func (c *Catalog) Find(name string) (config.Project, bool) {
	for _, pr := range c.Config().Projects {
		if pr.Name == name {
			return pr, true
		}
	}
	return config.Project{}, false
}

// Zone is the people's time zone.
func (c *Catalog) Zone() *time.Location {
	zone, err := c.Config().Zone()
	if err != nil { // checked when the configuration was read
		return time.Local
	}
	return zone
}

// QuietHours are those of chats that have none of their own.
func (c *Catalog) QuietHours() ledger.Hours { return ledger.Hours(c.Config().Digest.Quiet.String()) }

// operatorFlags are the flags with which another command finds this daemon.
func (c *Catalog) operatorFlags() string {
	flags := ""
	if usual, err := config.StateDir(""); err != nil || usual != c.State() {
		flags = "--state " + Quote(c.State())
	}
	if file := c.Config().File; file != "" && file != config.DefaultFile() {
		flags = strings.TrimSpace(flags + " --config " + Quote(file))
	}
	return flags
}
