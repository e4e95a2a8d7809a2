package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
)

// Reload loads the configuration again and puts it in force. If it is invalid,
// the old settings stay in force and the status shows a warning. Unfinished
// runs keep the settings that they started with. It needs Options.Stays.
func (d *Daemon) Reload(ctx context.Context) {
	d.manager.Reloading()
	defer d.manager.Reloaded()
	cfg, plans, err := d.reread()
	d.reloadFailed.Store(err != nil)
	if err != nil {
		where := project.OneLine(err)
		var c *config.Error
		if errors.As(err, &c) && len(c.Diagnostics) > 0 && c.Diagnostics[0].Line > 0 {
			where = fmt.Sprintf("line %d", c.Diagnostics[0].Line)
		}
		d.Projects.Warn("", project.AboutConfig, "! settings not reloaded: "+where)
		d.Log.Error("settings not reloaded, the old ones stay", "error", err)
		return
	}
	later := ""
	for _, p := range platform.All {
		if p.Section(d.Projects.Begun()) != p.Section(cfg) {
			later = "! the new [" + p.Name + "] takes effect when nightporter is started again"
			d.Log.Warn("a chat is reached as before until nightporter is started again", "platform", p.Name)
		}
	}
	if address(cfg) != address(d.Projects.Begun()) {
		d.Log.Warn("the address of [bugs] takes effect when nightporter is started again")
	}
	d.Projects.Use(cfg)
	d.Projects.Warn("", project.AboutConfig, later)
	d.Hub.CheckThreads()
	d.reopen(ctx)
	select {
	case d.looked <- struct{}{}:
	default: // the loop has not seen the last signal
	}
	d.Autostart.Use(plans)
	d.Log.Info("settings reloaded", "projects", d.Projects.Working())
	d.Changes.Ring()
}

// address returns the address that takes bug reports, "" for none.
func address(cfg *config.Config) string {
	if cfg.Bugs == nil {
		return ""
	}
	return cfg.Bugs.Listen
}

// reread loads and checks the configuration, and prepares everything that can
// fail before the new settings are put in force.
func (d *Daemon) reread() (*config.Config, autostart.Schedules, error) {
	cfg, err := d.o.Reload()
	if err != nil {
		return nil, nil, err
	}
	plans, err := autostart.SchedulesOf(cfg)
	if err != nil {
		return nil, nil, err
	}
	if old := d.Projects.Config(); cfg.SessionUser != old.SessionUser || cfg.Boundary != old.Boundary {
		d.Log.Warn("session_user and boundary take effect when nightporter is started again")
		cfg.SessionUser, cfg.Boundary = old.SessionUser, old.Boundary
	}
	return cfg, plans, d.runners.Use(cfg)
}
