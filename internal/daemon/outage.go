package daemon

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// onOutage tells that the ledger takes no commits, or takes them again, on every
// way that needs no disk: the terminal, the service manager's status, and chats.
func (d *Daemon) onOutage(x engine.Outage) {
	d.outage.Store(&x)
	d.Projects.Warn("", project.AboutLedger, unsavedLine(x, d.Projects.Zone()))
	if d.o.Outage != nil {
		d.o.Outage(x)
	}
	if !d.o.Stays {
		// A run in the foreground reports no status otherwise.
		go systemd.New(d.Log, systemd.Status{}).Notify("STATUS=" + d.statusLine())
		return
	}
	d.Changes.Ring() // the manager's status line
	if c := d.connections.Load(); c != nil {
		c.TellOutage(x)
	}
}

// unsavedLine says in each project's status that nothing can be saved, "" if it can:
// what a session did since is not known there.
func unsavedLine(x engine.Outage, zone *time.Location) string {
	switch {
	case x.Since.IsZero():
		return ""
	case x.Fault == ledger.FaultLedger:
		return fmt.Sprintf("! nothing can be saved since %s, the ledger's file is damaged: stop nightporter, then see nightporter verify", x.Since.In(zone).Format("15:04"))
	}
	return fmt.Sprintf("! nothing can be saved since %s: %s", x.Since.In(zone).Format("15:04"), bot.Cut(bot.Clean(x.Text), 120))
}

// outageLine says for the status line that nothing can be saved, "" if it can.
func (d *Daemon) outageLine() string {
	x := d.outage.Load()
	if x == nil || x.Since.IsZero() {
		return ""
	}
	return fmt.Sprintf("nothing can be saved since %s, the %s fails; ", x.Since.In(d.Projects.Zone()).Format(time.DateTime), x.Fault)
}
