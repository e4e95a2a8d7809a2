package project

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Catalog holds the configuration in force and what follows from it: the
// projects that are worked on, warnings about them, and the adapters of a
// project. It is safe for concurrent use.
type Catalog struct {
	Warnings
	state     string
	owner     Owner
	place     engine.Place
	begun     *config.Config
	cfg       atomic.Pointer[config.Config]
	working   atomic.Pointer[[]string]
	obstacles obstacles
	claims    claims
	sources   *Sources
}

// Owner knows how sessions run: as which user, -1 for the daemon's own, whether
// they can have folders mounted, and if not, why, whether the agents that hold
// the keys of the daemon's user are out of their reach, and what an agent needs and
// allows.
type Owner interface {
	User() (uid, gid int)
	Mounts() (ok bool, why string)
	HidesAgents() bool
	Unpriced(cfg *config.Config, s ledger.Settings) []ledger.Diagnostic
	Barred(cfg *config.Config, s ledger.Settings) []ledger.Bar
	Overcommitted(cfg *config.Config, s ledger.Settings) []ledger.Diagnostic
	WantedHosts(ctx context.Context, agent string) ([]ledger.HostUse, error)
	OneSession(agent string) (bool, error)
	ReadsRepository(project, agent string) []string
}

// NewCatalog returns the catalog of a state folder. place is this machine without
// work folders and rooms, which each project has of its own. No project is worked
// on until Work.
func NewCatalog(state string, cfg *config.Config, owner Owner, place engine.Place) *Catalog {
	c := &Catalog{state: state, begun: cfg, owner: owner, place: place}
	c.sources = &Sources{Config: c.Config}
	c.Use(cfg)
	c.Work(nil)
	return c
}

// State returns the path of the state folder.
func (c *Catalog) State() string { return c.state }

// Config returns the configuration in force. Do not change it.
func (c *Catalog) Config() *config.Config { return c.cfg.Load() }

// Begun returns the configuration at the start of the process. Chats use it
// until the next start.
func (c *Catalog) Begun() *config.Config { return c.begun }

// Use puts another configuration in force.
func (c *Catalog) Use(cfg *config.Config) { c.cfg.Store(cfg) }

// Working returns the projects that this process works on. Other projects are
// only shown.
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

// Zone returns the configured time zone.
func (c *Catalog) Zone() *time.Location {
	zone, err := c.Config().Zone()
	if err != nil { // cannot happen: loading the configuration checks it
		return time.Local
	}
	return zone
}

// QuietHours returns the quiet hours of chats without their own.
func (c *Catalog) QuietHours() ledger.Hours { return ledger.Hours(c.Config().Digest.Quiet.String()) }

// MostSessions returns the number of sessions that the configuration allows at a time, 0
// for any.
func (c *Catalog) MostSessions() int { return c.Config().MostSessions() }

// operatorFlags returns the flags with which another command finds this daemon.
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
